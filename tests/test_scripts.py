"""Scripts beside the package use what it has: every name that a benchmark or an example imports from it exists."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path for folder in ("benchmarks", "examples") for path in (ROOT / folder).glob("*.py"))


def test_what_scripts_import_is_there():
    pytest.importorskip("torch")
    pytest.importorskip("mujoco")
    missing = []
    for script in SCRIPTS:
        for node in ast.walk(ast.parse(script.read_text())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("phuma"):
                continue
            try:
                module = import_module(node.module or "")
            except ModuleNotFoundError:
                missing.append(f"{script.name}:{node.lineno} {node.module}")
                continue
            for name in (alias.name for alias in node.names):
                if not hasattr(module, name):
                    try:
                        import_module(f"{node.module}.{name}")
                    except ModuleNotFoundError:
                        missing.append(f"{script.name}:{node.lineno} {node.module}.{name}")
    assert not missing, "\n".join(missing)
