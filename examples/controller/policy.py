"""An exported policy and the motion that it is to follow: from what a robot measures to what its motors aim at.

Needs numpy and onnxruntime. docs/formats/policy.md says what each input is.
"""

import json
from collections import deque
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnxruntime
import rotations as rot
from law import Law

FELT = ("proprioception", "sensed", "history")
"""Inputs whose joints are the robot's own, not the reference's"""


class State(NamedTuple):
    """What a robot measures; joints in the policy's order."""

    quat: np.ndarray
    """(4,) wxyz, rotation of the root body in the world, by its IMU; where its zero heading is does not matter"""
    gyro: np.ndarray
    """(3,) rad/s, angular velocity of the root body in its own frame, by its IMU"""
    q: np.ndarray
    """(N,) rad, joint positions"""
    dq: np.ndarray
    """(N,) rad/s, joint velocities"""


class Policy:
    """A policy on its way through a motion. `begin`, then `target` once per control step until it returns None."""

    def __init__(self, policy: Path, motion: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(policy, options, providers=["CPUExecutionProvider"])
        texts = self.session.get_modelmeta().custom_metadata_map
        self.about = {key: json.loads(text) for key, text in texts.items()}
        with np.load(motion) as file:
            self.motion = dict(file)
        if list(self.motion["joint_names"]) != self.about["joint_names"] or "anchor_rest" not in self.motion:
            raise SystemExit(f"{motion} is not for {policy}: write it again by `phuma policy motion`")
        taken = {port.name: port.shape[1:] for port in self.session.get_inputs()}
        said = {each["name"]: each["shape"] for each in self.about["observations"]}
        if taken != said:
            raise SystemExit(
                f"{policy} takes {taken}, and says that it takes {said}: write it again by `phuma policy export`"
            )
        self.default_pose = np.array(self.about["default_pose"])
        self.period = 1 / self.about["control_rate"]
        self.frames = len(self.motion["joint_pos"])
        self.locked = dict(zip(self.motion.get("locked_joints", ()), self.motion.get("locked_pos", ())))
        units = self.about.get("deviation_units")
        self.law = None if units is None else Law(self.motion, units)

    def begin(self, state: State) -> None:
        """Begin at frame 0. The motion is turned to where the robot faces, which only the robot's own IMU knows."""
        numbers = self.default_pose if self.law is None else self.law.units
        self.frame, self.action, self.past = 0, np.zeros(len(numbers)), {}
        theirs = rot.heading(self.motion["anchor_quat"][0])
        self.turned = rot.multiply(rot.heading(self.anchor(state)), rot.inverse(theirs))

    def target(self, state: State) -> np.ndarray | None:
        """Return (N,) rad, what the motors are to aim at on the way to the next frame; None after the last one."""
        if self.frame + 1 >= self.frames:
            return None
        self.frame += 1
        if self.law is not None:
            ((deviation,),) = self.session.run(["deviation"], self.inputs(state))
            self.action = deviation
            return self.law.target(deviation, self.frame - 1)
        (action,), (target,) = self.session.run(["action", "target"], self.inputs(state))
        self.action = action
        return target.astype(float)

    def anchor(self, state: State) -> np.ndarray:
        """Return (4,) wxyz, the rotation of the anchor body, from the root's and the joints between them."""
        *rest, last = self.motion["anchor_rest"]
        out = state.quat
        for fixed, axis, joint in zip(rest, self.motion["anchor_axes"], self.motion["anchor_joints"]):
            out = rot.multiply(rot.multiply(out, fixed), rot.about(axis, state.q[joint]))
        return rot.multiply(out, last)

    def wanted(self, body: str, frame: int) -> np.ndarray:
        """Return (4,) wxyz, the rotation that `anchor` or `root` should have, as the robot's IMU would say it."""
        return rot.multiply(self.turned, self.motion[f"{body}_quat"][frame])

    def parts(self, state: State) -> dict[str, np.ndarray]:
        """Return what is known on the way to the frame, by INPUT.PART of the policy's `observations`; parts that mean
        the same in all inputs have no INPUT."""
        now, coming = self.frame - 1, self.frame
        motion, anchor = self.motion, self.anchor(state)
        felt = {"joint_pos": state.q - self.default_pose, "joint_vel": state.dq}
        return {
            "previous_action": self.action,
            "previous_estimate": self.action,
            "root_angvel": state.gyro,
            "root_roll_pitch": rot.roll_pitch(state.quat),
            **{f"{group}.{name}": value for group in FELT for name, value in felt.items()},
            "goal.joint_pos": motion["joint_pos"][coming],
            "goal.joint_vel": motion["joint_vel"][coming],
            "reference.joint_pos": motion["joint_pos"][coming],
            "reference.joint_vel": motion["joint_vel"][coming],
            "anchor_rotation": rot.columns(rot.multiply(rot.inverse(anchor), self.wanted("anchor", coming))),
            "anchor_off": rot.vector(rot.multiply(rot.inverse(self.wanted("anchor", now)), anchor)),
            "root_rotation_error": rot.columns(rot.multiply(rot.inverse(state.quat), self.wanted("root", coming))),
            "root_off": rot.vector(rot.multiply(rot.inverse(self.wanted("root", now)), state.quat)),
            "root_angvel_off": state.gyro - motion["root_angvel"][now],
            "joint_pos_off": state.q - motion["joint_pos"][now],
            "joint_vel_off": state.dq - motion["joint_vel"][now],
            "base.base": motion["base"][coming],
        }

    def inputs(self, state: State) -> dict[str, np.ndarray]:
        """Return what the network is fed: frames to come as they are, and the past of an input that has one."""
        known, out = self.parts(state), {}
        inputs = list(self.about["observations"])
        for each in inputs:
            name, shape = each["name"], each["shape"]
            if f"{name}_rows" in self.motion:
                value = self.motion[name][self.motion[f"{name}_rows"][self.frame]]
            else:
                value = np.concatenate([self.part(known, name, part["name"]) for part in each["parts"]])
                if len(shape) == 2:  # the oldest first; the first stands for those before it
                    past = self.past.setdefault(name, deque([value] * shape[0], maxlen=shape[0]))
                    past.append(value)
                    value = np.stack(past)
            out[name] = value[None].astype(np.float32)
        return out

    def part(self, known: dict[str, np.ndarray], group: str, name: str) -> np.ndarray:
        """Return one part of an input."""
        for key in (f"{group}.{name}", name):
            if key in known:
                return known[key]
        raise SystemExit(f"the policy's input {group} has a part {name}, which this controller does not know: add it")
