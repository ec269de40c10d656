"""Save, plot and animate one motion, whoever made it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from phuma.core.clip import Clip
from phuma.core.human_motion import HumanMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rollout import Rollout
from phuma.core.trajectory import Trajectory
from phuma.errors import ConfigError

if TYPE_CHECKING:
    from phuma.viewer.html import Html

Motion = HumanMotion | Clip | Trajectory


def save(path: str | os.PathLike[str], motion: Motion) -> None:
    """Write a motion to a file that every command reads: a robot's motion, rollout or clip as .npz, a person's as .bvh.

    >>> phuma.save("person.bvh", phuma.generate("stand", 1.0).motion)
    >>> phuma.read("person.bvh").duration
    1.0
    """
    path = Path(path)
    wanted = ".bvh" if isinstance(motion, HumanMotion) else ".npz"
    if path.suffix.lower() != wanted:
        raise ConfigError(f"{path}: a {type(motion).__name__} is written to a file that ends in {wanted}")
    if isinstance(motion, HumanMotion):
        from phuma.sources.bvh import write

        write(path, motion)
    elif isinstance(motion, Clip):
        from phuma.formats.clip_file import save_clip

        save_clip(path, motion)
    elif isinstance(motion, RobotMotion):
        from phuma.formats.robot_motion_file import save_robot_motion

        save_robot_motion(path, motion)
    elif isinstance(motion, Rollout):
        from phuma.formats.rollout_file import save_rollout

        save_rollout(path, motion)
    else:
        raise ConfigError("a bare trajectory has no file; RobotMotion and Rollout have")


def plot(motion: Motion, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a figure of a motion over time, which a notebook shows: of a person stills, contacts and all that curation
    measures, as `phuma inspect --plot` draws it; of a robot what its metrics are made of, with their limits.

    >>> phuma.plot(phuma.read("walk.bvh"), "walk.png").get_suptitle()
    'walk.bvh'
    """
    from phuma.pipelines.figures import clip_figure, recording_figure

    if isinstance(motion, HumanMotion):
        from phuma.curation import curate

        figure = recording_figure(motion.provenance.source, curate(motion))
    elif isinstance(motion, Clip):
        figure = clip_figure(motion.motion.provenance.source, motion)
    else:
        figure = _robot_figure(motion)
    if path is not None:
        figure.savefig(path)
    return figure


def animation(motion: Motion) -> Html:
    """Return a small animation as HTML that needs neither a server nor a network; in a notebook a motion shows it by
    itself.

    >>> html = phuma.animation(phuma.read("walk.bvh"))
    >>> len(html) < 100_000
    True
    """
    from phuma.viewer.animation import animation_html, person_of

    if isinstance(motion, (HumanMotion, Clip)):
        human = motion.motion if isinstance(motion, Clip) else motion
        return animation_html(repr(motion), [person_of(human.pose.position)], human.fps)
    figures = [_capsules(motion)]
    if isinstance(motion, RobotMotion) and motion.human_joints is not None:
        figures.insert(0, person_of(np.asarray(motion.human_joints), ghost=True))
    return animation_html(repr(motion), figures, motion.fps)


def _robot_figure(motion: Trajectory) -> Any:
    """Return the tracks of a robot's motion, of its contacts as they are known or as its soles have them."""
    from phuma.pipelines.scene_building import performer, rollout_motion
    from phuma.robots import load_robot
    from phuma.viewer.timeline import tracks_figure

    robot = load_robot(motion.robot)
    if isinstance(motion, Rollout):
        motion = rollout_motion(motion, robot)
    if not isinstance(motion, RobotMotion):
        raise ConfigError("a bare trajectory has no contacts to be measured by; RobotMotion and Rollout have")
    return tracks_figure(repr(motion), performer("", "", motion, robot).tracks, motion.fps)


def _capsules(motion: Trajectory) -> Any:
    """Return the robot's collision shapes over time."""
    from phuma.robots import load_robot
    from phuma.robots.capsules import capsules_of
    from phuma.robots.kinematics import body_poses
    from phuma.viewer.animation import Capsules
    from phuma.viewer.style import PERFORMERS

    robot = load_robot(motion.robot)
    shapes = capsules_of(robot)
    pos, matrix = (values[:, shapes.body] for values in body_poses(robot, motion.reordered(robot.joint_names)))
    start, end = (pos + (matrix @ ends[None, :, :, None])[..., 0] for ends in (shapes.start, shapes.end))
    return Capsules(start, end, shapes.radius, PERFORMERS[0])
