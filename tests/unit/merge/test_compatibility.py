"""Which configurations are of one architecture."""

import json
import shutil

import pytest

from assay.errors import ModelError
from assay.merge.checkpoint import open_checkpoint
from assay.merge.compatibility import FIELDS, checked_compatible, compared
from tests.unit.merge.checkpoints import CONFIG, weights, write

REFUSING = {"vocabulary": "refuse", "stacked": False}


def test_fields_under_one_spelling():
    found = compared(CONFIG)
    given = {name: CONFIG.get(name) for name in FIELDS} | {"norm_eps": 1e-6, "rotary_pct": None}
    assert found == given | {"rope": {"rope_theta": 10000.0, "rope_type": "default"}}
    assert set(compared({})) == set(FIELDS)
    assert compared({}) == dict.fromkeys(FIELDS) | {"rope": {"rope_type": "default"}}


@pytest.mark.parametrize(
    ("config", "field", "value"),
    [
        ({"hidden_activation": "gelu"}, "hidden_act", "gelu"),
        ({"activation_function": "gelu"}, "hidden_act", "gelu"),
        ({"hidden_act": "relu", "hidden_activation": "gelu"}, "hidden_act", "relu"),
        ({"hidden_act": None, "hidden_activation": "gelu"}, "hidden_act", "gelu"),
        ({"layer_norm_eps": 1e-5}, "norm_eps", 1e-5),
        ({"layer_norm_epsilon": 1e-4}, "norm_eps", 1e-4),
        ({"use_sliding_window": False}, "use_sliding_window", False),
        ({"rope_theta": 5.0}, "rope", {"rope_theta": 5.0, "rope_type": "default"}),
        ({"rotary_emb_base": 7}, "rope", {"rope_theta": 7, "rope_type": "default"}),
        (
            {"rope_theta": 5.0, "rope_scaling": {"type": "linear", "factor": 2.0}},
            "rope",
            {"rope_theta": 5.0, "rope_type": "linear", "factor": 2.0},
        ),
        (
            {"rope_theta": 5.0, "rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 2.0}},
            "rope",
            {"rope_theta": 5.0, "rope_type": "yarn", "factor": 2.0},
        ),
        ({"rope_parameters": {"rope_theta": 5.0, "factor": None}}, "rope", {"rope_theta": 5.0}),
        ({"rope_parameters": {"rope_theta": 5.0, "partial_rotary_factor": 0.25}}, "rope", {"rope_theta": 5.0}),
        ({"rope_parameters": {"partial_rotary_factor": 0.25}, "rotary_pct": 0.5}, "rotary_pct", 0.25),
        ({"rotary_pct": 0.5}, "rotary_pct", 0.5),
        ({"partial_rotary_factor": 0.75}, "rotary_pct", 0.75),
        ({"rope_parameters": {"partial_rotary_factor": 0.0}, "rotary_pct": 0.5}, "rotary_pct", 0.0),
    ],
    ids=str,
)
def test_spellings(config, field, value):
    assert compared(config)[field] == value


@pytest.fixture
def opened(tmp_path):
    def of(*changes, tokens=None, **options):
        folders = []
        for place, change in enumerate(changes):
            shutil.rmtree(tmp_path / f"m{place}", ignore_errors=True)
            folder = write(tmp_path / f"m{place}", weights(place), tokens=(tokens or {}).get(place, {"a": 0}))
            config = {key: value for key, value in (CONFIG | change).items() if value != "left out"}
            (folder / "config.json").write_text(json.dumps(config))
            folders.append(str(folder))
        return checked_compatible([open_checkpoint(folder) for folder in folders], **REFUSING | options)

    return of


def test_equal_ones_pass_in_silence(opened):
    assert opened({}, {}, {}) == []


def test_every_field_that_differs_is_said_with_both_values(opened, tmp_path):
    with pytest.raises(ModelError) as raised:
        opened({}, {"hidden_size": 16, "num_attention_heads": 4})
    assert str(raised.value).startswith(
        f"merge: '{tmp_path}/m0' and '{tmp_path}/m1' are not of one architecture:\n"
        "  hidden_size: 8 and 16\n  num_attention_heads: 2 and 4\nTensors"
    )


def test_the_third_is_compared_too(opened, tmp_path):
    with pytest.raises(ModelError, match=f"m0' and '{tmp_path}/m2' are not .*\n  hidden_size: 8 and 16\n"):
        opened({}, {}, {"hidden_size": 16})


def test_depth_may_differ_between_stacked_layers_alone(opened):
    deeper = {"num_hidden_layers": 4, "layer_types": ["full_attention"] * 4}
    assert opened({}, deeper, stacked=True) == []
    with pytest.raises(ModelError, match="num_hidden_layers: 3 and 4\n  layer_types: "):
        opened({"layer_types": ["full_attention"] * 3}, deeper)


def test_defaults_left_out_are_filled_in_by_transformers(opened):
    assert opened({}, {"rope_parameters": "left out", "rope_theta": 10000.0, "attention_bias": False}) == []
    with pytest.raises(ModelError, match="attention_bias: False and True"):
        opened({}, {"attention_bias": True})


def test_configurations_that_transformers_cannot_read(opened, tmp_path):
    with pytest.raises(ModelError, match=rf"cannot read the configuration of '{tmp_path}/m1' \(model_type 'x'"):
        opened({}, {"model_type": "x", "hidden_size": 16})
    with pytest.raises(ModelError, match=rf"cannot read the configuration of '{tmp_path}/m0' \(model_type ''"):
        opened({"model_type": "left out"}, {})
    with pytest.raises(ModelError, match=r"(?s)m1' \(model_type 'llama': .*hidden size \(9\) is not a multiple"):
        opened({}, {"hidden_size": 9})


def test_sizes_of_vocabularies(opened):
    other = {"vocab_size": 12}
    with pytest.raises(ModelError, match="vocab_size: 11 and 12"):
        opened({}, other)


def test_excluded_vocabularies_are_not_compared(opened):
    assert opened({}, {"vocab_size": 12}, tokens={1: {"b": 0}}, vocabulary="exclude") == []


def test_other_tokens(opened, tmp_path):
    with pytest.raises(ModelError) as raised:
        opened({}, {}, {}, tokens={1: {"b": 0}, 2: None})
    lines = str(raised.value).splitlines()
    assert lines[0] == "merge: the tokenizers have different vocabularies:"
    digests = [open_checkpoint(f"{tmp_path}/m{place}").vocabulary() for place in range(2)]
    assert lines[1:4] == [
        f"  {tmp_path}/m0: {digests[0][:12]}",
        f"  {tmp_path}/m1: {digests[1][:12]}",
        f"  {tmp_path}/m2: no tokenizer",
    ]


def test_a_missing_tokenizer_is_a_note(opened, tmp_path):
    assert opened({}, {}, tokens={1: None}) == [f"vocabulary not compared: {tmp_path}/m1 has no tokenizer"]
