"""Certify motions: a robot performs each under physics, by an expert that knows its model, and the judge decides.

What is certified is possible, as the simulation shows it. What is not may be possible all the same: the certificate
says where the expert lost the motion, and what the motion asks for there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from phuma.control.bundle import perform_bundle, strands_of
from phuma.control.dynamics import SUBSTEPS, Dynamics
from phuma.control.expert import EFFORTS, Episode, deviations, perform
from phuma.control.gains import closed_loop
from phuma.control.laws import law_of, with_feedback
from phuma.control.receding import LOST_ANYHOW
from phuma.control.recording import replay
from phuma.core.names import known_name
from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.errors import ConfigError, PhumaError
from phuma.evaluation import judge
from phuma.evaluation.judging import SUCCESS, THRESHOLDS
from phuma.robots import Robot, load_robot
from phuma.robots.inverse_dynamics import derivatives, inverse_dynamics
from phuma.robots.locked_motion import locked_motion
from phuma.sim.feedback import Strand
from phuma.sim.mujoco_cpu import MujocoSimulation
from phuma.sim.reference import at_control_rate, fault

CLOSE = "success_0.15"
ROLLOUTS, UNSEEN = 32, 10**6
"""Number of rollouts from starts off the performance, and as many with pushes, that say how robust it is, and the seed
of all these, of which no bundle knows"""
SAME = 1e-6
"""How far, m or rad, a replay may be from what was found"""
AT_LIMIT = 0.99
"""Share of its limit from which on a motor counts as being at it"""
AROUND = (25, 10)
"""Control steps before and after the one where a motion was lost in which its demands are looked at"""


@dataclass(frozen=True)
class CertifyCfg:
    """Choose how much is tried, and what is stored."""

    effort: str = "normal"
    """Effort: quick (seconds a clip), normal, or thorough"""
    gains: bool = False
    """Store the feedback too, 2.5 MB a clip"""
    bundle: int = 0
    """Number of ways back to the performance from starts that are off and after pushes, stored with its feedback; each
    takes seconds"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "effort", known_name(self.effort, EFFORTS, "effort"))
        if self.bundle < 0:
            raise ConfigError(f"a bundle of {self.bundle}; expected 0 or more")


@dataclass(frozen=True, eq=False)
class Certificate:
    """What came of performing a motion."""

    effort: str
    certified: bool = False
    """Whether it was performed to the end, within 0.15 m of the motion all the time"""
    loosely: bool = False
    """Whether it was performed to the end, within 0.5 m"""
    error_mm: float | None = None
    """Mean distance of the key bodies from the motion, as far as it was performed"""
    torque_share: float | None = None
    """Percent of all motors and times in which a motor was at its limit"""
    robust_starts: float | None = None
    """Percent of rollouts under the gains that stay within 0.5 m from starts off by the paper's ranges"""
    robust_pushes: float | None = None
    """The same with the paper's pushes"""
    law: str | None = None
    """Law of the feedback under which these were, chosen for what it brings back"""
    way: str | None = None
    """Name of the way that performed it"""
    reason: str | None = None
    """Reason why it is not certified; None if it is"""
    performance: Rollout | None = None
    """The performance as far as it went; None if there is none"""
    seconds: float = 0.0
    """CPU seconds that it took; not stored, as they depend on the machine"""

    @property
    def values(self) -> dict[str, Any]:
        """Return all that does not depend on the machine, in plain values, as files and manifests hold it."""
        names = ("certified", "loosely", "error_mm", "torque_share", "robust_starts", "robust_pushes", "law", "effort",
                 "way", "reason")  # fmt: skip
        return {name: _rounded(getattr(self, name)) for name in names}


def certify(
    motion: Trajectory,
    robot: str | Path | Robot | None = None,
    effort: str = "normal",
    gains: bool = False,
    bundle: int = 0,
    threads: int = 1,
    name: str = "",
) -> Certificate:
    """Perform a robot's motion under physics, whoever made it, and return what came of it.

    The performance's frames are at 50 Hz; `name` is that of the motion. The result does not depend on `threads`. A
    motion of the free robot is performed by one with locked joints without these.
    """
    cfg = CertifyCfg(effort, gains, bundle)
    model = robot if isinstance(robot, Robot) else load_robot(robot or motion.robot)
    began = time.process_time()
    try:
        motion = locked_motion(motion, model)
        why = fault(motion, model)
    except PhumaError as e:
        why = str(e)
    if why is not None:
        return Certificate(effort, reason=f"cannot be followed: it {why}")
    reference = at_control_rate(motion.reordered(model.joint_names)).double()
    try:
        episode = perform(reference, model, effort, threads)
        found = _judged(episode, reference, model, cfg, threads, name)
    except (FloatingPointError, np.linalg.LinAlgError) as e:
        found = Certificate(effort, reason=f"the simulation cannot be made linear along it: {e}")
    return replace(found, seconds=time.process_time() - began)


