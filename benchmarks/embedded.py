"""Curation of the embedded motions: what is kept of each clean type, and what share of each fault is rejected."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from collections import Counter

import numpy as np
from tables import PICTURES, markdown, save

from phuma.curation import curate
from phuma.sources.synth import FAULTS, KINDS, Synthetic, generate
from phuma.view import style

SEEDS = range(20)
SECONDS = 4.0
STEPS = 8  # strengths on each curve


def clean_rows(made: dict[str, list[Synthetic]]) -> tuple[list[list[object]], list[list[object]]]:
    """Kept and why not; and how well contacts and ground are found."""
    verdicts, contacts = [], []
    for kind, people in made.items():
        results = [curate(p.motion) for p in people]
        clips = [c for r in results for c in r.clips]
        kept = sum(c.verdict.kept for c in clips)
        why = Counter(m.name for c in clips for m in c.verdict.measures if not m.passed)
        medians = [float(np.median([list(c.verdict.metrics.values())[i] for c in clips])) for i in range(6)]
        reasons = ", ".join(f"{n} {name}" for name, n in why.most_common())
        verdicts.append([kind, f"{kept} of {len(clips)}", *medians, reasons])
        found = np.concatenate([r.contact.ratio > 0.5 for r in results])
        true = np.concatenate([p.contact[: len(r.motion)] for p, r in zip(people, results)])
        ground = float(np.mean([r.ground - p.ground for p, r in zip(people, results)]))
        contacts.append([kind, f"{100 * found[true].mean():.1f}", f"{100 * true[found].mean():.1f}", f"{100 * ground:+.1f}"])
    return verdicts, contacts


def fault_curves(made: dict[str, list[Synthetic]]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Fault -> strengths and shares rejected, over all clean motions that are kept."""
    kept = [(p, seed) for people in made.values() for seed, p in enumerate(people) if curate(p.motion).clips[0].verdict.kept]
    curves = {}
    for fault in FAULTS.values():
        strengths = np.unique([0.0, *np.linspace(0, 1.5 * fault.strengths[-1], STEPS)[1:], *fault.strengths])
        sample = kept[:: 1 if fault.name != "chair" else 4]  # the chair forgets the motion and keeps the body
        shares = [np.mean([not curate(fault.apply(p.motion, s, seed)).clips[0].verdict.kept for p, seed in sample]) for s in strengths]
        curves[fault.name] = strengths, 100 * np.array(shares)
    return curves


def draw_curves(curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    fig = style.figure(10, 4.6)
    for ax, (name, (strengths, shares)) in zip(fig.subplots(2, 3).ravel(), curves.items()):
        ax.plot(strengths, shares, color=style.LEFT, marker="o", markersize=3.5, linewidth=1.5)
        style.tidy(ax, ylim=(-3, 103), xlabel=f"{name}, {FAULTS[name].unit}", ylabel="rejected, %")
    PICTURES.mkdir(parents=True, exist_ok=True)
    fig.savefig(PICTURES / "faults.png")


def main() -> None:
    made = {kind: [generate(kind, SECONDS, seed) for seed in SEEDS] for kind in KINDS}
    verdicts, contacts = clean_rows(made)
    curves = fault_curves(made)
    draw_curves(curves)
    named = [
        [name, FAULTS[name].unit, *(f"{s:g}: {shares[list(strengths).index(s)]:.0f} %" for s in FAULTS[name].strengths)]
        for name, (strengths, shares) in curves.items()
    ]
    metrics = ["jerk, m/s^3", "contact", "pelvis min, m", "pelvis max, m", "pelvis to support, m", "spine1 to support, m"]
    save(
        "embedded",
        "Curation of the embedded motions",
        f"{len(SEEDS)} people of each type, {SECONDS:g} s each, preset `paper`. Medians of the metrics, and what failed:",
        markdown(["type", "kept", *metrics, "failed"], verdicts),
        "Contacts against the truth: of the samples (region, frame) that truly stand, how many have a contact ratio above "
        "0.5; of those above 0.5, how many truly stand; and by how much the voted ground is too high:",
        markdown(["type", "found, %", "true, %", "ground, cm"], contacts),
        "Faults, put into every clean motion that is kept: share rejected at three strengths (the curves are in "
        "`docs/images/faults.png`):",
        markdown(["fault", "unit", "slight", "plain", "gross"], named),
    )


if __name__ == "__main__":
    main()
