"""The project as CodeMeta 3.0 (https://codemeta.github.io/terms/), which archives of software read."""

from __future__ import annotations

import re
from typing import Any

from assay.report.project import Project

CONTEXT = "https://w3id.org/codemeta/3.0"
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*(?P<version>[^;]*)")


def codemeta(project: Project) -> dict[str, Any]:
    """The JSON-LD document; what the project does not say is left out."""
    document = {
        "@context": CONTEXT,
        "@type": "SoftwareSourceCode",
        "name": project.name,
        "description": project.description,
        "version": project.version,
        "license": f"https://spdx.org/licenses/{project.licence}",
        "keywords": list(project.keywords),
        "author": [dict(author) for author in project.authors],
        "codeRepository": project.repository,
        "identifier": f"https://doi.org/{project.doi}" if project.doi else "",
        "programmingLanguage": {"@type": "ComputerLanguage", "name": "Python"},
        "runtimePlatform": f"Python {project.python}" if project.python else "",
        "softwareRequirements": [_requirement(line) for line in project.requirements],
    }
    return {key: value for key, value in document.items() if value}


def _requirement(line: str) -> dict[str, str]:
    found = _REQUIREMENT.match(line)
    name, version = (found["name"], found["version"].strip()) if found else (line, "")
    return {"@type": "SoftwareApplication", "name": name} | ({"version": version} if version else {})
