"""Names of devices on Windows, in capitals or not, with and without an ending."""

from __future__ import annotations

import pytest

from assay.errors import ConfigError
from assay.runs.experiment import experiment
from assay.runs.file_names import is_device


@pytest.mark.parametrize("name", ["con", "CON", "Nul", "aux", "prn", "com1", "LPT9", "con.e_default"])
def test_a_device(name: str) -> None:
    assert is_device(name)


@pytest.mark.parametrize("name", ["console", "con_", "com", "com10", "null", "a.con", "pairs"])
def test_no_device(name: str) -> None:
    assert not is_device(name)


@pytest.mark.parametrize("name", ["con.first", "study.aux"])
def test_an_experiment_is_not_called_so(name: str) -> None:
    with pytest.raises(ConfigError, match=r"no file can be called '(con|aux)' on Windows"):
        experiment(name, version=1)
