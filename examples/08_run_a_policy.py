"""Run an exported policy with nothing but numpy, onnxruntime and mujoco: no import of this package.

    python examples/08_run_a_policy.py [FOLDER]

FOLDER holds policy.onnx, motion.npz and model.xml, as 07_evaluate_and_play.py leaves them in phuma-examples/deploy.
docs/formats/policy.md says what each input is.
"""

import json
import sys
from pathlib import Path

import mujoco
import numpy as np
import onnxruntime

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "phuma-examples/deploy")
motion = dict(np.load(folder / "motion.npz"))
session = onnxruntime.InferenceSession(folder / "policy.onnx", providers=["CPUExecutionProvider"])
about = {key: json.loads(text) for key, text in session.get_modelmeta().custom_metadata_map.items()}
kp, kd, limit = (np.array(about[name]) for name in ("stiffness", "damping", "torque_limit"))

spec = mujoco.MjSpec.from_file(str(folder / "model.xml"))
for actuator in list(spec.actuators):
    spec.delete(actuator)  # the controllers' law is below
spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
spec.option.timestep = 0.005
spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
model = spec.compile()
data = mujoco.MjData(model)
data.qpos[:] = np.concatenate([motion["root_pos"][0], motion["root_quat"][0], motion["joint_pos"][0]])
data.qvel[:] = np.concatenate([motion["root_linvel"][0], motion["root_angvel"][0], motion["joint_vel"][0]])
mujoco.mj_forward(model, data)
anchor, action = model.body(about["anchor_body"]).id, np.zeros(len(kp))


turn, matrix, off, inverted = np.empty(4), np.empty(9), np.empty(3), np.array([1.0, -1.0, -1.0, -1.0])
for t in range(1, len(motion["joint_pos"])):
    spin, q, v = data.qvel[3:6], data.qpos[7:], data.qvel[6:]
    mujoco.mju_mulQuat(turn, inverted * data.xquat[anchor], motion["anchor_quat"][t].astype(float))
    mujoco.mju_quat2Mat(matrix, turn)
    mujoco.mju_mulQuat(turn, inverted * motion["anchor_quat"][t - 1], data.xquat[anchor])
    mujoco.mju_quat2Vel(off, turn, 1.0)
    now = [motion[name][t - 1] for name in ("root_angvel", "joint_pos", "joint_vel")]
    coming = [motion["joint_pos"][t], motion["joint_vel"][t]]
    fed = {
        "proprioception": np.concatenate([action, spin, q - about["default_pose"], v]),
        "goal": np.concatenate([*coming, matrix.reshape(3, 3)[:, :2].T.ravel()]),
        "reference": np.concatenate(coming),
        "difference": np.concatenate([off, spin - now[0], q - now[1], v - now[2]]),
        "future": motion["future"][motion["future_rows"][t]],
        "base": motion["base"][t],
    }
    given = {i.name: fed[i.name][None].astype(np.float32) for i in session.get_inputs()}
    (action,), (target,) = session.run(["action", "target"], given)
    for _ in range(4):
        data.qfrc_applied[6:] = np.clip(kp * (target - data.qpos[7:]) - kd * data.qvel[6:], -limit, limit)
        mujoco.mj_step(model, data)
print(f"root at {data.qpos[2]:.2f} m after {t} control steps; the motion's is at {motion['root_pos'][t, 2]:.2f} m")
