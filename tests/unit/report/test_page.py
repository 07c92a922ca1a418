"""The page is one file: nothing from elsewhere, nothing unescaped, readable with any eyes, the same bytes each time."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from assay.errors import EvidenceError
from assay.report.page import SHOWN_ROWS, page
from assay.report.study import Study, read_study
from assay.runs import Record

VOID = {"meta", "img", "link", "br", "hr", "input"}


class Elements(HTMLParser):
    """Every element of a page with its attributes, the text of some, and whether tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.texts: Counter[str] = Counter()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[f"{tag}: {data.strip()}"] += 1

    def all(self, *tags: str) -> list[dict[str, str]]:
        """Attributes of the elements of these tags."""
        return [attributes for tag, attributes in self.found if tag in tags]


@pytest.fixture(scope="module")
def written(study: Study) -> str:
    return page(study)


@pytest.fixture(scope="module")
def ours(representations: Study) -> str:
    return page(representations)


@pytest.fixture(params=["written", "ours"])
def either(request: pytest.FixtureRequest) -> str:
    text: str = request.getfixturevalue(request.param)
    return text


def test_nothing_comes_from_elsewhere_and_nothing_runs(either: str) -> None:
    elements = Elements(either)
    assert elements.open == []
    assert not elements.all("script", "link", "iframe", "object", "embed", "base", "form")
    for attributes in elements.all(*{tag for tag, _ in elements.found}):
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert re.match(r"data:|#|$", attributes.get(name, "")), attributes[name][:80]
    assert "url(" not in either
    assert "@import" not in either
    assert "default-src 'none'" in either


def test_a_reader_without_eyes_finds_the_way(either: str) -> None:
    elements = Elements(either)
    assert [attributes["lang"] for attributes in elements.all("html")] == ["en"]
    levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert all(attributes["alt"].strip() for attributes in elements.all("img"))
    assert all(attributes["scope"] in ("col", "row") for attributes in elements.all("th"))
    assert len(elements.all("caption")) == len(elements.all("table"))
    ids = Counter(attributes["id"] for _, attributes in elements.found if "id" in attributes)
    assert set(ids.values()) == {1}
    targets = {attributes["href"][1:] for attributes in elements.all("a") if attributes["href"].startswith("#")}
    targets |= {attributes["aria-labelledby"] for _, attributes in elements.found if "aria-labelledby" in attributes}
    assert targets <= set(ids)


def test_the_first_paragraph_says_how_many_claims_hold(written: str, ours: str) -> None:
    assert "3 of 7 claims hold; E3 fails, E5 is unverified, E6 is stale and E4 is pending." in written
    assert re.search(r"All \d+ claims hold: each of the \d+ numbers is what a registered run says", ours)
    for text in (written, ours):
        first = text.index('<p class="lead">')
        assert (
            first < text.index("<figure>") < text.index('<section id="_claims"') < text.index('<section id="_tables"')
        )


def test_what_a_claim_says_is_escaped(written: str) -> None:
    assert "&lt;b&gt;<b" in written
    assert 'alt="Effect of each pair, before &lt;and&gt; after"' in written


def test_a_number_that_differs_shows_both(written: str) -> None:
    row = re.search(r'<tr class="differs"><td>3,001</td><td>3,000 .*?</tr>', written)
    assert row
    assert "differs</span>" in row[0]


def test_a_value_that_is_not_there_is_not_called_derived(written: str) -> None:
    row = re.search(r"<tr[^>]*><td>5</td>.*?</tr>", written)
    assert row
    assert "derived" not in row[0]
    assert re.search(r"<td>1.50</td>.*?derived", written)


def test_what_is_open_is_said(written: str) -> None:
    tail = written[written.index('<section id="_open"') :]
    for text in ("E4", "the larger node is not there", "E5", "E6", "ValueError: the disk planted was full"):
        assert text in tail


def test_a_long_table_is_cut_and_can_be_saved_whole(written: str) -> None:
    assert f"The first {SHOWN_ROWS} of 60 rows." in written
    assert written.count('download="study.effect.tiny.many.csv"') == 1
    assert "1e-50" not in written


def test_chosen_columns_have_their_headings_and_digits(written: str) -> None:
    assert '<th scope="col" class="n">$\\Delta$ &amp; gain</th>' in written
    assert '<td class="n">−0.25</td>' in written


def test_equal_evidence_gives_equal_bytes(template: Path, written: str) -> None:
    assert page(read_study("study", template, Record(template / "experiments"))) == written


def test_an_altered_figure_is_not_shown(repository: Path) -> None:
    study = read_study("study.effect", repository, Record(repository / "experiments"))
    path = next((repository / "experiments/summaries").glob("study.effect_tiny_*/figures/effects.svg"))
    path.write_text(path.read_text().replace("<svg", "<svg onload='alert(1)'"))
    with pytest.raises(EvidenceError, match="altered"):
        page(study)


def test_a_study_without_claims_and_runs_says_so(repository: Path) -> None:
    (repository / "experiments/study/new.py").write_text(
        '"""New."""\nfrom assay.runs import experiment\n@experiment("study.new", version=1)\ndef new(config, run):\n'
        '    """New."""\n'
    )
    text = page(read_study("study.new", repository, Record(repository / "experiments")))
    assert "No claim speaks of this study yet" in text
    assert "No run is registered" in text


def luminance(colour: str) -> float:
    """Relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours (WCAG 2.2)."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_known_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
def test_every_text_has_a_contrast_of_at_least_4_5(mode: int) -> None:
    style = resources.files("assay.report").joinpath("templates", "page.css").read_text("utf-8")
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", re.findall(r":root \{(.*?)\}", style, re.DOTALL)[mode]))
    pairs = [(ink, back) for ink in ("ink", "muted", "link") for back in ("back", "card", "band")]
    pairs += [(one, f"{one}-back") for one in ("holds", "fails", "stale", "pending")] + [
        ("fails", "card"),
        ("stale", "card"),
    ]
    low = [pair for pair in pairs if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]
    assert low == []
