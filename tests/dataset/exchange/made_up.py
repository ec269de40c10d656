"""Robot motions that mean nothing, left and right different, and what others say about orders."""

from __future__ import annotations

import mujoco
import numpy as np

from phuma.core import rotations as rot
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.dataset.exchange import FORMATS, WRITTEN
from phuma.robots import Robot

ROBOTS = ("g1", "h1_2")
FILES = [n for n in WRITTEN if FORMATS[n].gather is None and n != "rerun"]
"""The formats of which a file is a motion; rerun's holds the time of day, and its library need not be there"""

# The README of the LAFAN1 retargeting dataset.
UNITREE = {
    "g1": [
        f"{side}_{joint}_joint" if side else f"{joint}_joint"
        for side, joints in (
            ("left", "hip_pitch hip_roll hip_yaw knee ankle_pitch ankle_roll"),
            ("right", "hip_pitch hip_roll hip_yaw knee ankle_pitch ankle_roll"),
            ("", "waist_yaw waist_roll waist_pitch"),
            ("left", "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
            ("right", "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
        )
        for joint in joints.split()
    ],
    "h1_2": [
        f"{side}_{joint}_joint" if side else f"{joint}_joint"
        for side, joints in (
            ("left", "hip_yaw hip_pitch hip_roll knee ankle_pitch ankle_roll"),
            ("right", "hip_yaw hip_pitch hip_roll knee ankle_pitch ankle_roll"),
            ("", "torso"),
            ("left", "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
            ("right", "shoulder_pitch shoulder_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw"),
        )
        for joint in joints.split()
    ],
}

# As IsaacLab prints them for these robots. A bare word stands for a left and a right one.
_ISAACLAB_JOINTS = {
    "g1": "hip_pitch =waist_yaw hip_roll =waist_roll hip_yaw =waist_pitch knee shoulder_pitch ankle_pitch "
    "shoulder_roll ankle_roll shoulder_yaw elbow wrist_roll wrist_pitch wrist_yaw",
    "h1_2": "hip_yaw =torso hip_pitch shoulder_pitch hip_roll shoulder_roll knee shoulder_yaw ankle_pitch elbow "
    "ankle_roll wrist_roll wrist_pitch wrist_yaw",
}


def isaaclab_joints(name: str) -> list[str]:
    out = []
    for word in _ISAACLAB_JOINTS[name].split():
        out += [f"{word[1:]}_joint"] if word[0] == "=" else [f"left_{word}_joint", f"right_{word}_joint"]
    return out


def isaaclab_bodies(name: str) -> list[str]:
    """A joint moves the body of its own name, but for the last one of the waist, which moves the torso."""
    torso = {"waist_pitch_link": "torso_link"}
    links = [j.removesuffix("_joint") + "_link" for j in isaaclab_joints(name)]
    return ["pelvis", *(torso.get(link, link) for link in links)]


def made_up(robot: Robot, frames: int = 41, fps: float = 50.0, seed: int = 0, turning: float = 2.4) -> RobotMotion:
    """Every joint swings its own way; the root turns by more than a right angle, leans and walks."""
    rng = np.random.default_rng(seed)
    time = np.arange(frames)[:, None] / fps
    swing = np.sin(time * rng.uniform(0.5, 2, robot.n_joints) + rng.uniform(0, 6, robot.n_joints))
    joints = (robot.lower + robot.upper) / 2 + 0.3 * swing * (robot.upper - robot.lower)
    lean = rot.from_rotvec(0.3 * np.sin(time * np.array([2.0, 3.0, 0.0]) + np.array([0.0, 1.0, 0.0])))
    root_quat = rot.multiply(rot.from_axis("z", 0.5 + turning * time[:, 0]), lean)
    root_pos = np.concatenate([0.8 * time, 0.3 * np.sin(2 * time), 0.9 + 0.05 * np.cos(3 * time)], axis=1)
    return RobotMotion(
        robot.name, robot.joint_names, fps, root_pos, root_quat, joints,
        contact=rng.uniform(0, 1, (frames, 4)), human_joints=rng.normal(size=(frames, 22, 3)),
        provenance=Provenance("made up", "none"),
    )  # fmt: skip


class Simulator:
    """MuJoCo's own word on where bodies are and how they move; everything by name."""

    def __init__(self, robot: Robot) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(robot.model_file))
        self.data = mujoco.MjData(self.model)

    def qpos(self, motion: RobotMotion, frame: int) -> np.ndarray:
        out = np.empty(self.model.nq)
        out[:3], out[3:7] = motion.root_pos[frame], motion.root_quat[frame]
        for name, angle in zip(motion.joint_names, motion.joint_pos[frame]):
            out[self.model.joint(name).qposadr[0]] = angle
        return out

    def bodies(self, motion: RobotMotion, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Positions (T, B, 3) and matrices (T, B, 3, 3)."""
        pos, mat = [], []
        ids = [self.model.body(n).id for n in names]
        for frame in range(len(motion)):
            self.data.qpos[:] = self.qpos(motion, frame)
            mujoco.mj_kinematics(self.model, self.data)
            pos.append(self.data.xpos[ids].copy())
            mat.append(self.data.xmat[ids].reshape(-1, 3, 3).copy())
        return np.array(pos), np.array(mat)

    def velocities(self, motion: RobotMotion, names: list[str], at: str) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular, (T - 2, B, 3) in the world, of the bodies' "frame" or "mass centre"."""
        kind = {"frame": mujoco.mjtObj.mjOBJ_XBODY, "mass centre": mujoco.mjtObj.mjOBJ_BODY}[at]
        linear, angular = [], []
        for frame in range(1, len(motion) - 1):
            self.data.qpos[:] = self.qpos(motion, frame)
            before, after = self.qpos(motion, frame - 1), self.qpos(motion, frame + 1)
            mujoco.mj_differentiatePos(self.model, self.data.qvel, 2 / motion.fps, before, after)
            mujoco.mj_forward(self.model, self.data)
            both = np.empty((len(names), 6))
            for row, name in zip(both, names):
                mujoco.mj_objectVelocity(self.model, self.data, kind, self.model.body(name).id, row, 0)
            linear.append(both[:, 3:])
            angular.append(both[:, :3])
        return np.array(linear), np.array(angular)


def matrices(quat: np.ndarray, order: str) -> np.ndarray:
    """Rotation matrices of quaternions, by scipy, whose order is xyzw."""
    from scipy.spatial.transform import Rotation

    xyzw = quat if order == "xyzw" else np.concatenate([quat[..., 1:], quat[..., :1]], axis=-1)
    return Rotation.from_quat(xyzw.reshape(-1, 4)).as_matrix().reshape(*quat.shape[:-1], 3, 3)
