"""Where two small language models place the same sentences: the claims of `merging.representations`."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.registered("merging.representations", tier="open")


@pytest.mark.claim("R1", section="Alignment")
def test_every_pair_of_views_aligns_beyond_its_sham(evidence: Any) -> None:
    """In {above_sham.interval: 45/45} pairs of views the unbiased CKA of the last layers exceeds its shuffled sham: the
    {= 95} % interval of the difference lies above zero. No mean sham of {config.shuffles: 999} shuffles is further from
    zero than {sham.largest: 0.0002}; every p-value is {p.highest: 0.001}, the smallest that these shuffles allow
    ({config.sentences: 1,012} sentences on {clusters: 624} pages)."""
    assert evidence["above_sham.interval"].count == evidence["above_sham.interval"].of
    assert evidence["above_sham.permutation"].count == evidence["above_sham.permutation"].of
    assert evidence["p.highest"] * evidence["pairs"] < 0.05, "Holm over all pairs"


@pytest.mark.claim("R2", section="Alignment")
def test_the_range_of_alignment(evidence: Any) -> None:
    """CKA of the last layers ranges from {range.lowest: 0.12 [0.11, 0.14]}, SmolLM2-135M on Polish with Gemma 3 270M
    on English, to {range.highest: 0.64 [0.62, 0.67]}, Gemma 3 270M on English with itself on Chinese; these intervals
    do not allow for the pairs having been chosen as extremes."""
    assert evidence["range.lowest_pair"] == "smollm2-135m-pl gemma3-270m-en"
    assert evidence["range.highest_pair"] == "gemma3-270m-en gemma3-270m-zh"


@pytest.mark.claim("R3", section="Alignment")
def test_sentence_length_explains_a_part_of_it(evidence: Any) -> None:
    """Shuffled among sentences of like length, the mean CKA over all pairs is still {sham_length.mean: 0.034}, against
    {cka_mean: 0.308 [0.288, 0.329]} for translations; in {above_sham.like_length: 45/45} pairs the matched interval
    lies above this sham too."""
    assert 0 < evidence["sham_length.mean"] < evidence["cka_mean"].low


@pytest.mark.claim("R4", section="Languages")
def test_the_same_language_aligns_better_across_models(evidence: Any) -> None:
    """Across models, the same language aligns better than different ones: mean CKA
    {groups.same-language.cka: 0.371 [0.354, 0.389]} over {groups.same-language.pairs: 5} pairs against
    {groups.other-language.cka: 0.245 [0.226, 0.265]} over {groups.other-language.pairs: 20}; the difference is
    {contrast.same_minus_other_language: +0.127 [0.117, 0.135]}."""
    assert evidence["contrast.same_minus_other_language"].low > 0


@pytest.mark.claim("R5", section="Languages")
def test_gemma_places_languages_more_alike(evidence: Any) -> None:
    """Within one model, different languages align more in Gemma 3 270M,
    {groups.within-gemma3-270m.cka: 0.455 [0.428, 0.482]}, than in SmolLM2-135M,
    {groups.within-smollm2-135m.cka: 0.256 [0.227, 0.286]} ({groups.within-gemma3-270m.pairs: 10} pairs each)."""
    assert evidence["groups.within-gemma3-270m.cka"].low > evidence["groups.within-smollm2-135m.cka"].high


@pytest.mark.claim("R6", section="Depth")
def test_chosen_layers_align_better_than_the_last(evidence: Any) -> None:
    """The layer pair chosen on one half of the pages aligns better on the other half ({best_layers.n_test: 506}
    sentences) than the last layers in {best_layers.better: 42/45} pairs and worse in {best_layers.worse: 0/45}, by
    the interval of the difference; the mean gain in CKA is {best_layers.mean_gain: +0.152 [0.133, 0.175]}."""
    assert evidence["best_layers.better"].share > 0.5
    assert evidence["best_layers.mean_gain"].low > 0


@pytest.mark.claim("R7", section="Retrieval")
def test_translations_are_found_in_every_direction(evidence: Any) -> None:
    """A linear map between last layers finds the translation among {best_layers.n_test: 506} test sentences more often
    than chance ({retrieval.chance: 0.0020}) in {retrieval.last.above_chance: 90/90} directions, by the lower end of the
    interval: P@1 is {retrieval.last.mean: 0.316 [0.302, 0.331]} in the mean, from {retrieval.last.lowest_hits: 23/506}
    to {retrieval.last.highest_hits: 434/506}; with shuffled training pairs it is {retrieval.last.mean_sham: 0.0021} in
    the mean and {retrieval.last.highest_sham_hits: 4/506} at the most."""
    assert evidence["retrieval.last.mean_sham"] < 3 * evidence["retrieval.chance"]
    assert evidence["retrieval.last.above_highest_sham"].share > 0.9


@pytest.mark.claim("R8", section="Retrieval")
def test_retrieval_at_the_chosen_layers(evidence: Any) -> None:
    """At the chosen layers the mean P@1 is {retrieval.best.mean: 0.428 [0.414, 0.443]}, higher than at the last layers
    by {retrieval.best_minus_last: +0.112 [0.104, 0.120]} (CSLS: {retrieval.best.mean_csls: 0.552} against
    {retrieval.last.mean_csls: 0.399}); with shuffled training pairs it is {retrieval.best.mean_sham: 0.0020}."""
    assert evidence["retrieval.best_minus_last"].low > 0


@pytest.mark.claim("R9", section="Method")
def test_what_the_biased_form_would_have_said(evidence: Any) -> None:
    """The biased CKA would have read {cka_biased.mean: 0.321} in the mean, and {cka_biased_sham.mean: 0.019} with no
    correspondence at all (closed form; up to {cka_biased_sham.highest: 0.032}), where the unbiased form reads
    {cka_mean: 0.308 [0.288, 0.329]}."""
    assert evidence["cka_biased.mean"] > evidence["cka_mean"].value


@pytest.mark.claim("R10", section="Method")
def test_single_dimensions_hide_alignment(evidence: Any) -> None:
    """With every dimension scaled to unit variance the mean CKA is {cka_standardised.mean: 0.405 [0.386, 0.425]},
    higher by {cka_standardised.minus_raw: +0.097 [0.090, 0.103]}: large dimensions hide agreement rather than feign
    it."""
    assert evidence["cka_standardised.minus_raw"].low > 0


@pytest.mark.claim("R11", section="Languages")
def test_english_is_the_cheapest_language_for_both(evidence: Any) -> None:
    """English costs both models least, per byte ({views.smollm2-135m-en.nats_per_byte: 1.01 [0.99, 1.03]} nats for
    SmolLM2-135M, {views.gemma3-270m-en.nats_per_byte: 0.90 [0.88, 0.92]} for Gemma 3 270M) and for the text as a whole;
    per byte the dearest is Polish for the first ({views.smollm2-135m-pl.nats_per_byte: 2.11 [2.09, 2.14]}) and Chinese
    for the second ({views.gemma3-270m-zh.nats_per_byte: 1.19 [1.17, 1.21]})."""
    views = evidence.table("views")
    views["nats"] = views["nats_per_token"] * views["tokens"]
    for _, of_model in views.groupby("model"):
        by_language = of_model.set_index("language")
        assert by_language["nats_per_byte"].idxmin() == "en"
        assert by_language["nats"].idxmin() == "en", "whole texts: whatever a byte of them carries"
        assert by_language["nats_per_byte"].idxmax() == ("pl" if "SmolLM2" in of_model["model"].iloc[0] else "zh")


@pytest.mark.registered("merging.representations", tier="quick")
@pytest.mark.claim("R12", section="Alignment")
def test_the_quick_run_says_the_same(evidence: Any) -> None:
    """The first {config.sentences: 256} of these sentences alone say the same: {above_sham.interval: 45/45} pairs
    exceed their sham, the same language aligns better across models by
    {contrast.same_minus_other_language: +0.119 [0.102, 0.136]}, and translations are found above chance in
    {retrieval.last.above_chance: 90/90} directions."""
    assert evidence["contrast.same_minus_other_language"].low > 0
