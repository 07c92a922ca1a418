"""Freezing a study: its preregistration and its confirmatory configurations, before any run has seen their data."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from assay.errors import ConfigError, RecordError
from assay.runs.configuration import plain, seeds
from assay.runs.execution import data_hashes
from assay.runs.experiment import Experiment, find, study
from assay.runs.freeze import CONFIRMATORY, ROOT, Configuration, Freeze, freezes, preregistration
from assay.runs.freshness import fresh, reused, uses_on_disk
from assay.runs.history import History
from assay.runs.loaded import loaded_beyond
from assay.runs.locks import hold
from assay.runs.manifest import RunStatus, config_hash
from assay.runs.overlooked import code_state_of, to_commit
from assay.runs.overrides import override
from assay.runs.privacy import refuse_private
from assay.runs.provenance import changed_files, code_state
from assay.runs.registry import Record
from assay.runs.source import module_digests
from assay.runs.storage import digest, read_bytes, write_durable

_PATIENCE = 30.0  # seconds; a freeze is written in milliseconds
_ATTRIBUTES = b"# Frozen texts are known by the hash of their bytes: no conversion of line ends.\n* -text\n"


def freeze_study(
    name: str,
    *,
    repository: Path,
    tier: str | None = None,
    assignments: Sequence[str] = (),
    shared: Sequence[str] = (),
) -> Freeze:
    """Copy the study's PREREGISTRATION.md, put the freeze on record, and return it.

    Frozen are the configurations of kind ``confirmatory``: those of every tier, or of ``tier`` with the
    ``assignments`` (``field=value``) that the run will be given. ``shared`` are patterns of the seeds and data sets, by
    name, that other runs may use as well.

    Raises:
        ConfigError: no such study, no confirmatory configuration, one without any seed or data of its own, or a home
            path, host name or secret in what is frozen.
        RecordError: no git, no commit, no committed text, a dirty tree, data or seeds that a run has used, or a freeze
            that says the same already; nothing was written.
    """
    if "." in name:
        raise ConfigError(f"freeze {name}: a study is frozen as a whole. Name the study: {name.partition('.')[0]}.")
    record = Record(repository / ROOT)
    experiments = [find(one, repository) for one in study(name, repository)]
    _refuse_without_commits(name, repository)
    history = History(repository)
    modules = {found for one in experiments for found in module_digests(f"experiments.{one.name}", repository)}
    modules |= loaded_beyond(modules, repository).keys()
    text, commit = _committed(name, history, repository, modules)
    configurations = _confirmatory(experiments, repository, tier=tier, assignments=assignments)
    if not configurations:
        raise ConfigError(
            f"freeze {name}: none of its configurations is confirmatory. Give the dataclass a field kind and let a "
            "tier's function return kind='confirmatory', or freeze --tier TIER --set kind=confirmatory."
        )
    _check_shared(name, configurations, shared)
    _refuse_private(name, configurations, text=text, shared=shared)
    with hold(record.artifacts / "locks" / ".freezes.lock", patience=_PATIENCE):
        _refuse_seen(record, name, configurations, shared)
        earlier = freezes(record, name)
        _refuse_same(earlier, history, text=text, configurations=configurations, shared=shared)
        made = Freeze(
            study=name,
            number=1 + max((one.number for one in earlier), default=0),
            at="",
            sha256=digest(text),
            commit=commit,
            shared=tuple(shared),
            configurations=tuple(configurations),
            event="",
        )
        _write(record, repository, made, text)
        record.rebuild_index()
        return freezes(record, name)[-1]


def _refuse_without_commits(name: str, repository: Path) -> None:
    """A freeze is made on a commit: what comes before it is known from the commits alone."""
    first = f'git add -A && git commit -m "Plan of {name}"'
    if shutil.which("git") is None:
        came, to_do = "git is not installed here", "Install git and commit the plan"
    elif (state := code_state(repository)).dirty is None:
        came, to_do = f"the folder {repository.name} is not kept by git", f"Begin with: git init && {first}"
    elif state.commit is None:
        came, to_do = f"the git repository {repository.name} has no commit yet", f"Make the first: {first}"
    else:
        return
    raise RecordError(
        f"freeze {name}: {came}, and a freeze is made on a commit, since commits alone show which came first, the plan "
        f"or the run. {to_do}; then freeze again. Nothing was frozen."
    )


def _committed(name: str, history: History, repository: Path, modules: Collection[str]) -> tuple[bytes, str]:
    """The text of the preregistration and the clean commit that holds it, and the code of the experiments."""
    path, state = preregistration(name), code_state_of(modules, repository)
    if not (repository / path).is_file():
        raise RecordError(f"freeze {name}: there is no {path}. Write there what will be done and what would refute it.")
    text = read_bytes(repository / path)
    if not text.strip():
        raise RecordError(f"freeze {name}: {path} is empty. Write there what will be done and what would refute it.")
    if state.commit is None or state.dirty is not False:
        files = ", ".join([*changed_files(repository), *(f"{file} (untracked)" for file in state.untracked)][:5])
        to_do = to_commit(modules, repository) if state.commit else "Commit first"
        raise RecordError(f"freeze {name}: the tree is dirty ({files}). {to_do}; nothing was frozen.")
    if history.content(state.commit, path) != text:
        raise RecordError(f"freeze {name}: {path} is not committed as it is. Commit it first; nothing was frozen.")
    return text, state.commit


def _confirmatory(
    experiments: Sequence[Experiment], repository: Path, *, tier: str | None, assignments: Sequence[str]
) -> list[Configuration]:
    """Every configuration of kind confirmatory that the options reach."""
    found = []
    for one in experiments:
        tags: list[str | None] = [tier] if tier or assignments else [*one.tiers] or [None]
        source = digest(module_digests(f"experiments.{one.name}", repository))
        for tag in tags:
            config = override(one.configuration(tag), assignments)
            values = plain(config)
            if values.get("kind") != CONFIRMATORY:
                continue
            data = data_hashes(one, config)
            found.append(
                Configuration(
                    experiment=one.name,
                    version=one.version,
                    tag=one.tag(tag),
                    config=values,
                    config_hash=config_hash(values, data),
                    seeds=seeds(values),
                    data=data,
                    source_digest=source,
                )
            )
    return found


def _check_shared(name: str, configurations: Sequence[Configuration], shared: Sequence[str]) -> None:
    """Every pattern names something, and something is left that tells the confirmatory run from those before it."""
    names = {key for one in configurations for key in (*one.seeds, *one.data)}
    for pattern in shared:
        if len(fresh(names, [pattern])) == len(names):
            known = ", ".join(sorted(names)) or "none"
            raise ConfigError(f"freeze {name}: --shared {pattern!r} names no seed and no data set. Known: {known}.")
    for one in configurations:
        if not fresh((*one.seeds, *one.data), shared):
            raise ConfigError(
                f"freeze {name}: {one.experiment}, {one.tag}, has no seed and no data set of its own, so nothing tells "
                "it from an exploratory run. Give it a field seed, or declare its data with data=..."
            )


def _refuse_private(name: str, configurations: Sequence[Configuration], *, text: bytes, shared: Sequence[str]) -> None:
    """A host's name in the text is left to its author, who has committed it and for whom it may be any word."""
    asked = f"freeze {name}"
    for one in configurations:
        refuse_private(f"{asked}, {one.experiment}, {one.tag}", {"config": one.config, "data": list(one.data)})
    refuse_private(asked, {"--shared": list(shared)})
    refuse_private(asked, {preregistration(name): text.decode(errors="replace")}, hosts=False)


