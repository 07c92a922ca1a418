"""Names that cannot be file names everywhere: a checkout on Windows or macOS has to hold every record."""

from __future__ import annotations

_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


def is_device(name: str) -> bool:
    """Whether Windows takes a file of this name for a device, whatever comes after its first dot."""
    return name.partition(".")[0].lower() in _DEVICES
