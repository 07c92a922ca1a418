"""`--claims-text FILE...` and LaTeX among `claims_texts`."""

from __future__ import annotations

import pytest

from .conftest import Repository, claim

pytest_plugins = ["pytester"]

M1 = claim("M1", "It wins in {wins.target: 14/20}.")


def test_numbers_of_named_texts_are_compared(repository: Repository) -> None:
    repository.claims(M1)
    repository.write("paper/a.tex", "\\section{Results}\nIn $14/20$ trials \\claimref{M1}.\n")
    good = repository.run("claims", "--claims-text", "paper/a.tex")
    assert good.ret == 0
    good.stdout.fnmatch_lines(["paper/a.tex: 1 bound, 0 set aside, 0 loose, 0 wrong; 100% covered", "1 claim: 1 HOLDS"])
    repository.write("b.md", "# Results\n\nIn 5 of them. In 13/20 (M1), in (M2).\n")
    bad = repository.run("claims", "--claims-text", "paper/*.tex", "b.md")
    assert bad.ret == 1
    bad.stdout.fnmatch_lines(
        [
            "b.md:3 5 is loose among results: cite the claim that prints it",
            "b.md:3 prints 13/20, and M1 prints 14/20",
            "b.md:3 cites (M2): no claim has this id",
        ]
    )
    assert repository.run("claims").ret == 0, "nobody asked"


def test_latex_of_the_setting_is_always_compared(repository: Repository) -> None:
    repository.claims(M1)
    repository.write("a.tex", "Other words: 13/20 (M1). Loose 5.\n")
    result = repository.run("claims", "-o", "claims_texts=*.tex")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["a.tex:1 prints 13/20, and M1 prints 14/20", "a.tex: 0 bound, 0 set aside, 1 loose, 1 wrong*"]
    )


def test_settings_of_results_names_and_constants(repository: Repository) -> None:
    repository.claims(M1)
    repository.write("a.md", "# Findings\n\nAt 95 % for M 3, 14/20 (M1). At 95 % for M 3.\n\n# Results\n\n5\n")
    settings = ("-o", "claims_results=find", "-o", "claims_constants='95 %'", "-o", "claims_names='M 3'")
    assert repository.run("claims", *settings, "--claims-text", "a.md").ret == 0
    assert repository.run("claims", *settings[2:], "--claims-text", "a.md").ret == 1


@pytest.mark.parametrize(
    ("name", "said"), [("none.md", "no such text"), ("a.rst", "neither Markdown"), ("bad.md", "UTF-8")]
)
def test_a_text_that_cannot_be_read_fails(repository: Repository, name: str, said: str) -> None:
    repository.claims(M1)
    repository.write("a.rst", "5")
    repository.write("bad.md", "").write_bytes(b"\xff")
    result = repository.run("claims", "--claims-text", name)
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*{said}*"])


def test_parallel_and_narrowed_sessions_know_all_claims(repository: Repository) -> None:
    repository.claims(M1, claim("M2", "It is {items: 3,000}."))
    repository.write("a.md", "It is 3,000 (M2), 14/20 (M1).\n")
    for options in (("-n", "2"), ("-k", "M1")):
        result = repository.run("claims", *options, "--claims-text", "a.md")
        assert result.ret == 0
        result.stdout.fnmatch_lines(["a.md: 2 bound, *"])


IDS = ("x-y", "x_y", "X_Y", "CON", "a" * 300)


def test_ids_that_others_confuse_stay_apart(repository: Repository) -> None:
    printed = {one: f"{{wins.target: {14 if one != 'x_y' else 13}/20}}" for one in IDS}
    tests = [
        f'@pytest.mark.claim("{one}")\ndef test_{at}(evidence):\n    """It wins in {printed[one]}."""\n'
        for at, one in enumerate(IDS)
    ]
    repository.claims(*tests)
    repository.write("a.tex", "\n\n".join(f"It wins in 14/20 \\claimref{{{one}}}." for one in IDS))
    result = repository.run("claims", "--claims-text", "a.tex", "--claims-table", "table.md")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["FAILS * x_y *", "a.tex:3 prints 14/20, and x_y prints 13/20", "5 claims: 4 HOLDS, 1 FAILS; 1 more *"]
    )
    table = (repository.path / "table.md").read_text()
    assert all(f"| `{one}` |" in table for one in IDS)
    accepted = repository.run("claims", "--claims-accept", "x_y", "--claims-text", "a.tex")
    assert accepted.ret == 1
    assert repository.run("claims", "--claims-text", "a.tex").ret == 0


def test_an_id_is_of_plain_letters(repository: Repository) -> None:
    repository.claims(
        '@pytest.mark.claim("\u00e9")\ndef test_e(evidence):\n    """It wins in {wins.target: 14/20}."""\n'
    )
    result = repository.run("claims")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*a claim has one id of letters A to Z and digits, *; '\u00e9' came*"])