def _refuse_seen(record: Record, name: str, configurations: Sequence[Configuration], shared: Sequence[str]) -> None:
    uses = uses_on_disk(record, name)
    for one in configurations:
        if found := reused(one, shared, uses):
            raise RecordError(
                f"freeze {name}: {one.experiment}, {one.tag}: {found}. Results came before the freeze: choose a seed "
                "and data that no run has seen, or say that they are shared (--shared NAME); nothing was frozen."
            )


def _refuse_same(
    earlier: Sequence[Freeze],
    history: History,
    *,
    text: bytes,
    configurations: Sequence[Configuration],
    shared: Sequence[str],
) -> None:
    """A freeze like the last says nothing new, unless the commit of the last is gone from the history."""
    if not earlier or history.head is None:
        return
    last = earlier[-1]
    alone = len(earlier) < 2 or earlier[-2].number < last.number
    same = (last.sha256, last.configurations, last.shared) == (digest(text), tuple(configurations), tuple(shared))
    if alone and same and history.has(last.commit) and history.leads_to(last.commit, history.head):
        raise RecordError(f"freeze {last.study}: freeze {last.label} says the same already; nothing was frozen.")


def _write(record: Record, repository: Path, freeze: Freeze, text: bytes) -> None:
    """The copy comes first: a freeze is on record once its event is."""
    copy = repository / freeze.copy
    attributes = copy.parent / ".gitattributes"
    if not attributes.exists():
        write_durable(attributes, _ATTRIBUTES)
    write_durable(copy, text)
    try:
        record.append(RunStatus.FROZEN, freeze.study, **freeze.payload())
    except RecordError:
        copy.unlink()  # it said what did not come to pass
        raise
