"""Show a robot under physics beside what it was to do: measured as far as it got, marked where it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.core.rotations import Array
from phuma.errors import ConfigError
from phuma.evaluation.judging import THRESHOLDS
from phuma.evaluation.metrics import deviations
from phuma.pipelines.recorded_tracks import ERROR
from phuma.pipelines.scene_building import STORED, Piece, performer, rollout_motion, stored_performer
from phuma.robots import Robot, load_robot
from phuma.robots.kinematics import key_body_positions
from phuma.viewer.show import Lane, Performer, Track

CLOSE = "success_0.15"
CERTIFIED = "certified"


def follower(name: str, title: str, rollout: Rollout, reference: RobotMotion, robot: Robot) -> Performer:
    """Return a rollout at the rate and length of the motion that it was to follow, with its mean body error.

    After an early end its last pose is held, and nothing more is measured. Its first two lanes are where it was over,
    and where it was more than 15 cm away. The reference's joints are in the robot's order.
    """
    motion: RobotMotion = rollout_motion(rollout, robot).resampled(reference.fps)
    reached, total = min(len(motion), len(reference)), len(reference)
    motion = motion.frames(slice(reached))
    who = performer(name, title, motion, robot)
    error = deviations(*(key_body_positions(robot, m) for m in (motion, reference.frames(slice(reached)))))
    error = _longer(error, total)
    early = rollout.terminated_at is not None or reached < total - 1  # rounding of rates may cost the last frame
    ended = reached if early and reached < total else None
    over = np.arange(total) >= (total if ended is None else ended)
    lanes = [
        Lane(ending_of(who, rollout), "violation", over),
        Lane(f"more than {100 * THRESHOLDS[CLOSE]:g} cm away", "violation", error > THRESHOLDS[CLOSE]),
        *(replace(lane, holds=_longer(lane.holds, total)) for lane in who.lanes),
    ]
    tracks = [Track(ERROR, "cm", 100 * error, (100 * THRESHOLDS[CLOSE],))]
    tracks += [replace(track, value=_longer(track.value, total)) for track in who.tracks]
    return replace(
        who, motion=motion.frames(np.minimum(np.arange(total), reached - 1)), over=_longer(who.over, total),
        slips=_longer(who.slips, total), tracks=tuple(tracks), lanes=tuple(lanes), ended=ended,
    )  # fmt: skip


def ending_of(who: Performer, rollout: Rollout) -> str:
    """Return in words how a rollout ended before its motion did."""
    return who.flags[0] if who.flags else f"stopped at {rollout.duration:.1f} s"


def performance_pair(
    rollout: Rollout, reference: RobotMotion, robot: Robot, how: str = STORED
) -> tuple[Performer, Performer]:
    """Return the motion that was to be performed, as the ghost of the choice `ROBOT:HOW`, and its performance."""
    reference = reference.reordered(robot.joint_names)
    title = f"{robot.name} certified" if rollout.report.get("certified") else f"{robot.name} not certified"
    who = follower(f"{robot.name}:{CERTIFIED}", title, rollout, reference, robot)
    return replace(stored_performer(reference, robot), id=f"{robot.name}:{how}", ghost=True), who


def certified_performers(piece: Piece, robots: Sequence[Robot] = ()) -> tuple[Performer, Performer]:
    """Return a dataset's clip as it is stored, and its performance; a robot that is not built in is among `robots`."""
    if piece.motion is None or piece.performance is None:
        raise ConfigError(f"{piece.title} has no performance; `phuma certify DATASET` performs the clips of a dataset")
    name = piece.motion.robot
    robot = next((robot for robot in robots if robot.name == name), None)
    return performance_pair(piece.performance(), piece.motion, robot or load_robot(name))


def _longer(values: Array, frames: int) -> Array:
    """Return values padded to `frames` frames by False or nan."""
    more = np.full((frames - len(values), *values.shape[1:]), False if values.dtype == bool else np.nan, values.dtype)
    return np.concatenate([values, more])
