"""Each filter of the help corpus refuses what it names, and only that."""

import pytest

from assay.tasks.help_filters import Aligned, keep_translated

GOOD = {
    "en": "Opens the dialog where you can choose the colour of the border.",
    "zh": "打开对话框,您可以在其中选择边框的颜色。",
    "pt": "Abre a caixa de diálogo onde pode escolher a cor do contorno.",
    "pl": "Otwiera okno dialogowe, w którym można wybrać kolor krawędzi.",
    "it": "Apre la finestra di dialogo in cui scegliere il colore del bordo.",
}
OTHER = {
    "en": "Deletes the selected rows from the table after a question.",
    "zh": "询问后从表格中删除所选的行。",
    "pt": "Elimina as linhas selecionadas da tabela depois de perguntar.",
    "pl": "Usuwa zaznaczone wiersze z tabeli po zadaniu pytania.",
    "it": "Elimina le righe selezionate dalla tabella dopo una domanda.",
}


def kept(*texts):
    elements = [Aligned("page.html", f"par_{number}", one) for number, one in enumerate(texts)]
    found, refused = keep_translated(elements, english="en", chinese="zh")
    return [element.element for element in found], dict(refused)


def test_translated_sentences_pass():
    assert kept(GOOD, OTHER) == (["par_0", "par_1"], {})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pt": ""}, "empty"),
        ({"it": GOOD["en"]}, "same as English"),
        ({"en": "Too short."}, "length"),
        ({"en": "Much too long. " * 30}, "length"),
        ({"pl": "opens THE dialog where you can choose the colour of the border (1)"}, "letters of English"),
        ({"pl": "Otwiera okno, where you can choose the colour of the border."}, "half translated"),
        ({"pt": "Abre the dialog where you can choose a cor do contorno, e muito mais."}, "half translated"),
        ({"zh": "OK: 颜色 (RGB)"}, "no Chinese"),
        ({"pt": "ABRE a caixa de diálogo!", "it": "Abre a caixa de diálogo 2"}, "letters of another"),
        ({"pl": OTHER["pl"]}, "repeated translation"),
    ],
)
def test_every_filter_names_what_it_refuses(changes, reason):
    assert kept(OTHER, GOOD | changes) == (["par_0"], {reason: 1})


def test_the_first_of_two_equal_english_texts_counts():
    assert kept(GOOD, OTHER | {"en": GOOD["en"]}) == (["par_0"], {"repeated English": 1})


def test_five_english_words_in_a_row_pass():
    """Names of products and dialogs stay in English in good translations."""
    assert kept(GOOD | {"pl": "Otwiera okno Opens the dialog where you, czyli wybór koloru."}) == (["par_0"], {})
