"""Curation of the synthetic motions: what is kept of each clean type, and what share of each fault is rejected."""

from __future__ import annotations

from collections import Counter

import numpy as np

from phuma.cli.demo import draw_kinds
from phuma.core.human_motion import HumanMotion
from phuma.curation import CurateCfg, curate
from phuma.synth import FAULTS, KINDS, Synthetic, generate
from phuma.viewer import style
from tables import PICTURES, markdown, save

SEEDS = range(20)
SECONDS = 4.0
PAPER = CurateCfg(preset="paper")
STEPS = 8  # strengths on each curve


def clean_rows(made: dict[str, list[Synthetic]]) -> tuple[list[list[object]], list[list[object]]]:
    """Kept and why not; and how well contacts and ground are found."""
    verdicts, contacts = [], []
    for kind, people in made.items():
        results = [curate(p.motion, PAPER) for p in people]
        clips = [c for r in results for c in r.clips]
        kept = sum(c.verdict.kept for c in clips)
        why = Counter(m.name for c in clips for m in c.verdict.measures if not m.passed)
        medians = [float(np.median([list(c.verdict.metrics.values())[i] for c in clips])) for i in range(6)]
        reasons = ", ".join(f"{n} {name}" for name, n in why.most_common())
        verdicts.append([kind, f"{kept} of {len(clips)}", *medians, reasons])
        true = np.concatenate([p.contact[: len(r.motion)] for p, r in zip(people, results)])
        standing = [curate(p.motion, CurateCfg(preset="paper", contacts="stance")) for p in people]
        found = [np.concatenate([r.contact.mask for r in own]) for own in (results, standing)]
        ground = float(np.mean([r.ground - p.ground for p, r in zip(people, results)]))
        shares = [[f"{100 * f[true].mean():.1f}", f"{100 * true[f].mean():.1f}"] for f in found]
        contacts.append([kind, *shares[0], *shares[1], f"{100 * ground:+.1f}"])
    return verdicts, contacts


def is_kept(motion: HumanMotion) -> bool:
    return curate(motion, PAPER).clips[0].verdict.kept


def fault_curves(made: dict[str, list[Synthetic]]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Fault -> strengths and shares rejected, over all clean motions that are kept."""
    kept = [(p.motion, seed) for people in made.values() for seed, p in enumerate(people) if is_kept(p.motion)]
    curves = {}
    for fault in FAULTS.values():
        end = 1.5 * fault.strengths[-1] if fault.name != "chair" else 20.0  # a chair is noticed before it is one
        strengths = np.unique([0.0, *np.linspace(0, end, STEPS)[1:], *fault.strengths])
        sample = kept[:: 1 if fault.name != "chair" else 4]  # the chair forgets the motion and keeps the body
        faulty = [[fault.apply(motion, s, seed) for motion, seed in sample] for s in strengths]
        curves[fault.name] = strengths, np.array([100 * np.mean([not is_kept(m) for m in row]) for row in faulty])
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
    draw_kinds(PICTURES / "motions.png")
    named = [
        [fault.name, fault.unit, *(f"{s:g}: {np.interp(s, *curves[fault.name]):.0f} %" for s in fault.strengths)]
        for fault in FAULTS.values()
    ]
    metrics = ["jerk, m/s^3", "contact", "pelvis min, m", "max, m", "pelvis to support, m", "spine1 to support, m"]
    save(
        "embedded",
        "Curation of the synthetic motions",
        f"{len(SEEDS)} people of each type, {SECONDS:g} s, preset `paper`. Medians of the metrics, and what failed:",
        markdown(["type", "kept", *metrics, "failed"], verdicts),
        "Contacts against the truth: of the samples (region, frame) that truly stand, how many have a contact ratio "
        "above 0.5; of those above 0.5, how many truly stand; the same by contacts that stand (`--contacts stance`); "
        "and by how much the voted ground is too high:",
        markdown(["type", "found, %", "true, %", "found by stance, %", "true, %", "ground, cm"], contacts),
        "Faults, put into every clean motion that is kept: share rejected at three strengths (the curves are in "
        "`docs/images/faults.png`):",
        markdown(["fault", "unit", "slight", "plain", "gross"], named),
    )


if __name__ == "__main__":
    main()
