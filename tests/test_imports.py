"""The law of imports: the core knows no stage, stages do not know each other, and help is quick."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import phuma

SOURCE = Path(phuma.__file__).parent
STAGES = {"sources", "curation", "retargeting", "dataset", "evaluation", "learning", "view"}
WIRING = {
    "building",
    "cli",
    "importing",
    "libraries",
    "playing",
    "policies",
    "showing",
    "tracks",
    "training",
    "workflow",
    "__main__",
    "__init__",
}


def imported(file: Path) -> set[str]:
    """Names of phuma's parts that a file imports, also inside functions."""
    out = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.level == 0 else ["phuma.RELATIVE"]
        else:
            continue
        out |= {name.split(".")[1] for name in names if name.startswith("phuma.")}
    return out


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda f: str(f.relative_to(SOURCE)))
def test_stages_do_not_know_each_other(file):
    part = file.relative_to(SOURCE).parts[0].removesuffix(".py")
    if part in WIRING:
        return
    others = imported(file) & (STAGES | WIRING) - {part, "__init__"}
    assert not others, f"{part} must not import {others}"


def test_every_folder_is_core_or_stage_or_wiring():
    folders = {p.name for p in SOURCE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert folders == STAGES | {"body", "files", "robots", "cli"}, "a new folder has to say here what it is"


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
