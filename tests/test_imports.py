"""The law of imports: foundations know no stage, stages do not know each other, and help is quick."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import phuma

SOURCE = Path(phuma.__file__).parent
FOUNDATIONS = ("errors", "core", "io", "runtime", "body", "robots", "contacts", "formats", "sim", "video")
"""In this order: each may import itself and those before it."""
COMPOSITIONS, DOORS = ("pipelines", "studies"), ("cli", "api")
"""Compositions may import everything before them. The doors, commands and functions of Python, may import all that but
not each other. Whatever else is a folder is a stage, which may import foundations alone."""
ENTRANCES = {"__init__", "__main__"}


def imported(file: Path) -> set[str]:
    """The parts of phuma that a file imports, also inside functions."""
    out = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.level == 0 else ["phuma.RELATIVE"]
        else:
            continue
        out |= {name.split(".")[1] for name in names if name.startswith("phuma.")}
    return out - {"__version__"}


def allowed(part: str) -> set[str]:
    """What a part may import beside itself."""
    if part in FOUNDATIONS:
        return set(FOUNDATIONS[: FOUNDATIONS.index(part)])
    if part in COMPOSITIONS + DOORS:
        stages = {p.name for p in SOURCE.iterdir() if p.is_dir()} - {*COMPOSITIONS, *DOORS}
        below = COMPOSITIONS if part in DOORS else COMPOSITIONS[: COMPOSITIONS.index(part)]
        return {*FOUNDATIONS, *stages, *below}
    return {*FOUNDATIONS}


def test_every_folder_imports_only_what_lies_below_it():
    """Foundations know those before them, stages know foundations and not each other, compositions know stages,
    and the two doors know not each other."""
    wrong = []
    for file in sorted(SOURCE.rglob("*.py")):
        part = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        if part not in ENTRANCES and (others := imported(file) - {part} - allowed(part)):
            wrong.append(f"{file.relative_to(SOURCE)} imports {', '.join(sorted(others))}")
    assert not wrong, "\n".join(wrong)


def test_no_module_lies_loose():
    """Beside the entrances and the errors, everything is in a folder that says what it holds."""
    loose = {p.stem for p in SOURCE.glob("*.py")} - ENTRANCES
    assert loose == {"errors"}


def test_every_folder_says_what_it_holds():
    """A newcomer reads the folder's own docstring."""
    folders = [p.parent for p in SOURCE.rglob("*.py")]
    silent = [
        str(folder.relative_to(SOURCE))
        for folder in sorted(set(folders))
        if not (folder / "__init__.py").exists()
        or not ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    ]
    assert not silent


def test_help_loads_nothing_heavy():
    """What makes `phuma --help` answer at once is that it imports no numerics."""
    check = (
        "import atexit, sys\n"
        "heavy = ('numpy', 'scipy', 'matplotlib')\n"
        "atexit.register(lambda: print([m for m in heavy if m in sys.modules]))\n"
        "from phuma.cli.main import main\n"
        "main(['--version'])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"phuma {phuma.__version__}", "[]"]


@pytest.mark.slow
def test_help_of_a_command_loads_nothing_that_takes_half_a_second():
    check = (
        "import contextlib, io, sys\n"
        "from phuma.cli.main import COMMANDS, main\n"
        "heavy = 'scipy.linalg scipy.optimize scipy.interpolate scipy.sparse matplotlib torch mink'.split()\n"
        "for command in COMMANDS:\n"
        "    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "        main([command, '--help'])\n"
        "    assert not (loaded := [m for m in heavy if m in sys.modules]), (command, loaded)\n"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_public_names_all_resolve_and_functions_are_not_shadowed_by_modules():
    for name in phuma.__all__:
        assert getattr(phuma, name) is not None
    assert callable(phuma.curate)


@pytest.mark.parametrize("call", ["main(['retarget', 'x.bvh'])", "main(['compare', 'x.bvh'])", "phuma.retarget"])
def test_a_base_install_says_what_is_missing_for_the_next_stage(call):
    """Without numba, as after `pip install phuma` alone."""
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import phuma\nfrom phuma.cli.main import main\n"
        f"try:\n    print({call})\nexcept phuma.PhumaError as e:\n    print(e, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'phuma[retarget]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("phuma.cli.query", "numpy"), ("phuma.cli.view", "numba mujoco scipy viser"), ("phuma.dataset.dataset", "numpy")],
)
def test_what_answers_from_a_table_does_not_wait_for_numerics(module, heavy):
    """A query needs none, and the viewer's list of clips is there before one is opened."""
    check = f"import sys, {module}; print([m for m in {heavy.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
