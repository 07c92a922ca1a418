"""The digest follows every import that can change a number, and nothing that cannot."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.source import computes_imports, is_module, module_digests, source_digest
from tests.unit.runs.toy_repository import WORDS, assay_json, write

HOUSE = Path(__file__).resolve().parents[3]

MAIN = '''
"""An experiment."""
from __future__ import annotations
import numpy as np
from experiments.merging import helper   # a comment

SEED = 3

def run(x: int) -> int:
    """Doc."""
    return helper.f(x) + SEED
'''
HELPER = """
CONSTANT = 0.25
def f(x):
    return x * CONSTANT
"""


def house(root: Path, **files: str) -> Path:
    """Files by dotted name, ``__init__`` for a package's own."""
    for name, text in files.items():
        path = root.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return house(tmp_path, **{"experiments.merging.main": MAIN, "experiments.merging.helper": HELPER})


def names(root: Path, text: str, **files: str) -> list[str]:
    """Modules that a module ``start`` with this text reaches, itself left out."""
    found = module_digests("start", house(root, start=text, **files))
    return sorted(found.keys() - {"start"})


MAIN_NAME = "experiments.merging.main"


def test_a_module_and_what_it_imports(root: Path) -> None:
    assert list(module_digests(MAIN_NAME, root)) == ["experiments.merging.helper", MAIN_NAME]
    assert len(source_digest(MAIN_NAME, root)) == 64


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("   # a comment", ""),
        ("SEED = 3", "# seed\nSEED = (3)"),
        ('"""Doc."""', '"""Another sentence."""'),
        ('    """Doc."""\n', ""),
        ('"""An experiment."""\n', ""),
        ("return helper.f(x) + SEED", "return (\n        helper.f(x)\n        + SEED\n    )"),
        ("def run(x: int)", "def run(\n    x: int,\n)"),
        ("SEED = 3", "SEED = 0x3"),
        ("SEED = 3\n", 'SEED = 3\n"""What the draws start from."""\n'),
        ("SEED = 3", '__version__ = "2"\nSEED = 3'),
        ("\n", "\r\n"),
    ],
)
def test_what_changes_no_number_changes_no_digest(root: Path, old: str, new: str) -> None:
    before = module_digests(MAIN_NAME, root)
    assert old in MAIN
    (root / "experiments/merging/main.py").write_bytes(MAIN.replace(old, new).encode())
    assert module_digests(MAIN_NAME, root) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("helper", "0.25", "0.26"),
        ("helper", "x * CONSTANT", "x / CONSTANT"),
        ("main", "SEED = 3", "SEED = 3.0"),
        ("main", "SEED = 3", 'SEED = "3"'),
        ("main", "SEED = 3", "SEED = True"),
        ("main", "SEED", "ROOT"),
        ("main", "def run(x: int)", "@np.vectorize\ndef run(x: int)"),
        ("main", "return helper.f(x) + SEED", "return helper.f(x)\n    pass"),
    ],
)
def test_what_can_change_a_number_changes_the_digest_of_its_module_alone(
    root: Path, file: str, old: str, new: str
) -> None:
    before = module_digests(MAIN_NAME, root)
    path = root / f"experiments/merging/{file}.py"
    path.write_text(path.read_text().replace(old, new))
    after = module_digests(MAIN_NAME, root)
    assert {name for name in before if after[name] != before[name]} == {f"experiments.merging.{file}"}


def test_an_edit_of_equal_size_and_time_stamp_apart_is_seen_and_a_touch_is_not(root: Path) -> None:
    path = root / "experiments/merging/helper.py"
    before = module_digests(MAIN_NAME, root)
    path.touch()
    assert module_digests(MAIN_NAME, root) == before
    time.sleep(0.01)
    path.write_text(path.read_text().replace("0.25", "0.52"))
    assert module_digests(MAIN_NAME, root) != before


PACKAGE = {
    "a.__init__": "X = 1",
    "a.b.__init__": "from . import c",
    "a.b.c": "from ..d import value",
    "a.d": "value = 1",
    "a.e": "E = 1",
}
ALL = ["a", "a.b", "a.b.c", "a.d"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b.c", ALL),
        ("import a.b.c as q", ALL),
        ("from a import b", ALL),
        ("from a.b import c", ALL),
        ("from a.b.c import value", ALL),
        ("from a.b import *", ALL),
        ("def f():\n    def g():\n        from a import d", ["a", "a.d"]),
        ("class K:\n    import a.e", ["a", "a.e"]),
        ("try:\n    import a.e\nexcept ImportError:\n    import a.d", ["a", "a.d", "a.e"]),
        ("import a", ["a"]),
        ("from a import X", ["a"]),
        ("import importlib\nm = importlib.import_module('a.d')", ["a", "a.d"]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a.d", []),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a.d\nelse:\n    import a.e", ["a", "a.e"]),
        ("import numpy, os.path, assay_pytest", []),
        ("import start", []),
    ],
)
def test_imports_are_followed(tmp_path: Path, text: str, found: list[str]) -> None:
    assert names(tmp_path, text, **PACKAGE) == found


