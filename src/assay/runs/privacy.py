"""The words that must never leave the machine: home paths, user and host names, and secrets of the environment.

What an exception or a tool says is scrubbed of them. What somebody chose, a configuration or a reason, is refused:
a configuration names its run, and nobody's sentence is rewritten.
"""

from __future__ import annotations

import functools
import os
import platform
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import ConfigError

_SECRET_NAME = re.compile(
    r"TOKEN(?!I[ZS])|SECRET|PASSW|PASSPHRASE|CREDENTIAL|KEYS?(?![A-Z])|AUTH(?!OR(?!I))", re.IGNORECASE
)
_ABSOLUTE = re.compile(
    r"(?<![\w./~:-])(?:[A-Za-z]:[\\/]|~/|/)(?:[^\s'\"<>|,;:()\[\]{}]+[\\/])+(?=[^\s'\"<>|,;:()\[\]{}]*)"
)
_QUOTED = re.compile(r"""(['"])(?:[A-Za-z]:[\\/]|~/|/)[^'"\n]*[\\/]([^'"\\/\n]*)\1""")
_LOGIN = re.compile(r"(?<=://)[^/\s@]+@")
_SECRET_TO_SCRUB, _SECRET_TO_REFUSE = 6, 8  # characters; a shorter value is found in ordinary words
_SHORTEST_HOST = 4  # characters; as above
_ORDINARY_HOSTS = frozenset(
    [
        *("localhost", "localdomain", "host", "node", "server", "runner", "test", "root", "user"),
        *("debian", "docker", "fedora", "ubuntu"),
    ]
)


def scrub(text: str, repository: Path | None = None) -> str:
    """``text`` without absolute paths, home, user name, host name, and values of secrets from the environment.

    Paths inside ``repository`` become relative to it; of others the last part stays.
    """
    for secret, _ in _secrets(os.environ, shortest=_SECRET_TO_SCRUB):
        text = text.replace(secret, "<secret>")
    text = _LOGIN.sub("<login>@", text)
    for root in {str(repository), str(repository.resolve())} if repository is not None else ():
        text = re.sub(rf"{re.escape(root)}(?:/|(?![\w.-]))", "", text)
    for home in _homes():
        text = re.sub(rf"{re.escape(home)}(?=[/\\]|(?![\w.-]))", "~", text)
    text = _ABSOLUTE.sub("", _QUOTED.sub(r"\1\2\1", text))
    stand_ins = [(name, "<user>") for name in _users() if name != "root"]  # which says nothing about anybody
    for name, stand_in in (*stand_ins, *((name, "<host>") for name in _hosts())):
        text = re.sub(_word(name), stand_in, text, flags=re.IGNORECASE)
    return text


def refuse_private(asked: str, said: Mapping[str, Any], *, hosts: bool = True) -> None:
    """Refuse to put on record what tells whose machine this is, or a secret; nothing may have been written yet.

    ``said`` has texts, or tables and lists that hold some, by the name of their field or option; ``asked`` says what
    for. Private are the home path, a user's name in a path to a home, the value of an environment variable that is
    named as a secret (8 characters or more) and, with ``hosts``, the host's name as a word of its own. A user's name
    outside a path is nobody's: it may be any word.

    Raises:
        ConfigError: one of them was found; the field is named, and its value is not repeated.
    """
    for where, text in _texts(said):
        if found := _private(text, hosts=hosts):
            raise ConfigError(
                f"{asked}: {where} holds {found} The record is for everybody to read; nothing was written."
            )


def _texts(said: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Every text in tables and lists, with the dotted name of its place."""
    if isinstance(said, str):
        yield where, said
    elif isinstance(said, Mapping):
        for name, value in said.items():
            yield from _texts(value, f"{where}.{name}" if where else str(name))
    elif isinstance(said, list | tuple):
        for place, value in enumerate(said):
            yield from _texts(value, where if len(said) == 1 else f"{where}[{place}]")


def _private(text: str, *, hosts: bool) -> str:
    """What a text tells of this machine and its user and what to do instead, or nothing."""
    for secret, name in _secrets(os.environ, shortest=_SECRET_TO_REFUSE):
        if secret in text:
            return f"the value of the environment variable {name}. Let the experiment read it from the environment."
    homes = [rf"(?:(?<![\w./-])|(?<=file://)){re.escape(home)}(?![\w-]|\.\w)" for home in _homes()]
    homes += [rf"(?i:[/\\](?:home|Users)[/\\]+{re.escape(name)})(?![\w-])" for name in _users()]
    if any(re.search(pattern, text) for pattern in homes):
        return "the path of this machine's home folder. Give a path relative to the repository, or a name and a digest."
    for name in _hosts() if hosts else ():
        if len(name) >= _SHORTEST_HOST and name.lower() not in _ORDINARY_HOSTS and re.search(_word(name), text, re.I):
            return "the name of this host. Say what matters of the machine, such as its memory, without its name."
    return ""


def _word(name: str) -> str:
    return rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"


def _secrets(environment: Mapping[str, str], *, shortest: int) -> list[tuple[str, str]]:
    """Values of the variables that are named as secrets, with these names, the longest first."""
    found = [(value, name) for name, value in environment.items() if _SECRET_NAME.search(name)]
    return sorted(((value, name) for value, name in found if len(value) >= shortest), key=lambda one: -len(one[0]))


def _homes() -> list[str]:
    homes = {os.path.expanduser("~"), os.environ.get("HOME", ""), os.environ.get("USERPROFILE", "")}
    homes |= {os.path.realpath(home) for home in homes if home}
    return sorted((home.rstrip("/") for home in homes if len(home.rstrip("/")) > 1), key=len, reverse=True)


def _users() -> list[str]:
    users = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME")} | {_account()}
    users |= {Path(home).name for home in _homes() if Path(home).parent.name in ("home", "Users")}
    return sorted(users - {""}, key=len, reverse=True)


def _hosts() -> list[str]:
    host = platform.node()
    hosts = {host, host.partition(".")[0], os.environ.get("HOSTNAME", "")}
    return sorted(hosts - {"", "localhost"}, key=len, reverse=True)


@functools.cache
def _account() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""  # a container's user without an entry: there is no name to leak
