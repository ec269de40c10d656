"""Let a robot in MuJoCo follow a motion by an exported policy, from standing to a stop: no import of phuma.

    python examples/controller/run.py FOLDER [--model XML] [--on-reference] [--realtime] [--out rollout.npz]

FOLDER holds policy.onnx, motion.npz (by `phuma policy motion`) and model.xml. README.md says what a robot needs.
"""

import argparse
import signal
import time
from pathlib import Path

import numpy as np
import rotations as rot
from controller import DONE, Controller, Motors
from mujoco_robot import MujocoRobot
from policy import Policy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="another model file of the robot, as its maker's")
    parser.add_argument("--on-reference", action="store_true", help="begin in the motion's first state, not standing")
    parser.add_argument("--realtime", action="store_true", help="keep to the wall clock, as on a robot")
    parser.add_argument("--out", type=Path, help="write the rollout, for `phuma render` and for judging")
    args = parser.parse_args()
    policy = Policy(args.folder / "policy.onnx", args.folder / "motion.npz")
    motors = Motors(policy)
    model, joints = args.model or args.folder / "model.xml", policy.about["joint_names"]
    robot = MujocoRobot(model, joints, motors.limit, policy.motion["armature"], locked=policy.locked)
    controller = Controller(policy, motors, stand=not args.on_reference)
    signal.signal(signal.SIGINT, lambda *_: controller.stop("stopped by hand"))
    put(robot, policy, args.on_reference)
    path = run(robot, controller, motors, args.realtime)
    print(f"followed {max(len(path) - 1, 0)} of {policy.frames - 1} control steps; damped: {motors.damped}")
    if args.out is not None and path:
        save(args.out, policy, path)
    raise SystemExit(motors.damped != DONE)


def put(robot: MujocoRobot, policy: Policy, on_reference: bool) -> None:
    """Put the robot where it begins: standing and facing anywhere, or in the motion's first state."""
    first = {name: values[0] for name, values in policy.motion.items() if np.ndim(values) == 2}
    if on_reference:
        moving = (first[name] for name in ("root_linvel", "root_angvel", "joint_vel"))
        robot.put(first["root_pos"], first["root_quat"], first["joint_pos"], *moving)
    else:
        robot.put_on_floor(policy.default_pose, rot.about([0, 0, 1], 2.0))


def run(robot: MujocoRobot, controller: Controller, motors: Motors, realtime: bool = False) -> list[np.ndarray]:
    """Run until the controller has ended; return the root's pose and the joints at each frame of the motion."""
    path, tick = [], 0
    ticks = round(controller.policy.period / robot.model.opt.timestep)
    began = time.monotonic()
    while controller.phase != "end":
        now = time.monotonic() - began if realtime else robot.time
        state = robot.read()
        if tick % ticks == 0:
            controller.step(state, now)
            if controller.phase in ("follow", "hold") and len(path) < controller.policy.frames:
                path.append(np.concatenate([robot.data.qpos[:7], state.q]))
        robot.write(motors.command(state, now))
        robot.advance()
        tick += 1
        if realtime:
            time.sleep(max(0.0, began + tick * robot.model.opt.timestep - time.monotonic()))
    return path


def save(out: Path, policy: Policy, path: list[np.ndarray]) -> None:
    """Write a rollout as docs/formats.md says, moved to where the motion begins: no sensor knows where the robot is."""
    motion, poses = policy.motion, np.array(path)
    back = rot.inverse(policy.turned)
    turn = np.array([rot.columns(back)[:3], rot.columns(back)[3:], [0, 0, 1]]).T
    pos = (poses[:, :3] - poses[0, :3]) @ turn.T + motion["root_pos"][0]
    pos[:, 2] = poses[:, 2]
    quat = np.array([rot.multiply(back, q) for q in poses[:, 3:7]])
    np.savez(
        out, format="phuma-rollout", version=4, motion=motion["motion"], robot=motion["robot"],
        joint_names=motion["joint_names"], fps=float(motion["fps"]),
        terminated_at=-1 if len(path) == policy.frames else len(path),
        root_pos=pos.astype(np.float32), root_quat=quat.astype(np.float32), joint_pos=poses[:, 7:].astype(np.float32),
    )  # fmt: skip


if __name__ == "__main__":
    main()
