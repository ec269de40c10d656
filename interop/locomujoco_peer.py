"""LocoMuJoCo: its `Trajectory`, and the handler that fits one to a model, here to the G1 of this project."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

TITLE, FORMAT = "LocoMuJoCo", "locomujoco"
INSTALL = [["loco-mujoco==1.0.0", "jax==0.7.1", "flax==0.12.0"]]


def main(folder: Path) -> None:
    import mujoco
    import numpy as np
    from loco_mujoco.trajectory import Trajectory, TrajectoryHandler

    truth = dict(np.load(folder / "truth_30.npz"))
    loaded = Trajectory.load(str(folder / "locomujoco.npz"), backend=np)
    assert loaded.info.joint_names == ["root", *truth["joint_names"].tolist()]
    spec = mujoco.MjSpec.from_file(str(truth["model"]))
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            joint.name = "root"
    model = spec.compile()
    handler = TrajectoryHandler(model, traj=loaded, control_dt=1 / loaded.info.frequency)
    held, data = handler.traj.data, mujoco.MjData(model)
    far = fast = 0.0
    for t in range(int(held.n_samples)):
        data.qpos[:], data.qvel[:] = held.qpos[t], held.qvel[t]
        mujoco.mj_forward(model, data)
        far = max(far, float(np.abs(data.xpos - held.xpos[t]).max()))
        far = max(far, float(np.abs(data.xpos[1:] - truth["body_pos"][t]).max()))
        fast = max(fast, float(np.abs(data.cvel - held.cvel[t]).max()))
    print(json.dumps({
        "version": version("loco-mujoco"),
        "what its own code did": "Trajectory.load; TrajectoryHandler fitted it to a model",
        "positions differ by [mm]": f"{1000 * far:.4f}", "velocities differ by": f"{fast:.0e} (cvel)",
        "remarks": f"{int(held.n_trajectories)} trajectory of {int(held.n_samples)} frames",
    }))  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
