"""`assay data fetch`: each line is said once, under the name of what is fetched."""

from __future__ import annotations

from pathlib import Path

from tests.unit.runs.toy_repository import assay


def test_a_description_is_said_once_and_a_name_before_each_line_once(tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    places = {"ASSAY_CACHE": str(tmp_path / "cache"), "PIP_CONFIG_FILE": "/dev/null"}
    nothing = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "index")}
    done = assay(tmp_path, "data", "fetch", "smollm2-135m", env={**places, **nothing})
    assert done.returncode == 1, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    described = [line for line in lines if "to download, about" in line]
    assert [line.startswith("smollm2-135m: SmolLM2-135M-Instruct") for line in described] == [True]
    assert not [line for line in lines if line.startswith("smollm2-135m: smollm2-135m: ")]
    assert any(line.startswith("smollm2-135m: downloading ") for line in lines)
