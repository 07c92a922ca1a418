"""Values of options: gradients, filters, kinds, and the place that a message names."""

import dataclasses
from typing import ClassVar, Literal

import pytest

from assay.errors import ConfigError
from assay.merge.operator import OPERATORS, AbstractMergeOperator
from assay.merge.settings import checked_names, options_for, per_input_for, resolved

HERE = {"name": "model.layers.1.mlp.up.weight", "where": "here"}


def value(setting, t=0.25, hint=float):
    return resolved("weight", [{"weight": setting}], t=t, hint=hint, **HERE)


@pytest.mark.parametrize(("t", "expected"), [(0.0, 1.0), (0.25, 2.0), (0.5, 3.0), (0.75, 6.0), (1.0, 9.0)])
def test_a_gradient_is_piecewise_linear_over_the_layers(t, expected):
    assert value([1, 3, 9], t=t) == pytest.approx(expected)


@pytest.mark.parametrize(("t", "expected"), [(0.0, 1), (0.49, 1), (0.5, 5), (0.99, 5), (1.0, 9)])
def test_what_is_not_a_float_steps(t, expected):
    found = value([1, 5, 9], t=t, hint=int)
    assert (found, type(found)) == (expected, int)


KINDS = Literal["none", "l1", "inverse_density"]


@pytest.mark.parametrize(
    ("setting", "hint", "expected"),
    [
        (2, float, 2.0),
        ("1e-5", float, 1e-5),
        ("3", int, 3),
        (3.0, int, 3),
        (True, bool, True),
        (False, bool, False),
        ("l1", KINDS, "l1"),
        (True, KINDS, "l1"),
        (False, KINDS, "none"),
        ([{"filter": "*", "value": 1}, {"value": 2}], float, 1.0),
        ([{"filter": None, "value": 1}, {"value": 2}], float, 1.0),
        ([{"filter": "attn", "value": 1}, {"filter": "up", "value": [4, 8]}], float, 5.0),
        ([{"filter": 1, "value": 7}], float, 7.0),
        ({"filter": "attn", "value": 1}, float, None),
        ([{"filter": "mlp", "value": {"filter": "attn", "value": 1}}, {"value": 2}], float, None),
    ],
    ids=str,
)
def test_values_in_their_type(setting, hint, expected):
    found = value(setting, hint=hint)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("setting", "hint", "message"),
    [
        ("many", float, "here: weight is 'many'; give a number."),
        (True, float, "here: weight is True; give a number."),
        (None, float, "here: weight is None; give a number."),
        ("many", int, "here: weight is 'many'; give a whole number."),
        (2.5, int, "here: weight is 2.5; give a whole number."),
        (1, bool, "here: weight is 1; give true or false."),
        ("l11", KINDS, "here: weight is 'l11'. Did you mean 'l1'? Known: none, l1, inverse_density."),
        (True, Literal["mass", "count"], "here: weight is True. Known: mass, count."),
        (3, KINDS, "here: weight is 3. Known: none, l1, inverse_density."),
        ([], float, "here: weight is an empty list."),
        ([1, "x"], float, "here: weight is 'x'; give a number."),
        ([1, [2]], float, "here: weight is [1, [2]]; give numbers (a gradient over the layers) or filters, not both."),
        ([1, {"value": 2}], float, "here: weight is [1, {'value': 2}]; give numbers"),
        ([{"filter": "x"}], float, "here: weight: {'filter': 'x'}; a filter has the keys filter and value."),
        ([{"value": 1, "to": 2}], float, "here: weight: {'value': 1, 'to': 2}; a filter has"),
        ({"filter": "mlp", "value": []}, float, "here: weight is an empty list."),
    ],
    ids=str,
)
def test_what_no_option_can_be(setting, hint, message):
    with pytest.raises(ConfigError) as raised:
        value(setting, hint=hint)
    assert str(raised.value).startswith(message)


def test_the_first_scope_that_has_a_value_counts():
    scopes = [{}, {"weight": {"filter": "attn", "value": 1}}, {"weight": 2}, {"weight": 3}]
    assert resolved("weight", scopes, t=0.0, hint=float, **HERE) == 2.0
    assert resolved("weight", scopes[:2], t=0.0, hint=float, **HERE) is None
    assert resolved("density", scopes, t=0.0, hint=float, **HERE) is None


