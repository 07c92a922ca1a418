"""mergekit on the same inputs: operators tensor by tensor, and whole checkpoints of a tiny llama."""

import json
import subprocess
import sys

import pytest
import torch
from mergekit.config import MergeConfiguration
from mergekit.merge import run_merge
from mergekit.merge_methods.api import merge_tensors
from mergekit.options import MergeOptions
from safetensors.torch import load_file

from assay.errors import ConfigError, ModelError
from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.recipe import parse_recipe
from assay.merge.streaming import merge_checkpoints, merge_file
from assay.merge.tensors import merge_tensor
from assay.models.tiny import TinyRandom, save_tiny
from assay.seeds import torch_stream

METHODS = list(OPERATORS)
SPELLED = {"lambda_": "lambda"}


def drawn(count, seed, shape=(40, 25), dtype=torch.float32):
    draws = torch_stream(seed, "peer")
    base = torch.randn(shape, generator=draws)
    inputs = [base + 0.3 * torch.randn(shape, generator=draws) for _ in range(count)]
    return base.to(dtype), [one.to(dtype) for one in inputs]


def both(name, *, n=3, per_input=None, seed=0, with_base=None, dtype=torch.float32, **options):
    """The result of both on the same tensors: ours, theirs."""
    operator = OPERATORS[name](**options)
    needs = operator.base != "ignored" if with_base is None else with_base
    base, inputs = drawn(n, seed, dtype=dtype)
    numbers = {key: tuple(values) for key, values in (per_input or {}).items()}
    group = TensorGroup("w", tuple("abcdefgh"[:n]), tuple(inputs), base if needs else None, numbers)
    ours = merge_tensor(operator, group).tensor
    theirs = {SPELLED.get(key, key): value for key, value in options.items()}
    if "rescale" in theirs:
        theirs["rescale"] = theirs["rescale"] != "none"
    ids = [*("abcdefgh"[:n]), *(["base"] if needs else [])]
    theirs |= {key: dict(zip(ids, values, strict=False)) for key, values in numbers.items()}
    tensors = [*inputs, *([base] if needs else [])]
    index = len(inputs) if needs else None
    return ours, merge_tensors(tensors, name, parameters=theirs, ids=ids, base_index=index)


WEIGHTS = (0.6, 0.3, 0.4)
EQUAL = [
    ("linear", {"per_input": {"weight": WEIGHTS}}),
    ("linear", {"per_input": {"weight": (1.5, -0.2, 0.4)}, "normalize": False}),
    ("slerp", {"n": 1, "t": 0.3}),
    ("slerp", {"n": 1, "t": 1.2}),
    ("nuslerp", {"n": 2, "per_input": {"weight": WEIGHTS[:2]}, "with_base": False}),
    ("nuslerp", {"n": 2, "per_input": {"weight": WEIGHTS[:2]}}),
    ("nuslerp", {"n": 2, "per_input": {"weight": WEIGHTS[:2]}, "nuslerp_flatten": False, "with_base": False}),
    (
        "nuslerp",
        {"n": 2, "per_input": {"weight": WEIGHTS[:2]}, "nuslerp_flatten": False, "nuslerp_row_wise": True},
    ),
    ("multislerp", {"per_input": {"weight": WEIGHTS}}),
    ("multislerp", {"per_input": {"weight": WEIGHTS}, "with_base": False}),
    ("multislerp", {"per_input": {"weight": WEIGHTS}, "normalize_weights": False}),
    ("karcher", {}),
    ("karcher", {"n": 2}),
    ("task_arithmetic", {"per_input": {"weight": WEIGHTS}, "lambda_": 0.7}),
    ("task_arithmetic", {"per_input": {"weight": WEIGHTS}, "normalize": True}),
    ("ties", {"per_input": {"weight": WEIGHTS}}),
    ("ties", {"per_input": {"weight": WEIGHTS, "density": (0.2, 0.5, 1.0)}, "lambda_": 1.3}),
    ("ties", {"per_input": {"weight": WEIGHTS, "density": (0.2, 0.0, 0.001)}, "normalize": False}),
    ("ties", {"per_input": {"weight": WEIGHTS, "density": (0.2, 0.5, 0.9)}, "rescale": "l1"}),
    ("breadcrumbs", {"per_input": {"weight": WEIGHTS, "density": (0.5, 0.9, 0.3), "gamma": (0.01, 0.05, 0.2)}}),
    ("breadcrumbs", {"per_input": {"weight": WEIGHTS, "density": (0.5, 0.97, 0.3)}, "rescale": "l1"}),
    ("breadcrumbs_ties", {"per_input": {"weight": WEIGHTS, "density": (0.5, 0.9, 0.3)}, "normalize": True}),
    ("dare_linear", {"per_input": {"weight": WEIGHTS}}),
    ("dare_ties", {"per_input": {"weight": WEIGHTS, "density": (0.0, 1.0, 1.0)}}),
    ("della", {"per_input": {"weight": WEIGHTS}}),
    ("della_linear", {"per_input": {"weight": WEIGHTS, "density": (0.0, 1.0, 1.0)}}),
    ("sce", {}),
    ("sce", {"select_topk": 0.3}),
    ("model_stock", {}),
    ("model_stock", {"filter_wise": True}),
    ("nearswap", {"n": 1, "t": 0.2}),
    ("ram", {"epsilon": 0.2}),
    ("ramplus_tl", {"epsilon": 0.2, "r": 0.3}),
    ("arcee_fusion", {"n": 1}),
    ("passthrough", {"n": 1, "scale": 0.5}),
    ("passthrough", {"n": 1}),
]


