"""Where rows are: heads and what they add up to, positions, wrong calls."""

from __future__ import annotations

import pytest
import torch

from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.families import family_of
from assay.models.hooks import blocks_of, capture
from assay.models.sites import HookPoint, Site
from assay.models.targets import bare_model, target
from tests.laws.hooked_models import IDS, KINDS, MASK, head_site, hooked


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "gemma3"])
def test_heads_add_up_to_what_attention_adds(kind: str) -> None:
    model = hooked(kind).model
    heads, added = [head_site(1, head) for head in range(2)], Site(HookPoint.ATTN_OUT, 1)
    captured = capture(model, [*heads, added], IDS, MASK)
    family = family_of(bare_model(model).config.model_type, where=kind)
    output = blocks_of(model)[1].get_submodule(family.projections["o"].module)
    rows, attn = torch.stack([captured[site] for site in heads], dim=2), captured[added]
    if kind == "toy":
        assert torch.equal(rows.sum(2) + output.bias, attn)
    else:
        assert torch.equal(output(rows.flatten(2)), attn)


def test_positions_are_those_of_sites() -> None:
    model = hooked("llama").model
    every, last = head_site(0, 1), head_site(0, 1, -1)
    rows = capture(model, [every, last], IDS, MASK)
    assert torch.equal(rows[last], rows[every][[0, 1], [5, 3]])
    assert (str(every), str(last)) == ("head_out.0.1", "head_out.0.1[-1]")


def test_wrong_calls_are_refused() -> None:
    model = hooked("toy").model
    with pytest.raises(ModelError, match=r"head_out\.0\.2 asked, but Toy has heads 0 to 1 in a layer"):
        capture(model, [head_site(0, 2)], IDS)
    with pytest.raises(ModelError, match="asked twice"):
        capture(model, [head_site(0, 0), head_site(0, 0)], IDS)
    with pytest.raises(ShapeError, match=r"attention_mask \(1, 6\)"):
        capture(model, [head_site(0, 0)], IDS, MASK[:1])
    with pytest.raises(ShapeError, match="line 1 of the batch has 4 real tokens"):
        capture(model, [head_site(0, 0, 5)], IDS, MASK)
    with pytest.raises(ConfigError, match="head -1"):
        head_site(0, -1)
    with pytest.raises(ConfigError, match="position 'last'"):
        head_site(0, 0, "last")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"rows of 2 heads were expected, a tensor of shape \(2, 3, 5\) came"):
        target(model, head_site(0, 0)).rows(torch.zeros(2, 3, 5))
