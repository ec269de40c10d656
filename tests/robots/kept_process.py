"""Strangers' models of many tests are loaded in one process with limits: to start it takes longer than any of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from phuma.errors import ReadError
from phuma.robots import untrusted
from phuma.robots.onboarding import model_file
from phuma.runtime.limited import LimitedProcess, LimitError


def do(work: Any, *args: Any) -> Any:
    """Whatever work comes."""
    return work(*args)


@pytest.fixture(scope="module")
def kept_process():
    """A process that is kept from one model to the next, and started again when it had to be ended."""
    processes: dict[str, LimitedProcess] = {}

    def in_limits(work: Any, path: Path, *more: Any) -> Any:
        folder = os.getcwd()  # which a process takes over when it starts
        if folder not in processes or not processes[folder].end.alive:
            processes[folder] = LimitedProcess(untrusted._WithMujoco(do), untrusted.LIMITS)
        try:
            return processes[folder](work, path, *more)
        except LimitError as e:
            raise ReadError(path, f"MuJoCo cannot load it: it {e}") from None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "in_limits", in_limits)
        patch.setattr(model_file, "in_limits", in_limits)
        yield
    for process in processes.values():
        process.end()
