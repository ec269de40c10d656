"""Draw a person and robots as nodes of a viser scene that can be posed at any frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from phuma.core import rotations as rot
from phuma.core.foot_contacts import in_contact
from phuma.core.human_motion import HumanMotion
from phuma.core.performed_motion import PerformedMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import JOINTS, PARENTS, REGIONS
from phuma.core.trajectory import Trajectory, split_qpos
from phuma.errors import ConfigError
from phuma.robots.kinematics import body_poses
from phuma.robots.shapes import Shape, robot_shapes
from phuma.viewer import style
from phuma.viewer.figure import BONES, bone_colours, bone_mesh, figure_of, side_colour, soles_of
from phuma.viewer.show import Performer

SEE_THROUGH = 0.45  # opacity of a robot with a skeleton inside
GHOSTLY = 0.3  # opacity of a ghost
PERSON = 0.55  # opacity of the person: the robot is what one looks at
PATH_EVERY = 3  # frames between the points of a path
ABOVE_FLOOR = 0.01  # m, of lines on the floor: in it, grid and line would flicker
FOLLOW_SECONDS = 1.0  # over which the camera's path is smoothed


@dataclass(frozen=True)
class Shown:
    """Say which parts of a scene are drawn."""

    human: bool = True
    robots: bool = True
    paths: bool = True
    contacts: bool = True
    violations: bool = True

    def changed(self, what: Mapping[Any, Any]) -> Shown:
        """Return a copy with the values in `what`, by name; a name or value that is not known is a ConfigError."""
        for name, value in what.items():
            if name not in {f.name for f in fields(self)} or not isinstance(value, bool):
                raise ConfigError(f"cannot show {name} {value!r}; there are: {', '.join(f.name for f in fields(self))}")
        return replace(self, **what)


class Person:
    """Draw the source human by its bones and soles."""

    def __init__(self, scene: Any, name: str, human: HumanMotion, contact: Array) -> None:
        joints = human.pose.position
        self._root = scene.add_frame(name, show_axes=False)
        self._bones = _Skeleton(scene, name, joints)
        self._contact = in_contact(contact)
        self._soles = soles_of(human)
        self._plates = [
            scene.add_mesh_simple(f"{name}/{region}", sole.vertices, sole.faces, color=style.rgb(side_colour(region)))
            for region, sole in zip(REGIONS, self._soles)
        ]
        self.path = _path(scene, f"{name}/path", joints[:, 0], style.TRUNK)
        self.ground_path = _smooth_ground(joints[:, 0], human.fps)
        self.heading = _heading_of(joints[0])

    def place(self, shift: Array, visible: bool) -> None:
        self._root.position, self._root.visible = shift, visible

    def pose(self, frame: int, shown: Shown) -> None:
        self._bones.pose(frame)
        for r, (sole, plate) in enumerate(zip(self._soles, self._plates)):
            stands = self._contact[frame, r] and shown.contacts
            plate.position, plate.wxyz = sole.middle[frame], sole.rotation[frame]
            _assign(plate, color=style.rgb(style.CONTACT if stands else side_colour(REGIONS[r])))


class _Skeleton:
    """Draw bones with their joints, a node for each, below that of the bone it begins at the end of. (Batched meshes
    are fewer nodes, but browsers draw them late.)"""

    def __init__(self, scene: Any, name: str, joints: Array) -> None:
        figure = figure_of(joints)
        parents = np.array([PARENTS[joint] - 1 for joint in BONES])
        self._position, self._rotation = within_parents(joints[:, parents + 1], figure.rotation, parents)
        self._root = scene.add_frame(f"{name}/bones", show_axes=False)
        self._bones = []
        nodes = nested(f"{name}/bones", [JOINTS[joint] for joint in BONES], parents)
        for bone, colour in enumerate(bone_colours()):
            length = float(figure.length[bone])
            vertices, faces = bone_mesh(bone, length)
            vertices = vertices + [0.0, 0.0, length / 2]
            self._bones.append(
                scene.add_mesh_simple(nodes[bone], vertices, faces, color=style.rgb(colour), opacity=PERSON)
            )

    def pose(self, frame: int) -> None:
        for node, position, rotation in zip(self._bones, self._position[frame], self._rotation[frame]):
            node.position, node.wxyz = position, rotation

    @property
    def visible(self) -> bool:
        return bool(self._root.visible)

    @visible.setter
    def visible(self, value: bool) -> None:
        self._root.visible = value


class RobotActor:
    """Draw a robot by its bodies and soles, and the skeleton of the human that it follows."""

    def __init__(self, scene: Any, name: str, performer: Performer, colour: str) -> None:
        robot, motion = performer.robot, performer.motion
        self.id, self._robot = performer.id, robot
        self._motion, self._over, self._slips = motion, performer.over, performer.slips
        self._far = np.zeros((len(motion), 2), dtype=bool) if performer.far is None else performer.far
        self._feet = [int(robot.sole_body[0]), int(robot.sole_body[2])]
        self._ghost, self._ended = performer.ghost, len(motion) if performer.ended is None else performer.ended
        self._contact = in_contact(motion.contact)
        self._position, self._rotation = self._poses(motion)
        self._root = scene.add_frame(name, show_axes=False)
        shapes = robot_shapes(robot)
        nodes = nested(name, [f"body{b}" for b in range(robot.n_bodies)], robot.parents)
        self._bodies = [
            _Body(scene, nodes[b], shapes.get(body, ()), colour, np.flatnonzero(robot.joint_body == b))
            for b, body in enumerate(robot.body_names)
        ]
        self._soles = [
            _sole(scene, f"{nodes[b]}/sole{r}", robot.sole_corners[r // 2], toe=r % 2 == 1)
            for r, b in enumerate(robot.sole_body)
        ]
        self._skeleton = None
        if motion.human_joints is not None:
            self._skeleton = _Skeleton(scene, f"{name}/human", motion.human_joints)
        if isinstance(motion, PerformedMotion) and motion.path is not None:
            floor_line(scene, f"{name}/wanted", motion.path, style.WANTED)
        self.path = _path(scene, f"{name}/path", motion.root_pos, colour)
        self.ground_path = _smooth_ground(motion.root_pos, motion.fps)
        w, x, y, z = motion.root_quat[0]
        self.heading = float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))

    @property
    def has_skeleton(self) -> bool:
        return self._skeleton is not None

    def blend(self, overlaid: bool, human: bool) -> None:
        """Make an overlaid robot transparent where the human is drawn inside it, or where it is a ghost."""
        inside = overlaid and human and self._skeleton is not None
        if self._skeleton is not None:
            self._skeleton.visible = inside
        for body in self._bodies:
            body.set_opacity(GHOSTLY if overlaid and self._ghost else SEE_THROUGH if inside else None)

    def place(self, shift: Array, visible: bool) -> None:
        self._root.position, self._root.visible = shift, visible

    def pose(self, frame: int, shown: Shown) -> None:
        violations, contacts = (shows and not self._ghost for shows in (shown.violations, shown.contacts))
        over, ended = self._over[frame] & violations, frame >= self._ended and violations
        far = {b for b, is_far in zip(self._feet, self._far[frame] & violations) if is_far}
        for b, body in enumerate(self._bodies):
            wrong = style.REJECTED if ended or over[body.joints].any() else style.FAR if b in far else None
            body.pose(self._position[frame, b], self._rotation[frame, b], wrong)
        for r, sole in enumerate(self._soles):
            slips, stands = self._slips[frame, r] and violations, self._contact[frame, r] and contacts
            colour = style.REJECTED if slips else style.CONTACT
            _assign(sole, visible=bool(slips or stands), color=style.rgb(colour))
        if self._skeleton is not None and self._skeleton.visible:
            self._skeleton.pose(frame)

    def pose_at(self, qpos: Array, red: bool) -> None:
        """Pose the robot in a state (7 + N,) that is none of its motion's, without marks."""
        state = Trajectory(self._robot.name, self._robot.joint_names, self._motion.fps, *split_qpos(qpos[None]))
        position, rotation = self._poses(state)
        for b, body in enumerate(self._bodies):
            body.pose(position[0, b], rotation[0, b], style.REJECTED if red else None)
        for sole in self._soles:
            _assign(sole, visible=False)

    def _poses(self, motion: Trajectory) -> tuple[Array, Array]:
        position, rotation = body_poses(self._robot, motion)
        return within_parents(position, rot.from_matrix(rotation), self._robot.parents)


