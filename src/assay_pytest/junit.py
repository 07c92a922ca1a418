"""JUnit files tell nobody whose machine it was: pytest writes the host name into each, and whatever a test raised."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

NOBODY = "localhost"
"""The host name that the JUnit schema asks for where there is none to tell."""

_WORDS = ("failure", "error", "skipped", "system-out", "system-err", "property")


def anonymise(path: Path, root: Path) -> None:
    """Rewrite a JUnit file without the host name, and its claims without paths, user and host names, and secrets.

    Tests that are no claims stay as pytest wrote them; paths below `root` become relative to it.
    """
    from assay.runs.privacy import scrub
    from assay.runs.storage import write_durable

    tree = ET.parse(path)
    for suite in tree.iter("testsuite"):
        if "hostname" in suite.attrib:
            suite.set("hostname", NOBODY)
    for case in tree.iter("testcase"):
        if any(one.get("name") == "claim" for one in case.iter("property")):
            for said in (element for element in case.iter() if element.tag in _WORDS):
                said.text = scrub(said.text, root) if said.text else said.text
                for name in said.attrib.keys() & {"message", "value"}:
                    said.set(name, scrub(said.attrib[name], root))
    write_durable(path, b'<?xml version="1.0" encoding="utf-8"?>' + ET.tostring(tree.getroot()))
