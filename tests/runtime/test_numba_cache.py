"""Compiled code: kept, and never older than its sources."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import phuma
from phuma.retargeting.block import Block
from phuma.retargeting.objective import Weights
from phuma.retargeting.support import Support
from phuma.retargeting.term_data import Posed, Targets
from phuma.robots.capsules import Capsules
from phuma.robots.kinematics import Points, Tree
from phuma.robots.masses import Masses
from phuma.runtime.numba_cache import KERNELS

PACKAGE = Path(phuma.__file__).parent
CALLS = """
import numpy as np
from phuma.retargeting.costs import add_scalar
hessian, slope = np.zeros((1, 1)), np.zeros(1)
add_scalar(hessian, slope, np.array([[[0, 1]]]), 0, np.ones((1, 1, 1)), 0, 0, 2.0, 3.0)
print(hessian[0, 0], slope[0])
"""
LOADS = CALLS + "print(sum(add_scalar.stats.cache_hits.values()), sum(add_scalar.stats.cache_misses.values()))"


def run(root, code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(root)} | env
    )
    assert done.returncode == 0, done.stderr
    return done


def copy_of_the_package(folder):
    shutil.copytree(PACKAGE, folder / "phuma", ignore=shutil.ignore_patterns("__pycache__", "g1", "h1_2"))
    return folder


def kept_files(root):
    return sorted(p.relative_to(root) for p in root.rglob("compiled-*/**/*.nbc"))


def test_every_file_that_compiled_code_is_made_of_is_known():
    """Files with compiled functions, with the structures that they are given, and with the list of terms."""
    found = {p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py") if "\n@compiled\n" in p.read_text()}
    structures = {
        inspect.getfile(structure)
        for structure in (Block, Capsules, Masses, Points, Posed, Support, Targets, Tree, Weights)
    }
    found |= {Path(file).relative_to(PACKAGE).as_posix() for file in structures}
    assert found | {"retargeting/loops.py"} == set(KERNELS)


@pytest.mark.slow
def test_code_is_kept_and_a_change_in_any_kernel_file_makes_it_anew(tmp_path):
    root = copy_of_the_package(tmp_path)
    assert run(root, CALLS).stdout.split() == ["3.0", "6.0"]
    first = kept_files(root)
    assert first
    run(root, CALLS)
    assert kept_files(root) == first
    other = root / "phuma" / "retargeting" / "normal.py"  # not the file of the function that is called
    other.write_text(other.read_text() + "\n# changed\n")
    run(root, CALLS)
    assert kept_files(root)
    assert not set(kept_files(root)) & set(first), "code of an earlier version stayed"


@pytest.mark.slow
def test_nobody_runs_what_they_have_compiled(tmp_path):
    """The first run loads as every later one does, so that all give the same bits; two at once compile once."""
    first = [
        subprocess.Popen(
            [sys.executable, "-c", LOADS], stdout=subprocess.PIPE, env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        )
        for _ in range(2)
    ]
    for process in first:
        assert process.communicate()[0].split()[2:] == [b"1", b"0"], "loaded, compiled"
    assert len(kept_files(tmp_path)) == 1
    assert run(PACKAGE.parent, LOADS, NUMBA_CACHE_DIR=str(tmp_path)).stdout.split()[2:] == ["1", "0"]


@pytest.mark.slow
def test_where_nothing_can_be_written_it_runs_with_a_warning(tmp_path):
    root = copy_of_the_package(tmp_path / "package")
    blocked = root / "phuma" / "__pycache__"
    shutil.rmtree(blocked, ignore_errors=True)
    blocked.write_text("a file where a folder should be")
    done = run(root, CALLS, PHUMA_CACHE=str(blocked), PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout.split() == ["3.0", "6.0"]
    assert "set NUMBA_CACHE_DIR" in done.stderr


@pytest.mark.slow
def test_a_read_only_package_keeps_it_in_the_users_cache(tmp_path):
    root = copy_of_the_package(tmp_path / "package")
    (root / "phuma" / "__pycache__").write_text("a file where a folder should be")
    run(root, CALLS, PHUMA_CACHE=str(tmp_path / "cache"), PYTHONDONTWRITEBYTECODE="1")
    assert kept_files(tmp_path / "cache")
