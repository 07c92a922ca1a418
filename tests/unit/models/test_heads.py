"""Rows of heads: what they add up to, and wrong calls."""

from __future__ import annotations

import pytest
import torch

from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.heads import HeadSite, capture_heads, head_place, heads_of, hookable
from assay.models.hooks import _bare, _family, blocks_of, capture
from assay.models.sites import HookPoint, Site
from tests.laws.hooked_models import IDS, KINDS, MASK, hooked


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gemma3"])
def test_heads_add_up_to_what_attention_adds(kind: str) -> None:
    model = hooked(kind).model
    heads = capture_heads(model, [HeadSite(1, head) for head in range(2)], IDS, MASK)
    attn = capture(hookable(model), [Site(HookPoint.ATTN_OUT, 1)], IDS, MASK)[Site(HookPoint.ATTN_OUT, 1)]
    output = blocks_of(hookable(model))[1].get_submodule(_family(_bare(hookable(model))).projections["o"].module)
    rows = torch.stack(list(heads.values()), dim=2)
    if kind == "toy":
        assert torch.equal(rows.sum(2) + output.bias, attn)
    else:
        assert torch.equal(output(rows.flatten(2)), attn)


def test_positions_are_those_of_sites() -> None:
    model = hooked("llama").model
    every, last = HeadSite(0, 1), HeadSite(0, 1, -1)
    rows = capture_heads(model, [every, last], IDS, MASK)
    assert torch.equal(rows[last], rows[every][[0, 1], [5, 3]])
    assert (str(every), str(last)) == ("head_out.0.1", "head_out.0.1[-1]")


def test_wrong_calls_are_refused() -> None:
    model = hooked("toy").model
    with pytest.raises(ModelError, match=r"head_out\.0\.2 asked, but Toy has layers 0 to 1 and heads 0 to 1"):
        capture_heads(model, [HeadSite(0, 2)], IDS)
    with pytest.raises(ModelError, match="asked twice"):
        capture_heads(model, [HeadSite(0, 0), HeadSite(0, 0)], IDS)
    with pytest.raises(ShapeError, match=r"attention_mask \(1, 6\)"):
        capture_heads(model, [HeadSite(0, 0)], IDS, MASK[:1])
    with pytest.raises(ShapeError, match="line 1 of the batch has 4 real tokens"):
        capture_heads(model, [HeadSite(0, 0, 5)], IDS, MASK)
    with pytest.raises(ConfigError, match="head -1"):
        HeadSite(0, -1)
    with pytest.raises(ConfigError, match="position 'last'"):
        HeadSite(0, 0, "last")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"rows of 2 heads were expected, a tensor of shape \(2, 3, 5\) came"):
        heads_of(torch.zeros(2, 3, 5), head_place(model, HeadSite(0, 0)), HeadSite(0, 0))
