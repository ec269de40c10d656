"""Trainings in pieces: what a stage has learned is kept, and the next run of the same script goes on with it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import distillation
from phuma.io.atomic import save_npz

KEPT = distillation.EXPERTS / "policies"
"""Where policies are kept, whole ones and those that are still learning"""


def slug(text: str) -> str:
    """A text as part of a file's name."""
    return "-".join("".join(c if c.isalnum() else " " for c in text).split())


def learn(
    runner: Any, name: str, progress: Callable[[int, float], float], most: float, every: float = 600.0
) -> tuple[float, bool]:
    """Go on with a stage for at most so many CPU seconds, or to its end; return the CPU seconds that it has had in all
    pieces, and whether it is at its end. `progress` is the share that is over after so many environment steps and CPU
    seconds."""
    file, before = KEPT / f"{slug(name)}.npz", 0.0
    if file.exists():
        with np.load(file) as kept:
            arrays = dict(kept)
        before = float(arrays.pop("cpu"))
        runner.restore(arrays)
    began = saved = time.process_time()
    while (done := progress(runner.steps, before + time.process_time() - began)) < 1:
        if (now := time.process_time()) - began >= most:
            break
        if now - saved >= every:
            save(runner, file, before + now - began)
            saved = now
        runner.iterate(done)
    spent = before + time.process_time() - began
    save(runner, file, spent)
    return spent, done >= 1


def save(runner: Any, file: Path, spent: float) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    save_npz(file, {**runner.snapshot(), "cpu": np.array(spent)})


def forget(name: str) -> None:
    """Delete what a stage has kept."""
    (KEPT / f"{slug(name)}.npz").unlink(missing_ok=True)


def export(policy: Any, name: str) -> Path:
    """Keep a whole policy as ONNX."""
    from phuma.learning.deploy.onnx_export import export_policy

    KEPT.mkdir(parents=True, exist_ok=True)
    file = KEPT / f"{slug(name)}.onnx"
    export_policy(policy, file)
    return file
