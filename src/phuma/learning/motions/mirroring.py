"""Twice the motions for nothing: each beside its mirror image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from phuma.core.trajectory import Trajectory, split_qpos
from phuma.learning.motions.library import MotionLibrary, Performance
from phuma.robots.mirror import Mirror, mirror_of
from phuma.sim.coordinates import Coordinates
from phuma.sim.feedback import Feedback, Strand


def with_images(library: MotionLibrary) -> MotionLibrary:
    """Return the library with the mirror images of all motions after them; of a robot that is not symmetric, as it
    is."""
    if (mirror := mirror_of(library.robot)) is None:
        return library
    return replace(
        library,
        names=[*library.names, *(f"{name} (mirrored)" for name in library.names)],
        categories=library.categories * 2,
        motions=[*library.motions, *(_motion(mirror, motion) for motion in library.motions)],
        performances=[*library.performances, *(p and _performance(mirror, p) for p in library.performances)],
    )


def mirrored_feedback(mirror: Mirror, feedback: Feedback) -> Feedback:
    """Return the feedback along a performance's image: what it aims at in the image of a state is the image of what
    the feedback aims at in the state."""
    return Feedback(
        mirror.qpos(feedback.qpos),
        mirror.velocity(feedback.qvel),
        mirror.joints(feedback.target),
        mirror.deviation(mirror.joints(feedback.gains.swapaxes(-1, -2)).swapaxes(-1, -2)),
        mirror.deviation(feedback.value),
        feedback.lateness,
    )


def _motion(mirror: Mirror, motion: Trajectory) -> Trajectory:
    root_pos, root_quat, joint_pos = split_qpos(mirror.qpos(motion.qpos))
    return replace(motion, root_pos=root_pos, root_quat=root_quat, joint_pos=joint_pos)


def _performance(mirror: Mirror, performance: Performance) -> Performance:
    states = Coordinates(mirror.qpos(performance.states.qpos), mirror.velocity(performance.states.qvel))
    return Performance(states, mirror.joints(performance.target), _read(mirror, performance.feedback))


def _read(mirror: Mirror, feedback: Callable[[], Sequence[Strand]]) -> Callable[[], Sequence[Strand]]:
    return lambda: [Strand(begin, mirrored_feedback(mirror, own)) for begin, own in feedback()]
