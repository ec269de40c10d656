"""Summarise the scores of many rollouts by motion, by category and in total, with 95 % confidence intervals.

A motion counts once, however many rollouts it has: a rollout of a motion with k of them counts 1/k. Errors are averaged
over frames, so that a motion counts by its length. Intervals are over what is independent: motions, and within one
motion its rollouts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.errors import PhumaError
from phuma.evaluation.judging import ERRORS, RATE, SHARES, SUCCESS, Score

Z = 1.959964  # of the normal distribution, for 95 %
RESAMPLES, BATCH, SEED = 2000, 100, 0
Table = tuple[list[str], list[list[Any]]]
"""Names of the columns, and rows"""


def summarise(scores: Sequence[Score], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return `{"total", "categories", "motions"}` in plain values; shares in percent, None where there is nothing to
    average.

    `groups` are names of groups with their categories. "categories" holds the groups and the categories that occur, in
    that order; a category names its group. "motions" begins with the worst.
    """
    motions = _by_motion(scores)
    known = {category for types in groups.values() for category in types}
    others = sorted({s.category for s in scores if s.category is not None} - known)
    categories: dict[str, Any] = {}
    for group, types in groups.items():
        categories[group] = _of_motions([m for m in motions if m[0].category in types])
        categories |= {c: {"group": group, **_of_category(motions, c)} for c in types}
    categories |= {c: {"group": None, **_of_category(motions, c)} for c in others}
    rows = sorted(map(_of_rollouts, motions), key=_badness)
    return {
        "total": _of_motions(motions),
        "categories": {name: entry for name, entry in categories.items() if entry["motions"]},
        "motions": rows,
    }


def table(summary: Mapping[str, Any]) -> Table:
    """Return rows like those of the paper's tables, in total and by category: success in percent with its interval, the
    share of the motions before they failed, errors of successful motions; where none succeeds those up to the failure,
    in parentheses."""
    errors = ["g-mpjpe", "l-mpjpe", "vel", "acc", "dof", "dof vel", "dof acc"]
    entries = {"total": summary["total"], **summary["categories"]}
    return ["", "motions", "SR@0.15", "SR@0.5", "progress", *errors], [
        [name, entry["motions"], *(_with_interval(entry, s) for s in ("success_0.15", SUCCESS))]
        + [f"{entry['progress']:.1f}", *(_error(entry, e) for e in ERRORS)]
        for name, entry in entries.items()
    ]


def worst(summary: Mapping[str, Any], count: int = 10) -> Table:
    """Return the motions that were tracked worst, among those that failed at least once: why, and when at the
    earliest."""
    failing = [row for row in summary["motions"] if row["failures"]][:count]
    columns = ["motion", "category", "rollouts", "SR@0.15", "SR@0.5", "progress", "why", "first at s"]
    return columns, [
        [row["motion"], row["category"], row["rollouts"]]
        + [round(row[s], 1) for s in ("success_0.15", SUCCESS, "progress")]
        + [", ".join(f"{why} {n}" for why, n in row["failures"].items()), row["first_failure_s"]]
        for row in failing
    ]


def combine(units: Sequence[Sequence[Score]]) -> dict[str, Any]:
    """Return shares and errors of units that are independent of each other, each a few scores that count as one."""
    shares = np.array([np.mean([list(s.shares.values()) for s in unit], axis=0) for unit in units])
    # (U, 2, E): over successes and over all up to failure
    total, count = (np.array([np.mean([_samples(s, i) for s in unit], axis=0) for unit in units]) for i in (0, 1))
    mean = _ratio(total.sum(axis=0), count.sum(axis=0))
    low, high = bootstrap(total, count)
    errors = [{name: _plain(mean[i, e]) for e, name in enumerate(ERRORS)} for i in (0, 1)]
    of_errors = [{name: _pair(low[i, e], high[i, e]) for e, name in enumerate(ERRORS)} for i in (0, 1)]
    percent = {name: float(100 * p) for name, p in zip(SHARES, shares.mean(axis=0))}
    of_shares = {name: [100 * end for end in wilson(p / 100, len(units))] for name, p in percent.items()}
    return {
        **percent,
        **errors[0],
        "interval": {**of_shares, **of_errors[0]},
        "up_to_failure": {**errors[1], "interval": of_errors[1]},
    }


