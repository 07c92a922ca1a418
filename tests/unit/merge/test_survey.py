"""Whole-model scope: thresholds, rescaling and majority signs over all tensors at once."""

import pytest
import torch

from assay.errors import ConfigError
from assay.merge.operator import TensorGroup
from assay.merge.survey import surveyed
from assay.merge.tensors import merge_state_dicts
from assay.merge.ties import Ties
from assay.seeds import torch_stream

SHAPES = {"a": (13, 7), "b": (50,), "c": (3, 4, 5), "d": (600, 500)}


def models(n=3, dtype=torch.float32):
    draws = torch_stream(0, "survey")
    base = {name: torch.randn(shape, generator=draws).to(dtype) for name, shape in SHAPES.items()}
    scales = {"a": 1.0, "b": 0.1, "c": 3.0, "d": 0.5}
    inputs = {
        f"m{i}": {
            name: base[name] + scales[name] * torch.randn(shape, generator=draws) for name, shape in SHAPES.items()
        }
        for i in range(n)
    }
    return base, inputs


def flat(tensors):
    return torch.cat([tensors[name].reshape(-1) for name in sorted(tensors)])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("rescale", ["none", "l1", "inverse_density"])
def test_model_scope_is_ties_on_the_flat_model(dtype, rescale):
    """All tensors in one: the arithmetic of the authors' code, whose trim and majority are over the whole model."""
    base, inputs = models(dtype=dtype)
    options = {"rescale": rescale, "sign_tie": "global", "weight_before_vote": False}
    numbers = {"weight": (1.0,) * 3, "density": (0.2, 0.5, 0.9)}
    apart = merge_state_dicts(Ties(scope="model", **options), inputs, base=base, per_input=numbers)
    whole = merge_state_dicts(
        Ties(scope="tensor", **options),
        {model: {"all": flat(tensors)} for model, tensors in inputs.items()},
        base={"all": flat(base)},
        per_input=numbers,
    )
    torch.testing.assert_close(flat({name: one.tensor for name, one in apart.items()}), whole["all"].tensor)


def test_tensor_scope_is_another_result():
    """The twin: scales differ between tensors, so the two scopes keep other entries."""
    base, inputs = models()
    numbers = {"weight": (1.0,) * 3, "density": (0.2,) * 3}
    results = [
        flat(
            {
                name: one.tensor
                for name, one in merge_state_dicts(Ties(scope=scope), inputs, base=base, per_input=numbers).items()
            }
        )
        for scope in ("model", "tensor")
    ]
    assert not torch.equal(*results)


def test_reference_arithmetic():
    """trim, elect with the global majority, disjoint mean: written out on one vector, with one entry fewer kept."""
    base, inputs = models()
    deltas = torch.stack([flat(one) - flat(base) for one in inputs.values()])
    keep = int(0.2 * deltas.shape[1])
    threshold = deltas.abs().kthvalue(deltas.shape[1] - keep + 1, dim=1, keepdim=True).values
    trimmed = deltas * (deltas.abs() >= threshold)
    elected = trimmed.sum(dim=0).sign()
    elected[elected == 0] = elected.sum().sign()
    agreeing = trimmed * ((trimmed.sign() == elected) & (trimmed != 0))
    expected = flat(base) + agreeing.sum(dim=0) / (agreeing != 0).sum(dim=0).clamp(min=1)
    operator = Ties(scope="model", sign_tie="global", weight_before_vote=False)
    ours = merge_state_dicts(operator, inputs, base=base, per_input={"weight": (1.0,) * 3, "density": (0.2,) * 3})
    torch.testing.assert_close(flat({name: one.tensor for name, one in ours.items()}), expected)


def test_equal_magnitudes_are_kept_by_name_of_tensor():
    inputs = {"m": {"a": torch.ones(4), "b": torch.ones(4)}}
    base = {"a": torch.zeros(4), "b": torch.zeros(4)}
    numbers = {"weight": (1.0,), "density": (0.625,)}
    result = merge_state_dicts(Ties(scope="model"), inputs, base=base, per_input=numbers)
    assert [result[name].tensor.tolist() for name in "ab"] == [[1, 1, 1, 1], [1, 0, 0, 0]]


def test_numbers_must_be_the_same_for_all_tensors():
    def group(name):
        density = {"a": 0.5, "b": 0.6}[name]
        return TensorGroup(name, ("m",), (torch.ones(2),), torch.zeros(2), {"weight": (1.0,), "density": (density,)})

    with pytest.raises(ConfigError, match="tensor 'b' has others"):
        surveyed(Ties(scope="model"), ["a", "b"], group)
    assert surveyed(Ties(), ["a", "b"], group) == {}