class _Body:
    """Draw one link: a node that moves, and its meshes."""

    def __init__(self, scene: Any, name: str, shapes: Sequence[Shape], colour: str, joints: Array) -> None:
        self.joints = joints
        self._node = scene.add_frame(name, show_axes=False)
        self._meshes, self._colours = [], []
        for k, shape in enumerate(shapes):
            tint = style.tinted(shape.colour, colour)
            self._meshes.append(
                scene.add_mesh_simple(f"{name}/shape{k}", shape.vertices, shape.faces, color=tint, side="double")
            )
            self._colours.append(tint)
        self._wrong: str | None = None

    def pose(self, position: Array, rotation: Array, wrong: str | None) -> None:
        """Move the link; `wrong` is the colour of what is wrong with it, None if nothing is."""
        self._node.position, self._node.wxyz = position, rotation
        if wrong != self._wrong:
            self._wrong = wrong
            for mesh, colour in zip(self._meshes, self._colours):
                mesh.color = style.rgb(wrong) if wrong else colour

    def set_opacity(self, opacity: float | None) -> None:
        for mesh in self._meshes:
            _assign(mesh, opacity=opacity)


def nested(root: str, names: Sequence[str], parents: Array) -> list[str]:
    """Return the full names of nodes, each below its parent's, which comes before it, or below `root` (-1)."""
    out: list[str] = []
    for name, parent in zip(names, parents):
        out.append(f"{out[parent] if parent >= 0 else root}/{name}")
    return out


