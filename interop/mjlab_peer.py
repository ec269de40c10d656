"""mjlab: its G1, its motion loader and its tracking task, with a policy of ours in it."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

TITLE, FORMAT, DIALECT = "mjlab", "mjlab", "mjlab"
INSTALL = [["torch==2.13.0", "mjlab==1.6.0", "onnxruntime==1.31.1"]]
THEIRS = "theirs/theirs.onnx"
TASK, WITHOUT = "Mjlab-Tracking-Flat-Unitree-G1", "-No-State-Estimation"


def main(folder: Path) -> None:
    import mujoco
    import numpy as np
    import torch
    from mjlab.asset_zoo.robots.unitree_g1.g1_constants import get_g1_robot_cfg
    from mjlab.entity import Entity
    from mjlab.tasks.tracking.mdp.commands import MotionLoader

    path = str(folder / "mjlab.npz")
    written_by_it(folder)
    robot, file = Entity(get_g1_robot_cfg()), dict(np.load(path))
    assert list(robot.joint_names) == file["joint_names"].tolist(), "joints are in another order"
    assert list(robot.body_names) == file["body_names"].tolist(), "bodies are in another order"
    motion = MotionLoader(path, torch.arange(len(robot.body_names)))
    model = robot.spec.compile()
    data, far, fast, both = mujoco.MjData(model), 0.0, 0.0, np.empty(6)
    for t in range(motion.time_step_total):
        pos, quat, lin, ang = (
            getattr(motion, f"body_{name}_w")[t].numpy().astype(float) for name in ("pos", "quat", "lin_vel", "ang_vel")
        )
        data.qpos[:] = np.concatenate([pos[0], quat[0], motion.joint_pos[t]])
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, ang[0], quat[0] * [1, -1, -1, -1])
        data.qvel[:] = np.concatenate([lin[0], turned, motion.joint_vel[t]])
        mujoco.mj_forward(model, data)
        for b, name in enumerate(robot.body_names):
            body = model.body(name).id
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, both, 0)
            far = max(far, float(np.abs(data.xpos[body] - pos[b]).max()))
            fast = max(fast, float(np.abs(both[3:] - lin[b]).max()))
    print(json.dumps({
        "version": version("mjlab"),
        "what its own code did": f"motion loader; {TASK} reset and stepped 5 times",
        "positions differ by [mm]": f"{1000 * far:.4f}", "velocities differ by": f"{fast:.0e} m/s",
        "remarks": f"joints at reset differ by {trained(path):.0e} rad; in {TASK}{WITHOUT}, fed by it, "
        f"a policy of ours is {1000 * followed(folder):.1f} mm off a squat on average",
    }))  # fmt: skip


def trained(path: str) -> float:
    """Return by how many radians, over all joints, the task's robot differs from the motion after a reset."""
    import torch

    env = environment(TASK, path, 2)
    env.reset()
    command = env.command_manager.get_term("motion")
    off = float((command.motion.joint_pos[0] - command.robot_joint_pos).abs().max())
    for _ in range(5):
        env.step(torch.zeros(2, env.action_manager.total_action_dim))
    return off


def written_by_it(folder: Path) -> None:
    """Let mjlab write a policy that has learned nothing, with state estimation, by its own runner: THEIRS."""
    from dataclasses import asdict

    from mjlab.rl import RslRlVecEnvWrapper
    from mjlab.tasks.registry import load_rl_cfg, load_runner_cls

    env = RslRlVecEnvWrapper(environment(TASK, str(folder / "squat_mjlab.npz"), 1))
    place = folder / Path(THEIRS).parent
    place.mkdir(exist_ok=True)
    runner = load_runner_cls(TASK)(env, asdict(load_rl_cfg(TASK)) | {"logger": "tensorboard"}, str(place), "cpu")
    runner.logger.logger_type = "tensorboard"
    runner.save(str(place / "model_0.pt"))


def followed(folder: Path) -> float:
    """Return how many metres the task's robot is off a squat, mean over key bodies and frames, when a policy of ours
    acts on what the task observes; its actions are scaled by the file's metadata, all else is the task's."""
    import onnxruntime
    import torch

    session = onnxruntime.InferenceSession(folder / f"policy_{DIALECT}.onnx")
    told = {name: text.split(",") for name, text in session.get_modelmeta().custom_metadata_map.items()}
    scale = dict(zip(told["joint_names"], map(float, told["action_scale"])))
    env = environment(TASK + WITHOUT, str(folder / "squat_mjlab.npz"), 1, scale)
    assert list(env.scene["robot"].joint_names) == told["joint_names"], "joints are in another order"
    assert env.observation_manager.active_terms["actor"] == told["observation_names"], "terms are in another order"
    command, observation, off = env.command_manager.get_term("motion"), env.reset()[0], 0.0
    steps = command.motion.time_step_total - 2
    for _ in range(steps):
        given = {"obs": observation["actor"].numpy(), "time_step": command.time_steps[:, None].float().numpy()}
        observation, _, failed, _, _ = env.step(torch.from_numpy(session.run(["actions"], given)[0]))
        assert not failed.any(), "the robot fell"
        there = command.motion.body_pos_w[command.time_steps - 1]  # the command is at the coming frame already
        off += float((command.robot_body_pos_w - there).norm(dim=-1).mean()) / steps
    return off


def environment(task: str, path: str, robots: int, scale: dict[str, float] | None = None):
    """Return one of mjlab's tracking tasks with a motion from its first frame on, without noise, pushes and chance."""
    from mjlab.envs import ManagerBasedRlEnv
    from mjlab.tasks.registry import load_env_cfg

    cfg = load_env_cfg(task, play=True)
    cfg.commands["motion"].motion_file, cfg.commands["motion"].sampling_mode = path, "start"
    cfg.commands["motion"].pose_range, cfg.commands["motion"].velocity_range = {}, {}
    cfg.commands["motion"].joint_position_range = (0.0, 0.0)
    cfg.scene.num_envs, cfg.events = robots, {}
    if scale is not None:
        cfg.actions["joint_pos"].scale = scale
    return ManagerBasedRlEnv(cfg, device="cpu")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
