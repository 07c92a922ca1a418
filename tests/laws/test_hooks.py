"""Laws of capturing and writing over every family and the toy decoder; each law is shown to fail on a broken twin.

1. Capture and disabled hooks leave the logits bitwise as they were.
2. alpha 0 leaves everything bitwise; alpha 1 assigns the target bitwise; between them x + alpha (target - x).
3. The stream goes on from the written row, and no other row of the site changes.
4. Writing what is there already is bitwise the plain pass.
5. Own hooks are removed, also after an error; those of others stay.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from assay.errors import ShapeError
from assay.models.hooks import blocks_of, capture, noop
from assay.models.sites import STREAM_POINTS, HookPoint, Site
from assay.models.writing import Write, write, writing
from tests.laws.hooked_models import (
    IDS,
    KINDS,
    LAYERS,
    MASK,
    WIDTH,
    head_site,
    head_sites,
    hook_count,
    hooked,
    plain,
    sites,
)

EVERY = pytest.mark.parametrize("kind", KINDS)
POSITIONS = st.sampled_from(("all", 0, 2, -1))
Arithmetic = Callable[[Tensor, Tensor, float], Tensor]


def rows_at(kind: str, site: Site) -> Tensor:
    return capture(hooked(kind).model, [site], IDS, MASK)[site]


def written(kind: str, one: Write) -> tuple[Tensor, Tensor]:
    """The rows at the site of a write, as a capture inside sees them, and the logits."""
    model = hooked(kind).model
    with writing(model, [one], MASK):
        return rows_at(kind, one.site), capture(model, [], IDS, MASK).logits


def noise(like: Tensor, seed: int) -> Tensor:
    return torch.randn(like.shape, generator=torch.Generator().manual_seed(seed))


@EVERY
def test_capture_and_disabled_hooks_are_bitwise_absent(kind: str) -> None:
    model, before = hooked(kind).model, plain(kind)
    every = [*sites(kind), *head_sites(kind)]
    captured = capture(model, every, IDS, MASK)
    assert torch.equal(captured.logits, before)
    assert len(captured.rows) == LAYERS * (len(hooked(kind).points) + hooked(kind).n_heads)
    with noop(model, every):
        assert hook_count(kind) == len(every)
        assert torch.equal(plain(kind), before)
    twin = Write(Site(HookPoint.RESID_POST, 0), lambda rows: rows * (1 + 1e-3))
    assert not torch.equal(written(kind, twin)[1], before)


@EVERY
@given(data=st.data())
def test_alpha_0_is_untouched_and_alpha_1_is_assigned_bitwise(kind: str, data: st.DataObject) -> None:
    point = data.draw(st.sampled_from([*hooked(kind).points, "head"]))
    layer, position = data.draw(st.integers(0, LAYERS - 1)), data.draw(POSITIONS)
    site = head_site(layer, 1, position) if point == "head" else Site(HookPoint(point), layer, position)
    present = rows_at(kind, site)
    target = 3.0 * noise(present, data.draw(st.integers(0, 99)))
    rows, logits = written(kind, Write(site, target, alpha=0.0))
    assert torch.equal(rows, present)
    assert torch.equal(logits, plain(kind))
    rows, logits = written(kind, Write(site, target))
    assert torch.equal(rows, target)
    assert not torch.equal(logits, plain(kind))
    alpha = data.draw(st.sampled_from((-1.0, 0.25, 0.5, 2.0)))
    rows, _ = written(kind, Write(site, target, alpha=alpha))
    assert torch.equal(rows, present + alpha * (target - present))


def alpha_law(arithmetic: Arithmetic) -> bool:
    """Whether an arithmetic of writing returns exactly x at 0 and exactly y at 1."""
    x, y = noise(torch.empty(64, WIDTH), 0), 3.0 * noise(torch.empty(64, WIDTH), 1)
    return torch.equal(arithmetic(x, y, 0.0), x) and torch.equal(arithmetic(x, y, 1.0), y)


def test_the_alpha_law_tells_a_sum_from_an_assignment() -> None:
    def ours(x: Tensor, y: Tensor, alpha: float) -> Tensor:
        site = Site(HookPoint.RESID_POST, 0, 0)
        model = hooked("toy").model
        both = []
        for a, b in zip(x.split(len(IDS)), y.split(len(IDS)), strict=True):
            first = Write(Site(HookPoint.RESID_PRE, 1, 0), lambda rows: rows)
            with writing(model, [Write(site, a), first], MASK), writing(model, [Write(site, b, alpha)], MASK):
                both.append(rows_at("toy", site))
        return torch.cat(both)

    assert alpha_law(ours)
    assert not alpha_law(lambda x, y, alpha: x + alpha * (y - x))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gpt_neox"])
@pytest.mark.parametrize("point", ["resid_pre", "attn_out", "resid_mid", "mlp_out"])
def test_the_stream_goes_on_from_the_written_row(kind: str, point: str) -> None:
    """In a sequential block pre + attn = mid and mid + mlp = post hold bitwise, also downstream of a write."""
    site = Site(HookPoint(point), 1)
    target = 3.0 * noise(rows_at(kind, site), 5)
    every = [Site(one, 1) for one in STREAM_POINTS]
    rows = write(hooked(kind).model, [Write(site, target)], IDS, MASK, sites=every)
    pre, attn, mid, mlp, post = (rows[one] for one in every)
    assert torch.equal(rows[site], target)
    if point != "resid_mid":
        assert torch.equal(pre + attn, mid)
    assert torch.equal(mid + mlp, post)


def test_a_replaced_input_of_the_norm_would_not_reach_the_stream() -> None:
    """The twin of the law above: what writes at ``resid_mid`` of llama without touching the residual connection."""
    model = hooked("llama").model
    every = [Site(point, 1) for point in (HookPoint.RESID_MID, HookPoint.MLP_OUT, HookPoint.RESID_POST)]
    target = noise(rows_at("llama", every[0]), 5)
    norm = blocks_of(model)[1].get_submodule("post_attention_layernorm")
    handle = norm.register_forward_pre_hook(lambda _, args: (target,))
    try:
        rows = capture(model, every, IDS, MASK)
    finally:
        handle.remove()
    mid, mlp, post = (rows[site] for site in every)
    assert torch.equal(mid, target)
    assert not torch.equal(mid + mlp, post)


@EVERY
def test_a_parallel_or_sequential_block_hands_its_written_output_on(kind: str) -> None:
    target = noise(rows_at(kind, Site(HookPoint.RESID_POST, 0)), 6)
    one = Write(Site(HookPoint.RESID_POST, 0), target)
    rows = write(hooked(kind).model, [one], IDS, MASK, sites=[Site(HookPoint.RESID_PRE, 1)])
    assert torch.equal(rows[Site(HookPoint.RESID_PRE, 1)], target)


@EVERY
@given(data=st.data())
def test_only_the_tokens_asked_are_written(kind: str, data: st.DataObject) -> None:
    point = data.draw(st.sampled_from([*hooked(kind).points, "head"]))
    site = head_site(0, 0) if point == "head" else Site(HookPoint(point), 0)
    tokens = torch.tensor(data.draw(st.lists(st.booleans(), min_size=IDS.numel(), max_size=IDS.numel())))
    tokens = tokens.view(IDS.shape)
    present = rows_at(kind, site)
    target = noise(present, 7)
    rows, _ = written(kind, Write(site, target, tokens=tokens))
    assert torch.equal(rows[tokens], target[tokens])
    assert torch.equal(rows[~tokens], present[~tokens])


@EVERY
def test_writing_what_is_there_is_bitwise_the_plain_pass(kind: str) -> None:
    model, before = hooked(kind).model, plain(kind)
    every = [*sites(kind), *head_sites(kind)]
    writes = [Write(site, rows_at(kind, site)) for site in every]
    assert torch.equal(write(model, writes, IDS, MASK).logits, before)
    assert torch.equal(write(model, [Write(site, lambda rows: rows) for site in every], IDS, MASK).logits, before)
    changed = [Write(one.site, one.target + 1e-2) for one in writes if isinstance(one.target, Tensor)]  # the twin
    assert not torch.equal(write(model, changed, IDS, MASK).logits, before)


@EVERY
def test_own_hooks_go_and_foreign_ones_stay_even_after_an_error(kind: str) -> None:
    model = hooked(kind).model
    seen: list[str] = []
    foreign = blocks_of(model)[0].register_forward_hook(lambda *_: seen.append("foreign"))
    try:
        short = [Write(Site(HookPoint.RESID_POST, 1), torch.zeros(1, 1, WIDTH)), Write(head_site(0, 0), lambda r: r)]
        with pytest.raises(ShapeError, match=r"at resid_post\.1 rows of shape \(2, 6, 32\)"):
            write(model, short, IDS, MASK, sites=sites(kind))
        inside: list[int] = []

        def fail() -> None:
            inside.append(hook_count(kind))
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"), writing(model, short, MASK):
            fail()
        assert (*inside, hook_count(kind)) == (3, 1)
        assert seen
    finally:
        foreign.remove()
    assert hook_count(kind) == 0


@EVERY
def test_what_is_captured_and_what_is_given_are_copies(kind: str) -> None:
    """A later write does not reach rows captured before it, and a function cannot edit the model's own tensor."""
    model, site = hooked(kind).model, Site(HookPoint.RESID_POST, 0)
    before = rows_at(kind, site)

    def spoil(rows: Tensor) -> Tensor:
        kept = rows.clone()
        rows.zero_()
        return kept

    later = Write(Site(HookPoint.RESID_PRE, 1), lambda rows: rows.mul_(0.0))
    assert torch.equal(write(model, [later], IDS, MASK, sites=[site])[site], before)
    assert torch.equal(write(model, [Write(site, spoil)], IDS, MASK).logits, plain(kind))
