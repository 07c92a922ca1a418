"""Plans: which tensor is made of which, by what, in which type; worked out from headers."""

import pytest

from assay.errors import ConfigError, ModelError
from assay.merge.checkpoint import open_checkpoint
from assay.merge.operator import OPERATORS
from assay.merge.plan import Made, Part, planned
from assay.merge.recipe import parse_recipe
from tests.unit.merge.checkpoints import CONFIG, weights, write

TIES = """
merge_method: ties
base_model: ROOT/a
models:
  - {model: ROOT/b, parameters: {weight: [1, 3], density: {filter: norm, value: 0.25}}}
  - {model: ROOT/c}
parameters: {weight: 2, density: 0.5, lambda: {filter: mlp, value: 0.5}}
"""
STACK = """
merge_method: slerp
slices:
  - sources: [{model: ROOT/a, layer_range: [0, 2]}, {model: ROOT/b, layer_range: [1, 3]}]
    base_model: ROOT/a
    parameters: {t: [0, 1]}
  - sources: [{model: ROOT/c, layer_range: [2, 3]}, {model: ROOT/b, layer_range: [0, 1]}]
    base_model: ROOT/b
parameters: {t: {filter: mlp, value: 0.125}}
"""


@pytest.fixture
def root(tmp_path):
    for seed, name in enumerate("abc"):
        write(tmp_path / name, weights(seed))
    return tmp_path


def plan(text, root, **options):
    recipe = parse_recipe(text.replace("ROOT", str(root)), list(OPERATORS))
    return planned(recipe, {name: open_checkpoint(name) for name in recipe.models}, **options)


def tensors(text, root, **options):
    return {one.name: one for one in plan(text, root, **options).made}


def of(root, part):
    """A part as model/tensor, its slot checked."""
    assert part.slot == open_checkpoint(part.model).tensors[part.name]
    return f"{part.model.removeprefix(str(root))[1:]}/{part.name}"


def test_the_whole_plan_of_one_tensor(root):
    made = tensors(TIES, root)["model.layers.1.mlp.down_proj.weight"]
    opened = {name: open_checkpoint(f"{root}/{name}") for name in "abc"}
    parts = {name: Part(one.name, made.name, one.tensors[made.name]) for name, one in opened.items()}
    assert made == Made(
        name="model.layers.1.mlp.down_proj.weight",
        dtype="F32",
        shape=(8, 12),
        operator=OPERATORS["ties"](lambda_=0.5),
        inputs=(parts["b"], parts["c"]),
        base=parts["a"],
        per_input={"weight": (2.0, 2.0), "density": (0.5, 0.5)},
    )


def test_gradients_run_over_the_layers_and_start_outside_of_them(root):
    made = tensors(TIES, root)
    assert list(made) == sorted(weights(0))
    shown = {name.removeprefix("model."): one.per_input["weight"] for name, one in made.items() if "norm" in name}
    assert shown == {
        "layers.0.input_layernorm.weight": (1.0, 2.0),
        "layers.1.input_layernorm.weight": (2.0, 2.0),
        "layers.2.input_layernorm.weight": (3.0, 2.0),
        "norm.weight": (1.0, 2.0),
    }
    assert made["lm_head.weight"].per_input["weight"] == made["model.embed_tokens.weight"].per_input["weight"]
    assert made["model.norm.weight"].per_input["density"] == (0.25, 0.5)
    assert made["lm_head.weight"].per_input["density"] == (0.5, 0.5)
    assert {name: one.operator.lambda_ for name, one in made.items()} == {
        name: 0.5 if "mlp" in name else 1.0 for name in made
    }


def test_a_single_layer_is_at_the_end_of_its_gradient(root):
    text = STACK.replace("{filter: mlp, value: 0.125}", "0").replace("[0, 2]", "[0, 1]").replace("[1, 3]", "[1, 2]")
    made = tensors(text, root)
    assert made["model.layers.0.input_layernorm.weight"].operator.t == 1.0


def test_slices_are_stacked(root):
    found = plan(STACK.replace("t: {filter: mlp, value: 0.125}", "t: 0.125"), root)
    made = {one.name: one for one in found.made}
    query = "model.layers.{}.self_attn.q_proj.weight"
    shown = {
        name: (of(root, made[name].base), *(of(root, part) for part in made[name].inputs), made[name].operator.t)
        for name in (query.format(0), query.format(1), query.format(2), "model.embed_tokens.weight", "lm_head.weight")
    }
    assert shown == {
        query.format(0): (f"a/{query.format(0)}", f"b/{query.format(1)}", 0.0),
        query.format(1): (f"a/{query.format(1)}", f"b/{query.format(2)}", 1.0),
        query.format(2): (f"b/{query.format(0)}", f"c/{query.format(2)}", 0.125),
        "model.embed_tokens.weight": ("a/model.embed_tokens.weight", "b/model.embed_tokens.weight", 0.0),
        "lm_head.weight": ("b/lm_head.weight", "c/lm_head.weight", 0.125),
    }
    assert len(made) == 3 + 3 * 4
    assert found.config == CONFIG
    assert found.first.name == found.tokenizer.name == f"{root}/a"


