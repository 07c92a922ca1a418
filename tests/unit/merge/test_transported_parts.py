"""The carried merge written out for one projection, its edges, and what refusals name."""

import math

import numpy as np
import pytest
import torch

from assay.controls.plans import PLAN_CONTROLS, PlanControl
from assay.errors import EstimateError, ShapeError
from assay.merge.carrying import carried_weight
from assay.merge.selection import Selection
from assay.merge.transported import Donor, Fusion, Interfaces, Linear, fused, transported_block
from assay.seeds import stream
from assay.transport.coupling import BarycentricMap

HALF, SINGLE, DOUBLE = torch.float16, torch.float32, torch.float64


def coupling(n, m, seed):
    """Some coupling with uniform rows; its columns are what they are."""
    rows = np.random.default_rng(seed).random((n, m))
    return BarycentricMap(rows / rows.sum(axis=1, keepdims=True)).coupling()


ROWS, COLUMNS, NONE = (
    Selection("out", np.array([0, 2])), Selection("in", np.array([1])), Selection("out", np.array([], dtype=np.int64)),
)  # fmt: skip


@pytest.mark.parametrize("kind", [HALF, DOUBLE], ids=str)
def test_fusing_keeps_type_input_and_what_is_not_selected(kind):
    own = torch.ones(3, 2, dtype=kind)
    carried = torch.full((2, 2), 3.0, dtype=SINGLE if kind is HALF else DOUBLE)
    result = fused(own, carried, alpha=0.25, selection=ROWS, form="convex")
    assert (result.dtype, result.tolist()) == (kind, [[1.5, 1.5], [1.0, 1.0], [1.5, 1.5]])
    added = fused(own, carried.new_full((3, 1), 3.0), alpha=0.25, selection=COLUMNS, form="additive")
    assert added.tolist() == [[1.0, 1.75]] * 3
    assert own.tolist() == [[1.0, 1.0]] * 3
    assert fused(own, carried[:0], alpha=0.25, selection=NONE, form="convex").tolist() == own.tolist()


def test_alpha_0_keeps_the_sign_of_zero():
    own = torch.full((3, 2), -0.0)
    result = fused(own, torch.ones(2, 2), alpha=0.0, selection=ROWS, form="additive")
    assert bool(torch.signbit(result).all())


def test_a_small_change_is_added_before_the_type_is_narrow():
    own = torch.full((1, 1), 1.0, dtype=HALF)
    result = fused(own, torch.full((1, 1), 3e-4), alpha=2.0, selection=Selection("out", np.array([0])), form="additive")
    assert result.item() == HALF_STEP


HALF_STEP = float(torch.tensor(1.0 + 6e-4, dtype=HALF))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"form": "sum"}, EstimateError, r"^fused: form 'sum', alpha 0\.5; "),
        ({"alpha": math.inf}, EstimateError, r"^fused: form 'convex', alpha inf; "),
        ({"carried": torch.ones(1, 2)}, ShapeError, r"^fused: carried \(1, 2\), .* is \(2, 2\)\."),
    ],
)
def test_what_cannot_be_fused(change, error, message):
    given = {"carried": torch.ones(2, 2), "alpha": 0.5, "selection": ROWS, "form": "convex"} | change
    with pytest.raises(error, match=message):
        fused(torch.ones(3, 2), given.pop("carried"), **given)


def interfaces(n=3, m=4, seed=0):
    names = ("attn_in", "attn_out", "mlp_in", "mlp_hidden", "mlp_out")
    return Interfaces(**{name: coupling(n, m, seed + place) for place, name in enumerate(names)})


def drawn(width, seed, *, bias=True, kind=DOUBLE):
    rng = np.random.default_rng(seed)
    weight, offset = (torch.from_numpy(rng.standard_normal(shape)).to(kind) for shape in ((width, width), (width,)))
    return Linear(weight, offset if bias else None)


SIDES = {"o": ("attn_out", "attn_in"), "up": ("mlp_hidden", "mlp_in"), "down": ("mlp_out", "mlp_hidden")}


