"""Help pages: which elements have a text, and how it is read."""

import pytest

from assay.errors import DataError
from assay.tasks.help_pages import aligned_elements, normalised, page_texts


def page(body):
    return f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>'.encode()


def text(markup):
    return page_texts(page(f'<p id="par_1">{markup}</p>'))[0]["par_1"]


def test_white_space_of_every_kind_is_one_space():
    assert normalised("\u00a0 a\u00a0\u202fb\n\tc\u3000d\u2028e \u00a0") == "a b c d e"
    assert normalised("a\u200bb Ą“”") == "a\u200bb Ą“”"


def test_only_paragraphs_and_headings_with_ids_are_read():
    markup = '<h1 id="hd_1">Head</h1><p id="par_1">One</p><p>No id</p><p id="bm_3">Mark</p><li id="par_4">Item</li>'
    assert page_texts(page(markup)) == ({"hd_1": "Head", "par_1": "One"}, 0)


def test_the_first_element_of_an_id_counts():
    assert page_texts(page('<p id="par_1">One</p><p id="par_1">Other</p>')) == ({"par_1": "One"}, 1)


def test_markup_is_dropped_and_breaks_are_spaces():
    assert text('Choose <span class="menuitem">File <a href="x">Open</a></span>.<br>Then <!-- note -->go.') == (
        "Choose File Open. Then go."
    )


def test_the_default_variant_is_read():
    switch = '<span class="switchinline"><span id="MACx" class="MAC">Cmd</span>{}</span>+F'
    assert text(switch.format('<span id="defaultx">Ctrl</span>')) == "Ctrl+F"
    assert text(switch.format('<span id="WINx">Win</span>')) == "Cmd+F"


def test_alignment_by_file_and_id(tmp_path):
    for language, body in (("en", '<p id="par_1">One</p><p id="par_2">Two</p>'), ("pl", '<p id="par_2">Dwa</p>')):
        (tmp_path / language / "sub").mkdir(parents=True)
        (tmp_path / language / "sub" / "a.html").write_bytes(page(body))
    (tmp_path / "en" / "only.html").write_bytes(page('<p id="par_2">Alone</p>'))
    said = []
    elements, counts = aligned_elements({name: tmp_path / name for name in ("en", "pl")}, said.append)
    assert [(one.file, one.element, dict(one.texts)) for one in elements] == [
        ("sub/a.html", "par_2", {"en": "Two", "pl": "Dwa"})
    ]
    assert counts == {"repeated id": 0, "elements": 3, "aligned": 1}
    assert said == ["reading 2 pages in en", "reading 1 pages in pl"]


def test_no_pages_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no pages for en"):
        aligned_elements({"en": tmp_path}, print)
