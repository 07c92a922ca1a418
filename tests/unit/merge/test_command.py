"""`assay merge`: one document or a table, a check that writes nothing, and messages without traceback."""

import json

import pytest
from click.testing import CliRunner

from assay.cli import main
from assay.cli.merge import merge
from tests.unit.merge.checkpoints import weights, write

RECIPE = "merge_method: {method}\nbase_model: {a}\nmodels: [{{model: {b}}}]\nparameters: {{t: {t}}}\n"


@pytest.fixture
def recipe(tmp_path):
    places = {name: write(tmp_path / name, weights(seed)) for seed, name in enumerate("ab")}

    def written(method="slerp", t=0.5):
        path = tmp_path / "recipe.yml"
        path.write_text(RECIPE.format(method=method, t=t, **places))
        return str(path)

    return written


def test_merge_and_check(recipe, tmp_path):
    checked = CliRunner().invoke(merge, [recipe(), str(tmp_path / "out"), "--check", "--json"], catch_exceptions=False)
    assert json.loads(checked.stdout) == {"tensors": 15, "notes": [], "written": False}
    assert not (tmp_path / "out").exists()
    done = CliRunner().invoke(merge, [recipe(), str(tmp_path / "out"), "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["bytes"] == (tmp_path / "out/model.safetensors").stat().st_size - _head(tmp_path)


def _head(tmp_path):
    with (tmp_path / "out/model.safetensors").open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def test_table_and_notes(recipe, tmp_path):
    for name in "ab":
        (tmp_path / name / "tokenizer.json").unlink()
    done = CliRunner().invoke(merge, [recipe(), str(tmp_path / "out")], catch_exceptions=False)
    assert "vocabulary not compared" in done.stdout
    assert "tensors" in done.stdout


@pytest.mark.parametrize(("method", "status"), [("slurp", 2), ("karcher", 2)])
def test_messages_without_traceback(method, status, recipe, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["merge", recipe(method), str(tmp_path / "out")])
    assert ended.value.code == status
    said = capsys.readouterr().err
    assert said.startswith("assay: ")
    assert "Traceback" not in said
