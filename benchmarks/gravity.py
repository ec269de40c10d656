"""How well gravity is found in two seconds of standing or walking, at usual and at measured noise.

PHUMA_CMU names the folder of the CMU recordings; without it generated motions alone are lifted.
"""

from __future__ import annotations

import sys

from filming import Noise
from lifting import CALM_STANDS, CALM_WALKS, FACING, HEAD, TILTS, Score, films, row, subjects
from tables import markdown, save

SECONDS = 2.0
KINDS = {
    "standing": ((("stand", 1), ("stand", 2)), CALM_STANDS),
    "walking": ((("walk", 1), ("walk", 2)), CALM_WALKS),
}


def lifted(kind: str, factor: float) -> list[Score]:
    """Each person from three sides, by cameras of three tilts."""
    people = list(subjects(*KINDS[kind], SECONDS))
    noise = Noise().times(factor)
    views = zip(FACING, TILTS)
    return [s for view, tilt in views for s in films(people, noise, facing=(view,), tilts=(tilt,))]


def main() -> None:
    rows = []
    for name, factor in (("usual noise", 1.0), ("measured noise", 2.0)):
        each = {kind: lifted(kind, factor) for kind in KINDS}
        rows += [row(f"{kind}, {name}", scores) for kind, scores in each.items()]
        rows.append(row(f"both, {name}", [s for scores in each.values() for s in scores]))
        within = [s.gravity < 4 for scores in each.values() for s in scores]
        print(f"{name}: {100 * sum(within) / len(within):.0f} % within 4 degrees")
    save(
        "gravity",
        "Gravity from two seconds of film",
        "Two generated and two CMU people who stand and as many who walk, each from three sides by cameras of three "
        "tilts, lifted with stature and focal length known. Measured noise is that of four views of a person who "
        "balances, and twice the usual one.",
        markdown(HEAD, rows),
    )


if __name__ == "__main__":
    sys.exit(main())
