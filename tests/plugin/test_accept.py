"""`--claims-accept ID`: the printed numbers of one claim are rewritten, and nothing else."""

from __future__ import annotations

from .conftest import Repository, claim

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
