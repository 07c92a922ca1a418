"""What a merge of checkpoints writes beside weights, says on the way, and what it takes over."""

import json
import stat

import pytest
import torch
from safetensors.torch import load_file

from assay.errors import ConfigError, ModelError
from assay.merge.operator import OPERATORS
from assay.merge.recipe import parse_recipe
from assay.merge.streaming import MERGE_RECORD, merge_checkpoints, merge_file, preflight
from assay.merge.tensors import merge_state_dicts
from tests.unit.merge.checkpoints import CONFIG, weights, write

DARE = """
merge_method: dare_ties
base_model: ROOT/a
models:
  - {model: ROOT/b, parameters: {weight: 1.0, density: 0.5}}
  - {model: ROOT/c, parameters: {weight: 0.5, density: 0.25}}
dtype: bfloat16
"""
COPIED = (
    "tokenizer.json", "tokenizer_config.json", "tokenizer.model", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "spiece.model", "chat_template.jinja", "generation_config.json",
)  # fmt: skip


@pytest.fixture
def root(tmp_path):
    for seed, name in enumerate("abc"):
        write(tmp_path / name, weights(seed))
    return tmp_path


def recipe(text, root):
    return parse_recipe(text.replace("ROOT", str(root)), list(OPERATORS))


def merge(text, root, out="out", **options):
    return merge_checkpoints(recipe(text, root), root / out, **options)


def test_the_whole_record(root):
    (root / "c/tokenizer.json").unlink()
    for name in "abc":
        tensors = load_file(root / name / "model.safetensors")
        (root / name / "model.safetensors").unlink()
        extra = {"model.steps": torch.tensor([1]), "rotary_emb.inv_freq": torch.ones(1)}
        (root / name).rename(root / f"old_{name}")
        write(root / name, tensors | extra, tokens={"t": 0} if name != "c" else None)
    report = merge(DARE, root, seed=11)
    note = f"vocabulary not compared: {root}/c has no tokenizer"
    record = json.loads((root / "out" / MERGE_RECORD).read_text(encoding="utf-8"))
    tensors = record.pop("tensors")
    assert record == {
        "method": "dare_ties",
        "models": [f"{root}/{name}" for name in "abc"],
        "base_model": f"{root}/a",
        "seed": 11,
        "notes": [note],
        "left_out": {f"{root}/{name}": {"rotary_emb.inv_freq": "buffer"} for name in "abc"},
    }
    assert set(tensors) == set(report.tensors) == {*weights(0), "model.steps"}
    head = tensors["lm_head.weight"]
    assert head == {
        "sha256": report.tensors["lm_head.weight"].sha256,
        "rounding": report.tensors["lm_head.weight"].rounding,
        "notes": [],
        "operator": OPERATORS["dare_ties"]().described(),
        "inputs": [f"{root}/{name}:lm_head.weight" for name in "bc"],
        "base": f"{root}/a:lm_head.weight",
        "per_input": {"weight": [1.0, 0.5], "density": [0.5, 0.25]},
    }
    assert 0 < head["rounding"] < 0.05
    steps = tensors["model.steps"]
    assert steps == {
        "sha256": report.tensors["model.steps"].sha256,
        "rounding": 0.0,
        "notes": [],
        "operator": None,
        "inputs": [f"{root}/{name}:model.steps" for name in "bca"],
        "base": None,
        "per_input": {},
    }
    assert (report.folder, report.notes) == (root / "out", (note,))
    assert report.left_out == record["left_out"]
    assert report.n_bytes == sum(2 * one.numel() for one in weights(0).values()) + 8


def test_notes_of_tensors_are_kept(root):
    text = "merge_method: slerp\nbase_model: ROOT/a\nmodels: [{model: ROOT/b}]\nparameters: {t: 0.5}\n"
    for name in "ab":
        (root / name).rename(root / f"old_{name}")
        write(root / name, weights("ab".index(name)) | {"model.norm.weight": torch.zeros(8)})
    report = merge(text, root)
    assert report.tensors["model.norm.weight"].notes == ("degenerate: zero_norm",)
    record = json.loads((root / "out" / MERGE_RECORD).read_text())
    assert record["tensors"]["model.norm.weight"]["notes"] == ["degenerate: zero_norm"]
    assert record["tensors"]["lm_head.weight"]["notes"] == []


