"""The pieces that operators share: walking a tensor, factors, divisors, directions on the sphere."""

import math

import pytest
import torch

from assay.errors import ConfigError
from assay.merge.deltas import blockwise, checked_divisor, density_in_range, l1, parts, rescale_factor
from assay.merge.election import checked_divisors
from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.spheres import Ends, dot, norm, slerp_shares
from assay.merge.tensors import merge_tensor
from assay.merge.trim import Trim, largest
from assay.seeds import torch_stream

BLOCK = 262_144


@pytest.mark.parametrize("numel", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 5])
def test_slices_cover_a_tensor_once_and_in_order(numel):
    found = list(parts(numel))
    assert [one.stop - one.start for one in found] == [BLOCK] * (numel // BLOCK) + [numel % BLOCK] * (numel % BLOCK > 0)
    assert [place for one in found for place in (one.start, one.stop)] == sorted(
        [*range(0, numel, BLOCK), *range(BLOCK, numel, BLOCK), *([numel] if numel else [])]
    )


def test_blocks_are_put_in_their_places():
    like = torch.zeros(3, 100_001, dtype=torch.float64)
    result = blockwise(like, lambda part: torch.arange(part.start, part.stop, dtype=torch.float64))
    assert (result.shape, result.dtype) == (like.shape, like.dtype)
    assert torch.equal(result.reshape(-1), torch.arange(300_003, dtype=torch.float64))


def test_sums_of_absolute_values_are_in_float64():
    assert l1(torch.tensor([-1.0, 2.0, -3.5])) == 6.5
    assert l1(torch.zeros(0)) == 0.0
    assert l1(torch.full((70_000,), -1.0, dtype=torch.float16)) == 70_000
    assert l1(torch.tensor([2.0**24, 1.0])) == 2**24 + 1


@pytest.mark.parametrize(
    ("rescale", "density", "after", "factor"),
    [
        ("none", 0.5, 2.0, 1.0),
        ("l1", 0.5, 2.0, 3.0),
        ("l1", 0.5, 0.0, 1.0),
        ("l1", 0.0, 2.0, 1.0),
        ("inverse_density", 0.25, 2.0, 4.0),
        ("inverse_density", 0.25, 0.0, 1.0),
        ("inverse_density", 0.0, 2.0, 1.0),
    ],
)
def test_factors_of_rescaling(rescale, density, after, factor):
    assert rescale_factor(rescale, density=density, before=6.0, after=after) == factor


@pytest.mark.parametrize("sum_of_weights", [1e-8, -1e-8, 0.5, -2.0])
def test_divisors_are_sums_at_least_1e_8_from_zero(sum_of_weights):
    checked_divisor((sum_of_weights,), operator="x")
    with pytest.raises(ConfigError, match=r"^x: the weights \(9\.9e-09,\)"):
        checked_divisor((9.9e-9,), operator="x")


def test_shares_may_be_0_and_1():
    density_in_range((0.0, 1.0, 0.5), operator="x")
    for value in (-1e-9, 1 + 1e-9):
        with pytest.raises(ConfigError, match=rf"^x: gamma {value}; "):
            density_in_range((0.5, value), operator="x", name="gamma")


@pytest.mark.parametrize("weights", [(1.0,), (0.0, 2.0), (-1.0, -1.0), (1.0, -2.0, 4.0), (1e-7, 1.0, -1.0 + 1e-7)])
def test_weights_that_do_not_cancel(weights):
    checked_divisors(weights, operator="x")


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((0.0, 0.0), r"the weights \(0\.0, 0\.0\) add up to 0"),
        ((), r"the weights \(\) add up to 0"),
        ((1.0, 0.0, -1.0), r"the weights \(1\.0, -1\.0\) cancel"),
        ((0.5, -0.5), r"the weights \(0\.5, -0\.5\) cancel"),
        ((5.0, 1.0, 2.0, -3.0), r"the weights \(1\.0, 2\.0, -3\.0\) cancel"),
        ((1.0, 2.0, 4.0, -7.0), r"the weights \(1\.0, 2\.0, 4\.0, -7\.0\) cancel"),
        ((1.0, -1.0 + 9e-9), r"the weights \(1\.0, -0\.999999991\) cancel"),
        ((*[1.0] * 12, -20.5), "13 weights of both signs with normalize; at most 12"),
    ],
)
def test_weights_that_cancel_are_named(weights, message):
    with pytest.raises(ConfigError, match=rf"^x: {message}"):
        checked_divisors(weights, operator="x")