def test_circles_end(tmp_path: Path) -> None:
    assert names(tmp_path, "import one", one="import two", two="import one, start") == ["one", "two"]


FACE = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from face.heavy import compute
    from face.other import thing
def __getattr__(name):
    ...
"""


@pytest.mark.parametrize(
    "text", ["from face import compute", "import face\nface.compute(1)", "import face as f\nf.compute"]
)
def test_a_name_that_a_package_loads_on_demand_is_followed(tmp_path: Path, text: str) -> None:
    files = {"face.__init__": FACE, "face.heavy": "compute = 1", "face.other": "thing = 1"}
    assert names(tmp_path, text, **files) == ["face", "face.heavy"]


def test_modules_of_the_record_and_of_environments_are_left_out(tmp_path: Path) -> None:
    files = {
        "src.assay.__init__": "__version__ = '1'",
        "src.assay.runs.__init__": "from assay.runs import registry",
        "src.assay.runs.registry": "A = 1",
        "src.assay.errors": "A = 1",
        "src.assay.seeds": "from assay.errors import A",
        "environment.lib.thing": "A = 1",
        "vendored.site-packages.thing": "A = 1",
    }
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/pyvenv.cfg").write_text("home = /usr\n")
    assert names(tmp_path, "from assay.runs import experiment, Run\nimport assay.errors", **files) == []
    assert names(tmp_path, "import assay.runs.registry, environment.lib.thing") == []
    assert names(tmp_path, "__import__('vendored.site-packages.thing')") == []
    assert names(tmp_path, "from assay.seeds import stream") == ["assay.seeds"]


@pytest.mark.parametrize("name", ["build", "dist", "venv", "env", "node_modules"])
def test_a_module_or_package_of_any_name_is_project_code(tmp_path: Path, name: str) -> None:
    files = {f"mylib.{name}": "A = 1", f"{name}.inner": "A = 1"}
    text = f"import mylib.{name}\nfrom {name} import inner"
    assert names(tmp_path, text, **files) == sorted(files)
    assert list(module_digests(f"{name}.inner", tmp_path)) == [f"{name}.inner"]


def test_a_study_of_any_name_runs(tmp_path: Path) -> None:
    write(tmp_path, {"experiments/build/words.py": WORDS.replace("toy.words", "build.words")})
    assert assay_json(tmp_path, "run", "build.words")["status"] == "completed"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import importlib\nimportlib.import_module('a.' + name)", True),
        ("__import__(name)", True),
        ("from importlib import import_module\nimport_module(name=f'a.{b}')", True),
        ("import importlib\nimportlib.import_module('a.b')\nimport a.c", False),
    ],
)
def test_code_that_computes_the_name_of_a_module_is_known(tmp_path: Path, text: str, *, expected: bool) -> None:
    root = house(tmp_path, start="import os", other=text)
    assert computes_imports(["start", "absent", "./other.py"], root) is expected
    assert "?" not in names(tmp_path, text)


def test_nothing_is_imported(tmp_path: Path) -> None:
    assert names(tmp_path, "import bomb", bomb="raise SystemExit('imported')") == ["bomb"]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"the module experiments\.absent has no file"):
        module_digests("experiments.absent", tmp_path)
    with pytest.raises(RecordError, match=r"broken\.py is not valid Python"):
        names(tmp_path, "import broken", broken="def f(:\n")
    assert is_module("start", tmp_path)
    assert not is_module("absent", tmp_path)


def test_the_digest_is_the_same_in_another_interpreter(root: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from assay.runs.source import source_digest;"
        f"print(source_digest({MAIN_NAME!r}, Path(sys.argv[1])))"
    )
    for options in ([], ["-OO"], ["-X", "utf8=0"]):
        command = [sys.executable, *options, "-c", code, str(root)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == source_digest(MAIN_NAME, root)


def test_the_digest_is_pinned_so_that_every_python_gives_the_same(tmp_path: Path) -> None:
    text = "@d(x=1, *y)\ndef f(b, /, *, c=None, **k) -> None: ..."
    text += "\nz = [i for i in (1, 2.5, 1e400, 2j, b'x', None, ..., True) if not i]; q = f'{z!r:>{q}} {z:.2f}'\n"
    text += "async def g():\n    async with a as b: yield -1 if (lambda: 0) else {**u, 'k': {1, 2}}[1:2, ::3]\n"
    pinned = "c5745d717b22d0575aaf96b7854bc57f6eefef9ae6874a85fb98d254a229fcc5"
    assert source_digest("start", house(tmp_path, start=text)) == pinned


def test_the_largest_closure_of_this_house_is_quick() -> None:
    code = (
        "import time; from pathlib import Path; from assay.runs.source import module_digests\n"
        "start = time.process_time(); found = module_digests('assay.models.hooks', Path('.'))\n"
        "print(len(found), (time.process_time() - start) / len(found))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=HOUSE)
    count, seconds = done.stdout.split()
    assert int(count) > 5
    assert float(seconds) < 0.2 / 30 * 3  # three times the figure of 30 modules in 0.2 s, for loaded machines
