"""GMR, General Motion Retargeting, from its publication: scaled key bodies, inverse kinematics in two stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import mink
import numpy as np

from phuma.body import Body
from phuma.core import rotations as rot
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import INDEX, REST_TO_WORLD
from phuma.core.trajectory import Trajectory
from phuma.retargeting.baselines.differential import SOLVER, Frame, model_with, shared_bodies, started, within_limits
from phuma.retargeting.baselines.gmr_tables import SIDES, Costs, GmrTable, table_of
from phuma.robots.kinematics import point_positions, points_of
from phuma.robots.robot import Robot

MEAN_HEIGHT, HEIGHT_PER_BETA = 1.66, 0.1  # metres, as published
ARM_PARTS = ("shoulder", "elbow", "wrist")
STEPS, TOLERANCE = 11, 1e-3  # of a stage, and by how much one more has to lower the error
DAMPING, TASK_DAMPING = 0.5, 1.0


class Match(NamedTuple):
    """A frame of the robot that follows one of the human's joints."""

    frame: Frame
    joint: int
    """of the human, for the position"""
    rotation_joint: int
    """of the human, for the rotation"""
    scale: float
    quat: Array
    """(4,) wxyz, from the human joint's axes to the robot body's: they agree in the shared pose"""
    shift: Array
    """(3,) of the target, in the robot body's axes, metres"""
    costs: Costs


def gmr(motion: HumanMotion, contact: FootContacts, robot: Robot) -> Trajectory:
    """Scaled key bodies, followed in two stages, then one step up or down.

    Targets are  p'_b = s_root p_root + s_b (p_b - p_root)  with  s = (height / 1.8 m) x the table's scale, and
    R'_b = R_b O_b  with O_b from the shared pose. Per frame, from the previous frame's solution: first all rotations
    and the positions of root and feet, then all positions too. Last the whole motion is moved so that the lowest point
    of the soles touches the ground.

    Scales, damping and stopping rule are the publication's, with what follows from them: the taller the person, the
    larger the factor. Steps that must lower the cost, taken until they no longer do, make it less faithful on the G1
    and jump more often on the H1-2. To its advantage the ground is found by the soles themselves (published: by the
    origins of links, which lie above them), and the joint range is the one by which it is judged.
    """
    del contact  # this method knows of none
    table = table_of(robot)
    matches = matched(robot, table, height_of(motion.body) / table.reference_height)
    model = model_with(robot, [match.frame for match in matches])
    first, second = stage_tasks(matches, 1), stage_tasks(matches, 2)
    limits = [mink.ConfigurationLimit(model)]
    positions, quats = targets(motion, matches)
    configuration = started(robot, model, positions[0, 0], quats[0, 0])
    qpos = np.empty((len(motion), model.nq))
    for t in range(len(motion)):
        for k in range(len(matches)):
            goal = mink.SE3(np.concatenate([quats[t, k], positions[t, k]]))
            first[k].set_target(goal)
            second[k].set_target(goal)
        descend(configuration, first, limits)
        descend(configuration, second, limits)
        qpos[t] = configuration.q
    return grounded(robot, within_limits(robot, motion.fps, qpos))


def height_of(body: Body) -> float:
    """A person's stature, metres: the shape's where it has one, else GMR's formula over SMPL-X's first shape number.

    A skeleton without a shape (BVH) counts as the mean person. To guess its stature from its legs would lower fidelity:
    most of those recorded are taller, and a larger factor is further out of the robot's reach.
    """
    return body.shape.get("stature", MEAN_HEIGHT + HEIGHT_PER_BETA * body.shape.get("beta0", 0.0))


