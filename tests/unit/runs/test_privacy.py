"""What tells whose machine it was is scrubbed from what machines say, and refused in what people choose."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.runs.privacy import refuse_private, scrub
from tests.unit.runs.frozen_repository import PLAN
from tests.unit.runs.toy_repository import assay, assay_json, commit, toy, write, written

HOST = platform.node()
PLANTED = {
    "HOME": "/home/zaphod",
    "USER": "zaphod",
    "LOGNAME": "zaphod",
    "HOSTNAME": "plantedhost",
    "HF_TOKEN": "hf_plantedTokenValue",
}
SECRET, HOME, NAME = "hf_plantedTokenValue", "home folder", "name of this host"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user, home, host and secret of nobody's."""
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("no file /srv/data/text.tsv here", "no file text.tsv here"),
        ("'/srv/data set/a.py', line 3", "'a.py', line 3"),
        ("at /home/zaphod/x/y.py:3", "at y.py:3"),
        ("home is /home/zaphod", "home is ~"),
        ("/house/experiments/a.py failed", "experiments/a.py failed"),
        ("in /house", "in "),
        ("in /houses/of/x", "in x"),
        (r"C:\Users\Zaphod\x.py", "x.py"),
        ("user ZAPHOD, zaphod_2, zaphods", "user <user>, <user>_2, zaphods"),
        ("key hf_plantedTokenValue!", "key <secret>!"),
        ("https://someone:pass@example.org/a/b", "https://<login>@example.org/a/b"),
        ("ratio 3/4 and a/b/c, 1e-3/token", "ratio 3/4 and a/b/c, 1e-3/token"),
        ("the root of the square", "the root of the square"),
        ("", ""),
    ],
)
def test_scrub(text: str, clean: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/zaphod")
    monkeypatch.setenv("USER", "zaphod")
    monkeypatch.setenv("HF_TOKEN", "hf_plantedTokenValue")
    assert scrub(text, Path("/house")) == clean


def test_a_home_that_is_named_after_nobody_takes_no_word_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/house")
    assert scrub("the house went wrong in /house/x.py") == "the house went wrong in ~/x.py"
    monkeypatch.setenv("HOME", "/home/zaphod")
    monkeypatch.delenv("USER", raising=False)
    assert scrub("zaphod was here") == "<user> was here"


def test_scrub_knows_the_host() -> None:
    assert scrub(f"lost {HOST}.") == "lost <host>."


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/home/zaphod", HOME),
        ("/home/zaphod/data/x.csv", HOME),
        ("read from /home/zaphod.", HOME),
        ("file:///home/zaphod/x", HOME),
        ("[/home/zaphod]", HOME),
        ("/mnt/old/home/zaphod/x", HOME),
        ("/Users/zaphod/x", HOME),
        (r"C:\Users\Zaphod\x", HOME),
        (r"c:\\users\\zaphod", HOME),
        ("C:/Users/zaphod", HOME),
        ("ssh plantedhost:x", NAME),
        ("PlantedHost.example.org", NAME),
        (f"key={SECRET}!", "environment variable HF_TOKEN"),
        ("for zaphod", ""),
        ("zaphod/home", ""),
        ("/home/zaphod2/x", ""),
        ("/home/zaphod-old/x", ""),
        ("notes/home/zap", ""),
        ("plantedhosts", ""),
        ("data/items.csv", ""),
        ("/srv/data/items.csv", ""),
        ("~/x", ""),
    ],
)
def test_what_people_choose_is_refused_where_it_is_private(text: str, what: str, planted: None) -> None:
    refuse_private("run of x", {"config": {"w": "fine", "n": 3}})
    if not what:
        refuse_private("run of x", {"config": {"w": text}})
        return
    with pytest.raises(ConfigError) as caught:
        refuse_private("run of x", {"config": {"a": 1, "parts": ["fine", {"w": text}]}})
    assert str(caught.value).startswith("run of x: config.parts[1].w holds the ")
    assert what in str(caught.value)
    assert text not in str(caught.value)
    with pytest.raises(ConfigError, match="--why holds the "):
        refuse_private("waive x", {"--why": text})


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"USER": "user", "HOME": "/root", "LOGNAME": "root"}, "the root user, runner of xml/root/a at http://root/x"),
        ({"USER": "runner", "HOSTNAME": "runner"}, "the runner ran"),
        ({"HOSTNAME": "localhost"}, "on localhost"),
        ({"HOSTNAME": "lab"}, "the lab"),
        ({"HOSTNAME": "ubuntu"}, "on ubuntu"),
        ({"API_KEY": "seven77"}, "seven77"),
        ({"TOKENIZERS_PARALLELISM": "disabled", "KEYBOARD": "colemak-dh"}, "disabled, colemak-dh"),
        ({"GIT_AUTHOR_NAME": "Some Name"}, "Some Name"),
    ],
)
def test_ordinary_words_are_no_false_alarm(
    variables: dict[str, str], text: str, planted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    refuse_private("register x", {"--why": text})


@pytest.mark.parametrize("name", ["MY_TOKEN", "api_key", "APIKEY", "DB_PASSWORD", "CLIENT_SECRET", "KEYS", "KEY_2"])
def test_secrets_are_known_by_the_names_of_their_variables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "planted8")
    with pytest.raises(ConfigError, match=rf"the value of the environment variable {name}\."):
        refuse_private("run of x", {"config": {"w": "planted8"}})
    assert scrub("planted8") == "<secret>"


