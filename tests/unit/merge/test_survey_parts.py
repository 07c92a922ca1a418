"""Counting over a model that is not held: thresholds, shares of tensors and majorities, against sorting everything."""

import pytest
import torch

from assay.errors import ConfigError
from assay.merge.operator import OPERATORS, Facts, TensorGroup
from assay.merge.sparse import delta_of, sparse, votes
from assay.merge.survey import surveyed
from assay.merge.tensors import merge_state_dicts
from assay.merge.ties import Ties
from assay.seeds import torch_stream
from tests.unit.merge import textbook

SIZES = {"a": (3, 4), "b": (0,), "c": (30,), "d": (2, 3, 2)}


def models(kind, *, n=2, whole=True, scale=1.0):
    """Whole numbers, so that many magnitudes are equal; or normal ones."""
    draws = torch_stream(5, "survey parts")
    made = []
    for _ in range(n):
        tensors = {}
        for name, shape in SIZES.items():
            drawn = torch.randint(-9, 10, shape, generator=draws) if whole else torch.randn(shape, generator=draws)
            tensors[name] = (scale * drawn.double()).to(kind)
        made.append(tensors)
    return made


def groups(inputs, numbers, *, base=None):
    def opened(name):
        tensors = tuple(one[name] for one in inputs)
        zero = torch.zeros_like(tensors[0]) if base is None else base[name]
        return TensorGroup(name, tuple(f"m{i}" for i in range(len(inputs))), tensors, zero, numbers)

    return opened


