"""What a repository says of itself: CITATION.cff (citation-file-format.github.io) and pyproject.toml (PEP 621)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from assay.errors import ConfigError

_EXAMPLE = """\
[project]
name = "my-paper"
version = "1.0"
description = "What was asked and what was found, in one sentence."
license = "CC-BY-4.0"
authors = [{ name = "Given Family" }]"""


@final
@dataclass(frozen=True)
class Project:
    """Title, description, version, licence (SPDX), keywords, authors and addresses; empty where nothing is said.

    ``authors`` are JSON-LD: Person or Organization of schema.org, Thing where that is not said.
    """

    name: str
    title: str
    description: str
    version: str
    licence: str
    keywords: tuple[str, ...]
    authors: tuple[Mapping[str, Any], ...]
    repository: str
    doi: str
    python: str
    requirements: tuple[str, ...]


def read_project(repository: Path) -> Project:
    """What CITATION.cff says, and for what it leaves open pyproject.toml.

    Raises:
        ConfigError: a file cannot be read, or neither names the project and its licence; all that is missing is named.
    """
    cited, packaged = _citation(repository), _packaged(repository)
    name = packaged.get("name") or cited.get("title")
    licence = cited.get("license") or _licence(packaged)
    wanted = {"the name (title in CITATION.cff)": name, "the license (an SPDX identifier)": licence}
    if missing := [what for what, value in wanted.items() if not isinstance(value, str) or not value]:
        raise ConfigError(
            f"export: CITATION.cff and pyproject.toml do not give {' and '.join(missing)}. Write it there, such as, in "
            f"pyproject.toml:\n\n{_EXAMPLE}\n\nname and license are needed; what else is there is exported too."
        )
    return Project(
        name=str(name),
        title=str(cited.get("title") or name),
        description=" ".join(str(cited.get("abstract") or packaged.get("description") or "").split()),
        version=str(packaged.get("version") or cited.get("version") or ""),
        licence=str(licence),
        keywords=tuple(cited.get("keywords") or packaged.get("keywords") or ()),
        authors=tuple(map(_author, cited["authors"]))
        if cited.get("authors")
        else _unsorted(packaged.get("authors", ())),
        repository=str(cited.get("repository-code") or packaged.get("urls", {}).get("Repository") or ""),
        doi=str(cited.get("doi") or ""),
        python=str(packaged.get("requires-python") or ""),
        requirements=tuple(packaged.get("dependencies") or ()),
    )


def _citation(repository: Path) -> Mapping[str, Any]:
    path = repository / "CITATION.cff"
    if not path.is_file():
        return {}
    try:
        import yaml
    except ModuleNotFoundError:
        raise ConfigError("export: CITATION.cff needs the package pyyaml. Install the extra assay[report].") from None
    try:
        found = yaml.safe_load(path.read_text("utf-8"))
    except yaml.YAMLError as error:
        raise ConfigError(f"export: CITATION.cff is no YAML: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError("export: CITATION.cff holds no mapping. Write it as the Citation File Format says.")
    return found


def _packaged(repository: Path) -> Mapping[str, Any]:
    path = repository / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        found: Mapping[str, Any] = tomllib.loads(path.read_text("utf-8")).get("project", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"export: pyproject.toml is no TOML: {error}") from error
    return found


def _licence(packaged: Mapping[str, Any]) -> str:
    licence = packaged.get("license", "")
    return str(licence.get("text", "") if isinstance(licence, dict) else licence)


def _unsorted(authors: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], ...]:
    """Authors of a package, of whom pyproject.toml does not tell whether they are persons."""
    return tuple({"@type": "Thing", "name": author.get("name") or author["email"]} for author in authors)


def _author(author: Mapping[str, Any]) -> dict[str, Any]:
    """A person by given and family names, else an organisation (CITATION.cff tells them apart so) by its name."""
    given, family = author.get("given-names"), author.get("family-names")
    found: dict[str, Any] = {"@type": "Person" if given or family else "Organization"}
    if author.get("orcid"):
        found["@id"] = author["orcid"]
    names = {
        "givenName": given,
        "familyName": family,
        "name": author.get("name") or " ".join(filter(None, (given, family))),
    }
    return found | {key: value for key, value in names.items() if value}