def test_a_base_that_the_method_ignores(root):
    text = TIES.replace("ties", "linear").replace("density: {filter: norm, value: 0.25}", "")
    text = text.replace(", density: 0.5, lambda: {filter: mlp, value: 0.5}", "")
    made = tensors(text, root)["lm_head.weight"]
    assert made.base is None
    assert [of(root, part) for part in made.inputs] == ["b/lm_head.weight", "c/lm_head.weight"]
    listed = text.replace("models:", "models:\n  - {model: ROOT/a, parameters: {weight: 5}}")
    made = tensors(listed, root)["lm_head.weight"]
    assert made.per_input == {"weight": (5.0, 1.0, 2.0)}


def test_an_optional_base_is_used_when_it_is_named(root):
    text = "merge_method: nuslerp\nmodels: [{model: ROOT/b}, {model: ROOT/c}]\nparameters: {weight: 1}\n"
    assert tensors(text, root)["lm_head.weight"].base is None
    assert of(root, tensors(f"{text}base_model: ROOT/a", root)["lm_head.weight"].base) == "a/lm_head.weight"


@pytest.mark.parametrize(
    ("lines", "dtypes", "expected"),
    [
        ("", "float32 float32", "F32"),
        ("", "float16 bfloat16", "F32"),
        ("", "float16 float16", "F16"),
        ("", "bfloat16 bfloat16", "BF16"),
        ("", "float16 float32", "F32"),
        ("", "float32 float64", "F64"),
        ("dtype: bfloat16", "float32 float32", "BF16"),
        ("dtype: bfloat16\nout_dtype: float16", "float32 float32", "F16"),
        ("out_dtype: float64", "float32 float32", "F64"),
    ],
)
def test_types(tmp_path, lines, dtypes, expected):
    import torch

    for name, kind in zip("ab", dtypes.split(), strict=True):
        write(tmp_path / name, weights(0, dtype=getattr(torch, kind)), torch_dtype="float32")
    text = f"merge_method: linear\nmodels: [{{model: ROOT/a}}, {{model: ROOT/b}}]\nparameters: {{weight: 1}}\n{lines}"
    found = plan(text, tmp_path)
    assert {one.dtype for one in found.made} == {expected}
    named = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}[expected]
    assert (found.config["dtype"], found.config["torch_dtype"]) == (named, named)


def test_integers_are_copied(tmp_path):
    import torch

    for seed, name in enumerate("ab"):
        write(tmp_path / name, weights(seed) | {"model.steps": torch.tensor([1, 2])})
    text = (
        "merge_method: linear\nmodels: [{model: ROOT/a}, {model: ROOT/b}]\nparameters: {weight: 1}\nout_dtype: float16"
    )
    made = tensors(text, tmp_path)["model.steps"]
    assert (made.dtype, made.shape, made.operator, made.base, made.per_input) == ("I64", (2,), None, None, {})
    assert [of(tmp_path, part) for part in made.inputs] == ["a/model.steps", "b/model.steps"]


def test_a_stack_has_the_layers_types_and_depth_that_it_takes(tmp_path):
    kinds = {"a": ["full", "sliding", "full"], "b": ["sliding", "sliding", "full"]}
    for seed, (name, layer_types) in enumerate(kinds.items()):
        write(tmp_path / name, weights(seed), layer_types=layer_types)
    text = """
merge_method: passthrough
slices:
  - sources: [{model: ROOT/a, layer_range: [1, 3]}]
  - sources: [{model: ROOT/b, layer_range: [0, 3]}]
"""
    found = plan(text, tmp_path)
    assert found.config["num_hidden_layers"] == 5
    assert found.config["layer_types"] == ["sliding", "full", "sliding", "sliding", "full"]
    assert found.first.config["num_hidden_layers"] == 3


def test_excluded_vocabularies_come_from_the_first_model(root):
    made = tensors(TIES, root, vocabulary="exclude")
    copied = {name: of(root, one.inputs[0]) for name, one in made.items() if one.operator is None}
    assert copied == {
        "model.embed_tokens.weight": "a/model.embed_tokens.weight",
        "lm_head.weight": "a/lm_head.weight",
    }
    for name in copied:
        assert (made[name].base, made[name].per_input, len(made[name].inputs)) == (None, {}, 1)
        assert (made[name].dtype, made[name].shape) == ("F32", (11, 8))


