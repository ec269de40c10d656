"""The compiled loops over the terms of the objective, made from their list.

A term is called with what its parameters name: what its group and its kind give below, `weight` or `width`. Of each
group one function is made. It is handed arrays rather than structures, and no more than are needed, since compiled code
takes 50 ns for each.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from phuma.retargeting.costs import SIDES, SOLES
from phuma.robots.robot import KEYPOINTS
from phuma.runtime.numba_cache import compiled_into_callers

if TYPE_CHECKING:
    from phuma.retargeting.objective import Term

FRAME = (
    *("t", "hessian", "slope", "pos", "jac"),
    *("runs", "keypoints", "counts", "links", "stands", "stiff"),
    *("human_keypoints", "link_points", "human_links", "human_feet", "stance"),
)
"""A frame t: its normal equations hessian (F, F), upper triangle, and slope (F,); the points of the problem pos
(POINTS, 3) and their derivatives jac (POINTS + 1, 3, F), the last of them for residuals that are not points; what the
block moves, and the targets"""
SHAPES = (
    *("t", "hessian", "slope", "column", "pairs", "axis", "origin", "starts", "ends"),
    *("radius", "capsule_pairs", "apart", "capsule_joints", "capsule_depth", "row", "columns"),
)
"""A frame t: its normal equations, what the block moves, the robot as it is posed, its capsules, and row (F,) and
columns (F,) int to write on"""
PAIR = ("t", "before", "now", "cross", "runs", "stance", "human_keypoints")
"""Frames t - 1 and t, each (hessian, slope, pos, jac), and what couples them, cross (F, F), rows of the first; and the
targets"""
SERIES = ("x", "unknowns", "size", "gradient", "band", "rest", "max_step")
"""All frames x (T, V), and which F = size unknowns of each are solved for; gradient (T F,) and band (T F, 2 F + 1),
where band[a, d] is the matrix at row a + d and column a; the default of each unknown, rest (V,), and how far it may
move from one frame to the next, max_step (V,)"""


@dataclass(frozen=True)
class Kind:
    """A kind says what a term is evaluated for, and the cases in which its weight may differ."""

    group: tuple[str, ...]
    code: tuple[str, ...] = ("case = 0",)
    """What stands before the term, line by line: loops, conditions, and the number of the case"""
    given: Mapping[str, str] = field(default_factory=dict)
    """Code of names beside the group's"""
    cases: tuple[str, ...] = ("always",)
    share: str = ""
    """Code of a number by which the weight is multiplied, if any"""


CONTACT = ("swing", "stance")
FOOTING = (*CONTACT, "stiff stance")
COORDINATE = ("pos", "rot", "joint")
AT_ENDS = "(4.0 if t == 0 or t == len(human_keypoints) - 1 else 1.0)"
"""How often the human counts in a frame: more at the ends of a clip, which have no neighbour on one side and would
otherwise be bent so that accelerations are right in the frame beside them"""

