"""reproducible-science and manuscript-guard: tools that read the manuscript and know what a number of it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.comparison.by_hand import measure_json, numbers
from benchmarks.comparison.paper import MEASURED, NEW, PAPER, Printed, latex, words
from benchmarks.comparison.tool import LISTED, PREVENTED, call, write

_ANALYSIS: Final = """import json

from manuscript_guard.emit import Emitter

measured = json.load(open("measured.json"))
out = Emitter(__file__, inputs=["measured.json"], ci_level="95%")
out.value("sentences", measured["sentences"], display=f"{measured['sentences']:,}")
out.value("accuracy", 100 * measured["accuracy"], digits=1)
out.value("baseline", measured["baseline"], digits=3)
out.value("wins", measured["wins"])
out.value("directions", measured["directions"])
out.interval("gain", measured["gain"], measured["gain_low"], measured["gain_high"], digits=3)
digits, power = f"{measured['p']:.1e}".split("e")
out.value("p", measured["p"], display=f"{digits} × 10^{int(power)}")
out.value("welsh", measured["welsh"], digits=2)
out.value("hours", measured["hours"], digits=1)
out.value("seeds", measured["seeds"])
out.value("margin", measured["margin"], digits=2)
out.write()
"""
_BINDINGS: Final = {
    "P2": "{{results.accuracy}}%",
    "P4": "{{results.wins}}/{{results.directions}}",
    "P5": "+{{results.gain.point}}",
    "P6": "[{{results.gain.ci_low}}, {{results.gain.ci_high}}]",
}


def prepare_repro(folder: Path, programs: Path) -> None:
    """The manifest of `repro manifest init`, with a claim a sentence: its numbers, and the passage that prints them."""
    call(folder, "git", "init", "-q")
    measure_json(folder, MEASURED, programs)
    write(folder / "paper.tex", latex(PAPER))
    call(folder, programs / "repro", "manifest", "init", "measured.json", "paper.tex")
    head = (folder / "repro.yaml").read_text("utf-8").partition("\nclaims:\n")[0]
    claims = [{"id": one.name, "text": one.in_words, "evidence": _evidence(one)} for one in PAPER]
    write(folder / "repro.yaml", f"{head}\nclaims: {json.dumps(claims, ensure_ascii=False, indent=1)}\n")


def write_repro(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The edited LaTeX; the manifest stays as it is."""
    del programs
    write(folder / "paper.tex", latex(paper))


def flagged_repro(folder: Path, programs: Path) -> dict[str, bool | str]:
    """Which claims have an assertion that `repro verify` does not print as ok; `repro numbers` lists what has no claim.

    That the file changed at all, which its pin tells too, is not counted: it says nothing of a number.
    """
    shown = call(folder, programs / "repro", "verify", status=(0, 1))
    rows = re.findall(r"^  (\w+) +(P\d+) ", shown, re.MULTILINE)
    unbound = call(folder, programs / "repro", "numbers")
    new: bool | str = LISTED if f"  {NEW.plain} " in unbound else False
    return {NEW.name: new} | {one.name: any(state != "ok" for state, name in rows if name == one.name) for one in PAPER}


def prepare_bound(folder: Path, programs: Path) -> None:
    """A project of manuscript-guard whose numbers are bindings to what the analysis emits."""
    call(folder, programs / "manuscript-guard", "init", ".")
    settings = (folder / "paper.yaml").read_text("utf-8")
    write(folder / "paper.yaml", settings.replace("stage: design", "stage: drafting"))
    write(folder / "analysis/measure.py", _ANALYSIS)
    measure_bound(folder, MEASURED, programs)
    write_bound(folder, PAPER, programs)


def measure_bound(folder: Path, measured: Mapping[str, float], programs: Path) -> None:
    """The measured numbers, and the analysis that emits them."""
    measure_json(folder, measured, programs)
    call(folder, programs / "python", "analysis/measure.py")


def write_bound(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The manuscript with a binding for each number, and a typed number where the edit typed one."""
    del programs
    same = {one.name: one.plain for one in PAPER}
    sentences = [
        one.sentence.format(_binding(one)) if one.plain == same.get(one.name) else one.in_words for one in paper
    ]
    write(folder / "manuscript/main.md", "\n\n".join(["# Results", *sentences, ""]))


def flagged_bound(folder: Path, programs: Path) -> dict[str, bool | str]:
    """Which sentences `manuscript-guard check` fails; a binding that it accepts is written in from the results."""
    shown = call(folder, programs / "manuscript-guard", "check", status=(0, 1))
    bad = _lines(re.findall(r"\[FAIL\] G2 manuscript/main\.md:(\d+)", shown))
    text = (folder / "manuscript/main.md").read_text("utf-8")
    bound = {one.name for one in PAPER if one.sentence.format(_binding(one)) in text}
    return {one.name: True if one.name in bad else PREVENTED if one.name in bound else False for one in (*PAPER, NEW)}


def prepare_audit(folder: Path, programs: Path) -> None:
    """The same project, for its audit of a paper that was written without it."""
    prepare_bound(folder, programs)
    write_audit(folder, PAPER, programs)


def write_audit(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The paper with typed numbers."""
    del programs
    write(folder / "paper.md", words(paper))


def flagged_audit(folder: Path, programs: Path) -> dict[str, bool]:
    """Which sentences hold a number that `manuscript-guard audit` finds in no output."""
    command = (programs / "manuscript-guard", "audit", "paper.md", "--strict", "--against", "results")
    bad = _lines(re.findall(r"^    line (\d+): ", call(folder, *command, status=(0, 1)), re.MULTILINE))
    return {one.name: one.name in bad for one in (*PAPER, NEW)}


def _lines(found: Sequence[str]) -> set[str]:
    """Sentences by the line on which they stand, 3 for the first and every second one after it."""
    return {(*PAPER, NEW)[(int(line) - 3) // 2].name for line in found}


def _binding(one: Printed) -> str:
    return _BINDINGS.get(one.name, "{{results." + one.keys[0] + "}}")


def _evidence(one: Printed) -> list[dict[str, str]]:
    """Each number as printed, at its place in the results; and the sentence, unless it has mathematics."""
    found = [
        {"kind": "metric", "artifact": "measured", "name": key, "reported": reported, "pointer": f"/{key}"}
        | ({"conversion": "percent"} if one.plain.endswith("%") else {})
        for key, reported in zip(one.keys, _reported(one), strict=True)
    ]
    quote = [] if "$" in one.tex else [{"kind": "quote", "artifact": "paper", "text": one.in_words}]
    return found + quote


def _reported(one: Printed) -> list[str]:
    if one.form in ("interval", "count of all"):
        return re.findall(r"[0-9.]+", one.plain)
    if one.form == "thousands":
        return [str(int(numbers(one)[0]))]
    return [one.plain.replace(" × 10^", "e").rstrip("%")]