@pytest.mark.parametrize(("name", "options"), EQUAL, ids=[f"{name}-{place}" for place, (name, _) in enumerate(EQUAL)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_same_numbers(name, options, dtype):
    ours, theirs = both(name, dtype=dtype, **options)
    assert ours.dtype == theirs.dtype
    tolerance = 2e-6 if dtype is torch.float32 else 1e-12
    if name in ("multislerp", "nuslerp", "karcher", "ramplus_tl"):
        tolerance = max(tolerance, 1e-6)  # they add eps to norms, or leave float64 on the way
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


ONLY_OURS: set[str] = set()
"""Operators that mergekit does not have."""


def test_every_method_is_compared():
    assert {name for name, _ in EQUAL} | ONLY_OURS == set(METHODS)


def test_other_options_are_another_result():
    """The twin: a density that differs by one entry is seen."""
    ours, _ = both("ties", per_input={"weight": WEIGHTS, "density": (0.2,) * 3})
    _, theirs = both("ties", per_input={"weight": WEIGHTS, "density": (0.201,) * 3})
    assert not torch.equal(ours, theirs)


@pytest.mark.parametrize("name", ["dare_linear", "della_linear"])
def test_random_methods_rescale_alike(name):
    """With one input the mask can be read from the result; kept entries are the task vector times the L1 ratio."""
    numbers = {"weight": (1.0,), "density": (0.4,)}
    for result in both(name, n=1, per_input=numbers):
        base, (tensor,) = drawn(1, 0)
        delta, change = tensor - base, result - base
        kept = change.abs() > 1e-6
        assert 0.3 < kept.double().mean() < 0.5
        factor = (delta.abs().sum() / (delta * kept).abs().sum()).item()
        torch.testing.assert_close(change[kept], delta[kept] * factor, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    root = tmp_path_factory.mktemp("llamas")
    for seed in range(3):
        (root / f"m{seed}").mkdir()
        save_tiny(root / f"m{seed}", TinyRandom("llama", seed, n_layers=3))
    return root


RECIPES = {
    "linear": """
        merge_method: linear
        models:
          - {model: M0, parameters: {weight: [1, 0]}}
          - {model: M1, parameters: {weight: [0, 1]}}
        dtype: float32""",
    "ties": """
        merge_method: ties
        base_model: M0
        models:
          - {model: M1, parameters: {weight: 0.6, density: 0.5}}
          - {model: M2, parameters: {weight: 0.4, density: [0.2, 0.8]}}
        parameters: {normalize: true, int8_mask: true, lambda: 0.9}
        dtype: float32""",
    "slerp with filters": """
        merge_method: slerp
        base_model: M0
        models: [{model: M0}, {model: M1}]
        parameters:
          t:
            - {filter: self_attn, value: [0, 0.5, 0.3, 0.7, 1]}
            - {filter: mlp, value: [1, 0.5, 0.7, 0.3, 0]}
            - value: 0.5
        dtype: float32""",
    "slices": """
        merge_method: task_arithmetic
        base_model: M0
        slices:
          - sources:
              - {model: M0, layer_range: [0, 2]}
              - {model: M1, layer_range: [1, 3], parameters: {weight: 0.7}}
            parameters: {lambda: 0.5}
          - sources:
              - {model: M0, layer_range: [1, 3]}
              - {model: M2, layer_range: [0, 2], parameters: {weight: [0.2, 0.4]}}
        parameters: {lambda: 2.0}
        dtype: float32""",
    "stack": """
        merge_method: passthrough
        slices:
          - sources: [{model: M0, layer_range: [0, 2]}]
          - sources: [{model: M1, layer_range: [1, 3], parameters: {}}]
        parameters: {scale: [{filter: o_proj, value: 0.5}, {value: 1.0}]}
        dtype: float32""",
    "bfloat16 out": """
        merge_method: model_stock
        base_model: M0
        models: [{model: M1}, {model: M2}]
        dtype: float32
        out_dtype: bfloat16""",
}


def spelled(name, root):
    text = "\n".join(line[8:] for line in RECIPES[name].splitlines())
    for seed in range(3):
        text = text.replace(f"M{seed}", str(root / f"m{seed}"))
    return text


@pytest.mark.parametrize("name", RECIPES)
def test_whole_checkpoints(name, checkpoints, tmp_path):
    import yaml

    text = spelled(name, checkpoints)
    recipe = parse_recipe(text, METHODS)
    merge_checkpoints(recipe, tmp_path / "ours")
    run_merge(
        MergeConfiguration.model_validate(yaml.safe_load(text)), str(tmp_path / "theirs"), MergeOptions(quiet=True)
    )
    ours, theirs = (load_file(tmp_path / side / "model.safetensors") for side in ("ours", "theirs"))
    assert {key: tensor.dtype for key, tensor in ours.items()} == {key: tensor.dtype for key, tensor in theirs.items()}
    for key, tensor in ours.items():
        tolerance = 2e-6 if tensor.dtype is torch.float32 else 8e-3
        torch.testing.assert_close(
            tensor, theirs[key], rtol=tolerance, atol=tolerance, msg=lambda m, key=key: f"{key}: {m}"
        )
    configs = [json.loads((tmp_path / side / "config.json").read_text()) for side in ("ours", "theirs")]
    assert configs[0]["num_hidden_layers"] == configs[1]["num_hidden_layers"]


REFUSED = {
    "an unknown key": ("slerp with filters", "models:", "modells:", "Did you mean 'models'"),
    "an unknown parameter": ("ties", "lambda: 0.9", "lamda: 0.9", "Did you mean 'lambda'"),
    "a wrong method": ("ties", "merge_method: ties", "merge_method: dare-ties", "Did you mean 'dare_ties'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_mergekit_passes_over_is_refused(case, checkpoints):
    name, there, instead, message = REFUSED[case]
    text = spelled(name, checkpoints)
    assert there in text
    (checkpoints / "wrong.yml").write_text(text.replace(there, instead, 1))
    with pytest.raises(ConfigError, match=message):
        merge_file(checkpoints / "wrong.yml", checkpoints / "never")
    assert not (checkpoints / "never").exists()


def test_other_rope_is_refused(checkpoints, tmp_path):
    """mergekit compares the class of the architecture only and merges these."""
    import shutil

    shutil.copytree(checkpoints / "m1", tmp_path / "m1")
    config = json.loads((tmp_path / "m1/config.json").read_text())
    config["rope_parameters"]["rope_theta"] = 5e5
    (tmp_path / "m1/config.json").write_text(json.dumps(config))
    text = spelled("linear", checkpoints).replace(str(checkpoints / "m1"), str(tmp_path / "m1"))
    with pytest.raises(ModelError, match=r"rope: .*10000.* and .*500000"):
        merge_checkpoints(parse_recipe(text, METHODS), tmp_path / "never")


def test_command_line(checkpoints, tmp_path):
    (tmp_path / "recipe.yml").write_text(spelled("ties", checkpoints))
    command = [sys.executable, "-m", "assay", "merge", str(tmp_path / "recipe.yml"), str(tmp_path / "out"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["tensors"] == 30
