"""The spelling of places."""

from __future__ import annotations

import pytest

from assay.errors import ConfigError
from assay.models.sites import HookPoint, Site, at_every_layer


def test_a_site_prints_hashes_and_sorts() -> None:
    assert str(Site(HookPoint.RESID_POST, 3)) == "resid_post.3"
    assert str(Site(HookPoint.MLP_OUT, 0, -1)) == "mlp_out.0[-1]"
    assert str(Site(HookPoint.HEAD_OUT, 2, -1, head=5)) == "head_out.2.5[-1]"
    assert len({Site(HookPoint.MLP_OUT, 0), Site(HookPoint("mlp_out"), 0), Site(HookPoint.MLP_OUT, 1)}) == 2
    assert at_every_layer(HookPoint.ATTN_OUT, n_layers=2) == (Site(HookPoint.ATTN_OUT, 0), Site(HookPoint.ATTN_OUT, 1))


@pytest.mark.parametrize(
    ("point", "layer", "position", "word"),
    [
        ("resid_end", 0, "all", "unknown hook point 'resid_end'.*resid_post"),
        ("resid_post", -1, "all", "layer -1"),
        ("resid_post", True, "all", "layer True"),
        ("resid_post", 0, "last", "position 'last'"),
        ("resid_post", 0, 1.0, r"position 1\.0"),
    ],
)
def test_a_wrong_site_is_refused(point: object, layer: object, position: object, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        Site(point, layer, position)  # type: ignore[arg-type]


@pytest.mark.parametrize("head", [None, -1, True, 1.0])
def test_a_site_of_a_head_needs_its_number(head: object) -> None:
    with pytest.raises(ConfigError, match="not a head number"):
        Site(HookPoint.HEAD_OUT, 0, head=head)  # type: ignore[arg-type]


def test_other_points_have_no_heads() -> None:
    with pytest.raises(ConfigError, match="only head_out has heads"):
        Site(HookPoint.ATTN_OUT, 0, head=1)
