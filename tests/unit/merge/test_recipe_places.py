"""Where a recipe is wrong: the file, the part of it and the place in a list begin the message."""

import pytest

from assay.errors import ConfigError
from assay.merge.recipe import Recipe, Slice, Source, near, parse_recipe, read_recipe

METHODS = ["linear", "slerp", "dare_ties"]
MODELS = "merge_method: linear\nmodels: "
SLICES = "merge_method: linear\nslices: "
LAYERS = "layer_range: [0, 2]"
MODEL = f"{MODELS}[{{model: y}}]"
SOURCE = f"{{model: y, {LAYERS}}}"
TOP = (
    "Known: merge_method, models, slices, modules, base_model, parameters, dtype, out_dtype, tokenizer_source, "
    "tokenizer, chat_template."
)

PLACES = {
    "the whole": ("[1]", "r: names and values are needed, got [1]."),
    "YAML": ("a: [", "r: not YAML ("),
    "a key": (f"{MODELS}[]\nbse_model: x", f"r: there is no key 'bse_model'. Did you mean 'base_model'? {TOP}"),
    "a number as key": (f"{MODELS}[]\n1: x", f"r: there is no key 1. {TOP}"),
    "a key twice": ("a: 1\nb: 1\na: 2", "r: the key 'a' is there twice."),
    "a key twice, deep": ("a: [1, {b: {c: 1, c: 2}}]", "r: the key 'c' is there twice."),
    "a key twice, in the second": ("a: {b: 1}\nc: {d: 1, d: 2}", "r: the key 'd' is there twice."),
    "no method": ("models: [{model: y}]", "r: merge_method is missing.  Known: linear, slerp, dare_ties."),
    "a number as method": ("merge_method: 3", "r: merge_method is missing.  Known: linear"),
    "a method": (
        "merge_method: dare-tie",
        "r: there is no merge_method 'dare-tie'. Did you mean 'dare_ties'? Known: linear, slerp, dare_ties.",
    ),
    "another method": ("merge_method: x", "r: there is no merge_method 'x'. Known: linear, slerp, dare_ties."),
    "a dtype": (
        f"{MODEL}\ndtype: flot16",
        "r: dtype is 'flot16'. Did you mean 'float16'? Known: float64, float32, bfloat16, float16.",
    ),
    "an out_dtype": (f"{MODEL}\nout_dtype: int8", "r: out_dtype is 'int8'. Known: float64, "),
    "a dtype that is a number": (f"{MODEL}\ndtype: 16", "r: dtype is 16."),
    "a template": (f"{MODEL}\nchat_template: auto", "r: chat_template is not rewritten"),
    "two tokenizers": (
        f"{MODEL}\ntokenizer: {{source: y}}\ntokenizer_source: y",
        "r: give tokenizer or tokenizer_source, not both.",
    ),
    "a key of tokenizer": (
        f"{MODEL}\ntokenizer: {{sauce: y}}",
        "r: tokenizer: there is no key 'sauce'. Did you mean 'source'? Known: source, tokens, pad_to_multiple_of.",
    ),
    "tokens": (f"{MODEL}\ntokenizer: {{tokens: {{a: 1}}}}", "r: tokenizer.tokens would make new rows"),
    "padding": (
        f"{MODEL}\ntokenizer: {{pad_to_multiple_of: 8}}",
        "r: tokenizer.pad_to_multiple_of would make new rows",
    ),
    "source of a tokenizer": (f"{MODEL}\ntokenizer: {{source: 3}}", "r: tokenizer.source is 3;"),
    "tokenizer_source": (f"{MODEL}\ntokenizer_source: 3", "r: tokenizer_source is 3;"),
    "base_model": (f"{MODEL}\nbase_model: ''", "r: base_model is '';"),
    "two bodies": (
        f"{MODEL}\nslices: [1]",
        "r: give exactly one of models, slices and modules; it has ['models', 'slices'].",
    ),
    "no body": ("merge_method: linear", "r: give exactly one of models, slices and modules; it has none."),
    "models": (f"{MODELS}x", "r: models is 'x'; give a list of at least one."),
    "a model": (f"{MODELS}[{{model: y}}, 3]", "r: models[1]: names and values are needed, got 3."),
    "a key of a model": (
        f"{MODELS}[{{modl: y}}]",
        "r: models[0]: there is no key 'modl'. Did you mean 'model'? Known: model, parameters.",
    ),
    "no model": (f"{MODELS}[{{model: y}}, {{}}]", "r: models[1]: it names no model."),
    "a model that is none": (f"{MODELS}[{{model: [y]}}]", "r: models[0]: model is ['y'];"),
    "a path that is none": (f"{MODELS}[{{model: {{path: 3}}}}]", "r: models[0]: model is 3;"),
    "an adapter": (f"{MODELS}[{{model: no/where+lora}}]", "r: models[0]: model is 'no/where+lora': an adapter"),
    "parameters of a model": (f"{MODELS}[{{model: y, parameters: [1]}}]", "r: models[0]: parameters is [1];"),
    "names that are numbers": (f"{MODEL}\nparameters: {{1: 2}}", "r: parameters is {1: 2};"),
    "slices": (f"{SLICES}{{a: 1}}", "r: slices is {'a': 1}; give a list"),
    "a slice": (f"{SLICES}[3]", "r: slices[0]: names and values are needed, got 3."),
    "a key of a slice": (
        f"{SLICES}[{{sorces: []}}]",
        "r: slices[0]: there is no key 'sorces'. Did you mean 'sources'? Known: sources, base_model, parameters.",
    ),
    "no sources": (f"{SLICES}[{{sources: []}}]", "r: slices[0]: sources is []; give a list"),
    "a source": (f"{SLICES}[{{sources: [3]}}]", "r: slices[0]: sources[0]: names and values are needed, got 3."),
    "a key of a source": (
        f"{SLICES}[{{sources: [{{layers: 1}}]}}]",
        "r: slices[0]: sources[0]: there is no key 'layers'.",
    ),
    "layers": (
        f"{SLICES}[{{sources: [{SOURCE}, {{model: y, layer_range: [0]}}]}}]",
        "r: slices[0]: sources[1]: layer_range is [0]; give",
    ),
    "no model of a source": (f"{SLICES}[{{sources: [{{{LAYERS}}}]}}]", "r: slices[0]: sources[0]: it names no model."),
    "parameters of a source": (
        f"{SLICES}[{{sources: [{{model: y, {LAYERS}, parameters: 3}}]}}]",
        "r: slices[0]: sources[0]: parameters is 3;",
    ),
    "base of a slice": (
        f"{SLICES}[{{sources: [{SOURCE}], base_model: 3}}]",
        "r: slices[0]: base_model is 3;",
    ),
    "parameters of a slice": (
        f"{SLICES}[{{sources: [{SOURCE}]}}, {{sources: [{SOURCE}], parameters: 3}}]",
        "r: slices[1]: parameters is 3;",
    ),
    "uneven": (
        f"{SLICES}[{{sources: [{SOURCE}, {{model: z, layer_range: [1, 4]}}]}}]",
        "r: slices[0]: its sources give different numbers of layers: [(0, 2), (1, 4)].",
    ),
    "modules": ("merge_method: linear\nmodules: [1]", "r: modules names [1]; only models of one module"),
    "two modules": ("merge_method: linear\nmodules: {a: {}, b: {}}", "r: modules names {'a': {}, 'b': {}};"),
    "a module": ("merge_method: linear\nmodules: {m: 3}", "r: module m: names and values are needed, got 3."),
    "a key of a module": (
        "merge_method: linear\nmodules: {m: {x: 1}}",
        "r: module m: there is no key 'x'. Known: models, slices, parameters.",
    ),
    "a module of two bodies": (
        "merge_method: linear\nmodules: {m: {models: [{model: y}], slices: [{}]}}",
        "r: module m: give exactly one of models and slices.",
    ),
    "models of a module": ("merge_method: linear\nmodules: {m: {models: 3}}", "r: module m: models is 3;"),
    "slices of a module": ("merge_method: linear\nmodules: {m: {slices: 3}}", "r: module m: slices is 3;"),
    "parameters of a module": (
        "merge_method: linear\nmodules: {m: {models: [{model: y}], parameters: 3}}",
        "r: module: parameters is 3;",
    ),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_message_begins_with_the_place(case):
    text, message = PLACES[case]
    with pytest.raises(ConfigError) as raised:
        parse_recipe(text, METHODS, where="r")
    assert str(raised.value).startswith(message)


def test_without_a_name_it_is_the_recipe():
    with pytest.raises(ConfigError, match=r"^recipe: merge_method is missing"):
        parse_recipe("a: 1".replace("a", "models"), METHODS)


@pytest.mark.parametrize(
    "given", [None, 3, [], [0], [0, 1, 2], [0, 1.0], [True, 2], ["0", "1"], [-1, 2], [2, 2], [3, 1]]
)
def test_layers_are_two_whole_numbers_in_order(given):
    text = f"{SLICES}[{{sources: [{{model: y, layer_range: {'null' if given is None else given}}}]}}]"
    with pytest.raises(ConfigError, match="layer_range"):
        parse_recipe(text.replace("True", "true"), METHODS)


WHOLE = """
merge_method: dare_ties
base_model: {model: {path: base}}
slices:
  - sources:
      - {model: one, layer_range: [0, 1], parameters: {weight: 0.5}}
      - {model: {path: two}, layer_range: [2, 3]}
    base_model: other
    parameters: {density: 0.25}
  - sources: [{model: one, layer_range: [1, 4]}]
parameters: {normalize: true}
dtype: float32
out_dtype: bfloat16
tokenizer_source: one
"""


def test_all_that_a_recipe_can_say():
    recipe = parse_recipe(WHOLE, METHODS)
    first = Slice((Source("one", (0, 1), {"weight": 0.5}), Source("two", (2, 3), {})), "other", {"density": 0.25})
    assert recipe == Recipe(
        method="dare_ties",
        slices=(first, Slice((Source("one", (1, 4), {}),), None, {})),
        base_model="base",
        shared=({"normalize": True},),
        dtype="float32",
        out_dtype="bfloat16",
        tokenizer_source="one",
        stacked=True,
    )
    assert recipe.models == ("base", "other", "one", "two")


def test_models_and_modules():
    models = "models: [{model: one, parameters: {weight: 2}}, {model: two}]"
    sources = (Source("one", None, {"weight": 2}), Source("two", None, {}))
    plain = parse_recipe(f"merge_method: linear\n{models}", METHODS)
    assert plain == Recipe("linear", (Slice(sources),), shared=({},))
    text = (
        f"merge_method: linear\nmodules: {{text: {{{models}, parameters: {{normalize: false}}}}}}\nparameters: {{a: 1}}"
    )
    module = parse_recipe(text, METHODS)
    assert module == Recipe("linear", (Slice(sources),), shared=({"normalize": False}, {"a": 1}))
    layered = parse_recipe(
        "merge_method: linear\nmodules: {text: {slices: [{sources: [{model: one, layer_range: [0, 1]}]}]}}", METHODS
    )
    assert layered == Recipe("linear", (Slice((Source("one", (0, 1)),)),), shared=({}, {}), stacked=True)


@pytest.mark.parametrize("nothing", ["slices: []", "slices: null", "modules: {}"])
def test_an_empty_body_is_none(nothing):
    assert parse_recipe(f"{MODEL}\n{nothing}", METHODS) == parse_recipe(MODEL, METHODS)


def test_tokenizers():
    def source(line):
        return parse_recipe(f"{MODEL}\n{line}", METHODS).tokenizer_source

    assert source("") is None
    assert source("tokenizer_source: base") == source("tokenizer: {source: base}") == "base"
    assert source("tokenizer: {tokens: {}, source: {path: y}}") == "y"
    assert source("tokenizer: {pad_to_multiple_of: null}") is None


def test_a_folder_with_a_plus_is_no_adapter(tmp_path):
    (tmp_path / "a+b").mkdir()
    assert parse_recipe(f"{MODELS}[{{model: {tmp_path}/a+b}}]", METHODS).models == (f"{tmp_path}/a+b",)


def test_the_nearest_name():
    assert near("dare-ties", METHODS) == " Did you mean 'dare_ties'? Known: linear, slerp, dare_ties."
    assert near("q-k-v-o", ["q_k_v_o"]) == " Did you mean 'q_k_v_o'? Known: q_k_v_o."
    assert near("quite other", METHODS) == " Known: linear, slerp, dare_ties."


def test_files(tmp_path):
    path = tmp_path / "r.yml"
    path.write_text(f"{MODELS}[{{model: modèle}}]\n", encoding="utf-8")
    assert read_recipe(path, METHODS).models == ("modèle",)
    path.write_text("merge_method: linear\n")
    with pytest.raises(ConfigError) as raised:
        read_recipe(path, METHODS)
    assert str(raised.value).startswith(f"{path}: give exactly one of")
    path.write_bytes(b"merge_method: \xff\n")
    for wrong in (path, tmp_path / "none.yml"):
        with pytest.raises(ConfigError, match=f"the recipe {wrong} cannot be read"):
            read_recipe(wrong, METHODS)
