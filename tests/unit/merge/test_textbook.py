"""Every operator equals its formula, written out in `textbook`, with each option away from its default.

Task vectors are small whole numbers, so that equal magnitudes, zeros and tied votes are common and exact.
"""

import itertools
import math

import pytest
import torch

from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.tensors import merge_tensor
from assay.seeds import torch_stream
from tests.unit.merge import textbook

SHAPE = (4, 9)
MODELS = ("m0", "m1", "m2")
WEIGHTS = (1.0, 0.5, 0.5)
RESCALES = ("none", "l1", "inverse_density")
ELECTIONS = [
    dict(zip(("vote", "sign_tie", "weight_before_vote", "normalize"), values, strict=True))
    for values in itertools.product(("mass", "count"), ("plus", "zero", "global"), (True, False), (True, False))
]


def whole_numbers(*, n=3, shape=SHAPE, seed=0):
    draws = torch_stream(seed, "textbook")
    base, *deltas = (torch.randint(-3, 4, shape, generator=draws).double() for _ in range(n + 1))
    return base, deltas


def gaussian(*, n=3, shape=SHAPE, seed=0):
    draws = torch_stream(seed, "textbook")
    base, *deltas = (torch.randn(shape, generator=draws, dtype=torch.float64) for _ in range(n + 1))
    return base, deltas


def merged(name, base, tensors, numbers=None, seed=7, **options):
    group = TensorGroup("w", MODELS[: len(tensors)], tuple(tensors), base, numbers or {}, seed)
    return merge_tensor(OPERATORS[name](**options), group)


def flat(tensor):
    return tensor.reshape(-1).tolist()


def same(result, expected, *, base=None):
    wanted = torch.tensor(expected, dtype=torch.float64).reshape(result.tensor.shape)
    torch.testing.assert_close(result.tensor, wanted if base is None else base + wanted, rtol=1e-12, atol=1e-12)


def columns_of(vectors):
    return list(zip(*vectors, strict=True))


@pytest.mark.parametrize("weights", [WEIGHTS, (2.0, 1.0, 0.0), (-1.0, -0.5, -0.5)], ids=str)
@pytest.mark.parametrize("election", ELECTIONS, ids=lambda one: "-".join(map(str, one.values())))
def test_ties(election, weights):
    base, deltas = whole_numbers()
    densities = (0.4, 0.6, 1.0)
    vectors = [textbook.trimmed(flat(delta), density) for delta, density in zip(deltas, densities, strict=True)]
    result = merged(
        "ties", base, [base + delta for delta in deltas], {"weight": weights, "density": densities}, **election
    )
    same(result, textbook.elected(columns_of(vectors), weights, **election), base=base)


MASKS = {
    "ties": lambda delta, density, model: textbook.trimmed(flat(delta), density),
    "breadcrumbs": lambda delta, density, model: textbook.breadcrumbs(flat(delta), density, 0.2),
    "dare_linear": lambda delta, density, model: textbook.drawn(flat(delta), density, seed=7, name="w", model=model),
    "della": lambda delta, density, model: textbook.magpruned(
        delta.tolist(), density, 0.1, seed=7, name="w", model=model
    ),
}
MASKS |= {
    "breadcrumbs_ties": MASKS["breadcrumbs"],
    "dare_ties": MASKS["dare_linear"],
    "della_linear": MASKS["della"],
}


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("rescale", RESCALES)
@pytest.mark.parametrize("name", MASKS)
def test_trimmed_rescaled_and_added_up(name, rescale, normalize):
    base, deltas = whole_numbers()
    densities = (0.45, 0.75, 1.0)
    numbers = {"weight": WEIGHTS, "density": densities}
    numbers |= {"gamma": (0.2,) * 3} if "breadcrumbs" in name else {}
    numbers |= {"epsilon": (0.1,) * 3} if "della" in name else {}
    vectors = []
    for delta, density, model in zip(deltas, densities, MODELS, strict=True):
        kept = MASKS[name](delta, density, model)
        vectors.append(textbook.rescaled(flat(delta), kept, rescale if density != 1 else "none", density))
    options = {"rescale": rescale, "normalize": normalize, "lambda_": 0.5}
    result = merged(name, base, [base + delta for delta in deltas], numbers, **options)
    if name in ("ties", "dare_ties", "della", "breadcrumbs_ties"):
        total = textbook.elected(columns_of(vectors), WEIGHTS, normalize=normalize)
    else:
        total = [value / (sum(WEIGHTS) if normalize else 1) for value in textbook.summed(columns_of(vectors), WEIGHTS)]
    same(result, [0.5 * value for value in total], base=base)


@pytest.mark.parametrize("name", ["dare_ties", "della", "breadcrumbs_ties"])
@pytest.mark.parametrize("election", ELECTIONS, ids=lambda one: "-".join(map(str, one.values())))
def test_the_election_of_the_others_is_that_of_ties(name, election):
    base, deltas = whole_numbers()
    tensors = [base + delta for delta in deltas]
    result = merged(name, base, tensors, {"weight": WEIGHTS}, **election)
    same(result, textbook.elected(columns_of(map(flat, deltas)), WEIGHTS, **election), base=base)


@pytest.mark.parametrize("gamma", [0.0, 0.3, 0.5, 0.9])
def test_outliers_go_until_the_density_is_reached(gamma):
    base, (delta,) = whole_numbers(n=1)
    numbers = {"weight": (1.0,), "density": (0.6,), "gamma": (gamma,)}
    same(
        merged("breadcrumbs", base, [base + delta], numbers),
        textbook.breadcrumbs(flat(delta), 0.6, gamma),
        base=base,
    )


