"""Transported merges of a block: fusion, rules for bias and gate, controls, and what must keep its bits."""

import numpy as np
import pytest
import torch

from assay.controls.plans import PLAN_CONTROLS
from assay.errors import EstimateError, ShapeError
from assay.merge.selection import Selection, select
from assay.merge.transported import Donor, Fusion, Interfaces, Linear, fused, transported_block
from assay.seeds import stream
from assay.transport.coupling import Coupling
from assay.transport.sinkhorn import entropic_plan

RECIPIENT = {"attn_in": 6, "attn_out": 8, "mlp_in": 8, "mlp_hidden": 10, "mlp_out": 8}
DONOR = {"attn_in": 12, "attn_out": 7, "mlp_in": 7, "mlp_hidden": 9, "mlp_out": 7}
SHAPES = {
    "o": ("attn_out", "attn_in"),
    "up": ("mlp_hidden", "mlp_in"),
    "gate": ("mlp_hidden", "mlp_in"),
    "down": ("mlp_out", "mlp_hidden"),
}


def block(widths, *, seed=0, bias=False, gate=True, dtype=torch.float32):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: torch.from_numpy(rng.standard_normal(shape)).to(dtype)  # noqa: E731
    return {
        name: Linear(draw(widths[out], widths[into]), draw(widths[out]) if bias else None)
        for name, (out, into) in SHAPES.items()
        if gate or name != "gate"
    }


def interfaces(recipient=RECIPIENT, donor=DONOR, epsilon=0.05):
    rng = np.random.default_rng(9)
    return Interfaces(
        **{name: entropic_plan(rng.random((recipient[name], donor[name])), epsilon=epsilon).checked() for name in donor}
    )


def fusion(k=3, **given):
    scores = np.random.default_rng(8)
    selections = {
        name: select(scores.random(RECIPIENT[SHAPES[name][side == "in"]]), k=k, side=side)
        for name, side in (("o", "in"), ("up", "out"), ("gate", "out"), ("down", "in"))
    }
    return Fusion(**{"alpha": 0.1, "form": "convex", "convention": "function", "selections": selections} | given)


def same_bits(one, other):
    return all(
        (a is None and b is None) or torch.equal(a.view(torch.uint8), b.view(torch.uint8))
        for name in one
        for a, b in zip(one[name], other[name], strict=True)
    )


def merged(own, donor_block, **given):
    control = given.pop("control", None)
    donors = given.pop("donors", None) or [Donor(donor_block, interfaces(), 1.0)]
    rng = stream(0, "sham") if control is not None else None
    return transported_block(own, donors, fusion=fusion(**given), control=control, rng=rng)


def test_convex_and_additive_by_hand():
    own = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = Selection("out", np.array([1]))
    carried = torch.tensor([[10.0, 20.0]])
    convex, additive = (fused(own, carried, alpha=0.5, selection=rows, form=form) for form in ("convex", "additive"))
    assert convex.tolist() == [[1, 2], [6.5, 12], [5, 6]]
    assert additive.tolist() == [[1, 2], [8, 14], [5, 6]]
    columns = fused(own, torch.zeros(3, 1), alpha=0.5, selection=Selection("in", np.array([0])), form="convex")
    assert columns.tolist() == [[0.5, 2], [1.5, 4], [2.5, 6]]


