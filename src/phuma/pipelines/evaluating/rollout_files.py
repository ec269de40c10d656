"""Write the rollouts of an evaluation, a file each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from phuma.core.rollout import Rollout
from phuma.formats.rollout_file import save_rollout
from phuma.io.names import unique_name


def write_rollouts(out: Path, rollouts: Sequence[Rollout]) -> None:
    """Write each rollout to a file that is named after its clip, without characters that are unsafe in file names."""
    out.mkdir(parents=True, exist_ok=True)
    seen: Counter[str] = Counter()
    names: dict[str, str] = {}
    taken: set[str] = set()
    for rollout in rollouts:
        motion = rollout.motion
        if motion not in names:
            names[motion] = unique_name(re.sub(r"[^\w.-]", "_", motion).lstrip("."), taken)
        save_rollout(out / f"{names[motion]}.{seen[motion]}.npz", rollout)
        seen[motion] += 1
