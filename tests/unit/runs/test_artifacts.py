"""Arrays by digest: bytes come back, equal arrays share a file, and a lost or changed file is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.errors import RecordError
from assay.runs.artifacts import store

DTYPES = st.sampled_from(["bool", "int8", "int64", "uint8", "float16", "float32", "float64", ">f4"])


@settings(max_examples=40, deadline=None)
@given(array=hnp.arrays(dtype=DTYPES, shape=hnp.array_shapes(min_dims=0, max_dims=3, max_side=4)))
def test_an_array_comes_back_bit_by_bit(array: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> None:  # type: ignore[type-arg]
    handle = store(array, tmp_path_factory.mktemp("artifacts"))
    loaded = handle.load()
    assert loaded.dtype == array.dtype.newbyteorder("=")
    assert handle.shape == loaded.shape == array.shape
    assert loaded.tobytes() == array.astype(loaded.dtype).tobytes()


def test_a_transposed_view_is_stored_as_it_reads(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(store(array, tmp_path).load(), array)


def test_equal_arrays_share_one_file_named_by_its_digest(tmp_path: Path) -> None:
    first, second = store(np.ones(3), tmp_path), store(np.ones(3), tmp_path)
    assert first == second
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")] == [
        f"{first.digest[:2]}/{first.digest}.safetensors"
    ]
    assert store(np.ones(3, dtype=np.float32), tmp_path) != first


def test_a_lost_file_says_how_to_make_it_again(tmp_path: Path) -> None:
    handle = store(np.ones(3), tmp_path)
    handle.path.unlink()
    with pytest.raises(RecordError, match="run the experiment that wrote it again, with the same configuration"):
        handle.load()


def test_a_changed_file_is_refused_and_written_anew(tmp_path: Path) -> None:
    handle = store(np.ones(3), tmp_path)
    data = handle.path.read_bytes()
    handle.path.write_bytes(data[:-1] + b"\0")
    with pytest.raises(RecordError, match="was changed since it was written"):
        handle.load()
    store(np.ones(3), tmp_path)
    assert handle.path.read_bytes() == data


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()]), np.array([1j])])
def test_other_dtypes_are_refused(array: np.ndarray, tmp_path: Path) -> None:  # type: ignore[type-arg]
    with pytest.raises(RecordError, match="cannot be an artifact"):
        store(array, tmp_path)
    assert list(tmp_path.iterdir()) == []
