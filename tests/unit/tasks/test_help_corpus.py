"""Fetching the help corpus, with small packages and stand-ins for the two programs of Debian."""

import json
import os
import re
import tarfile
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.tasks import help_corpus as module
from assay.tasks.help_corpus import FETCHABLES, fetch_help_corpus, help_corpus, help_corpus_digest
from assay.tasks.synthetic import synthetic_text

FOLDERS = {"en": "en-US", "zh": "zh-CN", "pt": "pt", "pl": "pl", "it": "it"}
DPKG = """#!/bin/sh
if [ "$1" = -f ]; then echo "4:9.9-1"; else tar -xf "$2" -C "$3"; fi
"""
APT_WITHOUT_LISTS = """#!/bin/sh
echo "E: Unable to locate package $2" >&2
exit 100
"""


def make_packages(folder: Path, scratch: Path) -> None:
    """Five packages of 80 pages with two sentences each; a third element of every page is not translated."""
    text = synthetic_text(160)
    longer = {"en": "and does not come back until the next day", "zh": "直到第二天才回来", "pt": "e só volta amanhã"}
    longer |= {"pl": "i wraca dopiero jutro", "it": "e torna solo domani"}
    folder.mkdir()
    for language, name in FOLDERS.items():
        root = scratch / language / "usr" / "share" / "libreoffice" / "help" / name / "text"
        root.mkdir(parents=True)
        for page in range(80):
            lines = [f"{text.sentences[language][2 * page + one]} {longer[language]}" for one in (0, 1)]
            body = "".join(
                f'<p id="par_{one}">{line}</p>' for one, line in enumerate([*lines, f"Not translated {page}"])
            )
            (root / f"{page:02}.html").write_text(f'<html><meta charset="utf-8">{body}</html>', encoding="utf-8")
        with tarfile.open(folder / f"libreoffice-help-{name.lower()}_4%3a9.9-1_all.deb", "w") as package:
            package.add(scratch / language / "usr", "usr")


@pytest.fixture
def debs(tmp_path, monkeypatch):
    """Folder of packages; the cache is empty, the sizes of the splits fit, the programs are on the path."""
    make_packages(tmp_path / "debs", tmp_path / "pages")
    tools = tmp_path / "tools"
    tools.mkdir()
    install(tools / "dpkg-deb", DPKG)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ASSAY_HELP_DEBS", raising=False)
    for split, size in (("devtest", 40), ("dev", 30), ("train", 90)):
        monkeypatch.setitem(module.HELP_CORPUS_SIZES, split, size)
    return tmp_path / "debs"


def install(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


@pytest.fixture
def pinned(debs, monkeypatch):
    """The digests of the small packages, as the refusal of their content names them."""
    with pytest.raises(DataError) as refused:
        fetch_help_corpus(debs=debs)
    for split, digest in re.findall(r"(\w+) has ([0-9a-f]{64})", str(refused.value)):
        monkeypatch.setitem(module.HELP_CORPUS_DIGEST, split, digest)
    return debs


def test_other_content_names_versions_and_what_to_do_and_leaves_nothing(debs, tmp_path):
    with pytest.raises(DataError) as refused:
        fetch_help_corpus(debs=debs)
    said = str(refused.value)
    assert "packages of version 4:9.9-1 give other sentences" in said
    assert "of version 4:7.4.7-1+deb12u14 (160 kept;" in said
    assert "set ASSAY_HELP_DEBS to it" in said
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"] == []


def test_splits_counts_and_pinned_digests(pinned, monkeypatch):
    monkeypatch.setenv("ASSAY_HELP_DEBS", str(pinned))
    said = []
    folder = FETCHABLES["help-corpus"].fetch(progress=said.append)
    counts = json.loads((folder / "counts.json").read_text())
    assert counts == {"repeated id": 0, "elements": 240, "aligned": 240, "refused: same as English": 80, "kept": 160}
    assert "160 of 240 aligned elements kept" in said
    splits = {split: help_corpus(split) for split in ("devtest", "dev", "train")}
    assert [len(text) for text in splits.values()] == [40, 30, 90]
    assert len({name for text in splits.values() for name in text.ids}) == 160
    text = splits["devtest"]
    assert text.ids[0].split("#")[0] == text.clusters[0]
    assert text.digest == help_corpus_digest("devtest")
    assert text.take(9).digest == help_corpus_digest("devtest", 9)
    assert help_corpus("devtest", ("pl", "en")).take(9).digest == help_corpus_digest(
        "devtest", 9, languages=("pl", "en")
    )
    assert help_corpus_digest("devtest", 40) == help_corpus_digest("devtest")


def test_a_changed_cache_is_noticed(pinned):
    path = fetch_help_corpus(debs=pinned) / "dev.jsonl"
    path.write_bytes(path.read_bytes().replace(b"il gatto", b"la gatta", 1))
    with pytest.raises(DataError, match=r"dev.jsonl is not what was fetched .* Delete the folder"):
        help_corpus("dev")
    with pytest.raises(DataError, match="is not what was fetched"):
        FETCHABLES["help-corpus"].fetch()
    assert len(help_corpus("devtest")) == 40


def test_missing_package_lists_say_apt_get_update(debs, tmp_path):
    install(tmp_path / "tools" / "apt-get", APT_WITHOUT_LISTS)
    with pytest.raises(DataError) as refused:
        help_corpus()
    assert "run `apt-get update` once" in str(refused.value)
    assert "Unable to locate package libreoffice-help-en-us" in str(refused.value)


def test_without_apt_a_folder_of_packages_can_be_given(debs, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"'apt-get' is not installed here.*set ASSAY_HELP_DEBS to it"):
        help_corpus()


def test_a_missing_or_doubled_package_is_named(debs):
    extra = debs / "libreoffice-help-pl_4%3a9.8-1_all.deb"
    extra.write_bytes(b"")
    with pytest.raises(DataError, match=r"2 files libreoffice-help-pl_\*.deb"):
        fetch_help_corpus(debs=debs)
    for path in debs.glob("libreoffice-help-pl_*"):
        path.unlink()
    with pytest.raises(DataError, match=r"0 files libreoffice-help-pl_\*.deb"):
        fetch_help_corpus(debs=debs)


def test_apt_get_is_used_without_a_folder(pinned, tmp_path):
    install(tmp_path / "tools" / "apt-get", f"#!/bin/sh\ncp {pinned}/*.deb .\n")
    assert len(help_corpus("train")) == 90


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("test",), "no split 'test'; it has devtest, dev, train"),
        (("dev", ("en", "de")), "choose among en, zh, pt, pl, it"),
        (("dev", ()), "choose among"),
        (("dev", ("en", "en")), "each once"),
    ],
)
def test_unknown_splits_and_languages(arguments, message):
    with pytest.raises(DataError, match=message):
        help_corpus(*arguments)


def test_digests_of_the_real_corpus_are_known_without_it():
    assert help_corpus_digest("devtest", 1012) == module.HELP_CORPUS_DIGEST["devtest"]
    assert help_corpus_digest("devtest", 256) != help_corpus_digest("devtest", 255)
    with pytest.raises(DataError, match="Ask for 1 to 1012"):
        help_corpus_digest("devtest", 1013)


def test_the_description_tells_size_and_licence():
    described = FETCHABLES["help-corpus"].describe()
    assert "MPL-2.0" in described
    assert "15 MB" in described
