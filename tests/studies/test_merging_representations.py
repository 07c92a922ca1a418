"""`merging.representations` end to end at tier tiny: what it records, that it repeats to the byte, and its parts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.diagnostics.cka import gram
from assay.runs import ArtifactArray, Results, open_record
from assay.runs.artifacts import store
from assay.seeds import stream
from experiments.merging.configs import Representations, open_weights, quick, tiny
from experiments.merging.pairs import LENGTH_BINS, Pair, Sides, compare, like_length, standardised
from experiments.merging.representations import group_of, inputs
from experiments.merging.views import View, text_digest, text_of

ROOT = Path(__file__).resolve().parents[2]
HEADLINES = (
    "cka_mean",
    "groups.same-language.cka",
    "groups.other-language.cka",
    "contrast.same_minus_other_language",
    "sham.largest",
    "best_layers.mean_cka",
    "retrieval.last.mean",
    "retrieval.best_minus_last",
    "cka_standardised.minus_raw",
    "views.tiny-llama-1-en.nats_per_byte",
)


def run_tiny(record: Path) -> Results:
    """The tier tiny, run by the command that users type."""
    command = [sys.executable, "-m", "assay", "run", "merging.representations", "--tier", "tiny"]
    done = subprocess.run(
        [*command, "--record", str(record)], cwd=ROOT, capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    opened = open_record(record)
    return opened.results(opened.attempts()[-1])


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return run_tiny(tmp_path_factory.mktemp("first"))


def test_it_records_every_view_pair_and_layer(results: Results) -> None:
    views, pairs, layers = (results.table(name) for name in ("views", "pairs", "layers"))
    assert list(views["view"]) == ["tiny-llama-1-en", "tiny-llama-1-pt", "tiny-gemma3-2-en", "tiny-gemma3-2-pt"]
    assert len(pairs) == results.value("pairs") == 6
    assert len(layers) == 6 * 2
    assert sorted(pairs["group"].value_counts().to_dict().items()) == [
        ("other-language", 2),
        ("same-language", 2),
        ("within-tiny-gemma3-2", 1),
        ("within-tiny-llama-1", 1),
    ]
    figures = {name for name in results.manifest.summary if name.startswith("figures/")}
    assert figures == {
        f"figures/{n}.{k}" for n in ("cka_last_layers", "cka_by_depth", "retrieval") for k in ("svg", "png")
    }


def test_every_effect_stands_beside_its_sham_interval_and_n(results: Results) -> None:
    pairs = results.table("pairs")
    assert (pairs["cka_low"] <= pairs["cka"]).all()
    assert (pairs["n"] == 120).all()
    assert pairs["sham"].abs().max() < 0.05
    assert pairs["p"].between(1 / 100, 1).all()
    matrix = results.table("matrix").set_index("view")
    first = pairs.iloc[0]
    assert matrix.loc[first["recipient"], first["donor"]] == first["cka"]
    assert matrix.loc[first["donor"], first["recipient"]] == first["sham"]


def test_headlines_are_what_they_were(results: Results, num_regression: Any) -> None:
    numbers = {}
    for key in HEADLINES:
        value = results.value(key)
        numbers[key] = [float(getattr(value, "value", value))]
    num_regression.check(numbers, default_tolerance={"rtol": 1e-3, "atol": 1e-5})


def test_a_second_run_has_identical_bytes(results: Results, tmp_path: Path) -> None:
    assert run_tiny(tmp_path).manifest.summary == results.manifest.summary


def test_configurations_differ_only_in_size() -> None:
    assert (open_weights().sentences, quick().sentences) == (1012, 256)
    assert inputs(open_weights()) != inputs(quick())
    assert set(inputs(tiny())) == {"text synthetic", "weights tiny:llama:1", "weights tiny:gemma3:2"}


def test_texts_are_named() -> None:
    assert text_digest("synthetic", 20) == text_of("synthetic", 20).digest
    for function in (text_of, text_digest):
        with pytest.raises(Exception, match="Use help-corpus or synthetic"):
            function("novels", 20)


@pytest.mark.parametrize(
    ("donor", "recipient", "group"),
    [
        (("a", "en"), ("a", "pt"), "within-a"),
        (("a", "en"), ("b", "en"), "same-language"),
        (("a", "en"), ("b", "pt"), "other-language"),
    ],
)
def test_kinds_of_pairs(donor: tuple[str, str], recipient: tuple[str, str], group: str) -> None:
    assert group_of(View(*donor, "synthetic", 20), View(*recipient, "synthetic", 20)) == group


def pair_of(tmp_path: Path, donor: np.ndarray, recipient: np.ndarray, lengths: np.ndarray) -> tuple[Pair, Sides]:
    clusters = np.arange(donor.shape[1])
    config = Representations(draws=200, shuffles=99, mean_shuffles=5)
    handles: list[ArtifactArray] = [store(array, tmp_path) for array in (donor, recipient, clusters, lengths)]
    return Pair("d", "r", "same-language", *handles, config), Sides(donor, recipient, clusters, lengths)


def test_like_length_sham_keeps_length_and_breaks_translation(tmp_path: Path) -> None:
    rng = stream(1, "like-length")
    lengths = rng.permutation(400)
    by_length = np.stack([[lengths / 100, rng.normal(size=400) / 50]]).transpose(0, 2, 1)
    by_content = rng.normal(size=(1, 400, 8))
    for rows, kept in ((by_length, True), (by_content, False)):
        pair, sides = pair_of(tmp_path, rows, rows, lengths)
        sham = like_length(pair, sides, gram(rows[0]), gram(rows[0]))
        assert (sham > 0.9) if kept else (abs(sham) < 0.05)
    assert LENGTH_BINS == 10


def test_rotated_rows_align_fully_and_unrelated_rows_not_at_all(tmp_path: Path) -> None:
    rng = stream(2, "compare")
    rows, other = (rng.normal(size=(2, 200, 12)) for _ in range(2))
    rotation = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    same = compare(pair_of(tmp_path, rows, rows @ rotation, np.arange(200))[0])
    apart = compare(pair_of(tmp_path, rows, other, np.arange(200))[0])
    assert same["cka"].value == pytest.approx(1)
    assert same["difference"].low > 0.8
    assert same["p"] == 1 / 100
    assert same["last_forward_hits"].share == 1
    assert abs(apart["cka"].value) < 0.1
    assert apart["difference"].low < 0 < apart["difference"].high
    assert apart["p"] > 0.01
    assert apart["last_forward_hits"].share < 0.1
    assert apart["last_forward_sham"].share < 0.1


def test_a_constant_dimension_is_refused() -> None:
    with pytest.raises(Exception, match="column 1 of 2 does not vary"):
        standardised(np.array([[1.0, 2.0], [3.0, 2.0]]))