def matched(robot: Robot, table: GmrTable, ratio: float) -> list[Match]:
    """All pairs that the table names, the pelvis first; `ratio` is the person's height over the reference's."""
    _, quats = shared_bodies(robot)
    out = []
    for part, costs in table.costs.items():
        for side in SIDES if part not in ("pelvis", "spine3") else ("",):
            joint = f"{side}_{part}" if side else part
            body = _body(robot, table, part, side)
            quat = rot.multiply(rot.conjugate(REST_TO_WORLD), quats[robot.body_names.index(body)])
            offset, shift = np.zeros(3), np.zeros(3)
            if part == "foot":
                offset = np.array(table.toe)
                shift[1] = table.spread if side == "left" else -table.spread
            scale = ratio * (table.arms if part in ARM_PARTS else table.trunk_and_legs)
            # Published for SMPL-X, whose recordings hardly bend the toes; where they do, the foot is the ankle's.
            rotation_joint = INDEX[f"{side}_ankle"] if part == "foot" else INDEX[joint]
            frame = Frame(f"gmr_{joint}", body, offset)
            out.append(Match(frame, INDEX[joint], rotation_joint, scale, quat, shift, costs))
    return out


def _body(robot: Robot, table: GmrTable, part: str, side: str) -> str:
    """Name of the robot's body for a part of the human's."""
    if part in table.bodies:
        return table.bodies[part].format(side=side)
    if part == "foot":
        return robot.body_names[robot.sole_body[2 * SIDES.index(side)]]
    if part == "spine3":
        return robot.body_names[_trunk(robot)]
    return robot.body_names[robot.keypoint_body[robot.keypoints.index(f"{side}_{part}" if side else part)]]


def _trunk(robot: Robot) -> int:
    """The last body that carries both arms."""
    chains = []
    for side in SIDES:
        b, chain = int(robot.keypoint_body[robot.keypoints.index(f"{side}_shoulder")]), []
        while b >= 0:
            chain.append(b)
            b = int(robot.parents[b])
        chains.append(chain)
    return max(set(chains[0]) & set(chains[1]))


def targets(motion: HumanMotion, matches: list[Match]) -> tuple[Array, Array]:
    """(T, K, 3), (T, K, 4) wxyz: where the frames should be; the first match is the root."""
    joints = [match.joint for match in matches]
    scale = np.array([match.scale for match in matches])
    position = motion.pose.position[:, joints]
    human = motion.pose.rotation[:, [match.rotation_joint for match in matches]]
    quats = rot.multiply(human, np.array([match.quat for match in matches]))
    root = motion.pose.position[:, matches[0].joint, None]
    positions = scale[0] * root + scale[:, None] * (position - root)
    return positions + rot.rotate(quats, np.array([match.shift for match in matches])), quats


def stage_tasks(matches: list[Match], stage: int) -> list[mink.FrameTask]:
    """A task a match, weighted for stage 1 or 2."""
    return [
        mink.FrameTask(
            frame_name=match.frame.name,
            frame_type="site",
            position_cost=match.costs[2 * stage - 2],
            orientation_cost=match.costs[2 * stage - 1],
            lm_damping=TASK_DAMPING,
        )
        for match in matches
    ]


def descend(configuration: mink.Configuration, tasks: Sequence[mink.FrameTask], limits: Sequence[mink.Limit]) -> None:
    """Steps of one stage, until the unweighted error |e| over all tasks no longer falls by TOLERANCE."""

    def error() -> float:
        return float(np.linalg.norm(np.concatenate([task.compute_error(configuration) for task in tasks])))

    before = error()
    for _ in range(STEPS):
        move = mink.solve_ik(configuration, tasks, 1.0, SOLVER, DAMPING, limits=limits)
        configuration.integrate_inplace(move, 1.0)
        after = error()
        if before - after <= TOLERANCE:
            return
        before = after


def grounded(robot: Robot, path: Trajectory) -> Trajectory:
    """Return the path moved up or down so that the lowest point of the soles over all frames is at z = 0."""
    soles = point_positions(robot, points_of(robot, robot.sole_body, robot.sole_point), path)
    return replace(path, root_pos=path.root_pos - np.array([0.0, 0.0, soles[..., 2].min()]))
