"""The files that a text names, found as LaTeX does and within the repository alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.ledger.texts.coverage import Reader
from assay.ledger.texts.latex_files import Folders, Missing
from assay.ledger.texts.manuscripts import cover_texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "repository"


def write(folder: Path, **files: str) -> None:
    """Files by their path, in which two underscores stand for a slash."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".tex")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def numbers(folder: Path, *names: str) -> list[tuple[str, str]]:
    """Place and text of what is found in texts and is not set aside."""
    found = cover_texts(Reader({}), [folder / name for name in names], folder)
    return [(one.place, one.text) for text in found for one in text.found if one.standing != "set aside"]


def test_included_files_are_read_at_their_own_place(folder: Path) -> None:
    write(
        folder,
        paper__main="\\documentclass{a}\n\\begin{document}\n\\input{parts/a} 1\n\\include{parts/b}\n"
        "\\input parts/c.tex\n2",
        paper__parts__a="\n3 \\input{parts/d}",
        paper__parts__b="4",
        paper__parts__c="5",
        paper__parts__d="6",
    )
    assert numbers(folder, "paper/main.tex") == [
        *(("paper/main.tex:3", "1"), ("paper/main.tex:6", "2"), ("paper/parts/a.tex:2", "3")),
        *(("paper/parts/d.tex:1", "6"), ("paper/parts/b.tex:1", "4"), ("paper/parts/c.tex:1", "5")),
    ]


def test_a_sentence_a_table_and_a_section_go_on_through_files(folder: Path) -> None:
    write(
        folder,
        main="\\section{Results}In 14/20 \\input{cited}.\n\n\\begin{tabular}{l}a & 5 \\\\\n\\input{rows}\\end{tabular}",
        cited="\\claimref{M1}",
        rows="b & 14/20 \\claimref{M1} \\\\",
    )
    found = cover_texts(Reader({"M1": "It wins in 14/20."}), [folder / "main.tex"], folder)
    assert [(one.place, one.standing, one.fails) for text in found for one in text.found] == [
        ("main.tex:1", "bound", False),
        ("main.tex:3", "loose", True),
        ("rows.tex:1", "bound", False),
    ]


def test_each_file_once_whether_named_or_included(folder: Path) -> None:
    write(folder, a="3", main="\\input{a} 1 \\input{a}", other="\\input{a} 2", two="\\input{main} 4")
    assert numbers(folder, "a.tex", "main.tex") == [("main.tex:1", "1"), ("a.tex:1", "3")]
    assert numbers(folder, "main.tex", "a.tex", "other.tex") == [
        *(("main.tex:1", "1"), ("a.tex:1", "3"), ("other.tex:1", "2"))
    ]
    assert [place for place, _ in numbers(folder, "a.tex", "main.tex", "two.tex")] == [
        *("two.tex:1", "main.tex:1", "a.tex:1")
    ]


def test_import_and_subfiles_look_into_their_own_folder_first(folder: Path) -> None:
    write(
        folder,
        main="\\import{sub}{a}\n\\import{sub/}{nest}\n\\subfile{sub/child}\n\\input{leaf}",
        leaf="1",
        sub__a="2 \\input{leaf}",
        sub__leaf="3",
        sub__nest="\\subimport{deep}{b}",
        sub__deep__b="4",
        sub__child="\\documentclass[../main]{subfiles}\\def\\x{5}\\begin{document}\\x{} \\input{leaf}\\end{document}6",
    )
    assert numbers(folder, "main.tex") == [
        *(("sub/a.tex:1", "2"), ("sub/leaf.tex:1", "3"), ("sub/deep/b.tex:1", "4"), ("sub/child.tex:1", "5")),
        ("leaf.tex:1", "1"),
    ]