def kept_by_sorting(tensors, keep):
    """How many entries of each tensor are among the ``keep`` largest; of equal ones those of the first names."""
    entries = [
        (-abs(value), name, at) for name in tensors for at, value in enumerate(tensors[name].reshape(-1).tolist())
    ]
    first = sorted(entries)[:keep]
    return {name: sum(one[1] == name for one in first) for name in tensors}


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("density", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
def test_entries_that_each_tensor_keeps(kind, whole, density):
    inputs = models(kind, whole=whole)
    numel = sum(one.numel() for one in inputs[0].values())
    numbers = {"weight": (1.0, 1.0), "density": (density, 0.5)}
    facts = surveyed(Ties(scope="model"), list(SIZES), groups(inputs, numbers))
    keep = 0 if density == 0 else numel if density == 1 else max(1, int(density * numel))
    counts = [kept_by_sorting(inputs[0], keep), kept_by_sorting(inputs[1], numel // 2)]
    assert {name: one.keep for name, one in facts.items()} == {
        name: (counts[0][name], counts[1][name]) for name in SIZES
    }
    assert {one.factor for one in facts.values()} == {(1.0, 1.0)}
    assert {one.majority for one in facts.values()} == {0.0}


@pytest.mark.parametrize("scale", [1e-40, 1e-20, 1.0, 1e20, 2.0**100])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
def test_magnitudes_of_any_size(kind, scale):
    inputs = models(kind, whole=False, scale=scale)
    numbers = {"weight": (1.0, 1.0), "density": (0.2, 0.7)}
    facts = surveyed(Ties(scope="model"), list(SIZES), groups(inputs, numbers))
    counts = [kept_by_sorting(one, int(density * 54)) for one, density in zip(inputs, (0.2, 0.7), strict=True)]
    assert {name: one.keep for name, one in facts.items()} == {
        name: tuple(count[name] for count in counts) for name in SIZES
    }


@pytest.mark.parametrize("density", [0.0, 0.01, 0.3, 0.77, 1.0])
@pytest.mark.parametrize("rescale", ["none", "l1", "inverse_density"])
def test_factors_are_over_the_whole_model(rescale, density):
    inputs = models(torch.float64)
    facts = surveyed(
        Ties(scope="model", rescale=rescale),
        list(SIZES),
        groups(inputs, {"weight": (1.0,) * 2, "density": (density, 1.0)}),
    )
    values = [value for name in SIZES for value in inputs[0][name].reshape(-1).tolist()]
    kept = textbook.trimmed(values, density)
    before, after = (sum(map(abs, one)) for one in (values, kept))
    factor = {"none": 1.0, "l1": before / after if after else 1.0, "inverse_density": 1 / density if after else 1.0}
    for one in facts.values():
        assert one.factor == (pytest.approx(factor[rescale]), 1.0)


@pytest.mark.parametrize("signs", [(1, 1, -1), (-1, -1, 1), (1, -1, 0)])
def test_the_majority_counts_coordinates_of_all_tensors(signs):
    inputs = {"m": {name: torch.tensor([float(sign)]) for name, sign in zip("abc", signs, strict=True)}}
    inputs["n"] = {name: torch.tensor([5.0 * sign]) for name, sign in zip("abc", signs, strict=True)}
    base = {name: torch.zeros(1) for name in "abc"}
    tied = {"m": {"t": torch.tensor([2.0])}, "n": {"t": torch.tensor([-2.0])}}
    everyone = {model: inputs[model] | tied[model] for model in inputs}
    numbers = {"weight": (1.0, 1.0)}
    operator = Ties(scope="model", sign_tie="global")
    merged = merge_state_dicts(operator, everyone, base=base | {"t": torch.zeros(1)}, per_input=numbers)
    majority = (sum(signs) > 0) - (sum(signs) < 0)
    assert merged["t"].tensor.tolist() == [2.0 * majority]
    opened = groups(list(everyone.values()), numbers)
    assert {one.majority for one in surveyed(operator, list("abct"), opened).values()} == {float(majority)}
    plus = surveyed(Ties(scope="model"), list("abct"), opened)
    assert {one.majority for one in plus.values()} == {0.0}


def test_a_majority_is_of_what_the_trim_left():
    """Two entries of plus are trimmed away; the one of minus that is left has the majority."""
    tensors = [{"a": torch.tensor([1.0, 1.0, 0.0]), "b": torch.tensor([-9.0])}]
    opened = groups(tensors, {"weight": (1.0,), "density": (0.25,)})
    facts = surveyed(Ties(scope="model", sign_tie="global"), ["a", "b"], opened)
    assert facts == {"a": Facts((0,), (1.0,), -1.0), "b": Facts((1,), (1.0,), -1.0)}


def test_only_ties_over_the_model_are_surveyed():
    opened = groups(models(torch.float32), {"weight": (1.0, 1.0)})
    assert surveyed(OPERATORS["dare_ties"](), list(SIZES), opened) == {}
    assert surveyed(Ties(scope="tensor"), list(SIZES), opened) == {}
    assert surveyed(Ties(scope="model"), [], opened) == {}
    with pytest.raises(ConfigError, match=r"^ties: every input needs a 'weight'"):
        surveyed(Ties(scope="model"), list(SIZES), groups(models(torch.float32), {}))


def test_numbers_that_differ_are_named():
    def opened(name):
        weight = {"a": 1.0, "b": 1.0, "c": 2.0}[name]
        return TensorGroup(name, ("m",), (torch.ones(2),), torch.zeros(2), {"weight": (weight,)})

    with pytest.raises(ConfigError, match=r"^ties: scope model needs one weight and density .*tensor 'c' has others"):
        surveyed(Ties(scope="model"), list("abc"), opened)


def test_mixed_types_are_counted_in_the_wider():
    base = {"a": torch.zeros(4, dtype=torch.float64)}
    inputs = [{"a": torch.tensor([1.0, 2.0, 3.0, 4.0])}]
    facts = surveyed(Ties(scope="model"), ["a"], groups(inputs, {"weight": (1.0,), "density": (0.5,)}, base=base))
    assert facts == {"a": Facts((2,), (1.0,), 0.0)}


def test_votes_of_one_tensor():
    draws = torch_stream(0, "votes")
    deltas = [torch.randint(-2, 3, (300_000,), generator=draws).double() for _ in range(2)]
    group = TensorGroup(
        "w", ("a", "b"), tuple(deltas), torch.zeros(300_000, dtype=torch.float64), {"weight": (1.0, 2.0)}
    )
    vectors = [sparse(group, place, kept=None, rescale="none", density=1.0) for place in range(2)]
    total = (deltas[0] + 2 * deltas[1]).sign().sum()
    assert votes(group, vectors, Ties().election) == float(total)


@pytest.mark.parametrize(("rescale", "factor"), [("none", 1.0), ("l1", 2.0), ("inverse_density", 4.0)])
def test_sparse_vectors_of_more_than_a_block(rescale, factor):
    n = 300_000
    group = TensorGroup("w", ("a",), (torch.full((n,), 3.0),), torch.ones(n), {"weight": (1.0,)})
    half = sparse(group, 0, kept=lambda delta, part: torch.arange(part.start, part.stop) % 2 == 0, rescale=rescale,
                  density=0.25)  # fmt: skip
    assert half.factor == factor
    piece = half.piece(delta_of(group, 0)(slice(3, 7)), slice(3, 7))
    assert piece.tolist() == [0.0, 2.0 * factor, 0.0, 2.0 * factor]
    everything = sparse(group, 0, kept=None, rescale=rescale, density=0.25)
    assert (everything.factor, everything.kept) == (1.0, None)
    assert everything.piece(delta_of(group, 0)(slice(0, 2)), slice(0, 2)).tolist() == [2.0, 2.0]
