"""A training while it runs, on the terminal: a table that grows by a row every few seconds."""

from __future__ import annotations

from typing import Any


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, as in `2:05`."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class Table:
    """Print a table of progress, a row every few seconds."""

    columns = ("time", "steps", "steps/s", "reward", "failed", "tracked", "SR@0.5", "SR@0.15", "g-mpjpe")
    widths = (8, 12, 8, 8, 7, 8, 7, 8, 8)

    def __init__(self) -> None:
        self._rows = 0
        self._stage: str | None = None

    def __call__(self, now: Any) -> None:
        """Print a row for `now`, a `train_policy.Progress`."""
        if self._stage not in (None, now.stage):
            print(f"stage {now.stage}", flush=True)
        self._stage = now.stage
        if self._rows % 20 == 0:
            print("".join(c.rjust(w) for c, w in zip(self.columns, self.widths)), flush=True)
        self._rows += 1
        evaluation = ["-"] * 4
        if now.evaluation is not None:
            error = now.evaluation["up_to_failure"]["mpjpe_global_mm"]
            evaluation = [f"{now.evaluation[name]:.0f} %" for name in ("tracked", "success_0.5", "success_0.15")]
            evaluation.append("-" if error is None else f"{error:.0f} mm")
        cells = [
            clock(now.seconds),
            f"{now.steps:,}",
            f"{now.rate:,.0f}",
            f"{now.values['reward']:.4f}",
            f"{100 * now.values['failed_share']:.0f} %",
            *evaluation,
        ]
        print("".join(c.rjust(w) for c, w in zip(cells, self.widths)), flush=True)