@dataclasses.dataclass(frozen=True)
class Several(AbstractMergeOperator):
    """An option of each kind."""

    name = "several"
    source = "none"
    base: ClassVar = "ignored"
    per_input: ClassVar = {"weight": None, "density": 0.5}
    needed: float
    lambda_: float = 1.0
    scale: float | None = None
    steps: int = 3
    most_steps: int | None = None
    listed: tuple[str, ...] = dataclasses.field(default_factory=tuple)

    def fuse(self, group):
        raise NotImplementedError


def test_options_by_the_names_of_recipes():
    scopes = [{"needed": [0, 1], "lambda": "2"}, {"needed": 9, "steps": 4.0, "scale": 5}]
    made = options_for(Several, scopes, t=0.25, **HERE)
    assert made == Several(needed=0.25, lambda_=2.0, scale=5.0, steps=4)
    assert options_for(Several, [{"needed": 0}], t=0.0, **HERE) == Several(needed=0.0)
    with pytest.raises(ConfigError) as raised:
        options_for(Several, [{"lambda": 2}], t=0.0, **HERE)
    assert str(raised.value) == f"here: several needs 'needed', and there is none for tensor {HERE['name']!r}."
    with pytest.raises(ConfigError, match=r"^here: most_steps is 2\.5; give a whole number"):
        options_for(Several, [{"needed": 1, "most_steps": 2.5}], t=0.0, **HERE)
    for wrong in ({"lambda": "x"}, {"needed": "x"}):
        with pytest.raises(ConfigError, match=f"^here: {next(iter(wrong))} is 'x'"):
            options_for(Several, [wrong, {"needed": 1}], t=0.0, **HERE)


def test_numbers_of_an_input():
    scopes = [{"weight": [0, 4]}, {"weight": 9, "density": {"filter": "attn", "value": 1}}]
    assert per_input_for(Several, scopes, t=0.25, **HERE) == {"weight": 1.0, "density": 0.5}
    assert per_input_for(Several, [{"weight": "2", "density": 0}], t=0.0, **HERE) == {"weight": 2.0, "density": 0.0}
    with pytest.raises(ConfigError) as raised:
        per_input_for(Several, [{"density": 1}], t=0.0, **HERE)
    assert str(raised.value) == f"here: several needs 'weight' of every input; tensor {HERE['name']!r} has none."
    with pytest.raises(ConfigError, match=r"^here: density is 'x'; give a number"):
        per_input_for(Several, [{"weight": 1, "density": "x"}], t=0.0, **HERE)


def test_names_at_their_place():
    checked_names(Several, {"weight": 1, "needed": 1, "lambda": 1, "int8_mask": True}, "r", of_input=False)
    checked_names(Several, {"weight": 1, "density": 1}, "r", of_input=True)
    refused = {
        ("lambda_", False): "r: several has no parameter 'lambda_'. Did you mean 'lambda'? Known: weight, density, "
        "needed, lambda, scale, steps, most_steps, listed, int8_mask.",
        ("wight", True): "r: several has no parameter 'wight'. Did you mean 'weight'? Known: weight, density.",
        ("steps", True): "r: 'steps' holds for all inputs of several.",
        ("int8_mask", True): "r: 'int8_mask' holds for all inputs of several.",
    }
    for (name, of_input), message in refused.items():
        with pytest.raises(ConfigError) as raised:
            checked_names(Several, {"weight": 1, name: 1}, "r", of_input=of_input)
        assert str(raised.value).startswith(message)


def test_every_option_of_the_table_can_be_given():
    """By its name in recipes, in the type of its field."""
    given = {float: 0.25, int: 2, bool: True}
    for name, operator in OPERATORS.items():
        fields = {one.name.rstrip("_"): one for one in dataclasses.fields(operator)}
        kinds = {"t": float, "eps": float, "tol": float, "scale": float}
        settings = {}
        for key, one in fields.items():
            kind = kinds.get(key) or type(one.default)
            settings[key] = one.default if kind is str else given[kind]
        checked_names(operator, settings, name, of_input=False)
        made = options_for(operator, [settings], t=0.0, **HERE)
        assert {key: getattr(made, one.name) for key, one in fields.items()} == settings