@pytest.mark.parametrize("form", ["convex", "additive"])
@pytest.mark.parametrize("side", ["out", "in"])
@pytest.mark.parametrize("name", SIDES)
def test_a_projection_by_hand(name, side, form):
    own, donors = (
        drawn(3, 0),
        [Donor({name: drawn(4, place)}, interfaces(seed=place), share) for place, share in ((1, 0.25), (2, 0.75))],
    )
    index = [0, 2]
    how = Fusion(0.5, form, "function", {name: Selection(side, np.array(index))})
    result = transported_block({name: own}, donors, fusion=how)
    carried, bias = np.zeros((3, 3)), np.zeros(3)
    for one in donors:
        out, into = (getattr(one.interfaces, key) for key in SIDES[name])
        left = out.barycentric().matrix
        carried += one.share * left @ one.weights[name].weight.numpy() @ into.reversed.barycentric().matrix
        bias += one.share * left @ one.weights[name].bias.numpy()
    part = (index, slice(None)) if side == "out" else (slice(None), index)
    expected, offset = own.weight.numpy().copy(), own.bias.numpy().copy()
    norms = np.linalg.norm(carried[part]) / np.linalg.norm(expected[part])
    expected[part] = expected[part] * (0.5 if form == "convex" else 1) + 0.5 * carried[part]
    if side == "out":
        offset[index] = offset[index] * (0.5 if form == "convex" else 1) + 0.5 * bias[index]
    np.testing.assert_allclose(result.weights[name].weight, expected, rtol=1e-12)
    np.testing.assert_allclose(result.weights[name].bias, offset, rtol=1e-12)
    assert result.norm_ratios == {name: pytest.approx(norms)}
    assert result.notes == ((f"{name}: bias kept, the selection is on the input side",) if side == "in" else ())


def test_types_of_donor_and_recipient_may_differ():
    """What a donor in float64 gives to a recipient in float32 is that of the same donor in float32, up to rounding."""
    own, other = drawn(3, 0, kind=SINGLE), drawn(4, 1)
    narrow = Linear(other.weight.to(SINGLE), other.bias.to(SINGLE))
    results = []
    for given in (other, narrow):
        made = transported_block({"up": own}, [Donor({"up": given}, interfaces(), 1.0)], fusion=how(["up"]))
        results.append(made.weights["up"])
        assert {part.dtype for part in made.weights["up"]} == {SINGLE}
    torch.testing.assert_close(results[0].weight, results[1].weight)
    torch.testing.assert_close(results[0].bias, results[1].bias)


def block(width, seed, names=("o", "up", "gate", "down"), **given):
    return {name: drawn(width, seed + place, **given) for place, name in enumerate(names)}


def how(names, **given):
    chosen = {name: Selection("out", np.array([0, 2])) for name in names}
    return Fusion(**{"alpha": 0.5, "form": "convex", "convention": "function", "selections": chosen} | given)


def test_notes_in_full():
    own, other = block(3, 0, bias=False), block(4, 9, ("o", "up", "down"))
    result = transported_block(own, [Donor(other, interfaces(), 1.0)], fusion=how(["gate", "up"]))
    assert result.notes == (
        "gate: the donor has none; the recipient's is kept",
        "up: bias kept as it is, the recipient has none",
    )
    assert set(result.norm_ratios) == {"up"}
    assert result.weights["gate"] is own["gate"]
    ungated = {name: one for name, one in own.items() if name != "gate"}
    donors = [Donor(other, interfaces(), 0.5), Donor(block(4, 20), interfaces(seed=7), 0.5)]
    result = transported_block(ungated, donors, fusion=how(["down"]))
    assert result.notes[0] == "gate: the recipient has none; the donor's is left out, up alone is carried"
    assert transported_block(block(3, 0), donors, fusion=how(["gate"])).notes == (
        "gate: the donor has none; the recipient's is kept",
    )


def test_one_donor_without_bias_keeps_it():
    donors = [Donor(block(4, 9, bias=False), interfaces(), 0.5), Donor(block(4, 20), interfaces(), 0.5)]
    own = block(3, 0)
    result = transported_block(own, donors, fusion=how(["up"]))
    assert result.notes == ("up: bias kept as it is, the donor has none",)
    assert result.weights["up"].bias is own["up"].bias
    no_bias = block(3, 0, bias=False)
    assert transported_block(no_bias, [donors[0]._replace(share=1.0)], fusion=how(["up"])).notes == ()


def test_a_carried_weight_too_small_for_its_type_is_said():
    own, other = block(3, 0, kind=HALF), block(4, 9, kind=HALF)
    tiny = {"up": Linear(torch.full((4, 4), 6e-8, dtype=HALF), None)}
    couplings = interfaces()
    given = {"selections": {"up": Selection("out", np.array([0, 2]))}, "convention": "published"}
    result = transported_block(own, [Donor(tiny, couplings, 1.0)], fusion=how([], **given))
    carried = carried_weight(tiny["up"].weight, out=couplings.mlp_hidden, into=couplings.mlp_in, convention="published",
                             selection=given["selections"]["up"])  # fmt: skip
    assert result.notes[0] == (
        f"up: every carried entry is 0 in float16 (largest {float(carried.abs().max()):.1e}); what is left of the "
        "merge is a shrink. Use barycentric maps."
    )
    assert len(result.notes) == 2
    without = transported_block(own, [Donor(tiny, couplings, 1.0)], fusion=how([], **given, alpha=0.0))
    assert without.notes == result.notes[1:]
    zero = {"up": Linear(torch.zeros(4, 4, dtype=HALF), None)}
    assert transported_block(own, [Donor(zero, couplings, 1.0)], fusion=how([], **given)).notes == result.notes[1:]
    assert transported_block(own, [Donor(other, couplings, 1.0)], fusion=how(["up"])).notes == ()