def within_parents(position: Array, rotation: Array, parents: Array) -> tuple[Array, Array]:
    """Return the poses (T, B, 3) and (T, B, 4) of bodies within their parents; -1 is the world.

    A link's place in its parent does not change, so only its rotation is sent: viser sends no value that stays.
    """
    below = np.flatnonzero(np.asarray(parents) >= 0)
    above = np.asarray(parents)[below]
    place, turn = position.copy(), rotation.copy()
    place[:, below] = rot.rotate_back(rotation[:, above], position[:, below] - position[:, above])
    turn[:, below] = rot.multiply(rot.conjugate(rotation[:, above]), rotation[:, below])
    return place, turn


def _sole(scene: Any, name: str, corners: Array, toe: bool) -> Any:
    """Add a plate under the front or rear half of a sole, in the foot's frame; corners (4, 3) as Robot.sole_corners."""
    inner_heel, outer_heel, outer_toe, inner_toe = corners
    inner, outer = (inner_heel + inner_toe) / 2, (outer_heel + outer_toe) / 2
    plate = [inner, outer, outer_toe, inner_toe] if toe else [inner_heel, outer_heel, outer, inner]
    vertices = np.array(plate, dtype=np.float32)
    vertices += 0.06 * (vertices - vertices.mean(axis=0))  # a rim that is visible from above
    down = np.array([0, 0, 0.004], dtype=np.float32)
    box = np.concatenate([vertices - down, vertices + down])
    quads = [(0, 1, 2, 3), (4, 5, 6, 7), *[(i, (i + 1) % 4, 4 + (i + 1) % 4, 4 + i) for i in range(4)]]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return scene.add_mesh_simple(name, box, faces, color=style.rgb(style.CONTACT), side="double", visible=False)


def _path(scene: Any, name: str, positions: Array, colour: str) -> Any:
    """Add a line along the positions (T, 3) of a root."""
    points = np.concatenate([positions[:-1:PATH_EVERY], positions[-1:]])
    if len(points) < 2:
        points = np.repeat(points, 2, axis=0)
    pieces = np.stack([points[:-1], points[1:]], axis=1)
    return scene.add_line_segments(name, pieces, style.rgb(colour), thickness=2.0, thickness_units="screen")


def floor_line(scene: Any, name: str, places: Array, colour: str) -> Any:
    """Add a line along places (P, 2) m on the floor; without two of them it is hidden."""
    pieces = floor_pieces(places)
    line = scene.add_line_segments(name, pieces, style.rgb(colour), thickness=5.0, thickness_units="screen")
    line.visible = len(places) > 1
    return line


def floor_pieces(places: Array) -> Array:
    """Return (P - 1, 2, 3) m: the pieces of a line along places (P, 2), a little above the floor; one of no length
    where there are no two places."""
    places = np.asarray(places, dtype=np.float32).reshape(-1, 2)
    if len(places) < 2:
        places = np.zeros((2, 2), dtype=np.float32)
    points = np.concatenate([places, np.full((len(places), 1), ABOVE_FLOOR, dtype=np.float32)], axis=1)
    return np.stack([points[:-1], points[1:]], axis=1)


def _smooth_ground(root: Array, fps: float) -> Array:
    """Return (T, 3) m: a root projected onto the ground and smoothed, so that the camera does not sway."""
    reach = max(1, min(len(root) // 2, round(FOLLOW_SECONDS * fps / 2)))
    padded = np.concatenate([np.repeat(root[:1], reach, axis=0), root, np.repeat(root[-1:], reach, axis=0)])
    total = np.cumsum(np.concatenate([np.zeros((1, 3)), padded]), axis=0)
    smooth = (total[2 * reach + 1 :] - total[: -2 * reach - 1]) / (2 * reach + 1)
    return smooth * [1.0, 1.0, 0.0]


def _heading_of(joints: Array) -> float:
    """Return the heading of a person in rad, at right angles to the line between the hips."""
    across = joints[1] - joints[2]  # from the right hip to the left
    return float(np.arctan2(-across[0], across[1]))


def _assign(handle: Any, **values: Any) -> None:
    """Set only the values that differ, since viser sends every assignment."""
    for name, value in values.items():
        before = getattr(handle, name)
        if before is not value and not np.array_equal(before, value):
            setattr(handle, name, value)
