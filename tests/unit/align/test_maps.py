"""The table of maps; what its members do is held by tests/laws/test_maps.py."""

from assay.align.maps import MAPS


def test_members_and_their_families():
    assert {name: kind.family for name, kind in MAPS.items()} == {
        "identity": "fixed",
        "procrustes": "isometry",
        "ridge": "regression",
        "cca": "regression",
        "cca_swap": "swap",
    }
