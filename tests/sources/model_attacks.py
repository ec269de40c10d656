"""Damage to video models' files, and calls that are planted in them."""

from __future__ import annotations

import io
import os
import random
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from phuma.synth import generate
from tests.fuzz import Change, damage
from tests.sources import model_files as files

MOTION = generate("squat", 1.2, 1, 30.0).motion
LAYOUTS = ("gvhmr", "gem", "tram", "wham", "prompthmr", "phalp")


class Evil:
    """Touches a file where a pickle is run."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def store(layout: str, path: Path, content: Any) -> Path:
    """Write what a model's file holds; where its name has to end in something, it does."""
    if layout in ("gvhmr", "gem"):
        torch.save(content, path)
    elif layout == "tram":
        np.save(path.with_suffix(".npy"), content, allow_pickle=True)
        return path.with_suffix(".npy")
    else:
        path.write_bytes(files.joblib_bytes(content, compress=layout == "phalp"))
    return path


def content_of(layout: str) -> Any:
    """What a model's file holds."""
    seen = files.everything(MOTION)
    return {
        "gvhmr": lambda: files.gvhmr_content(MOTION),
        "gem": lambda: files.gvhmr_content(MOTION, "body_params"),
        "tram": lambda: files.tram_content(MOTION)[0],
        "wham": lambda: files.wham_content(seen),
        "prompthmr": lambda: files.prompthmr_content(seen),
        "phalp": lambda: files.phalp_content(seen),
    }[layout]()


def spoil(data: bytes, layout: str, edits: list[Change], inside: bool) -> bytes:
    """Damage to the file, or to what its container holds: one file of an archive, the stream that zlib packed."""
    if inside and layout == "phalp":
        return zlib.compress(damage(zlib.decompress(data), edits), 1)
    if inside and layout in ("gvhmr", "gem"):
        stream = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
            names = sorted(old.namelist(), key=lambda name: not name.endswith(".pkl"))
            chosen = names[int(2 * edits[0][1] * len(names)) % len(names)] if edits[0][1] > 0.5 else names[0]
            for name in old.namelist():
                new.writestr(name, damage(old.read(name), edits) if name == chosen else old.read(name))
        return stream.getvalue()
    return damage(data, edits)


def odd_values(old: Any, dice: random.Random) -> Any:
    """Something else in a value's place: of another type or shape, with numbers that are none, or too large."""
    if isinstance(old, (np.ndarray, torch.Tensor)) and old.ndim and dice.random() < 0.7:
        new = old.clone() if isinstance(old, torch.Tensor) else old.copy()
        where = tuple(dice.randrange(max(1, n)) for n in new.shape)
        if dice.random() < 0.5 and len(new):
            new[where] = dice.choice([0, 1, 7, 120] + [-1e9, float("nan"), float("inf")] * (new.dtype in FLOATS))
            return new
        return dice.choice([new[:-1], new[:0], new[None], new[..., :1], new.swapaxes(0, -1), new[::2]])
    odd = (None, "text", b"bytes", -1, 2**70, 0.5, True, [], {}, [old], {"a": old}, np.zeros(0), np.zeros((2, 3)),
           np.array("a"), torch.zeros(3), (old, old), np.float32(2), np.zeros((4, 24, 3, 3)), 10**5)  # fmt: skip
    return dice.choice(odd)


FLOATS = (torch.float32, torch.float64, np.dtype("f4"), np.dtype("f8"))


def shaken(content: Any, dice: random.Random) -> Any:
    """The content with a value somewhere in it replaced or left out."""
    inner = content
    while True:
        key = dice.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
        deeper = isinstance(inner[key], (dict, list)) and len(inner[key]) > 0
        if not deeper or dice.random() < 0.1:
            break
        inner = inner[key]
    if dice.random() < 0.15:
        del inner[key]
    else:
        inner[key] = odd_values(inner[key], dice)
    return content
