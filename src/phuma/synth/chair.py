"""Somebody sits on a chair that is not there: feet planted, hips behind them, thighs level. Nobody can hold that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, REST_TO_WORLD
from phuma.synth.curves import pulse, ramp
from phuma.synth.feet import FootShape
from phuma.synth.legs import bones
from phuma.synth.person import Person
from phuma.synth.plan import Plan, Posture, Solved, solve

LEAN = 0.12  # radians that the pelvis of the sitting person leans forward


def sit_on_nothing(motion: HumanMotion, behind: float, rng: np.random.Generator) -> HumanMotion:
    """Return a motion of the same body, length, rate and start, whose hips get `behind` metres behind the ankles."""
    body = motion.body
    person = Person.drawn(body, rng, calm=0.3)
    at_ease = person.posture()
    whole = len(motion) / motion.fps
    start, moving = min(0.4, 0.08 * whole), min(1.5, 0.32 * whole)
    end = whole - start
    seat = _seat(motion, behind)

    def sitting(t: Array) -> Array:
        """(T,) from 0, standing, to 1, seated."""
        return pulse(t, start, start + moving, end - moving, end)

    def posture(t: Array) -> Posture:
        p, seated = at_ease(t), sitting(t)
        # The trunk comes forward on the way down and up, and straightens on the seat.
        lean = 0.55 * (ramp(t, start, start + 0.6 * moving) - ramp(t, start + 0.55 * moving, start + 1.1 * moving))
        lean += 0.55 * (ramp(t, end - 1.1 * moving, end - 0.55 * moving) - ramp(t, end - 0.6 * moving, end))
        p.pelvis[:, 0] += lean + (LEAN - p.pelvis[:, 0]) * seated
        p.spine[:, 0] += 0.5 * lean + 0.10 * seated
        p.head[:, 0] -= 0.6 * lean
        for a in p.arms:
            a.flex, a.elbow, a.twist = (
                a.flex + 0.45 * seated + 0.4 * lean,
                a.elbow + 0.75 * seated,
                a.twist + 0.1 * seated,
            )
        return p

    def target(t: Array) -> Array:
        stand = person.balance(t)
        stand[:, 0] -= 0.03
        return stand + sitting(t)[:, None] * (seat - stand)

    feet = (person.stance.foot("left"), person.stance.foot("right"))
    times = np.arange(len(motion)) / motion.fps
    solved = solve(Plan(feet, posture, target, ("pelvis", "pelvis")), body, times)
    return _placed(motion, solved)


def _placed(motion: HumanMotion, solved: Solved) -> HumanMotion:
    """Return what was solved at the origin, moved to where `motion` begins and facing as it does."""
    forward = rot.rotate(motion.joint_quat[0, 0], np.array([0.0, 0.0, 1.0]))
    heading = rot.from_axis("z", np.arctan2(forward[1], forward[0]))
    quat = solved.joint_quat.copy()
    quat[:, 0] = rot.multiply(heading, quat[:, 0])
    start = motion.root_pos[0] * [1.0, 1.0, 0.0]
    return replace(motion, root_pos=rot.rotate(heading, solved.root_pos) + start, joint_quat=rot.normalize(quat))


def _seat(motion: HumanMotion, behind: float) -> Array:
    """(3,) the pelvis of somebody whose thighs are level and whose hips are `behind` the ankles, which are at x = 0."""
    body = motion.body
    thigh, shank = bones(body, "left")
    knee_ahead = thigh - behind
    height = FootShape.of(body, "left").ankle + np.sqrt(max(shank**2 - knee_ahead**2, 0.0))
    leaning = rot.multiply(REST_TO_WORLD, rot.from_axis("x", LEAN))
    hips = 0.5 * (body.offsets[INDEX["left_hip"]] + body.offsets[INDEX["right_hip"]])
    return np.array([-behind, 0.0, height]) - rot.rotate(leaning, hips)
