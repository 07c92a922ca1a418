"""What a run must have before it starts: a clean commit to be registered, a freeze to be confirmatory, no secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import ConfigError, RecordError
from assay.runs.freeze import CONFIRMATORY, ROOT, freezes, study_of
from assay.runs.freshness import reused, uses_on_disk
from assay.runs.history import History
from assay.runs.manifest import Manifest
from assay.runs.order import OrderVerdict, order_of
from assay.runs.overlooked import to_commit
from assay.runs.privacy import refuse_private
from assay.runs.provenance import changed_files
from assay.runs.registry import Record


def refuse_start(
    manifest: Manifest,
    *,
    register: str | None,
    overrides: Sequence[str] | None,
    record: Record,
    repository: Path,
    rerun: bool,
) -> None:
    """Refuse a run that must not start; nothing was written. A ``rerun`` repeats what is on record already.

    Raises:
        ConfigError: the configuration, the names of data, what ``--set`` said or the reason to register holds a home
            path, the host's name or a secret, or the tier says another kind than its configuration.
        RecordError: it is to be registered from a dirty tree, or is confirmatory and not provably frozen before.
    """
    if not rerun:
        said = {"config": manifest.config, "data": list(manifest.data)}
        said |= {"--set": list(overrides or ()), "--register": register or ""}
        refuse_private(f"run of {manifest.experiment}", said)
    if register is not None:
        refuse_dirty(manifest, asked=f"--register {register!r}", repository=repository)
    refuse_mislabelled(manifest)
    if not rerun:
        refuse_unfrozen(manifest, record=record, repository=repository)


def refuse_dirty(manifest: Manifest, *, asked: str, repository: Path) -> None:
    """RecordError, naming the files, when a run would not start from a clean commit; ``asked`` says what for."""
    if manifest.commit is not None and manifest.dirty is False:
        return
    state, to_do = "outside a git commit", "Commit first"
    if manifest.commit is not None:
        files = [*changed_files(repository), *(f"{name} (untracked)" for name in manifest.untracked)]
        more = f" and {len(files) - 5} more" if len(files) > 5 else ""
        state = f"on a dirty tree on top of {manifest.commit[:7]} ({', '.join(files[:5])}{more})"
        to_do = to_commit(manifest.modules, repository)
    raise RecordError(
        f"{asked}: the run would start {state}, so nobody could tell which code made its numbers. "
        f"{to_do}; nothing was run."
    )


def refuse_mislabelled(manifest: Manifest) -> None:
    """ConfigError for a run of the tier ``confirmatory`` whose configuration is of another kind."""
    if manifest.tag == CONFIRMATORY and manifest.kind != CONFIRMATORY:
        raise ConfigError(
            f"experiment {manifest.experiment}, tier 'confirmatory': its configuration is {manifest.kind}. "
            "Give the dataclass a field kind, and let the tier's function return kind='confirmatory'."
        )


def refuse_unfrozen(manifest: Manifest, *, record: Record, repository: Path) -> None:
    """Refuse a confirmatory run whose freeze did not provably come first; runs of other kinds pass.

    The freeze is that of the repository's own record, also for a run into another ``record``. Runs that used a seed
    or data set are known from the manifests of both.

    Raises:
        RecordError: a dirty tree, no freeze, a freeze that is not committed or was tampered with, another
            configuration than the frozen one, or seeds or data that an earlier run used; nothing was written.
    """
    if manifest.kind != CONFIRMATORY:
        return
    asked = f"confirmatory run of {manifest.experiment}"
    refuse_dirty(manifest, asked=asked, repository=repository)
    study, main = study_of(manifest.experiment), Record(repository / ROOT)
    known = freezes(main, study)
    if not known:
        raise RecordError(f"{asked}: {study} is not frozen. Freeze it first: assay freeze {study}; nothing was run.")
    last = known[-1]
    if History(repository).content(manifest.commit or "", last.event_path) is None:
        commit = f'git add {ROOT} && git commit -m "Freeze {study}"'
        raise RecordError(f"{asked}: freeze {last.label} is not committed. Commit it: {commit}; nothing was run.")
    order = order_of(manifest, repository)
    if order.verdict is not OrderVerdict.PROVEN:
        raise RecordError(
            f"{asked}: its order is {order}. Put that right, or freeze again (assay freeze {study}); nothing was run."
        )
    uses = [use for place in {main.root: main, record.root: record}.values() for use in uses_on_disk(place, study)]
    if found := reused(manifest, last.shared, [use for use in uses if use.kind != CONFIRMATORY]):
        raise RecordError(
            f"{asked}: {found}. Freeze a configuration with seeds and data that no run has seen, or say at the freeze "
            f"that they are shared (assay freeze {study} --shared NAME); nothing was run."
        )
