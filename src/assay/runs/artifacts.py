"""Heavy arrays lie outside the record, in ``artifacts/``, each in a safetensors file named by its content.

The record keeps the digest; the file can be made again by running the run again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import RecordError
from assay.runs.storage import write_durable

if TYPE_CHECKING:
    import numpy as np

_NAME = "array"


@dataclass(frozen=True)
class ArtifactArray:
    """Handle of an array in ``artifacts/``: its SHA-256, shape and dtype. Equal handles hold equal arrays.

    ``folder`` is where this process finds the artifacts; it is no part of the handle's identity, so a handle may be a
    field of a cell.
    """

    digest: str
    shape: tuple[int, ...]
    dtype: str
    folder: str = field(compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The file: ``<artifacts>/<first two hex digits>/<sha256>.safetensors``."""
        return artifact_path(Path(self.folder), self.digest)

    def load(self) -> np.ndarray[Any, Any]:
        """Read the array, checking its digest.

        Raises:
            RecordError: the file is gone or was changed; says how to make it again.
        """
        from safetensors.numpy import load

        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            raise RecordError(
                f"The array {self.digest[:12]} ({self.dtype}, {self.shape}) is not in {self.path.parents[1].name}/. "
                "Artifacts are not committed: run the experiment that wrote it again, with the same configuration."
            ) from None
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise RecordError(
                f"The artifact {self.path.name} was changed since it was written: its digest no longer is its name. "
                "Delete it and run the experiment that wrote it again, with the same configuration."
            )
        return load(data)[_NAME]


def artifact_path(folder: Path, digest: str) -> Path:
    """Where an artifact of this digest lies under ``folder``."""
    return folder / digest[:2] / f"{digest}.safetensors"


def store(array: np.ndarray[Any, Any], folder: Path) -> ArtifactArray:
    """Write an array durably under its digest, unless it is there unchanged, and return its handle.

    Raises:
        RecordError: the dtype cannot be stored (objects, text), or the file cannot be written.
    """
    import numpy as np
    from safetensors.numpy import save

    if array.dtype.kind not in "biuf":
        raise RecordError(f"An array of dtype {array.dtype} cannot be an artifact; wanted bool, integers or floats.")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    data = save({_NAME: little.reshape(array.shape)})
    digest = hashlib.sha256(data).hexdigest()
    path = artifact_path(folder, digest)
    if not (path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest):
        write_durable(path, data)
    return ArtifactArray(digest, tuple(array.shape), array.dtype.name, str(folder))
