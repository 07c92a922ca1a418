"""The reader of the FLORES-200 layout on an invented text in that layout."""

import shutil
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.tasks.flores import flores200

TINY = Path(__file__).parents[2] / "fixtures" / "flores_tiny"


@pytest.fixture
def folder(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "flores200_dataset"))


def test_five_languages_with_articles_as_clusters():
    text = flores200(TINY, "devtest")
    assert text.languages == ("en", "zh", "pt", "pl", "it")
    assert len(text) == 40
    assert text.ids[0] == "devtest:1"
    assert len(set(text.clusters)) == 20
    assert text.clusters[0] == text.clusters[1] == "https://example.org/animals/60"
    assert len(set(text.sentences["zh"])) == 40


def test_both_code_sets_are_read(folder):
    (folder / "devtest" / "zho_Hans.devtest").rename(folder / "devtest" / "cmn_Hans.devtest")
    assert flores200(folder, "devtest").digest == flores200(TINY, "devtest").digest
    by_old_code = flores200(folder, "devtest", languages=["zho_Hans"])
    assert by_old_code.sentences["zho_Hans"] == flores200(TINY, "devtest").sentences["zh"]


def test_both_releases_in_one_folder_are_refused(folder):
    shutil.copy(folder / "devtest" / "zho_Hans.devtest", folder / "devtest" / "cmn_Hans.devtest")
    with pytest.raises(DataError, match=r"zho_Hans.devtest and cmn_Hans.devtest are the same language"):
        flores200(folder, "devtest")


def test_unequal_lengths_name_files_and_counts(folder):
    path = folder / "devtest" / "pol_Latn.devtest"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(DataError, match=r"eng_Latn.devtest 40, zho_Hans.devtest 40, .*pol_Latn.devtest 39"):
        flores200(folder, "devtest")


def test_a_blank_line_is_named(folder):
    path = folder / "devtest" / "ita_Latn.devtest"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[4] = "\u00a0"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=r"line 5 of .*ita_Latn\.devtest is blank"):
        flores200(folder, "devtest")


def test_splits_are_never_mixed(folder):
    with pytest.raises(DataError, match="no split 'test'"):
        flores200(folder, "test")
    shutil.move(folder / "dev" / "por_Latn.dev", folder / "devtest")
    (folder / "devtest" / "por_Latn.devtest").unlink()
    with pytest.raises(DataError, match=r"por_Latn.dev belongs to the other split"):
        flores200(folder, "devtest")
    shutil.copy(folder / "metadata_dev.tsv", folder / "metadata_devtest.tsv")
    with pytest.raises(DataError, match="describes 8 lines, the text has 40"):
        flores200(folder, "devtest", languages=["en"])


def test_without_metadata_the_clusters_must_be_given(folder):
    (folder / "metadata_devtest.tsv").unlink()
    with pytest.raises(DataError, match="clusters="):
        flores200(folder, "devtest")
    text = flores200(folder, "devtest", clusters=[f"article {i // 4}" for i in range(40)])
    assert len(set(text.clusters)) == 10
    with pytest.raises(DataError, match="clusters 3"):
        flores200(folder, "devtest", clusters=["a", "b", "c"])


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("id\tlink\n" + "1\tx\n" * 40, "no column URL; it has id, link"),
        ("id\tURL\n" + "1\t\n" * 40, "line 2 .* has no URL"),
    ],
)
def test_unusable_metadata_is_refused(folder, metadata, message):
    (folder / "metadata_devtest.tsv").write_text(metadata)
    with pytest.raises(DataError, match=message):
        flores200(folder, "devtest")


def test_unknown_language_and_empty_files(folder):
    with pytest.raises(DataError, match="no file for 'xyz_Latn': tried"):
        flores200(folder, "devtest", languages=["xyz_Latn"])
    with pytest.raises(DataError, match="each once"):
        flores200(folder, "devtest", languages=["en", "en"])
    (folder / "devtest" / "eng_Latn.devtest").write_bytes(b"")
    with pytest.raises(DataError, match="is empty"):
        flores200(folder, "devtest", languages=["en"])
