"""Fixtures and parameters named `evidence` in place of the plugin's own: honoured if they ask for it, else refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ClaimError

if TYPE_CHECKING:
    import pytest

_OURS = "assay_pytest.plugin"


def has_stand_in(item: pytest.Item, root: Path) -> bool:
    """Whether fixtures of the project stand between a claim and its evidence; ClaimError if one gives another thing."""
    info = getattr(item, "_fixtureinfo", None)  # which fixtures a test asks for is said nowhere else
    found: Any = info.name2fixturedefs.get("evidence") if info is not None else None
    if found is None or (len(found) == 1 and found[0].func.__module__ == _OURS):
        return False
    for fixture in found:
        code = fixture.func.__code__
        if fixture.func.__module__ == _OURS or "evidence" in fixture.argnames:
            continue
        if fixture.func.__module__.startswith("_pytest."):
            raise ClaimError(f"{item.nodeid}: a parameter named evidence hides the evidence of the claim: rename it")
        path = Path(code.co_filename)
        place = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        raise ClaimError(
            f"{place}:{code.co_firstlineno}: this fixture named evidence hides the evidence of claims: "
            "let it ask for that, def evidence(evidence), or give it another name"
        )
    return True
