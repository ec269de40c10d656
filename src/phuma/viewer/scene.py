"""Build a MuJoCo scene with one robot or several on a floor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import mujoco
import numpy as np

from phuma.core.performed_motion import PerformedMotion
from phuma.core.robot_motion import RobotMotion
from phuma.core.rotations import Array
from phuma.core.skeleton import N_JOINTS, PARENTS
from phuma.robots.robot import Robot
from phuma.robots.shapes import robot_shapes
from phuma.robots.welding import robot_spec
from phuma.viewer import style

SPACING = 1.2  # m between robots that are shown beside each other
SKY, FLOOR_A, FLOOR_B = (0.96, 0.97, 0.98), (0.88, 0.89, 0.91), (0.84, 0.85, 0.88)
HUMAN = (0.20, 0.55, 0.90, 0.85)
ABOVE_BONE, ALONE = 0.014, 0.03  # m: radius of a human's bone, inside a robot and beside it
FLOOR_LINE, TRACK_LINE = 0.012, 0.008  # m: radius of a path on the floor, and of the track that a robot left
LONGEST_PIECE, MOST_PIECES = 0.1, 1000  # m between the points of a line on the floor, and its pieces at most
SHADOWS = 1.8  # m around the robots in which they throw shadows
SHOWN, COLLISION = 2, 3  # groups of geoms, as in our models


class Appearance(NamedTuple):
    """Say how a robot is drawn."""

    colour: str
    ended: int | None = None
    """The first frame in which the robot is red; None if it never is."""


class Scene:
    """Show motions of robots side by side, at any frame, the first on the left as one sees them from the front;
    without appearances robots have their models' colours.

    With `apart`, the human whom the first of them follows stands beside them.
    """

    def __init__(
        self,
        motions: Sequence[RobotMotion],
        robots: Sequence[Robot],
        width: int,
        height: int,
        appearances: Sequence[Appearance] = (),
        apart: bool = False,
    ) -> None:
        self.motions = [m.reordered(r.joint_names) for m, r in zip(motions, robots)]
        self.apart = apart and motions[0].human_joints is not None
        self.figures = len(motions) + self.apart
        places = [np.array([0.0, SPACING * (k - (self.figures - 1) / 2), 0.0]) for k in range(self.figures)]
        self.beside, self.shift = places[0], places[-len(motions) :]
        spec = _stage(width, height)
        for k, robot in enumerate(robots):
            child = robot_spec(robot)
            child.option.timestep = spec.option.timestep
            _dress(child, robot)
            spec.attach(child, prefix=f"{k}/", frame=spec.worldbody.add_frame())
        self.model = spec.compile()
        shadows = SHADOWS + 0.5 * SPACING * (self.figures - 1)
        self.model.vis.map.shadowclip = shadows / self.model.stat.extent  # MuJoCo multiplies it by that
        self.data = mujoco.MjData(self.model)
        self._painted = [_Paint(self.model, k, appearance) for k, appearance in enumerate(appearances)]

    def __len__(self) -> int:
        """Return the number of frames of the longest motion."""
        return max(map(len, self.motions))

    @property
    def fps(self) -> float:
        return self.motions[0].fps

    @cached_property
    def heading(self) -> float:
        """Return the heading of the first robot in its first frame, rad."""
        w, x, y, z = self.motions[0].root_quat[0]
        return float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))

    def pose(self, frame: int) -> None:
        """Pose every robot at this frame; one whose motion is over stays at its end."""
        at = 0
        for motion, shift in zip(self.motions, self.shift):
            t = min(frame, len(motion) - 1)
            root = motion.root_pos[t] + self._across(shift)
            q = np.concatenate([root, motion.root_quat[t], motion.joint_pos[t]])
            self.data.qpos[at : at + len(q)] = q
            at += len(q)
        for paint in self._painted:
            paint.put(self.model, frame)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        self.data.light_xpos[0] = self.centre(frame) - 4.0 * self.data.light_xdir[0]  # a shadow map is small

    def centre(self, frame: int) -> Array:
        """Return (3,) m: the mean position of the robots' roots, and of the human that stands beside them."""
        figures = [*([(self.motions[0], self.beside)] if self.apart else []), *zip(self.motions, self.shift)]
        roots = [m.root_pos[min(frame, len(m) - 1)] + self._across(s) for m, s in figures]
        return np.mean(roots, axis=0)

    def _across(self, shift: Array) -> Array:
        """Return a shift (3,) m rotated from the first robot's heading into the world."""
        c, s = np.cos(self.heading), np.sin(self.heading)
        return np.array([c * shift[0] - s * shift[1], s * shift[0] + c * shift[1], shift[2]])

    def add_humans(self, scene: mujoco.MjvScene, frame: int) -> None:
        """Draw the human that each robot follows, as bones; or the first one's, beside the robots."""
        inside = list(zip(self.motions, self.shift))
        for motion, shift in [(self.motions[0], self.beside)] if self.apart else inside:
            if motion.human_joints is None:
                continue
            joints = motion.human_joints[min(frame, len(motion) - 1)] + self._across(shift)
            for j in range(1, N_JOINTS):
                _add_bone(scene, joints[PARENTS[j]], joints[j], ALONE if self.apart else ABOVE_BONE)

    def add_paths(self, scene: mujoco.MjvScene, frame: int) -> None:
        """Draw the path that each robot was to walk, where it was, and the track that it left on the floor so far."""
        for k, (motion, shift) in enumerate(zip(self.motions, self.shift)):
            if not isinstance(motion, PerformedMotion) or motion.path is None:
                continue
            colour = self._painted[k].colour if self._painted else style.PERFORMERS[k % len(style.PERFORMERS)]
            track = motion.root_pos[: min(frame, len(motion) - 1) + 1, :2]
            for places, drawn, radius in ((motion.path, style.WANTED, FLOOR_LINE), (track, colour, TRACK_LINE)):
                line = thinned(places)
                points = np.concatenate([line, np.zeros((len(line), 1))], axis=1) + self._across(shift)
                for start, end in pairwise(points):
                    _add_bone(scene, start, end, radius, (*(c / 255 for c in style.rgb(drawn)), 1.0))


