"""A cache of its own for every test of models, and tiny random models made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from assay.models.pretrained import PretrainedModel
from assay.models.tiny import tiny_pretrained


@pytest.fixture(scope="session", autouse=True)
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def tiny(model_cache: None) -> Callable[[str], PretrainedModel]:
    """Three layers of width 64, opened once a family; tests leave them as they were."""

    @cache
    def opened(family: str) -> PretrainedModel:
        return tiny_pretrained(family, seed=3, width=64, n_layers=3)

    return opened