POINT = Kind(
    group=FRAME,
    code=("for n in keypoints:", "case = 0"),
    given={"n": "n", "wanted": "human_keypoints"},
    share=f"counts[n] * {AT_ENDS}",
)
"""A keypoint n, which should be at wanted[t, n]; it counts as often as the block says"""
LINK = Kind(
    group=FRAME,
    code=("for m in links:", "case = 0"),
    given={
        "m": "m",
        "start": "link_points[m, 0]",
        "end": "link_points[m, 1]",
        "wanted": "human_links",
    },
    share=AT_ENDS,
)
"""A link m between two points, which should have the direction wanted[t, m]"""
FOOT = Kind(
    group=FRAME,
    code=(
        "if stands:",
        "for m in range(2):",
        "case = max(stance[t, 2 * m], stance[t, 2 * m + 1]) * (1 + stiff[m])",
    ),
    given={
        "m": "m",
        "start": f"{SOLES} + 2 * m",
        "end": f"{SOLES} + 2 * m + 1",
        "wanted": "human_feet",
        "side": f"{SIDES} + 2 * m",
    },
    cases=FOOTING,
)
"""A foot m as a link from heel to toe, with points on its sides, `side` and the next; it stands where heel or toe do,
stiffly if no joint of its ankle rolls it"""
SOLE = Kind(
    group=FRAME,
    code=("if stands:", "for region in range(4):", "case = stance[t, region]"),
    given={"n": f"{SOLES} + region"},
    cases=CONTACT,
)
"""A point n of a sole, heel or toe"""
POSE = Kind(SHAPES)
"""A frame as a whole"""
STEP = Kind(
    group=PAIR,
    code=("for region in range(4):", "case = stance[t - 1, region]"),
    given={"n": f"{SOLES} + region"},
    cases=CONTACT,
)
"""A point n of a sole from one frame to the next; it stands where it did in the first"""
ANKLE_STEP = Kind(
    group=PAIR,
    code=(f"for n in {tuple(KEYPOINTS.index(f'{side}_ankle') for side in ('left', 'right'))}:", "case = 0"),
    given={"n": "n", "wanted": "human_keypoints"},
)
"""An ankle n from one frame to the next, which should step as wanted[t - 1, n] to wanted[t, n]"""
VALUE = Kind(
    group=SERIES,
    code=(
        "for t in range(len(x)):",
        "for c in range(size):",
        "here, i = t * size + c, unknowns[c]",
        "case = min(i // 3, 2)",
    ),
    given={"here": "here", "value": "x[t, i]", "default": "rest[i]"},
    cases=COORDINATE,
)
"""An unknown in a frame, `here` among all"""
VELOCITY = Kind(
    group=SERIES,
    code=(*VALUE.code, "if t + 1 < len(x):"),
    given={"here": "here", "step": "x[t + 1, i] - x[t, i]", "limit": "max_step[i]"},
    cases=COORDINATE,
)
"""The first difference of an unknown over time"""
ACCELERATION = Kind(
    group=SERIES,
    code=(*VALUE.code, "if t + 2 < len(x):"),
    given={"here": "here", "bend": "x[t, i] - 2 * x[t + 1, i] + x[t + 2, i]"},
    cases=COORDINATE,
)
"""The second difference of an unknown over time"""
KINDS = (POINT, LINK, FOOT, SOLE, POSE, STEP, ANKLE_STEP, VALUE, VELOCITY, ACCELERATION)
"""In the order in which their terms are added: the last bits of a solution depend on it"""


def compile_loops(terms: Sequence[Term], group: tuple[str, ...]) -> Any:
    """Return a compiled f(w, *group), which adds the terms of a group's kinds with weights w and returns their cost."""
    names: dict[str, Any] = {f"term_{k}": term.function for k, term in enumerate(terms)}
    exec(loop_code(terms, group), names)
    return compiled_into_callers(names["add_terms"])


def loop_code(terms: Sequence[Term], group: tuple[str, ...]) -> str:
    """Return the source of that function; code that a kind shares with the kind before is not repeated."""
    lines = [f"def add_terms(w, {', '.join(group)}):", "    cost = 0.0"]
    before: tuple[str, ...] = ()
    for kind in (kind for kind in KINDS if kind.group is group and any(term.kind is kind for term in terms)):
        shared = len([*takewhile(lambda pair: pair[0] == pair[1], zip(before, kind.code))])
        code = list(kind.code)
        for k, term in enumerate(terms):
            if term.kind is kind:
                code.append(f"if w.weight[{k}, case] > 0: cost += term_{k}({_arguments(term, k)})")
        for n in range(shared, len(code)):
            depth = 1 + sum(line.endswith(":") for line in code[:n])
            lines.append("    " * depth + code[n])
        before = kind.code
    return "\n".join([*lines, "    return cost"])


def _arguments(term: Term, k: int) -> str:
    """Return the code of what the term's parameters name."""
    given = {name: name for name in term.kind.group}
    weight = " * ".join([f"w.weight[{k}, case]", *filter(None, [term.kind.share])])
    given |= {"weight": weight, "width": f"w.width[{k}, case]", **term.kind.given}
    wanted = list(inspect.signature(term.function).parameters)
    unknown = [name for name in wanted if name not in given]
    assert not unknown, f"term {term.name!r} asks for {', '.join(unknown)}; there are {', '.join(sorted(given))}"
    return ", ".join(given[name] for name in wanted)
