"""Recipes: what is read, precedence of settings, gradients and filters, and what is refused by name."""

import pytest

from assay.errors import ConfigError
from assay.merge.operator import OPERATORS
from assay.merge.recipe import parse_recipe
from assay.merge.settings import checked_names, options_for, per_input_for, resolved

METHODS = list(OPERATORS)
GOOD = "merge_method: ties\nbase_model: x\nmodels: [{model: y, parameters: {weight: 1}}]\n"


def parsed(text):
    return parse_recipe(text, METHODS)


def test_the_three_shapes_of_a_recipe():
    assert parsed(GOOD).models == ("x", "y")
    layered = parsed("merge_method: slerp\nslices:\n- sources: [{model: y, layer_range: [0, 2]}]\n  base_model: y\n")
    assert (layered.stacked, layered.slices[0].sources[0].layers, layered.slices[0].base_model) == (True, (0, 2), "y")
    module = parsed(
        "merge_method: linear\nmodules: {default: {models: [{model: y}], parameters: {normalize: false}}}\n"
    )
    assert module.shared == ({"normalize": False}, {})
    spelled = parsed("merge_method: linear\nmodels: [{model: {model: {path: y}}}]\ntokenizer: {source: base}\n")
    assert (spelled.models, spelled.tokenizer_source) == (("y",), "base")


REFUSED = {
    "no YAML": ("a: [", "not YAML"),
    "no mapping": ("[1]", "names and values are needed"),
    "a key twice": (GOOD + "base_model: z\n", "'base_model' is there twice"),
    "an unknown key": (GOOD + "basemodel: z\n", "Did you mean 'base_model'"),
    "an unknown key inside": (GOOD.replace("parameters", "paramters"), "Did you mean 'parameters'"),
    "no method": ("models: [{model: y}]", "merge_method is missing"),
    "a wrong method": (GOOD.replace("ties", "tie"), "Did you mean 'ties'"),
    "two bodies": (GOOD + "slices: [{}]\n", "exactly one of models"),
    "no body": ("merge_method: linear", "exactly one of models"),
    "no models": ("merge_method: linear\nmodels: x", "a list of at least one"),
    "no model": ("merge_method: linear\nmodels: [{parameters: {}}]", "names no model"),
    "an adapter": (GOOD.replace("model: y", "model: y+lora"), "adapter"),
    "a type": (GOOD + "dtype: float8\n", "dtype is 'float8'"),
    "a template": (GOOD + "chat_template: auto\n", "chat_template"),
    "two tokenizers": (GOOD + "tokenizer: {source: base}\ntokenizer_source: base\n", "not both"),
    "new tokens": (GOOD + "tokenizer: {source: base, tokens: {a: {}}}\n", "tokenizer.tokens"),
    "layers": ("merge_method: linear\nslices: [{sources: [{model: y, layer_range: [2, 2]}]}]", "layer_range"),
    "uneven": (
        "merge_method: linear\nslices:\n- sources: [{model: y, layer_range: [0, 2]}, {model: z, layer_range: [0, 3]}]",
        "different numbers of layers",
    ),
    "parameters": (GOOD.replace("{weight: 1}", "[1]"), "give names and values"),
    "two modules": ("merge_method: linear\nmodules: {a: {}, b: {}}", "one module"),
    "an empty module": ("merge_method: linear\nmodules: {a: {}}", "exactly one of models and slices"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    text, message = REFUSED[case]
    with pytest.raises(ConfigError, match=message):
        parsed(text)


def value(setting, name="model.layers.1.mlp.up.weight", t=0.25, hint=float):
    return resolved("weight", [{"weight": setting}], name=name, t=t, hint=hint, where="here")


def test_gradients_and_filters():
    assert value(0.3) == 0.3
    assert value("1e-5") == 1e-5
    assert value([0, 1]) == 0.25
    assert value([0, 1, 5], t=1.0) == 5
    assert value([2], t=1.0) == 2
    assert value([{"filter": "attn", "value": 1}, {"value": 2}]) == 2
    assert value([{"filter": "mlp", "value": [0, 1]}, {"value": 2}]) == 0.25
    assert value({"filter": "*", "value": 3}) == 3
    assert value([{"filter": "attn", "value": 1}]) is None
    assert value([True, False], t=0.9, hint=bool) is True
    for wrong in ("x", True, [], [1, [2]], [{"values": 1}], [{"value": 1}, 2]):
        with pytest.raises(ConfigError, match="here: weight"):
            value(wrong)


def test_the_nearest_setting_wins():
    operator = OPERATORS["ties"]
    scopes = [{"weight": [{"filter": "attn", "value": 9}]}, {"weight": 2}, {"weight": 3, "density": 0.5}]
    assert per_input_for(operator, scopes, name="mlp", t=0, where="m") == {"weight": 2, "density": 0.5}
    assert per_input_for(operator, scopes, name="attn", t=0, where="m") == {"weight": 9, "density": 0.5}
    with pytest.raises(ConfigError, match="needs 'weight' of every input"):
        per_input_for(operator, [{}], name="attn", t=0, where="m")


def test_options():
    scopes = [{"rescale": True, "lambda": 0.5, "normalize": False}, {"lambda": 2, "scope": "model"}]
    ties = options_for(OPERATORS["ties"], scopes, name="w", t=0, where="recipe")
    assert (ties.rescale, ties.lambda_, ties.normalize, ties.scope) == ("l1", 0.5, False, "model")
    assert options_for(OPERATORS["karcher"], [{"max_iter": 3}], name="w", t=0, where="recipe").max_iter == 3
    assert options_for(OPERATORS["passthrough"], [{"scale": 2}], name="w", t=0, where="recipe").scale == 2.0
    with pytest.raises(ConfigError, match="slerp needs 't'"):
        options_for(OPERATORS["slerp"], [{}], name="w", t=0, where="recipe")
    for wrong in ({"scope": "modl"}, {"normalize": 1}, {"lambda": "many"}):
        with pytest.raises(ConfigError, match="recipe"):
            options_for(OPERATORS["ties"], [wrong], name="w", t=0, where="recipe")
    with pytest.raises(ConfigError, match="whole number"):
        options_for(OPERATORS["karcher"], [{"max_iter": 2.5}], name="w", t=0, where="recipe")


def test_names():
    ties = OPERATORS["ties"]
    checked_names(ties, {"lambda": 1, "weight": 1, "int8_mask": True}, "recipe", of_input=False)
    with pytest.raises(ConfigError, match="Did you mean 'density'"):
        checked_names(ties, {"densty": 0.1}, "model y", of_input=True)
    with pytest.raises(ConfigError, match="Move it to the parameters of the recipe"):
        checked_names(ties, {"lambda": 1}, "model y", of_input=True)
    with pytest.raises(ConfigError, match="task_arithmetic has no parameter 'density'"):
        checked_names(OPERATORS["task_arithmetic"], {"density": 0.1}, "model y", of_input=True)
