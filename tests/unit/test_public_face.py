"""The public names load on demand: `import assay` is quick, and claims never bring torch in."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import assay


@pytest.mark.parametrize("name", assay.__all__)
def test_every_public_name_loads_and_is_documented(name: str) -> None:
    assert getattr(assay, name).__doc__


def test_the_lists_agree_and_are_few() -> None:
    assert sorted(assay._MODULES) == sorted(assay.__all__)
    assert len(assay.__all__) <= 25
    assert set(assay.__all__) <= set(dir(assay))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        assay.unknown  # noqa: B018


def test_importing_is_quick_and_light() -> None:
    code = "import sys, assay; print(sorted({'torch', 'pandas', 'transformers', 'numpy', 'scipy'} & set(sys.modules)))"
    start = time.perf_counter()
    bare = subprocess.check_output([sys.executable, "-c", "pass"], text=True)
    middle = time.perf_counter()
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True)
    end = time.perf_counter()
    assert (bare, loaded) == ("", "[]\n")
    assert (end - middle) - (middle - start) < 0.3
