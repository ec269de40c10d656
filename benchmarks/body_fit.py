"""How well the fit finds a person's leg length, with and without jitter in the recording."""

from __future__ import annotations

import numpy as np

from phuma.body import open_body
from phuma.body.fit import fit_open_shape
from phuma.synth import FAULTS, KINDS, generate
from tables import markdown, save

SEEDS = range(10)
SECONDS, FPS = 6.0, 60.0
JITTER = 3.0  # mm


def error(kind: str, jitter: float) -> tuple[float, float]:
    """Root mean square error of the leg length in cm: of the average body, and of the fitted one."""
    average, fitted = [], []
    for seed in SEEDS:
        motion = FAULTS["jitter"].apply(generate(kind, SECONDS, seed, FPS).motion, jitter, seed)
        shape, _ = fit_open_shape(motion.root_pos, motion.joint_quat, motion.fps)
        average.append(open_body().leg_length - motion.body.leg_length)
        fitted.append(open_body(shape).leg_length - motion.body.leg_length)
    return 100 * float(np.sqrt(np.mean(np.square(average)))), 100 * float(np.sqrt(np.mean(np.square(fitted))))


def main() -> None:
    rows = []
    for kind in KINDS:
        (average, clean), (_, noisy) = error(kind, 0.0), error(kind, JITTER)
        rows.append([kind, f"{average:.1f}", f"{clean:.1f}", f"{noisy:.1f}"])
    save(
        "body_fit",
        "Fitting the open body to a recording",
        f"Root mean square error of the leg length in cm, {len(SEEDS)} generated people, {SECONDS:g} s at {FPS:g} Hz:",
        markdown(["type", "average body", "fitted", f"fitted, {JITTER:g} mm of jitter"], rows),
    )


if __name__ == "__main__":
    main()