def test_files_are_indented_and_keep_their_letters(root):
    for name in "abc":
        (root / name / "config.json").write_text(json.dumps(CONFIG | {"name": "modèle"}), encoding="utf-8")
    merge(DARE, root)
    config = CONFIG | {"name": "modèle", "dtype": "bfloat16"}
    written = (root / "out/config.json").read_bytes()
    assert written == (json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()
    record = (root / "out" / MERGE_RECORD).read_text()
    assert record == json.dumps(json.loads(record), indent=2, ensure_ascii=False) + "\n"


def test_what_is_taken_over_and_from_whom(root):
    for name in "abc":
        for file in COPIED[1:]:
            (root / name / file).write_text(f"{file} of {name}")
        (root / name / "README.md").write_text("not this")
        (root / name / "tokenizer.model").unlink()
    (root / "a/vocab.json").unlink()
    merge(f"{DARE}tokenizer_source: ROOT/b\n", root)
    found = {path.name: path.read_text() for path in (root / "out").iterdir() if path.name in (*COPIED, "README.md")}
    expected = {file: f"{file} of b" for file in COPIED[1:] if file != "tokenizer.model"}
    expected |= {"generation_config.json": "generation_config.json of a"}
    assert found == expected | {"tokenizer.json": (root / "b/tokenizer.json").read_text()}


def test_the_folder_is_new_readable_and_made_with_its_parents(root):
    merge(DARE, root, "deep/er/out")
    merge(DARE, root, "deep/er/again")
    folder = root / "deep/er/out"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert sorted(path.name for path in (root / "deep/er").iterdir()) == ["again", "out"]
    with pytest.raises(ConfigError, match=f"{folder} is there already. Name a new folder"):
        merge(DARE, root, "deep/er/out")


def test_progress_counts_the_tensors_in_their_order(root):
    said = []
    merge(DARE, root, progress=said.append)
    assert said == [f"{place}/15 {name}" for place, name in enumerate(sorted(weights(0)), start=1)]


def test_a_folder_of_another_name_stands_beside_until_all_is_written(root):
    names = []
    merge(DARE, root, "deep/out", progress=lambda _: names.append([path.name for path in (root / "deep").iterdir()]))
    assert len(names) == 15
    assert all(len(one) == 1 and one[0].startswith(".out.") and one[0].endswith(".part") for one in names)
    assert [path.name for path in (root / "deep").iterdir()] == ["out"]


def test_a_file_with_every_option(root):
    path = root / "r.yml"
    path.write_text(DARE.replace("ROOT", str(root)))
    said = []
    merge_file(path, root / "plain")
    merge_file(path, root / "again", seed=3, shard_bytes=700, progress=said.append)
    merge(DARE, root, "same", seed=3)
    merge(DARE, root, "zero", seed=0)
    assert len(said) == 15
    index = json.loads((root / "again/model.safetensors.index.json").read_text())
    shards = set(index["weight_map"].values())
    assert len(shards) > 2
    again = {name: one for file in shards for name, one in load_file(root / "again" / file).items()}
    for name, tensor in load_file(root / "same/model.safetensors").items():
        assert torch.equal(again[name], tensor)
    plain = (root / "plain/model.safetensors").read_bytes()
    assert plain == (root / "zero/model.safetensors").read_bytes()
    assert plain != (root / "same/model.safetensors").read_bytes()


def test_vocabularies_are_excluded_where_it_is_said(root):
    (root / "b/tokenizer.json").write_text('{"model": {"vocab": {"other": 0}}}')
    path = root / "r.yml"
    path.write_text(DARE.replace("ROOT", str(root)))
    for act in (lambda: merge_file(path, root / "x"), lambda: preflight(recipe(DARE, root)), lambda: merge(DARE, root)):
        with pytest.raises(ModelError, match="different vocabularies"):
            act()
    merge_file(path, root / "out", vocabulary="exclude")
    plan, checkpoints = preflight(recipe(DARE, root), vocabulary="exclude")
    assert [one.operator is None for one in plan.made if one.name in ("lm_head.weight", "model.norm.weight")] == [
        True,
        False,
    ]
    assert list(checkpoints) == [f"{root}/{name}" for name in "abc"]
    assert checkpoints[f"{root}/b"].name == f"{root}/b"


def test_methods_that_are_not_in_the_table(root):
    text = DARE.replace("dare_ties", "magic").replace("ROOT", str(root))
    with pytest.raises(ConfigError, match=r"there is no method 'magic'\. Known: arcee_fusion, breadcrumbs, "):
        preflight(parse_recipe(text, ["magic"]))


@pytest.mark.parametrize("other", [torch.tensor([2]), torch.tensor([1], dtype=torch.int32)])
def test_integers_that_differ(root, other):
    for name, steps in (("a", torch.tensor([1])), ("b", torch.tensor([1])), ("c", other)):
        (root / name).rename(root / f"old_{name}")
        write(root / name, weights(0) | {"model.steps": steps})
    with pytest.raises(ModelError, match=f"tensor 'model.steps' holds integers .* between '{root}/b' and '{root}/c'"):
        merge(DARE, root)


def test_a_tie_to_an_embedding_that_is_not_there(root):
    for name in "abc":
        tensors = weights(0)
        del tensors["model.embed_tokens.weight"]
        (root / name).rename(root / f"old_{name}")
        write(root / name, tensors, tie_word_embeddings=True)
    with pytest.raises(ModelError, match=f"'{root}/a' ties its head to an embedding that it does not have"):
        merge(DARE, root)


def test_every_tie_is_checked(root):
    for name in "abc":
        tensors = weights(0) | ({} if name == "c" else {"lm_head.weight": weights(0)["model.embed_tokens.weight"]})
        (root / name).rename(root / f"old_{name}")
        write(root / name, {key: one.clone() for key, one in tensors.items()}, tie_word_embeddings=True)
    with pytest.raises(ModelError, match=f"'{root}/c' says tie_word_embeddings, but its stored head differs"):
        merge(DARE, root)


SCOPE = DARE.replace("dare_ties", "ties").replace("0.25", "0.5").replace("dtype: bfloat16", "")


def test_model_scope_is_that_of_models_in_memory(root):
    merge(f"{SCOPE}parameters: {{scope: model}}\n", root)
    merge(SCOPE, root, "apart")
    numbers = {"weight": (1.0, 0.5), "density": (0.5, 0.5)}
    inputs = {f"{root}/{name}": weights(seed) for seed, name in ((1, "b"), (2, "c"))}
    expected = merge_state_dicts(OPERATORS["ties"](scope="model"), inputs, base=weights(0), per_input=numbers)
    result, apart = (load_file(root / out / "model.safetensors") for out in ("out", "apart"))
    assert all(torch.equal(result[name], one.tensor) for name, one in expected.items())
    assert not all(torch.equal(result[name], apart[name]) for name in expected)


def test_model_scope_leaves_integers_out_of_the_count(root):
    for name in "abc":
        (root / name).rename(root / f"old_{name}")
        write(root / name, weights("abc".index(name)) | {"model.steps": torch.arange(1000)})
    merge(f"{SCOPE}parameters: {{scope: model}}\n", root)
    result = load_file(root / "out/model.safetensors")
    assert torch.equal(result.pop("model.steps"), torch.arange(1000))
    base = weights(0)
    numel = sum(one.numel() for one in base.values())
    changed = sum(int((result[name] != base[name]).sum()) for name in base)
    assert 0.5 * numel <= changed < 0.8 * numel


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scope: [{filter: mlp, value: model}, {value: tensor}]", "scope is model for some tensors only"),
        ("scope: model, lambda: [1, 2]", "scope model needs the same options for every tensor"),
    ],
)
def test_model_scope_holds_for_the_whole(root, line, message):
    with pytest.raises(ConfigError, match=f"^merge: {message}"):
        merge(f"{SCOPE}parameters: {{{line}}}\n", root)
