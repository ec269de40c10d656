"""What makes a good training set: clean or much, diverse or narrow? (paper 4.4, D.2)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

from phuma.dataset.category import GROUP_OF
from phuma.studies.frame.study import (
    CERTIFIED,
    CLEAN,
    CLIPS,
    COSTS,
    FILMED,
    FILMS,
    LOOSE,
    MINUTES,
    Piece,
    Pool,
    Row,
    Study,
    Success,
    View,
    clean,
    filmed,
    successes,
)


def narrow(pool: Pool) -> list[Piece]:
    """Return the clips of the group of motion types that there is most of."""
    pieces = clean(pool)
    groups = Counter(GROUP_OF[piece.category] for piece in pieces)
    return [piece for piece in pieces if GROUP_OF[piece.category] == max(groups, key=lambda g: groups[g])]


def diverse(pool: Pool) -> list[Piece]:
    """Return all clean clips, one of each motion type at a time."""
    seen: Counter[str] = Counter()
    turns = []
    for piece in clean(pool):
        turns.append((seen[piece.category], piece))
        seen[piece.category] += 1
    return [piece for _, piece in sorted(turns, key=lambda turn: turn[0])]


def equal(pool: Pool, chosen: Callable[[Pool], list[Piece]]) -> list[Piece]:
    """Return the first clips of a set, as many minutes as the smallest of all sets that are compared has."""
    sets = [own for each in (clean, filmed, narrow) if (own := each(pool))]
    least = min((sum(piece.seconds for piece in own) for own in sets), default=0.0)
    out, seconds = [], 0.0
    for piece in chosen(pool):
        if seconds + 0.5 * piece.seconds > least:  # nearest, not never above
            break
        out.append(piece)
        seconds += piece.seconds
    return out


STUDY = Study(
    name="datasets",
    question="What makes a good training set: clean or much, diverse or narrow?",
    paper="4.4 and D.2: SR@0.15 is 46.1 % by LaFAN1 (small, clean), 76.2 % by AMASS, 50.6 % by Humanoid-X (large, "
    "poor) and 92.7 % by PHUMA (large, clean)",
    rows=(
        Row("all clean", clean),
        Row("all video-like", filmed),
        Row("all narrow", narrow),
        Row("as many minutes clean", partial(equal, chosen=clean)),
        Row("as many minutes video-like", partial(equal, chosen=filmed)),
        Row("as many minutes diverse", partial(equal, chosen=diverse)),
        Row("as many minutes narrow", partial(equal, chosen=narrow)),
    ),
    columns=(
        CLIPS, MINUTES, CERTIFIED, *successes(CLEAN), *successes(FILMED), *successes(CLEAN, LOOSE),
        *successes(FILMED, LOOSE), *COSTS,
    ),
    deciding=(Success(CLEAN), Success(FILMED)),
    views=(View(), FILMS),
    notes=(
        "All rows are made of the same recordings; the paper compares sets that others published.",
        "Narrow are the clips of that group of motion types of which there are most.",
    ),
)  # fmt: skip
