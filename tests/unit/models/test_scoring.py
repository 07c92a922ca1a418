"""Scores equal the plain computation on whole logits; rows equal pooling over captured hidden states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.errors import DataError, ModelError, ShapeError
from assay.models import scoring
from assay.models.hooks import capture
from assay.models.pooling import position_weighted_mean
from assay.models.pretrained import PretrainedModel
from assay.models.scoring import nll, read_rows, target_nats
from assay.models.sites import HookPoint, at_every_layer
from assay.models.tiny import TINY_FAMILIES, tiny_pretrained

LINES = ["Zażółć gęślą jaźń.", "a", "The quick brown fox.", "你好，世界", "x" * 70, "b"]
Tiny = Callable[[str], PretrainedModel]


def plain_ids(pretrained: PretrainedModel, line: str) -> list[int]:
    """Prefix and bytes, by hand: ids of the byte-level tokenizer follow the three special tokens."""
    prefix = 2 if pretrained.tokenizer.bos_token_id is not None else 1
    return [
        prefix,
        *(pretrained.tokenizer.convert_tokens_to_ids(token) for token in pretrained.tokenizer.tokenize(line)),
    ]


def plain_nats(pretrained: PretrainedModel, line: str) -> float:
    ids = torch.tensor([plain_ids(pretrained, line)])
    with torch.no_grad():
        log_p = pretrained.model(input_ids=ids).logits.double().log_softmax(-1)
    return -float(log_p[0, :-1].gather(1, ids[0, 1:, None]).sum())


@pytest.mark.parametrize("batch_tokens", [1, 64, 4096])
@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_scores_equal_the_plain_computation_in_any_batch(tiny: Tiny, name: str, batch_tokens: int) -> None:
    scores = nll(tiny(name), LINES, batch_tokens=batch_tokens)
    np.testing.assert_allclose(scores.nats, [plain_nats(tiny(name), line) for line in LINES], atol=1e-4, rtol=0)
    n_bytes = [len(line.encode()) for line in LINES]
    assert scores.bytes.tolist() == n_bytes
    assert scores.tokens.tolist() == n_bytes
    assert scores.nats_per_token == pytest.approx(scores.nats.sum() / sum(n_bytes))
    assert scores.nats_per_byte == pytest.approx(scores.nats.sum() / sum(n_bytes))


def test_the_soft_cap_of_gemma_matters(tiny: Tiny) -> None:
    capped = tiny_pretrained("gemma3", seed=3, width=64, n_layers=3)
    capped.model.config.final_logit_softcapping = None
    free = nll(capped, LINES).nats
    np.testing.assert_allclose(free, [plain_nats(capped, line) for line in LINES], atol=1e-4, rtol=0)
    assert np.abs(free - nll(tiny("gemma3"), LINES).nats).min() > 1e-3


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_rows_equal_pooled_captures_without_the_prefix(tiny: Tiny, name: str) -> None:
    pretrained = tiny(name)
    progress: list[tuple[int, int]] = []
    read = read_rows(pretrained, LINES, batch_tokens=64, progress=lambda done, total: progress.append((done, total)))
    assert read.rows.shape == (3, len(LINES), 64)
    assert read.rows.dtype == np.float32
    sites = at_every_layer(HookPoint.RESID_POST, n_layers=3)
    for item, line in enumerate(LINES):
        captured = capture(pretrained, sites, torch.tensor([plain_ids(pretrained, line)]))
        for layer, site in enumerate(sites):
            hidden = captured[site][:, 1:]
            pooled = position_weighted_mean(hidden, torch.ones(hidden.shape[:2], dtype=torch.long))
            np.testing.assert_allclose(read.rows[layer, item], pooled[0].numpy(), atol=2e-5)
    np.testing.assert_array_equal(read.scores.nats, nll(pretrained, LINES, batch_tokens=64).nats)
    assert progress[-1] == (len(LINES), len(LINES))
    assert [done for done, _ in progress] == sorted({done for done, _ in progress})
    assert len(progress) > 1


def test_reading_twice_gives_the_same_bits(tiny: Tiny) -> None:
    first, second = (read_rows(tiny("gemma3"), LINES) for _ in range(2))
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.scores.nats, second.scores.nats)


def test_a_tokenizer_that_adds_bos_itself_does_not_double_it() -> None:
    from tokenizers import processors

    pretrained = tiny_pretrained("llama", seed=3, width=64, n_layers=3)
    before = nll(pretrained, LINES)
    template = processors.TemplateProcessing(single="<bos> $A <eos>", special_tokens=[("<bos>", 2), ("<eos>", 1)])
    pretrained.tokenizer.backend_tokenizer.post_processor = template
    assert pretrained.tokenizer("a")["input_ids"][0] == 2
    np.testing.assert_array_equal(nll(pretrained, LINES).nats, before.nats)


@pytest.mark.parametrize(("rows", "vocabulary"), [(7, 50), (1, 1), (1000, 1000)])
@pytest.mark.parametrize("biased", [False, True])
def test_blocks_of_the_head_do_not_change_the_scores(
    monkeypatch: pytest.MonkeyPatch, rows: int, vocabulary: int, biased: bool
) -> None:
    pretrained = tiny_pretrained("llama", seed=3, width=64, n_layers=3)
    draws = torch.Generator().manual_seed(0)
    head = pretrained.model.get_submodule("lm_head")
    if biased:
        head.bias = nn.Parameter(torch.randn(259, generator=draws), requires_grad=False)
    hidden = 3 * torch.randn(20, 64, generator=draws)
    targets = torch.randint(0, 259, (20,), generator=draws)
    monkeypatch.setattr(scoring, "_HEAD_TOKENS", rows)
    monkeypatch.setattr(scoring, "_HEAD_VOCABULARY", vocabulary)
    expected = nn.functional.cross_entropy(head(hidden), targets, reduction="none")
    torch.testing.assert_close(target_nats(pretrained, hidden, targets), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ([], "no lines"),
        (["fine", ""], r"line 1 \(''\) has no tokens"),
        (["fine", "so", "one <eos> two"], r"line 2 \('one <eos> two'\) contains <eos>"),
        (["y" * 1024], r"line 0 has 1024 tokens, .* reads 1023 after the prefix\. Nothing is truncated"),
    ],
)
def test_lines_that_cannot_be_scored_are_refused(tiny: Tiny, lines: list[str], word: str) -> None:
    with pytest.raises(DataError, match=word):
        nll(tiny("llama"), lines)


def test_the_longest_line_that_fits_is_scored(tiny: Tiny) -> None:
    assert nll(tiny("llama"), ["y" * 1023]).tokens.tolist() == [1023]


def test_a_tokenizer_without_bos_and_eos_is_refused() -> None:
    pretrained = tiny_pretrained("qwen2", n_layers=1)
    pretrained.tokenizer.eos_token = None
    with pytest.raises(ModelError, match="neither BOS nor EOS"):
        nll(pretrained, LINES)


def test_a_pool_of_another_shape_is_refused(tiny: Tiny) -> None:
    def wrong(hidden: Tensor, mask: Tensor) -> Tensor:
        return hidden[:, 0, :5]

    with pytest.raises(ShapeError, match=r"pool returned \(6, 5\) at resid_post\.0"):
        read_rows(tiny("llama"), LINES, pool=wrong)
