"""`--claims-accept ID`: the printed numbers of one claim are rewritten, and nothing else."""

from __future__ import annotations

from assay.ledger.session import judged_claims

from .conftest import Repository, Settings, claim, git, run_and_register

pytest_plugins = ["pytester"]


def test_numbers_are_rewritten_in_their_form_and_the_session_fails_once(repository: Repository) -> None:
    wrong = (
        "Wins {wins.target:  13/20 } and {delta.median: +0.01190}, {items: 2,999}; \u00e9 {share: 80.5%},\n"
        "    p {p: 3.1e-4}, {cka: [0.8, 0.9]} {cka: 0.80 \u00b1 0.01}, "
        "{= 5} of {config.sesoi: 0.31}; {H2: Not supported}."
    )
    path = repository.claims(claim("M1", wrong), claim("M2", "Wins {wins.target: 13/20}."))
    path.write_bytes(b"# caf\xc3\xa9\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes()
    result = repository.run("claims", "--claims-accept", "M1", "-k", "M1")
    assert result.ret == 1
    expected = before
    for old, new in (
        ("13/20 }", "14/20 }"),
        ("+0.01190", "+0.01230"),
        ("2,999", "3,000"),
        ("80.5%", "87.5%"),
        ("3.1e-4", "4.0e-4"),
        ("0.80 \u00b1 0.01", "0.85 \u00b1 0.02"),
        ("0.31}", "0.25}"),
        ("Not supported", "Supported"),
    ):
        assert old.encode() in expected
        expected = expected.replace(old.encode(), new.encode(), 1)
    assert path.read_bytes() == expected
    result.stdout.fnmatch_lines(["*rewritten from the registered run*", "-*13/20 }*", "+*14/20 }*"])
    assert repository.run("claims", "-k", "M1").ret == 0
    assert repository.run("claims", "--claims-accept", "M1", "-k", "M1").ret == 0
    assert path.read_bytes() == expected


def test_what_has_no_other_print_is_left(repository: Repository) -> None:
    path = repository.claims(
        claim("M1", "Below {p: < 0.0001}, {wins.target: 13}, {broken.nan: 0.5}, {gone: 1}, {share: supported}.")
    )
    before = path.read_bytes()
    result = repository.run("claims", "--claims-accept", "M1")
    assert result.ret == 1
    assert path.read_bytes() == before
    result.stdout.fnmatch_lines(["*no printed number to rewrite*"])


def test_escapes_are_not_rewritten(repository: Repository) -> None:
    path = repository.claims(claim("M1", "A\\ttab, {wins.target: 13/20}."))
    before = path.read_bytes()
    result = repository.run("claims", "--claims-accept", "M1")
    assert result.ret == 1
    assert path.read_bytes() == before
    result.stdout.fnmatch_lines(["*not rewritten: *edit it by hand*"])


def test_a_claim_that_did_not_run_is_not_accepted(repository: Repository) -> None:
    repository.claims(claim("M1", "{items: 2,999}"), claim("M2", "{items: 3,000}"))
    result = repository.run("claims", "--claims-accept", "M1", "-k", "M2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["--claims-accept M1: the claim did not run, nothing was rewritten"])


def test_parallel_sessions_are_refused(repository: Repository) -> None:
    repository.claims(claim("M1", "{items: 2,999}"))
    result = repository.run("claims", "--claims-accept", "M1", "-n", "2")
    assert result.ret == 4
    assert "leave out -n" in result.stderr.str() + result.stdout.str()


def test_cited_sentences_are_rewritten_as_well(repository: Repository) -> None:
    wrong = (
        "It failed in {= 3} fields: {wins.target: 16/585 (2.7%)} of {items: 585} seeds, {wins.target: 16/585 (2.7%)}."
    )
    path = repository.claims(claim("M1", wrong), claim("M2", "Elsewhere {wins.target: 14/20}."))
    own = "It failed in 3 fields: 16/585 (2.7%) of 585\r\nseeds, **16/585 (2.7%)** (M1)."
    readme = f"\ufeff# Caf\u00e9\r\n\r\n{own} 16/585 is not cited.\r\n\r\n- Elsewhere 14/20 (M2).\r\n"
    paper = (
        "\\section{Results}\nOf $16/585$ ($2.7\\,\\%$) \\claimref{M1}; 14/20~\\claimref{M2}. % 16/585\n\n"
        "Of 16 seeds (M1).\n"
    )
    (repository.path / "README.md").write_bytes(readme.encode())
    (repository.path / "paper.tex").write_bytes(paper.encode())
    before = path.read_bytes()
    result = repository.run("claims", "--claims-accept", "M1", "--claims-text", "paper.tex")
    assert result.ret == 1
    assert path.read_bytes() == before.replace(b"16/585 (2.7%)", b"14/20 (70.0%)").replace(b"585}", b"3000}")
    new = own.replace("16/585 (2.7%)", "14/20 (70.0%)").replace("of 585", "of 3000")
    assert (repository.path / "README.md").read_bytes() == readme.replace(own, new).encode()
    after = paper.replace("$16/585$ ($2.7\\,\\%$) \\claim", "$14/20$ ($70.0\\,\\%$) \\claim").replace(
        "16 seeds", "14 seeds"
    )
    assert (repository.path / "paper.tex").read_bytes() == after.encode()
    result.stdout.fnmatch_lines(
        ["*rewritten from the registered run*", "--- claims/*", "--- README.md*", "--- paper.tex*", "*; 100% covered"]
    )
    assert "more to correct" not in result.stdout.str()
    assert repository.run("claims", "--claims-text", "paper.tex").ret == 0


def test_files_that_a_paper_reads_are_rewritten_and_macros_named(repository: Repository) -> None:
    start = "\\input{macros}\\section{Results}\n\\input{a}\n\\wins{} \\claimref{M1}"
    repository.claims(claim("M1", "Wins {wins.target: 13/20} of {items: 3,000}."))
    repository.write(
        "paper/main.tex", "\\input{macros}\\section{Results}\n\\input{a}\n\\wins{} \\claimref{M1}. \\wins\n"
    )
    repository.write("paper/macros.tex", "\\newcommand{\\wins}{13/20}\n")
    repository.write("paper/a.tex", "It wins in 13/20 of 3{,}000 \\claimref{M1}.\n\n")
    result = repository.run("claims", "--claims-accept", "M1", "--claims-text", "paper/main.tex")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            *("*rewritten from the registered run*", "--- paper/a.tex (printed)"),
            "*not rewritten: paper/main.tex:3 prints 13/20 by the macro *wins defined at paper/macros.tex:1: M1*",
        ]
    )
    assert (repository.path / "paper/a.tex").read_text() == "It wins in 14/20 of 3{,}000 \\claimref{M1}.\n\n"
    assert (repository.path / "paper/macros.tex").read_text() == "\\newcommand{\\wins}{13/20}\n"
    repository.write("paper/macros.tex", "\\newcommand{\\wins}{14/20}\n")
    assert repository.run("claims", "--claims-text", "paper/main.tex").ret == 1, "the last one is not cited"
    repository.write("paper/main.tex", f"{start}.\n")
    assert repository.run("claims", "--claims-text", "paper/*.tex").ret == 0