def _judged(
    episode: Episode, reference: Trajectory, robot: Robot, cfg: CertifyCfg, threads: int, name: str
) -> Certificate:
    """Return the certificate of an episode: replayed, judged, and tried from other states."""
    _check_replay(episode, robot)
    recorded = replay(robot, episode.qpos[0], episode.qvel[0], episode.targets, SUBSTEPS)
    root_pos, root_quat, joint_pos = split_qpos(recorded.qpos.astype(np.float32))
    root_quat = root_quat / np.linalg.norm(root_quat, axis=1, keepdims=True)
    rollout = Rollout(
        robot.name, robot.joint_names, reference.fps, root_pos, root_quat, joint_pos, motion=name,
        terminated_at=None if episode.whole else len(episode.qpos), velocity=recorded.qvel, target=episode.targets,
        torque=recorded.torque, foot_force=recorded.foot_force,
    )  # fmt: skip
    score = judge(rollout, reference, robot)
    found = Certificate(
        cfg.effort,
        certified=score.failed_at[CLOSE] is None,
        loosely=score.successful,
        error_mm=1000 * float(episode.deviation.mean()),
        torque_share=_torque_share(recorded.torque, robot),
        way=episode.way,
        reason=None if score.failed_at[CLOSE] is None else _why(episode, score.failed_at, reference, robot),
    )
    if found.loosely:
        with_gains = with_feedback(Dynamics(robot, threads), rollout, episode, reference, threads)
        if cfg.bundle:
            bundle = perform_bundle(reference, robot, episode, with_gains, cfg.bundle, threads)
            with_gains = replace(with_gains, bundle=bundle)
        strands = strands_of(with_gains, robot, threads)
        starts, pushes = (_robust(robot, strands, reference, pushed, threads) for pushed in (False, True))
        found = replace(found, robust_starts=starts, robust_pushes=pushes, law=str(law_of(with_gains)))
        rollout = with_gains if cfg.gains or cfg.bundle else rollout
    return replace(found, performance=replace(rollout, report=found.values))


def _check_replay(episode: Episode, robot: Robot) -> None:
    """Check that the project's own simulation does the same under the same targets, open loop."""
    simulation = MujocoSimulation(robot, 1, SUBSTEPS, threads=1)
    simulation.restore(episode.qpos[:1], episode.qvel[:1])
    for t, target in enumerate(episode.targets):
        simulation.step(target[None])
        if not np.abs(simulation.qpos[0] - episode.qpos[t + 1]).max() < SAME:
            raise FloatingPointError(f"it does not happen again in a fresh simulation, from {t / 50:.2f} s on")
    simulation.close()


def _robust(robot: Robot, strands: Sequence[Strand], reference: Trajectory, pushes: bool, threads: int) -> float:
    """Return the percentage of rollouts under feedback, from starts that are off or with pushes, that stay within 0.5 m
    of the motion."""
    start = 0.0 if pushes else 1.0
    rollouts = closed_loop(robot, strands, ROLLOUTS, UNSEEN, start, pushes, threads).qpos
    stayed = [
        np.abs(qpos).max() < LOST_ANYHOW and bool((deviations(qpos, reference, robot) < THRESHOLDS[SUCCESS]).all())
        for qpos in rollouts
    ]
    return 100 * float(np.mean(stayed))


def _torque_share(torque: Array, robot: Robot) -> float | None:
    """Return the percentage of motors and times at a limit."""
    return 100 * float((np.abs(torque) > AT_LIMIT * robot.torque_limit).mean()) if len(torque) else None


def _why(episode: Episode, failed_at: Any, reference: Trajectory, robot: Robot) -> str:
    """Return where a motion was lost, and what it asks for there."""
    frame, fps = min(failed_at[CLOSE], len(episode.deviation) - 1), reference.fps
    what = f"performed, but {episode.deviation.max():.2f} m off at {episode.deviation.argmax() / fps:.2f} s"
    if not episode.whole:
        what = f"lost at {len(episode.qpos) / fps:.2f} s of {reference.duration:.2f} s"
    near = slice(max(0, frame - AROUND[0]), frame + AROUND[1])
    forces = inverse_dynamics(robot, reference, derivatives(reference))
    residual = float(np.linalg.norm(forces.residual[near, :3], axis=1).max())
    share = np.abs(forces.torque[near]).max(axis=0) / robot.torque_limit
    joint = int(share.argmax())
    return (
        f"{what}; there the motion asks for {residual:.2f} body weights that nobody gives, and for "
        f"{100 * share[joint]:.0f} % of the torque of {robot.joint_names[joint]}"
    )


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