@pytest.mark.parametrize(
    ("line", "chosen"), [("", "a"), ("tokenizer_source: union", "a"), ("tokenizer_source: base", "a")]
)
def test_tokenizers(root, line, chosen):
    assert plan(f"{TIES}{line}", root).tokenizer.name == f"{root}/{chosen}"
    assert plan(f"{TIES}tokenizer_source: ROOT/c", root).tokenizer.name == f"{root}/c"


LINEAR = "merge_method: linear\nmodels: [{model: ROOT/a}, {model: ROOT/b}]\nparameters: {weight: 1}\n"
REFUSED = {
    "a parameter": (f"{LINEAR}".replace("weight: 1", "wight: 1"), r"^recipe: linear has no parameter 'wight'"),
    "a parameter of a slice": (STACK.replace("t: [0, 1]", "s: 1"), r"^slice 0: slerp has no parameter 's'"),
    "a parameter of a model": (
        TIES.replace("{model: ROOT/c}", "{model: ROOT/c, parameters: {lamda: 1}}"),
        r"^model .*/c: ties has no parameter 'lamda'",
    ),
    "an option of a model": (
        TIES.replace("{model: ROOT/c}", "{model: ROOT/c, parameters: {lambda: 1}}"),
        r"^model .*/c: 'lambda' holds for all inputs of ties",
    ),
    "a parameter of the base": (
        TIES.replace("{model: ROOT/c}", "{model: ROOT/a, parameters: {density: 1, weight: 1}}"),
        r"^model .*/a: it is the base of ties .* gives it density, weight\.",
    ),
    "no base": (TIES.replace("base_model: ROOT/a\n", ""), r"^recipe: ties needs a base_model"),
    "a base outside": (
        "base_model: ROOT/c\n" + STACK.replace("    base_model: ROOT/a\n", "", 1).replace("t: [0, 1]", "t: 0"),
        r"^recipe: the base .*/c must be among the sources of every slice",
    ),
    "layers": (STACK.replace("[1, 3]", "[2, 4]"), r"^recipe: layer_range \[2, 4\] of .*/b, which has 3 layers"),
    "a tokenizer": (f"{LINEAR}tokenizer_source: x", r"tokenizer_source 'x' is none of the models: .*/a, .*/b\."),
    "a base's tokenizer": (f"{LINEAR}tokenizer_source: base", r"tokenizer_source is base, and there is no base_model"),
    "an option": (f"{LINEAR}".replace("weight: 1", "weight: 1, normalize: 3"), r"^recipe: normalize is 3; give true"),
    "a number": (TIES.replace("[1, 3]", "x"), r"^model .*/b: weight is 'x'; give a number"),
    "weights": (f"{LINEAR}".replace("weight: 1", "weight: 0"), r"^linear: the weights \(0\.0, 0\.0\) add up to 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_a_weight_is_read(root, case):
    text, message = REFUSED[case]
    with pytest.raises(ConfigError, match=message):
        plan(text, root)


@pytest.mark.parametrize("name", ["model.layers.1.mlp.down_proj.weight", "model.norm.weight"])
@pytest.mark.parametrize(("lacking", "having"), [("a", "b"), ("b", "a")])
def test_a_tensor_that_one_model_lacks(root, name, lacking, having):
    (root / lacking / "model.safetensors").unlink()
    tensors_left = weights(0)
    del tensors_left[name]
    (root / "other").mkdir()
    write(root / "other" / "x", tensors_left)
    (root / "other/x/model.safetensors").rename(root / lacking / "model.safetensors")
    message = rf"^merge: '.*/{having}' has a tensor '{name}' and '.*/{lacking}' has none \(1 such tensors\)"
    with pytest.raises(ModelError, match=message):
        plan(LINEAR, root)


def test_shapes_that_differ(root):
    (root / "b").rename(root / "old")
    write(root / "b", weights(1) | {"model.norm.weight": weights(1)["lm_head.weight"]})
    with pytest.raises(ModelError, match=r"'model.norm.weight' has shapes \(8,\) in '.*/a', \(11, 8\) in '.*/b'"):
        plan(LINEAR, root)


def test_notes_are_those_of_the_comparison(root):
    assert plan(LINEAR, root).notes == ()
    (root / "b/tokenizer.json").unlink()
    assert plan(LINEAR, root).notes == (f"vocabulary not compared: {root}/b has no tokenizer",)