def test_a_hosts_name_may_be_left_to_an_author(planted: None) -> None:
    refuse_private("freeze x", {"text": "on plantedhost"}, hosts=False)
    with pytest.raises(ConfigError):
        refuse_private("freeze x", {"text": SECRET}, hosts=False)


PLACES = '''
"""Where does it lie?"""

from dataclasses import dataclass

from assay.runs import Run, experiment


@dataclass(frozen=True)
class Places:
    where: str = "here"
    parts: tuple[str, ...] = ("a",)
    seed: int = 1
    kind: str = "exploratory"


def confirmatory() -> Places:
    return Places(seed=90, kind="confirmatory")


@experiment("spot.places", version=1, tiers={"tiny": Places, "confirmatory": confirmatory})
def places(config: Places, run: Run) -> None:
    """It lies here."""
    run["parts"] = len(config.parts)
'''
RUN = ("run", "spot.places", "--tier", "tiny")
FREEZE = ("freeze", "spot", "--tier", "confirmatory")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("private") / "house"
    write(root, {"experiments/spot/places.py": PLACES, PLAN.replace("lab", "spot"): "# Plan\n"})
    return toy(root)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ((*RUN, "--set", f"where=/home/zaphod/{SECRET}"), "run of spot.places: config.where"),
        ((*RUN, "--set", "parts=a,/home/zaphod/x"), "run of spot.places: config.parts[1]"),
        ((*RUN, "--set", "where=/home/zaphod/x", "--set", "where=there"), "run of spot.places: --set[0]"),
        ((*RUN, "--register", "as on plantedhost"), "run of spot.places: --register"),
        ((*FREEZE, "--set", "where=/home/zaphod/x"), "freeze spot, spot.places, confirmatory: config.where"),
    ],
)
def test_nothing_private_is_put_on_record(house: Path, words: tuple[str, ...], field: str) -> None:
    before = written(house)
    done = assay(house, *words, env=PLANTED)
    assert done.returncode == 2
    assert f"{field} holds the " in done.stderr
    assert not any(value in done.stdout + done.stderr for value in (SECRET, "plantedhost", "zaphod"))
    assert "Traceback" not in done.stderr
    assert written(house) == before
    assert not (house / "experiments/spot/frozen").exists()


def test_a_plan_with_a_secret_is_not_frozen_and_one_that_names_the_host_is(house: Path) -> None:
    plan = house / PLAN.replace("lab", "spot")
    plan.write_text(f"# Plan\n\nOn plantedhost, with {SECRET}.\n")
    commit(house)
    done = assay(house, *FREEZE, env=PLANTED)
    assert (done.returncode, f"freeze spot: {plan.relative_to(house)} holds the value of" in done.stderr) == (2, True)
    plan.write_text("# Plan\n\nOn plantedhost.\n")
    commit(house)
    assert assay(house, *FREEZE, env=PLANTED).returncode == 0


def test_a_reason_is_refused_when_it_is_given_later_too(house: Path, tmp_path: Path) -> None:
    scratch = ("--record", "experiments")
    run_id = assay_json(house, *RUN, "--register", "for zaphod, who is nobody", env=PLANTED)["run_id"]
    why = ("--why", "see /home/zaphod/notes", *scratch)
    before = written(house)
    register = assay(house, "runs", "register", run_id, *why, env=PLANTED)
    assert (register.returncode, f"register {run_id}: --why holds the path" in register.stderr) == (2, True)
    source = house / "experiments/spot/places.py"
    source.write_text(source.read_text().replace("len(config.parts)", "1 * len(config.parts)"))
    withdraw = assay(house, "runs", "register", run_id, "--withdraw", *why, env=PLANTED)
    assert (withdraw.returncode, f"withdraw {run_id}: --why holds the path" in withdraw.stderr) == (2, True)
    waive = assay(house, "runs", "waive", run_id, *why, env=PLANTED)
    assert (waive.returncode, f"waive {run_id}: --why holds the path" in waive.stderr) == (2, True)
    assert written(house) == before


def test_a_run_that_is_on_record_is_verified_wherever_it_was_started(house: Path) -> None:
    run_id = assay_json(house, *RUN, "--set", "where=/home/zaphod/x")["run_id"]
    assert assay(house, "runs", "verify", run_id, env=PLANTED).returncode == 0
