"""A bundle: ways back to a performance from states beside it, from which its own feedback would not come back.

It grows where it is needed. Rollouts under the feedback that there is so far start off the performance and are pushed;
where one is lost, the state after its last push is planned from anew, until the performance's feedback is near enough
to take over. Along each way back there is feedback in turn (`strands_of`): a regulator for which coming to the end
costs what the performance's own feedback will cost from there, so that costs along all of them can be compared. Its law
is the performance's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from phuma.control.cost import CostCfg
from phuma.control.dynamics import Dynamics
from phuma.control.expert import LOOSELY, Episode, deviations
from phuma.control.gains import REGULATORS, USUAL_REGULATOR, closed_loop, feedback_along
from phuma.control.guide import Guide
from phuma.control.receding import LOST_ANYHOW, Done, Horizon, follow_plans, is_lost
from phuma.core.names import known_name
from phuma.core.rollout import Bundle, Rollout
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory
from phuma.robots.robot import Robot
from phuma.sim.coordinates import Coordinates as State
from phuma.sim.feedback import Feedback, Strand, feedback_of, halved, lateness_of
from phuma.sim.feedback import aim as aim_along
from phuma.sim.mujoco_cpu import unreported

HORIZON = Horizon(window=25, committed=5)
ROLLOUTS, AT_A_TIME = 64, 8
"""Rollouts under the feedback so far, and how many of those that were lost are planned from before the next ones"""
NEAR, AFTER = 30.0, 25
"""Cost of a deviation from the performance at which its feedback takes over, and how many steps of that are kept"""


def perform_bundle(
    motion: Trajectory, robot: Robot, episode: Episode, performance: Rollout, count: int, threads: int = 1
) -> Bundle:
    """Return `count` ways back to a performance of a motion at control rate, with its gains; those that were lost again
    too. `episode` is what the performance records."""
    dynamics = Dynamics(robot, threads)
    guide, strands = Guide(dynamics, motion), [Strand(0, feedback_of(performance))]
    members: list[tuple[int, Done, bool]] = []
    seed = 0
    with unreported():
        while len(members) < count:
            for first, state in _lost(motion, robot, strands, seed, threads):
                done, came_back = _way_back(guide, episode, strands[0].feedback, first, state)
                members.append((first, done, came_back))
                if came_back:
                    strands.append(_strand(dynamics, performance, first, *_arrays(done)))
                if len(members) == count:
                    break
            seed += 1
    each = [_arrays(done) for _, done, _ in members]
    return Bundle(
        first=np.array([first for first, _, _ in members]),
        frames=np.array([len(qpos) for qpos, _, _ in each]),
        whole=np.array([came_back for _, _, came_back in members]),
        qpos=np.concatenate([qpos for qpos, _, _ in each]),
        qvel=np.concatenate([qvel for _, qvel, _ in each]),
        target=np.concatenate([target.reshape(-1, robot.n_joints) for _, _, target in each]),
    )


def strands_of(rollout: Rollout, robot: Robot, threads: int = 1) -> list[Strand]:
    """Return the feedback along a performance, found anew where it was not stored, and along the ways back to it that
    were stored with it."""
    if rollout.gains is None:
        assert rollout.velocity is not None
        assert rollout.target is not None
        dynamics, regulator = Dynamics(robot, threads), _regulator(rollout)
        ((gains, value),) = feedback_along(dynamics, rollout.qpos, rollout.velocity, rollout.target, [regulator])
        rollout = replace(rollout, gains=gains, value=value)
    strands, bundle = [Strand(0, feedback_of(rollout))], rollout.bundle
    if bundle is None:
        return strands
    dynamics = Dynamics(robot, threads)
    frames = bundle.frames.astype(int)
    ends = np.cumsum(frames)
    with unreported():
        for n, (first, end) in enumerate(zip(bundle.first.astype(int), ends)):
            if bundle.whole[n]:
                rows, steps = slice(end - frames[n], end), slice(end - frames[n] - n, end - n - 1)
                strands.append(
                    _strand(dynamics, rollout, first, bundle.qpos[rows], bundle.qvel[rows], bundle.target[steps])
                )
    return strands


def _strand(dynamics: Dynamics, performance: Rollout, first: int, qpos: Array, qvel: Array, target: Array) -> Strand:
    """Return the feedback along a way back that begins at a frame."""
    assert performance.value is not None
    last = first + len(target)
    end = None
    if last < len(performance.value):
        end = performance.value[last].T @ performance.value[last]
    ((gains, value),) = feedback_along(dynamics, qpos, qvel, target, [_regulator(performance)], end)
    lateness = lateness_of(performance, len(target))
    return Strand(int(first), halved(Feedback(qpos[:-1], qvel[:-1], target, gains, value, lateness)))


def _regulator(performance: Rollout) -> CostCfg:
    return REGULATORS[known_name(performance.regulator or USUAL_REGULATOR, REGULATORS, "regulator")]


def _lost(
    motion: Trajectory, robot: Robot, strands: list[Strand], seed: int, threads: int
) -> Iterator[tuple[int, State]]:
    """Yield the frames at which rollouts were pushed last before they were lost, and the states then, in the single
    precision in which they are stored; of a few rollouts, of one that was not lost where none was."""
    tried = closed_loop(robot, strands, ROLLOUTS, seed, start=1.0, pushes=True, threads=threads)
    when = [lost_at(qpos, motion, robot) for qpos in tried.qpos]
    lost = [n for n, frame in enumerate(when) if frame is not None] or [0]
    for n in lost[:AT_A_TIME]:
        end = when[n]
        before = tried.pushed[n][: None if end is None else max(end, 1)]
        frame = int(np.flatnonzero(before)[-1])
        yield frame, State(*(v[n, frame].astype(np.float32).astype(float) for v in (tried.qpos, tried.qvel)))


def lost_at(qpos: Array, motion: Trajectory, robot: Robot) -> int | None:
    """Return the first frame at which states (T, 7 + N) are too far from a motion, None if there is none; what comes
    after a simulation diverged may be anything."""
    wild = ~(np.abs(qpos).max(axis=1) < LOST_ANYHOW)
    sane = int(wild.argmax()) if wild.any() else len(qpos)
    far = deviations(qpos[:sane], motion, robot) > LOOSELY if sane else np.zeros(0, dtype=bool)
    return int(far.argmax()) if far.any() else sane if sane < len(qpos) else None


def _way_back(guide: Guide, episode: Episode, own: Feedback, first: int, state: State) -> tuple[Done, bool]:
    """Return what is done from a state at a frame on, and whether it came back to the episode or to the end."""
    reached = [State(*pair) for pair in zip(episode.qpos[:first], episode.qvel[:first])]
    begun = Done([target.astype(float) for target in episode.targets[:first]], [*reached, state])
    done = follow_plans(guide, begun, HORIZON, partial(_is_near, own))
    now = len(done.targets)
    came_back = now == guide.length - 1 or _is_near(own, now, done.states[-1])
    if came_back:
        done, came_back = _led_on(guide, own, done)
    return Done(done.targets[first:], done.states[first:]), came_back and len(done.targets) > first


def _led_on(guide: Guide, own: Feedback, done: Done) -> tuple[Done, bool]:
    """Go on under the performance's feedback for a while; return also whether that went well."""
    done = Done([*done.targets], [*done.states])
    for t in range(len(done.targets), min(len(done.targets) + AFTER, guide.length - 1)):
        step = guide.dynamics.step(done.states[-1], _aimed(own, t, done.states[-1])[0])
        if step is None or is_lost(step.after, guide.state(t + 1)):
            return done, False
        done.targets.append(step.target)
        done.states.append(step.after)
    return done, True


def _is_near(own: Feedback, t: int, state: State) -> bool:
    """Return whether the performance's feedback can take over."""
    return bool(_aimed(own, t, state)[1] < NEAR)


def _aimed(own: Feedback, t: int, state: State) -> tuple[Array, Array]:
    one, last = np.array([0]), np.array([len(own) - 1])
    target, cost = aim_along(own, State(state.qpos[None], state.qvel[None]), np.array([t]), one, last)
    return target[0], cost[0]


def _arrays(done: Done) -> tuple[Array, Array, Array]:
    return np.array([s.qpos for s in done.states]), np.array([s.qvel for s in done.states]), np.array(done.targets)
