"""The published rules of other projects' policies, written down anew: what their programs feed to a file and make of
its answer."""

from __future__ import annotations

import json

import mujoco
import numpy as np

from phuma.robots import Robot

LEGS = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
ARMS = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")
MUJOCO = [
    f"{name}_joint"
    for name in (
        *(f"left_{j}" for j in LEGS), *(f"right_{j}" for j in LEGS), "waist_yaw", "waist_roll", "waist_pitch",
        *(f"left_{j}" for j in ARMS), *(f"right_{j}" for j in ARMS),
    )
]  # fmt: skip
ISAACLAB = [
    f"{name}_joint"
    for name in (
        "left_hip_pitch", "right_hip_pitch", "waist_yaw", "left_hip_roll", "right_hip_roll", "waist_roll",
        "left_hip_yaw", "right_hip_yaw", "waist_pitch", "left_knee", "right_knee", "left_shoulder_pitch",
        "right_shoulder_pitch", "left_ankle_pitch", "right_ankle_pitch", "left_shoulder_roll", "right_shoulder_roll",
        "left_ankle_roll", "right_ankle_roll", "left_shoulder_yaw", "right_shoulder_yaw", "left_elbow", "right_elbow",
        "left_wrist_roll", "right_wrist_roll", "left_wrist_pitch", "right_wrist_pitch", "left_wrist_yaw",
        "right_wrist_yaw",
    )
]  # fmt: skip
JOINTS = {"beyondmimic": ISAACLAB, "mjlab": MUJOCO, "holosoma": MUJOCO}
ORIGINAL = (
    "command", "motion_anchor_pos_b", "motion_anchor_ori_b", "base_lin_vel", "base_ang_vel", "joint_pos", "joint_vel",
    "actions",
)  # fmt: skip
WITHOUT_ESTIMATE = tuple(name for name in ORIGINAL if name not in ("motion_anchor_pos_b", "base_lin_vel"))
HOLOSOMA = ("actions", "base_ang_vel", "dof_pos", "dof_vel", "motion_command", "motion_ref_ori_b")
ALIAS = {"dof_pos": "joint_pos", "dof_vel": "joint_vel", "motion_command": "command"}
ALIAS |= {"motion_ref_ori_b": "motion_anchor_ori_b"}
NAMES = {"beyondmimic": WITHOUT_ESTIMATE, "mjlab": WITHOUT_ESTIMATE, "holosoma": HOLOSOMA}


class Posed:
    """A robot in one state, by MuJoCo."""

    def __init__(self, robot: Robot, qpos: np.ndarray, qvel: np.ndarray) -> None:
        model = mujoco.MjModel.from_xml_path(str(robot.model_file))
        self.data = mujoco.MjData(model)
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(model, self.data)
        self.torso = self.data.body("torso_link")
        self.joints = {model.joint(j).name: j for j in range(model.njnt)}

    def by(self, names: list[str], values: np.ndarray, offset: int) -> np.ndarray:
        """Values of `qpos` (offset 6) or `qvel` (offset 5) of joints by their names."""
        return np.array([values[offset + self.joints[name]] for name in names])


def their_observation(
    names: tuple[str, ...], joints: list[str], robot: Robot, now: Posed, coming: Posed, action: np.ndarray
) -> np.ndarray:
    """(W,) the terms of these names side by side; `action` is theirs, in their order."""
    default = np.array([robot.default_pose[robot.joint_names.index(name)] for name in joints])
    turn = now.torso.xmat.reshape(3, 3)
    root = np.empty(9)
    mujoco.mju_quat2Mat(root, now.data.qpos[3:7])
    terms = {
        "command": [coming.by(joints, coming.data.qpos, 6), coming.by(joints, coming.data.qvel, 5)],
        "motion_anchor_pos_b": [turn.T @ (coming.torso.xpos - now.torso.xpos)],
        "motion_anchor_ori_b": [(turn.T @ coming.torso.xmat.reshape(3, 3))[:, :2].reshape(-1)],
        "base_lin_vel": [root.reshape(3, 3).T @ now.data.qvel[:3]],
        "base_ang_vel": [now.data.qvel[3:6]],
        "joint_pos": [now.by(joints, now.data.qpos, 6) - default],
        "joint_vel": [now.by(joints, now.data.qvel, 5)],
        "actions": [action],
    }
    return np.concatenate([part for name in names for part in terms[ALIAS.get(name, name)]])


def their_metadata(dialect: str, texts: dict[str, str]) -> dict[str, list]:
    """What a program of theirs reads: joint names, gains, default pose (of its own configuration at holosoma's) and the
    scale of actions."""
    if dialect == "holosoma":
        default = (
            [-0.312, 0, 0, 0.669, -0.363, 0] * 2 + [0.0] * 3 + [0.2, 0.2, 0, 0.6, 0, 0, 0, 0.2, -0.2, 0, 0.6, 0, 0, 0]
        )
        found = {name: json.loads(texts[name]) for name in ("dof_names", "kp", "kd", "action_scale")}
        return dict(zip(("names", "kp", "kd", "scale"), found.values())) | {"default": default}
    keys = {"kp": "joint_stiffness", "kd": "joint_damping", "default": "default_joint_pos", "scale": "action_scale"}
    numbers = {name: [float(cell) for cell in texts[key].split(",")] for name, key in keys.items()}
    return {"names": texts["joint_names"].split(",")} | numbers