def test_macros_of_included_files_and_of_styles_beside_the_text(folder: Path) -> None:
    write(
        folder,
        main="\\documentclass{own}\\usepackage{graphicx,numbers}\\input{macros}\\begin{document}\n\\x \\y \\z",
        macros="\\newcommand{\\x}{1,}",
    )
    (folder / "numbers.sty").write_text("\\RequirePackage{more}\\newcommand{\\y}{2,} % 9")
    (folder / "more.sty").write_text("\\renewcommand{\\section}[1]{8}")
    (folder / "own.cls").write_text("\\newcommand{\\z}{3}")
    assert numbers(folder, "main.tex") == [("main.tex:2", "1"), ("main.tex:2", "2"), ("main.tex:2", "3")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", "there is no paper/none.tex nor paper/none: LaTeX looks from the folder of paper/main.tex"),
        ("../../outside", "it lies outside of the repository; copy it in"),
        ("../../none", "it would lie outside of the repository; give a name within it"),
        ("/nowhere/none", "it would lie outside of the repository; give a name within it"),
        ("../link", "it lies outside of the repository; copy it in"),
        ("|ls", "it is what a program prints"),
        ("\\jobname-1", "its name is made by a macro; write it out"),
        ("bad", "bad.tex cannot be read as UTF-8 text"),
    ],
)
def test_a_file_that_is_not_read_fails_at_the_place_that_names_it(folder: Path, name: str, said: str) -> None:
    write(folder, paper__main=f"5\n\\input{{{name}}}", paper__bad="")
    (folder / "paper/bad.tex").write_bytes(b"\xff")
    (folder.parent / "outside.tex").write_text("7")
    (folder / "link.tex").symlink_to(folder.parent / "outside.tex")
    (found,) = cover_texts(Reader({}), [folder / "paper/main.tex"], folder)
    assert (found.failing[0].place, found.failing[0].standing) == ("paper/main.tex:2", "not read")
    assert said in found.failing[0].message


def test_a_name_may_be_made_by_a_macro_of_the_text(folder: Path) -> None:
    write(folder, main="\\newcommand{\\parts}{sub}\\input{\\parts/a}", sub__a="5")
    assert numbers(folder, "main.tex") == [("sub/a.tex:1", "5")]


def test_files_of_tex_are_listed_and_fail_nothing(folder: Path) -> None:
    write(folder, main="\\input{glyphtounicode}\\begin{document}5")
    (found,) = cover_texts(Reader({}), [folder / "main.tex"], folder)
    assert [one.message for one in found.found if one.standing == "not read"] == [
        "\\input{glyphtounicode} is not read: it is a file of TeX"
    ]
    assert not found.failing


def test_a_circle_of_files_ends_with_its_names(folder: Path) -> None:
    write(folder, main="1 \\input{a}", a="2 \\input{b}", b="3 \\input{a} \\input{main}")
    found = cover_texts(Reader({}), [folder / "main.tex"], folder)
    assert [one.message for text in found for one in text.failing] == [
        f"\\input{{{name}}} is not read: files read each other in a circle: {chain}. Take one of them out"
        for name, chain in (("a", "a.tex > b.tex > a.tex"), ("main", "main.tex > a.tex > b.tex > main.tex"))
    ]
    assert [one.text for text in found for one in text.found if one.standing == "loose"] == ["1", "2", "3"]
    assert numbers(folder, "b.tex", "a.tex")[0] == ("b.tex:1", "3"), "either may be named"


def test_a_chain_of_files_may_be_long_but_not_endless(folder: Path) -> None:
    write(folder, **{f"f{at}": f"\\input{{f{at + 1}}}" for at in range(60)}, f60="5")
    found = cover_texts(Reader({}), [folder / "f0.tex"], folder)
    assert [one.message for text in found for one in text.failing] == [
        "\\input{f41} is not read: files read each other more than 40 deep"
    ]


def test_a_text_outside_of_the_repository_reads_the_files_of_its_folder(folder: Path) -> None:
    folder.mkdir()
    write(folder.parent / "paper", main="\\input{a}", a="5")
    main = folder.parent / "paper/main.tex"
    found = cover_texts(Reader({}), [main], folder)
    assert [one.path for one in found] == [main.as_posix(), (main.parent / "a.tex").as_posix()]


def test_names_of_files(folder: Path) -> None:
    write(folder, paper__main="", paper__a="")
    folders = Folders(folder / "paper/main.tex", folder)
    assert folders.find('"a"') == folders.find("a.tex") == (folder / "paper/a.tex").resolve()
    assert isinstance(folders.find(""), Missing)
    assert folders.package("a", ".sty") is None