def wilson(share: float, n: int) -> tuple[float, float]:
    """Return Wilson's interval for a share p of n: (p + z^2/2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n).

    For means of numbers between 0 and 1 it is too wide rather than too narrow, as none spreads more than 0 and 1 do.
    """
    middle, half = share + Z**2 / (2 * n), Z * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    low, high = ((middle + side * half) / (1 + Z**2 / n) for side in (-1, 1))
    return max(0.0, float(low)), min(1.0, float(high))


def bootstrap(total: Array, count: Array) -> tuple[Array, Array]:
    """Return the ends of the percentile interval of sum(total) / sum(count), units (U, ...) drawn anew; NaN for fewer
    than two."""
    rng, units = np.random.default_rng(SEED), len(total)
    flat = total.reshape(units, -1), count.reshape(units, -1)
    ends = np.full((2, flat[0].shape[1]), np.nan)
    enough = (flat[1] > 0).sum(axis=0) > 1
    if enough.any():
        draws = (rng.multinomial(units, np.full(units, 1 / units), size=BATCH) for _ in range(RESAMPLES // BATCH))
        means = [_ratio(d @ flat[0][:, enough], d @ flat[1][:, enough]) for d in draws]
        ends[:, enough] = np.nanpercentile(np.concatenate(means), [2.5, 97.5], axis=0)
    return ends[0].reshape(total.shape[1:]), ends[1].reshape(total.shape[1:])


def _by_motion(scores: Sequence[Score]) -> list[list[Score]]:
    if not scores:
        raise PhumaError("there is no rollout to summarise; judge at least one")
    motions: dict[str, list[Score]] = {}
    for score in scores:
        motions.setdefault(score.motion, []).append(score)
    for name, own in motions.items():
        if len({(s.category, s.frames) for s in own}) > 1:
            kinds = sorted({f"{s.category}, {s.frames} frames" for s in own})
            raise PhumaError(f"different motions are named {name!r} ({'; '.join(kinds)}); names have to be unique")
    return list(motions.values())


def _of_motions(motions: Sequence[Sequence[Score]]) -> dict[str, Any]:
    if not motions:
        return {"motions": 0}
    return {"motions": len(motions), "rollouts": sum(map(len, motions)), **combine(motions)}


def _of_category(motions: Sequence[Sequence[Score]], category: str) -> dict[str, Any]:
    return _of_motions([m for m in motions if m[0].category == category])


def _of_rollouts(scores: Sequence[Score]) -> dict[str, Any]:
    failures = Counter(s.reason for s in scores if s.reason is not None)
    frames = [frame for s in scores if (frame := s.failed_at[SUCCESS]) is not None]
    return {
        "motion": scores[0].motion,
        "category": scores[0].category,
        "seconds": (scores[0].frames - 1) / RATE,
        "rollouts": len(scores),
        "failures": dict(sorted(failures.items())),
        "first_failure_s": min(frames) / RATE if frames else None,
        "fault": next((s.fault for s in scores if s.fault is not None), None),
        **combine([[s] for s in scores]),
    }


def _badness(row: Mapping[str, Any]) -> tuple[Any, ...]:
    far = row["up_to_failure"]["mpjpe_global_mm"]
    return row[SUCCESS], row["progress"], row["success_0.15"], -np.inf if far is None else -far, row["motion"]


def _samples(score: Score, part: int) -> Array:
    """Return (2, E) sums (part 0) or numbers (part 1) of samples: of a success, else nothing; and up to the failure."""
    values = np.array([score.errors[name][part] for name in ERRORS], dtype=float)
    return np.stack([values * score.successful, values])


def _ratio(total: Array, count: Array) -> Array:
    return np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _pair(low: float, high: float) -> list[float] | None:
    return None if np.isnan(low) else [float(low), float(high)]


def _error(entry: Mapping[str, Any], name: str) -> float | str | None:
    if entry[name] is not None:
        return round(entry[name], 2)
    early = entry["up_to_failure"][name]
    return None if early is None else f"({early:.2f})"


def _with_interval(entry: Mapping[str, Any], name: str) -> str:
    low, high = entry["interval"][name]
    return f"{entry[name]:.1f} [{low:.0f}, {high:.0f}]"