def test_many_weights_are_searched_or_need_no_search():
    checked_divisors((*[1.0] * 11, -20.5), operator="x")
    checked_divisors((1.0,) * 13, operator="x")
    checked_divisors((-1.0,) * 13, operator="x")


def entries(*values):
    tensor = torch.tensor(values)
    return lambda part: tensor[part]


def test_a_trim_is_a_threshold_and_a_place():
    assert largest(entries(1.0, -3.0, 2.0), 3, 3) == Trim(-1.0, 0)
    assert largest(entries(1.0, -3.0, 2.0), 3, 4) == Trim(-1.0, 0)
    assert largest(entries(1.0, -3.0, 2.0), 3, 0) == Trim(math.inf, 0)
    assert largest(entries(1.0, -3.0, 2.0), 3, 1) == Trim(3.0, 3)
    assert largest(entries(2.0, -1.0, 2.0, 2.0, 5.0), 5, 3) == Trim(2.0, 3)
    mask = Trim(2.0, 3).mask(torch.tensor([2.0, 1.0, 2.0, 2.0, 5.0]), slice(0, 5))
    assert mask.tolist() == [True, False, True, False, True]
    assert Trim(2.0, 3).mask(torch.tensor([2.0, 2.0, 7.0]), slice(2, 5)).tolist() == [True, False, True]
    assert Trim(2.0, 3).mask(torch.tensor([2.0, 7.0]), slice(3, 5)).tolist() == [False, True]


def test_inner_products_and_norms_are_summed_in_float64():
    one = torch.full((BLOCK + 10,), 1.0)
    one[0] = 2.0**13
    assert dot(one, one) == 2.0**26 + BLOCK + 9
    assert norm(one) == math.sqrt(2.0**26 + BLOCK + 9)
    assert dot(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]])) == 1.0


@pytest.mark.parametrize("largest_entry", [1e-38, 1e-30, 1e-29, 1.0, 1e29, 1e30, 1e38])
def test_norms_neither_underflow_nor_overflow(largest_entry):
    assert norm(torch.tensor([3.0, -4.0]) * (largest_entry / 4)) == pytest.approx(1.25 * largest_entry, rel=1e-6)
    huge = torch.tensor([3.0, -4.0], dtype=torch.float64) * largest_entry**7
    assert norm(huge) == pytest.approx(5.0 * largest_entry**7, rel=1e-6)


def test_norms_of_nothing_are_zero():
    assert norm(torch.zeros(0)) == norm(torch.zeros(3)) == 0.0


HOW = {"parallel": 0.9995, "allow_antipodal": False, "where": "here"}


def test_shares_of_slerp():
    angle = math.acos(0.5)
    shares = slerp_shares(0.25, 0.5, **HOW)
    assert shares.first == pytest.approx(math.sin(0.75 * angle) / math.sin(angle))
    assert shares.second == pytest.approx(math.sin(0.25 * angle) / math.sin(angle))
    assert shares.notes == ()
    assert slerp_shares(0.25, 0.9996, **HOW) == Ends(0.75, 0.25)
    assert slerp_shares(0.25, 1.0 + 1e-12, **HOW) == Ends(0.75, 0.25)
    assert slerp_shares(0.25, 0.9995, **HOW) != Ends(0.75, 0.25)
    assert slerp_shares(0.25, -0.9995, **HOW).notes == ()


def test_opposite_ends():
    with pytest.raises(ConfigError, match=r"^here: .*cosine -1\.000000"):
        slerp_shares(0.25, -1.0 - 1e-12, **HOW)
    straight = slerp_shares(0.25, -0.9996, **HOW | {"allow_antipodal": True})
    assert straight == Ends(0.75, 0.25, ("degenerate: antipodal",))


def merged(name, tensors, *, base=None, weights=None, **options):
    numbers = {} if weights is None else {"weight": weights}
    group = TensorGroup("w", tuple("abcd"[: len(tensors)]), tuple(tensors), base, numbers)
    return merge_tensor(OPERATORS[name](**options), group)


def rows(*values):
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("name", ["slerp", "nuslerp", "multislerp", "karcher"])
def test_one_entry_is_merged_on_the_straight_path(name):
    weights = (1.0, 3.0) if name in ("nuslerp", "multislerp") else None
    first, second = rows(2.0), rows(-6.0)
    if name == "slerp":
        result, expected = merged(name, [second], base=first, t=0.75), -4.0
    else:
        result = merged(name, [first, second], weights=weights)
        expected = -2.0 if name == "karcher" else -4.0
    assert (result.tensor.tolist(), result.notes) == ([expected], ("degenerate: one_entry",))