def test_a_text_that_drifted_is_put_right_by_a_claim_that_holds(repository: Repository) -> None:
    path = repository.claims(claim("M1", "It wins in {wins.target: 14/20}."))
    before = path.read_bytes()
    repository.write("README.md", "It wins in 15/20 (M1). It wins in 14/20 (M1).\n")
    assert repository.run("claims", "--claims-accept", "M1").ret == 1
    assert (repository.path / "README.md").read_text() == "It wins in 14/20 (M1). It wins in 14/20 (M1).\n"
    assert path.read_bytes() == before
    assert repository.run("claims", "--claims-accept", "M1").ret == 0


def test_a_number_that_could_be_two_is_named_and_left(repository: Repository) -> None:
    repository.claims(claim("M1", "It is {items: 3,001}, {config.seed: 7} and {= 3,001}."))
    repository.write("paper.tex", "In all 3{,}001 (M1).\n")
    result = repository.run("claims", "--claims-accept", "M1", "--claims-text", "paper.tex")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["*not rewritten: paper.tex:1 prints 3,001: which number of M1 that is*edit it by hand"]
    )
    assert (repository.path / "paper.tex").read_text() == "In all 3{,}001 (M1).\n"


def test_a_claim_that_cannot_be_rewritten_leaves_the_texts(repository: Repository) -> None:
    repository.claims(claim("M1", "A\\ttab, {wins.target: 13/20}."))
    repository.write("README.md", "A tab, 13/20 (M1).\n")
    assert repository.run("claims", "--claims-accept", "M1").ret == 1
    assert (repository.path / "README.md").read_text() == "A tab, 13/20 (M1).\n"


def test_a_newly_registered_run_is_accepted(repository: Repository) -> None:
    repository.claims(claim("M1", "With seed {config.seed: 7} it is {items: 3,000}."))
    repository.write("README.md", "With seed 7 it is 3,000 (M1).\n")
    assert repository.run().ret == 0
    git(repository.path, "add", "-A")
    git(repository.path, "commit", "--quiet", "-m", "first")
    run_id = run_and_register(repository.path, settings=Settings(seed=10))
    assert repository.run("claims", "--claims-accept", "M1").ret == 1
    assert (repository.path / "README.md").read_text() == "With seed 10 it is 3,000 (M1).\n"
    assert repository.run().ret == 0
    assert run_id.startswith("study.effect_tiny_")


def test_two_claims_at_once_are_refused(repository: Repository) -> None:
    path = repository.claims(claim("M1", "Wins {wins.target: 13/20}."), claim("M2", "Of {items: 2,999}."))
    before = path.read_bytes()
    result = repository.run("claims", "--claims-accept", "M1", "--claims-accept=M2")
    assert (result.ret, path.read_bytes()) == (4, before)
    result.stderr.fnmatch_lines(["*--claims-accept is given 2 times: accept one claim, look, then the next*"])


def test_a_wrong_number_of_a_paper_fails_the_claim_in_every_report(repository: Repository) -> None:
    repository.claims(claim("M1", "Wins {wins.target: 14/20}."))
    repository.write("pyproject.toml", '[tool.pytest]\nclaims_texts = ["paper.tex"]\n')
    repository.write("paper.tex", "\\section{Results}\nWins $14/20$~\\claimref{M1}.\n")
    assert [one["verdict"] for one in judged_claims(repository.path)] == ["HOLDS"]
    repository.write("paper.tex", "\\section{Results}\nWins $15/20$~\\claimref{M1}.\n")
    (one,) = judged_claims(repository.path)
    assert one["verdict"] == "FAILS"
    assert one["note"].startswith("paper.tex:2 ")