def thinned(places: Array) -> Array:
    """Return points (Q, 2) of a line (P, 2) m that are about LONGEST_PIECE apart, its ends among them."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    pieces = int(np.clip(np.ceil(along[-1] / LONGEST_PIECE), 1, MOST_PIECES))
    wanted = np.linspace(0, along[-1], pieces + 1)
    return np.stack([np.interp(wanted, along, places[:, k]) for k in range(2)], axis=1)


class _Paint:
    """Set the colours of one robot's geoms."""

    def __init__(self, model: mujoco.MjModel, robot: int, appearance: Appearance) -> None:
        owner = [model.body(body).name.split("/")[0] for body in model.geom_bodyid]
        self._geoms = np.flatnonzero(np.array(owner) == str(robot))
        own = np.rint(255 * model.geom_rgba[self._geoms, :3]).astype(int)
        self._colour, self._red = (
            np.array([style.tinted(each, colour) for each in own.tolist()]) / 255
            for colour in (appearance.colour, style.REJECTED)
        )
        self._ended, self.colour = appearance.ended, appearance.colour

    def put(self, model: mujoco.MjModel, frame: int) -> None:
        ended = self._ended is not None and frame >= self._ended
        model.geom_rgba[self._geoms, :3] = self._red if ended else self._colour


def _stage(width: int, height: int) -> mujoco.MjSpec:
    """Return a model with a floor, a light and an image buffer of the given size."""
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = width, height
    spec.visual.quality.shadowsize = 1024
    spec.visual.quality.offsamples = 4
    spec.visual.headlight.ambient = [0.42] * 3
    spec.visual.headlight.diffuse = [0.45] * 3
    spec.visual.headlight.specular = [0.1] * 3
    spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=SKY, rgb2=SKY, width=32, height=192,
    )  # fmt: skip
    spec.add_texture(
        name="floor", type=mujoco.mjtTexture.mjTEXTURE_2D, builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=FLOOR_A, rgb2=FLOOR_B, width=256, height=256,
    )  # fmt: skip
    material = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "floor"
    floor = spec.worldbody.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], material="floor", group=SHOWN
    )
    if hasattr(floor, "castshadow"):  # from MuJoCo 4 on
        floor.castshadow = False  # it would speckle itself
    spec.worldbody.add_light(
        pos=[0, 0, 5], dir=[0.3, 0.25, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, diffuse=[0.45] * 3,
        castshadow=True,
    )  # fmt: skip
    return spec


def _dress(spec: mujoco.MjSpec, robot: Robot) -> None:
    """Replace the robot's geoms by its shapes, which the browser shows too and which are lighter than MuJoCo's own."""
    for geom in spec.geoms:
        geom.group = COLLISION
    for body, shapes in robot_shapes(robot).items():
        for k, shape in enumerate(shapes):
            name = f"{body}/shape_{k}"
            spec.add_mesh(
                name=name, uservert=shape.vertices.ravel(), userface=shape.faces.ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,  # a surface need not be closed
            )  # fmt: skip
            spec.body(body).add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, group=SHOWN, contype=0, conaffinity=0, mass=0,
                rgba=[*(c / 255 for c in shape.colour), 1],
            )  # fmt: skip


def _add_bone(scene: mujoco.MjvScene, start: Array, end: Array, radius: float, colour: Sequence[float] = HUMAN) -> None:
    if scene.ngeom >= scene.maxgeom:
        return
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(
        geom, mujoco.mjtGeom.mjGEOM_CAPSULE, np.zeros(3), np.zeros(3), np.zeros(9), np.array(colour, dtype=np.float32)
    )
    mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_CAPSULE, radius, start, end)
    scene.ngeom += 1