@pytest.mark.parametrize("name", ["linear", "task_arithmetic"])
@pytest.mark.parametrize("normalize", [True, False])
def test_sums(name, normalize):
    base, deltas = whole_numbers()
    weights, options = (1.0, 2.0, -0.5), {"normalize": normalize}
    divisor = sum(weights) if normalize else 1
    if name == "linear":
        result = merged(name, None, deltas, {"weight": weights}, **options)
        same(result, [value / divisor for value in textbook.summed(columns_of(map(flat, deltas)), weights)])
        return
    result = merged(name, base, [base + delta for delta in deltas], {"weight": weights}, lambda_=3.0, **options)
    total = textbook.summed(columns_of(map(flat, deltas)), weights)
    same(result, [3 * value / divisor for value in total], base=base)


@pytest.mark.parametrize("topk", [0.0, 0.3, 0.7, 1.0])
def test_sce(topk):
    base, deltas = whole_numbers()
    result = merged("sce", base, [base + delta for delta in deltas], select_topk=topk)
    same(result, textbook.sce(columns_of(map(flat, deltas)), topk), base=base)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 2.5])
def test_ram(epsilon):
    base, deltas = whole_numbers()
    tensors, columns = [base + delta for delta in deltas], columns_of(map(flat, deltas))
    same(merged("ram", base, tensors, epsilon=epsilon), textbook.ram(columns, epsilon=epsilon), base=base)
    for alpha in (0.2, 1.5, 100.0):
        result = merged("ramplus_tl", base, tensors, epsilon=epsilon, r=0.5, alpha=alpha)
        same(result, textbook.ram(columns, epsilon=epsilon, r=0.5, alpha=alpha), base=base)


@pytest.mark.parametrize("n", [2, 3])
def test_model_stock(n):
    base, deltas = gaussian(n=n)
    tensors = [base + 0.5 + delta for delta in deltas]
    whole = merged("model_stock", base, tensors)
    same(whole, textbook.model_stock(flat(base), [flat(one) for one in tensors]))
    by_row = columns_of(one.tolist() for one in tensors)
    rows = [textbook.model_stock(*row) for row in zip(base.tolist(), by_row, strict=True)]
    same(merged("model_stock", base, tensors, filter_wise=True), rows)


@pytest.mark.parametrize("with_base", [True, False])
@pytest.mark.parametrize("t", [0.25, 0.8])
def test_slerp_of_wholes_rows_and_columns(t, with_base):
    base, vectors = gaussian(n=2)
    tensors = [base + vector for vector in vectors] if with_base else vectors
    given = base if with_base else None
    numbers = {"weight": (2 * (1 - t), 2 * t)}
    one, other = vectors
    whole = textbook.slerp(flat(one), flat(other), t)
    same(merged("nuslerp", given, tensors, numbers), whole, base=given)
    rows = [textbook.slerp(*row, t) for row in zip(one.tolist(), other.tolist(), strict=True)]
    same(merged("nuslerp", given, tensors, numbers, nuslerp_flatten=False), rows, base=given)
    pairs = zip(one.T.tolist(), other.T.tolist(), strict=True)
    columns = torch.tensor([textbook.slerp(*pair, t) for pair in pairs], dtype=torch.float64).T.tolist()
    options = {"nuslerp_flatten": False, "nuslerp_row_wise": True}
    same(merged("nuslerp", given, tensors, numbers, **options), columns, base=given)
    if with_base:
        same(merged("slerp", one, [other], t=t), whole)


@pytest.mark.parametrize("with_base", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
def test_multislerp(normalize, with_base):
    base, vectors = gaussian()
    tensors = [base + vector for vector in vectors] if with_base else vectors
    given, weights = (base if with_base else None), (1.0, 2.0, 3.0)
    shares = [weight / 6 for weight in weights] if normalize else weights
    result = merged("multislerp", given, tensors, {"weight": weights}, normalize_weights=normalize)
    same(result, textbook.multislerp([flat(one) for one in vectors], shares), base=given)


def test_karcher_is_where_the_logarithms_cancel():
    """At the mean direction the angles to the inputs, taken as vectors, add up to zero; its length is the mean norm."""
    _, tensors = gaussian(n=3, seed=3)
    result = merged("karcher", None, tensors, max_iter=50, tol=1e-12)
    assert result.notes == ()
    mean = result.tensor.reshape(-1)
    length = float(mean.norm())
    assert length == pytest.approx(sum(float(one.norm()) for one in tensors) / 3, rel=1e-12)
    total = torch.zeros_like(mean)
    for one in tensors:
        unit, direction = one.reshape(-1) / one.norm(), mean / length
        along = float(unit @ direction)
        side = unit - along * direction
        total += math.acos(along) * side / side.norm()
    assert float(total.norm()) < 1e-11


@pytest.mark.parametrize("shape", [(4, 9), (3, 2, 5), (2, 21)], ids=str)
def test_arcee_fusion(shape):
    base, (delta,) = gaussian(n=1, shape=shape)
    rows = [one.reshape(-1, shape[-1]).tolist() for one in (base, base + delta)]
    same(merged("arcee_fusion", base, [base + delta]), textbook.arcee_fusion(*rows))


@pytest.mark.parametrize("t", [0.0, 0.3, 2.0])
def test_nearswap(t):
    base, (delta,) = whole_numbers(n=1)
    moved = [value * min(1.0, t / max(abs(value), 1e-6)) for value in flat(delta)]
    same(merged("nearswap", base, [base + delta], t=t), moved, base=base)
