"""pytest-grounding, openpub and pytest-regressions: the author writes code, or a second list of numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from benchmarks.comparison.paper import MEASURED, NEW, PAPER, Printed, words
from benchmarks.comparison.tool import call, write

_FORMATS: Final = {
    "P1": "{sentences:,.0f}",
    "P2": "{accuracy:.1%}",
    "P3": "{baseline:.3f}",
    "P4": "{wins:.0f}/{directions:.0f}",
    "P5": "{gain:+.3f}",
    "P6": "[{gain_low:.3f}, {gain_high:.3f}]",
    "P8": "{welsh:.2f}",
    "P9": "{perplexity:.2f}",
    "P10": "{hours:.1f}",
    "P11": "{seeds:.0f}",
    "P12": "{margin:.2f}",
}
_GROUNDING: Final = """from grounding import data, doc, evidence, statement


def check(sentence):
    table = data("measured.csv")
    measured = dict(zip(table.key, table.value))
    digits, power = f"{measured['p']:.1e}".split("e")
    printed = sentence.format(power_of_ten=f"{digits} × 10^{int(power)}", **measured)
    statement(printed)
    assert doc("paper.docx").contains(printed)
"""
_DOCX: Final = """import pathlib
import docx
paper = docx.Document()
for paragraph in pathlib.Path("paper.md").read_text("utf-8").split("\\n\\n"):
    paper.add_paragraph(paragraph)
paper.save("paper.docx")
"""


def prepare_grounding(folder: Path, programs: Path) -> None:
    """A claim a sentence: the sentence is formatted from the data and looked for in the paper, as a Word document."""
    measure_csv(folder, MEASURED, programs)
    tests = "".join(
        f"\n\ndef test_{one.name}():\n    check({one.sentence.format(_FORMATS.get(one.name, '{power_of_ten}'))!r})\n"
        for one in PAPER
    )
    write(folder / "pytest.ini", "[pytest]\n")
    write(folder / "test_paper.py", _GROUNDING + tests)
    write_docx(folder, PAPER, programs)


def measure_csv(folder: Path, measured: Mapping[str, float], programs: Path) -> None:
    """The results as CSV, NaN as an empty cell."""
    del programs
    rows = [f"{key},{'' if math.isnan(value) else value}" for key, value in measured.items()]
    write(folder / "measured.csv", "\n".join(["key,value", *rows, ""]))


def measure_json(folder: Path, measured: Mapping[str, float], programs: Path) -> None:
    """The results as JSON, NaN as Python writes it."""
    del programs
    write(folder / "measured.json", json.dumps(measured))


def write_docx(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The paper as a Word document, one of the three formats that `doc()` reads."""
    write(folder / "paper.md", words(paper))
    call(folder, programs / "python", "-c", _DOCX)


def flagged_tests(folder: Path, programs: Path) -> dict[str, bool]:
    """Which sentences have a failing test."""
    call(folder, programs / "python", "-m", "pytest", "-q", "--junitxml", "tests.xml", status=(0, 1))
    cases = {case.attrib["name"]: case for case in ElementTree.parse(folder / "tests.xml").iter("testcase")}
    return {NEW.name: False} | {one.name: len(cases[f"test_{one.name}"].findall("failure")) > 0 for one in PAPER}


def prepare_openpub(folder: Path, programs: Path) -> None:
    """The printed numbers and their tolerances in claims.json; a function a claim that returns the measured ones."""
    claims = [{"claim_id": one.name, "claim": one.in_words, "expected": _expected(one)} for one in PAPER]
    write(folder / "claims.json", json.dumps(claims, indent=1))
    measure_json(folder, MEASURED, programs)
    functions = "".join(
        f'\n\n@claim("{one.name}")\ndef {one.name.lower()}():\n'
        f"    return {{key: measured[key] for key in {one.keys!r}}}\n"
        for one in PAPER
    )
    write(
        folder / "analysis.py",
        'import json\n\nfrom openpub import claim\n\nmeasured = json.load(open("measured.json"))\n' + functions,
    )
    write_plain(folder, PAPER, programs)


def write_plain(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The paper beside the project; a tool that reads no text does not open it."""
    del programs
    write(folder / "paper.md", words(paper))


def flagged_openpub(folder: Path, programs: Path) -> dict[str, bool]:
    """Which claims `openpub verify` does not list as verified."""
    shown = call(folder, programs / "openpub", "verify", status=(0, 1))
    verified = re.search(r"VERIFIED.*?\n(.*?)\n\n", shown, re.DOTALL)
    good = verified[1].split() if verified else []
    return {NEW.name: False} | {one.name: one.name not in good for one in PAPER}


def prepare_regressions(folder: Path, programs: Path) -> None:
    """The printed numbers in the expected file of `num_regression`, with half the last digit as tolerance."""
    printed = {key: value for one in PAPER for key, value in zip(one.keys, numbers(one), strict=True)}
    tolerances = {key: {"atol": one.half, "rtol": 0.0} for one in PAPER for key in one.keys}
    measure_json(folder, MEASURED, programs)
    rows = [",".join(["", *printed]), ",".join(["0", *map(repr, printed.values())])]
    write(folder / "pytest.ini", "[pytest]\n")
    write(folder / "test_paper/test_paper.csv", "\n".join(rows) + "\n")
    write(
        folder / "test_paper.py",
        "import json\nimport pathlib\n\n\ndef test_paper(num_regression):\n"
        '    measured = json.loads(pathlib.Path("measured.json").read_text())\n'
        "    columns = {key: float(value) for key, value in measured.items()}\n"
        f"    num_regression.check(columns, tolerances={tolerances!r})\n",
    )
    write_plain(folder, PAPER, programs)


def flagged_regressions(folder: Path, programs: Path) -> dict[str, bool]:
    """Which columns the failure of `num_regression` names."""
    shown = call(folder, programs / "python", "-m", "pytest", "-q", status=(0, 1))
    bad = set(re.findall(r"^E +(\w+):$", shown, re.MULTILINE))
    return {NEW.name: False} | {one.name: not bad.isdisjoint(one.keys) for one in PAPER}


def numbers(one: Printed) -> list[float]:
    """The printed number in plain floats: two for an interval or a count of all, a share for a percentage."""
    found = re.findall(
        r"[-+]?[0-9][0-9.,]*", one.plain.replace(" × 10^", "e").replace(",", "", one.form == "thousands")
    )
    if one.form == "power of ten":
        return [float(one.plain.replace(" × 10^", "e"))]
    return [float(number.rstrip(",")) / (100 if one.plain.endswith("%") else 1) for number in found]


def _expected(one: Printed) -> Mapping[str, object]:
    values = zip(one.keys, numbers(one), strict=True)
    return {key: {"value": value, "tolerance": one.half} for key, value in values}