def test_a_recipient_part_of_zeros_has_no_ratio():
    own = {"up": Linear(torch.zeros(3, 3, dtype=DOUBLE))}
    result = transported_block(own, [Donor(block(4, 9), interfaces(), 1.0)], fusion=how(["up"]))
    assert math.isnan(result.norm_ratios["up"])


def test_controls_act_on_what_is_carried():
    own, donors = block(3, 0), [Donor(block(4, 9), interfaces(), 1.0)]
    plain = transported_block(own, donors, fusion=how(["up"], form="additive"))
    doubled = PlanControl("test", carried=lambda carried, weight: 2 * carried, dose=0.25)
    result = transported_block(own, donors, fusion=how(["up"], form="additive"), control=doubled, rng=stream(0))
    for new, old, before in zip(result.weights["up"], plain.weights["up"], own["up"], strict=True):
        torch.testing.assert_close(new - before, 0.5 * (old - before))
    assert result.norm_ratios["up"] == pytest.approx(2 * plain.norm_ratios["up"])
    matched = transported_block(own, donors, fusion=how(["up"], form="additive"), control=PLAN_CONTROLS["norm_matched"],
                                rng=stream(0))  # fmt: skip
    index = [0, 2]
    change = (matched.weights["up"].bias - own["up"].bias)[index]
    assert float(change.norm()) == pytest.approx(0.5 * float(own["up"].bias[index].norm()))
    nothing = how([], selections={"up": NONE})
    empty = transported_block(own, donors, fusion=nothing, control=PLAN_CONTROLS["norm_matched"], rng=stream(0))
    assert torch.equal(empty.weights["up"].weight, own["up"].weight)


def test_a_control_meets_the_interfaces_in_their_order():
    given = interfaces()
    sham, rng = given.sham(PLAN_CONTROLS["plan_shuffled"], rng=stream(3)), stream(3)
    for name in ("attn_in", "attn_out", "mlp_in", "mlp_hidden", "mlp_out"):
        expected = PLAN_CONTROLS["plan_shuffled"].coupling(getattr(given, name), rng=rng)
        np.testing.assert_array_equal(getattr(sham, name).matrix, expected.matrix)


@pytest.mark.parametrize(
    ("shares", "refused"),
    [((1.0,), False), ((0.5, 0.5), False), ((1.0, 0.0), False), ((1 + 9e-7,), False), ((1 + 2e-6,), True),
     ((1.5, -0.5), True), ((0.5,), True), ((math.nan,), True)],
)  # fmt: skip
def test_shares_of_donors(shares, refused):
    donors = [Donor(block(4, 9), interfaces(), share) for share in shares]
    if not refused:
        transported_block(block(3, 0), donors, fusion=how(["up"]))
        return
    with pytest.raises(EstimateError, match=r"^transported_block: donor shares \["):
        transported_block(block(3, 0), donors, fusion=how(["up"]))


def test_what_a_block_refuses():
    own, donor = block(3, 0), Donor(block(4, 9), interfaces(), 1.0)
    extra = {"q": drawn(3, 1)}
    present = r"\['down', 'gate', 'o', 'q', 'up'\], and o, up, gate, down can"
    message = rf"^transported_block: selections for \['q'\]; this block has {present}"
    with pytest.raises(ShapeError, match=message):
        transported_block(own | extra, [donor], fusion=how(["up", "q"]))
    with pytest.raises(ShapeError, match=r"selections for \['gate'\]; this block has \['up'\]"):
        transported_block({"up": own["up"]}, [donor], fusion=how(["gate"]))
    with pytest.raises(ShapeError, match=r"^transported_block: up carried to \(2, 3\), .* part is \(2, 5\)"):
        transported_block({"up": Linear(torch.ones(5, 5))}, [donor], fusion=how(["up"]))
    with pytest.raises(EstimateError, match=r"^transported_block: a control was given without rng"):
        transported_block(own, [donor], fusion=how(["up"]), control=PLAN_CONTROLS["uniform"])