def test_t1_donor_is_recipient_gives_the_recipient():
    own = block(RECIPIENT)
    control = PLAN_CONTROLS["identity"]
    same = [Donor(own, interfaces(RECIPIENT, RECIPIENT), 1.0)]
    result = merged(own, own, donors=same, control=control, alpha=1.0)
    for name in own:
        torch.testing.assert_close(result.weights[name].weight, own[name].weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_t4_alpha_0_keeps_every_bit(dtype):
    own, other = block(RECIPIENT, dtype=dtype, bias=True), block(DONOR, seed=1, bias=True)
    own["o"].weight[0, 0] = -0.0
    assert same_bits(merged(own, other, alpha=0.0).weights, own)
    assert same_bits(merged(own, other, control=PLAN_CONTROLS["alpha0"]).weights, own)
    assert not same_bits(merged(own, other).weights, own)


@pytest.mark.parametrize("k", [0, 99])
def test_t19_none_and_all_selected(k):
    own, other = block(RECIPIENT), block(DONOR, seed=1)
    result = merged(own, other, k=k)
    assert same_bits(result.weights, own) == (k == 0)
    if k:
        assert all((result.weights[name].weight != own[name].weight).all() for name in own)


def test_t5_published_plans_only_shrink():
    """D1: at real widths what is carried is about 1e-7 of the weight, and the merge is (1 - alpha) W."""
    wide = {name: 24 * width for name, width in RECIPIENT.items()}
    own = block(wide)
    donors = [Donor(block(wide, seed=1), interfaces(wide, wide, epsilon=0.1), 1.0)]
    everything = {
        name: select(np.ones(wide[SHAPES[name][0]]), k=10**6, side="out") for name in ("o", "up", "gate", "down")
    }
    published, shrunk = (
        transported_block(
            own,
            donors,
            fusion=Fusion(alpha=0.1, form="convex", convention="published", selections=everything),
            control=control,
            rng=stream(0),
        )
        for control in (None, PLAN_CONTROLS["shrink"])
    )
    for name in own:
        apart = (published.weights[name].weight - shrunk.weights[name].weight).norm()
        assert float(apart) < 1e-5 * float((shrunk.weights[name].weight - own[name].weight).norm())
        assert published.norm_ratios[name] < 1e-5
    function = merged(block(RECIPIENT), block(DONOR, seed=1))
    assert min(function.norm_ratios.values()) > 0.01


def test_t20_float16_is_computed_in_float32_and_a_vanishing_plan_is_said():
    wide = {name: 40 * width for name, width in RECIPIENT.items()}
    own = block(wide, dtype=torch.float16)
    donors = [Donor(block(wide, seed=1, dtype=torch.float16), Interfaces(**uniform_couplings(wide)), 1.0)]
    chosen = {"up": select(np.ones(wide["mlp_hidden"]), k=4, side="out")}
    for convention, vanishes in (("published", True), ("function", False)):
        how = Fusion(alpha=0.1, form="convex", convention=convention, selections=chosen)
        result = transported_block(own, donors, fusion=how)
        assert result.weights["up"].weight.dtype == torch.float16
        assert any("every carried entry is 0 in float16" in note for note in result.notes) == vanishes


def uniform_couplings(widths):
    return {name: Coupling.independent(width, width) for name, width in widths.items()}


def test_t15_shapes_and_untouched_tensors():
    """Other head counts, widths and MLP widths on the two sides; unselected rows and projections keep their bits."""
    own, other = block(RECIPIENT, bias=True), block(DONOR, seed=1, bias=True)
    how = fusion()
    chosen = {"up": how.selections["up"]}
    result = merged(own, other, selections=chosen)
    assert {name: one.weight.shape for name, one in result.weights.items()} == {
        name: one.weight.shape for name, one in own.items()
    }
    others = [name for name in own if name != "up"]
    assert same_bits({name: own[name] for name in others}, {name: result.weights[name] for name in others})
    rest = np.setdiff1d(np.arange(10), chosen["up"].neurons)
    assert torch.equal(own["up"].weight[rest], result.weights["up"].weight[rest])
    assert torch.equal(own["up"].bias[rest], result.weights["up"].bias[rest])
    assert (own["up"].bias != result.weights["up"].bias).sum() == 3


@pytest.mark.parametrize(
    ("own_bias", "donor_bias", "notes"),
    [
        (
            True,
            True,
            {"o: bias kept, the selection is on the input side", "down: bias kept, the selection is on the input side"},
        ),
        (True, False, {"up: bias kept as it is, the donor has none", "gate: bias kept as it is, the donor has none"}),
        (False, True, {"up: bias kept as it is, the recipient has none"}),
        (False, False, set()),
    ],
)
def test_t17_bias_rule(own_bias, donor_bias, notes):
    own, other = block(RECIPIENT, bias=own_bias), block(DONOR, seed=1, bias=donor_bias)
    result = merged(own, other)
    assert notes <= set(result.notes)
    assert (not result.notes) == (not own_bias and not donor_bias)
    for name, one in result.weights.items():
        carried = own_bias and donor_bias and name in ("up", "gate")
        assert (one.bias is None) == (not own_bias)
        assert one.bias is None or torch.equal(one.bias, own[name].bias) != carried


def test_bias_is_carried_by_the_output_map():
    own, other = block(RECIPIENT, bias=True), block(DONOR, seed=1, bias=True)
    result = merged(own, other)
    chosen = fusion().selections["up"].neurons
    wanted = interfaces().mlp_hidden.barycentric().matrix @ other["up"].bias.double().numpy()
    expected = 0.9 * own["up"].bias.numpy()[chosen] + 0.1 * wanted[chosen]
    np.testing.assert_allclose(result.weights["up"].bias.numpy()[chosen], expected, rtol=1e-5)


@pytest.mark.parametrize(("own_gate", "donor_gate"), [(True, True), (True, False), (False, True), (False, False)])
def test_gate_rule(own_gate, donor_gate):
    own, other = block(RECIPIENT, gate=own_gate), block(DONOR, seed=1, gate=donor_gate)
    chosen = {name: one for name, one in fusion().selections.items() if name in own}
    result = merged(own, other, selections=chosen)
    assert ("gate" in result.weights) == own_gate
    if own_gate:
        kept = torch.equal(result.weights["gate"].weight, own["gate"].weight)
        assert kept == (not donor_gate)
    wanted = {(True, False): "gate: the donor has none", (False, True): "gate: the recipient has none"}
    said = wanted.get((own_gate, donor_gate))
    assert any(note.startswith(said) for note in result.notes) if said else not result.notes


def test_shares_weigh_the_donors():
    own, first, second = block(RECIPIENT), block(DONOR, seed=1), block(DONOR, seed=2)
    mixed = {name: Linear(0.3 * first[name].weight + 0.7 * second[name].weight) for name in first}
    two = merged(own, first, donors=[Donor(first, interfaces(), 0.3), Donor(second, interfaces(), 0.7)])
    one = merged(own, mixed)
    for name in own:
        torch.testing.assert_close(two.weights[name].weight, one.weights[name].weight)


def test_t16_same_bits_twice():
    own, other = block(RECIPIENT, bias=True), block(DONOR, seed=1, bias=True)
    for control in (None, *PLAN_CONTROLS.values()):
        if control is PLAN_CONTROLS["identity"]:
            continue
        one, two = (merged(own, other, control=control) for _ in range(2))
        assert same_bits(one.weights, two.weights)
        assert (one.notes, one.norm_ratios) == (two.notes, two.norm_ratios)


def test_shrink_uniform_and_norm_matched():
    own, other = block(RECIPIENT), block(DONOR, seed=1)
    index = fusion().selections["up"].neurons
    shrunk = merged(own, other, control=PLAN_CONTROLS["shrink"]).weights["up"].weight[index]
    torch.testing.assert_close(shrunk, 0.9 * own["up"].weight[index])
    uniform = merged(own, other, control=PLAN_CONTROLS["uniform"], form="additive").weights["up"].weight[index]
    assert float((uniform - own["up"].weight[index]).std()) < 1e-7
    assert merged(own, other, control=PLAN_CONTROLS["norm_matched"]).norm_ratios["up"] == pytest.approx(1)


def test_a_shared_interface_is_shuffled_once():
    """The up and down of a shuffled block still fit each other: mlp_hidden meets the same permutation in both."""
    sham = interfaces().sham(PLAN_CONTROLS["plan_shuffled"], rng=stream(0, "sham"))
    assert not np.array_equal(sham.mlp_hidden.matrix, interfaces().mlp_hidden.matrix)
    assert not np.array_equal(sham.mlp_in.matrix.argmax(axis=1), sham.mlp_out.matrix.argmax(axis=1))


def test_the_recipient_is_not_changed():
    own, other = block(RECIPIENT, bias=True), block(DONOR, seed=1, bias=True)
    before = {name: Linear(*(part.clone() for part in one)) for name, one in own.items()}
    merged(own, other)
    assert same_bits(own, before)


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda own, other: transported_block(own, [], fusion=fusion()), EstimateError, r"shares \[\]"),
        (lambda own, other: merged(own, other, donors=[Donor(other, interfaces(), 0.5)]), EstimateError, "sum to 1"),
        (lambda own, other: merged(own, other, selections={"q": fusion().selections["o"]}), ShapeError, r"\['q'\]"),
        (lambda own, other: merged(own, own), ShapeError, "donor weight of shape"),
        (lambda own, other: merged(other, other), ShapeError, "recipient"),
        (lambda own, other: merged(own, other, form="sum"), EstimateError, "form 'sum'"),
        (lambda own, other: merged(own, other, alpha=float("nan")), EstimateError, "alpha nan"),
        (
            lambda own, other: transported_block(
                own, [Donor(other, interfaces(), 1.0)], fusion=fusion(), control=PLAN_CONTROLS["uniform"]
            ),
            EstimateError,
            "without rng",
        ),
    ],
)
def test_refused(act, error, message):
    with pytest.raises(error, match=message):
        act(block(RECIPIENT), block(DONOR, seed=1))
