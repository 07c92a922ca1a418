"""Files of claims are found without opening them."""

from __future__ import annotations

from pathlib import Path

from assay.ledger.claim_files import claim_files


def test_hidden_folders_hold_no_claims(tmp_path: Path) -> None:
    for name in ("test_a.py", "b/test_b.py", ".ipynb_checkpoints/test_a.py", ".test_c.py"):
        path = tmp_path / ".paper" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert [path.name for path in claim_files(tmp_path / ".paper")] == ["test_b.py", "test_a.py"]