@pytest.mark.parametrize(("axis", "shape"), [(False, (4, 1)), (True, (1, 4))])
def test_vectors_of_one_entry_are_merged_on_the_straight_path(axis, shape):
    draws = torch_stream(0, "one entry")
    one, other = (torch.randn(shape, generator=draws, dtype=torch.float64) for _ in range(2))
    result = merged("nuslerp", [one, other], weights=(2.0, 1.0), nuslerp_flatten=False, nuslerp_row_wise=axis)
    torch.testing.assert_close(result.tensor, 2 / 3 * one + other / 3, rtol=1e-13, atol=0)
    assert result.notes == ("degenerate: one_entry",)
    arc = merged("nuslerp", [one, other], weights=(3.0, 1.0), nuslerp_flatten=False, nuslerp_row_wise=not axis)
    assert arc.notes == ()


def test_each_row_keeps_to_its_own_edge():
    one = rows([1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0])
    other = rows([-2.0, 0.0], [3.0, 4.0], [2.0, 2.0], [0.0, 1.0])
    options = {"nuslerp_flatten": False, "weights": (3.0, 1.0)}
    result = merged("nuslerp", [one, other], allow_antipodal=True, **options)
    assert result.notes == ("degenerate: zero_norm", "degenerate: antipodal")
    torch.testing.assert_close(result.tensor[:3], 0.75 * one[:3] + 0.25 * other[:3])
    assert float(result.tensor[3].norm()) == pytest.approx(1.0)
    with pytest.raises(ConfigError, match=r"'w': 1 of 4 pairs of vectors .*cosine down to -1\.000000"):
        merged("nuslerp", [one, other], **options)


@pytest.mark.parametrize("cosine", [-0.99951, -0.99949])
def test_where_opposite_begins(cosine):
    one, other = rows(1.0, 0.0), rows(cosine, math.sqrt(1 - cosine**2))
    for name, weights in (("nuslerp", (1.0, 1.0)), ("multislerp", (1.0, 1.0)), ("karcher", None)):
        if cosine < -0.9995:
            with pytest.raises(ConfigError, match=f"^{name}: tensor 'w'"):
                merged(name, [one, other], weights=weights)
            with pytest.raises(ConfigError, match=r"^slerp: tensor 'w': the two ends point opposite ways"):
                merged("slerp", [other], base=one, t=0.5)
            straight = merged(name, [one, other], weights=weights, allow_antipodal=True)
            torch.testing.assert_close(straight.tensor, (one + other) / 2)
            assert straight.notes == ("degenerate: antipodal",)
        else:
            assert merged(name, [one, other], weights=weights).notes == ()


def test_directions_that_cancel_have_no_mean():
    thirds = [rows(math.cos(angle), math.sin(angle)) for angle in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)]
    for name, weights in (("multislerp", (1.0, 1.0, 1.0)), ("karcher", None)):
        with pytest.raises(ConfigError, match=f"^{name}: tensor 'w'"):
            merged(name, thirds, weights=weights)
    short = [rows(1.0, 0.0), rows(-0.9, math.sqrt(1 - 0.81)), rows(-0.1, -math.sqrt(1 - 0.81))]
    merged("multislerp", short, weights=(1.0, 1.0, 1.0), eps=1e-8)
    with pytest.raises(ConfigError, match="cancel"):
        merged("multislerp", short, weights=(1.0, 1.0, 1.0), eps=0.5)


def test_one_input_gives_itself():
    one = rows(1.0, 2.0, 0.0)
    for name in ("karcher", "multislerp"):
        result = merged(name, [one], weights=(0.3,) if name == "multislerp" else None)
        assert torch.equal(result.tensor, one)
        assert result.tensor is not one
        assert result.notes == ()


def test_karcher_says_when_it_has_not_settled():
    draws = torch_stream(0, "karcher")
    tensors = [torch.rand(4, generator=draws, dtype=torch.float64) ** 4 for _ in range(3)]
    none = merged("karcher", tensors, max_iter=0)
    assert none.notes == ("not settled: 0 steps, the last of inf",)
    units = sum(one / one.norm() for one in tensors)
    length = sum(float(one.norm()) for one in tensors) / 3
    torch.testing.assert_close(none.tensor, length * units / units.norm())
    once = merged("karcher", tensors, max_iter=1, tol=1e-12)
    assert once.notes[0].startswith("not settled: 1 steps, the last of ")
    assert float(once.notes[0].rsplit(" ", 1)[1]) > 1e-3
    settled = merged("karcher", tensors, max_iter=100, tol=1e-12)
    assert settled.notes == ()
    assert float((once.tensor - settled.tensor).norm()) < 0.2 * float((none.tensor - settled.tensor).norm())
