"""What curation costs: CPU seconds a minute of motion, growth with length, BVH parsing, memory."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from phuma.body.choice import SmplShape, choose_body
from phuma.core import rotations as rot
from phuma.core.human_motion import HumanMotion
from phuma.curation import curate
from phuma.sources import bvh, read
from phuma.synth import generate
from tables import markdown, save

REPEATS = 5
MINUTE = 60.0


def long_walk(minutes: float, fps: float) -> HumanMotion:
    """A walk of any length: ten seconds, said over and over, each time further on."""
    piece = generate("walk", seconds=10.0, seed=3, fps=fps).motion
    times = round(minutes * 6)
    step = piece.root_pos[-1] - piece.root_pos[0]
    step[2] = 0
    root = np.concatenate([piece.root_pos + k * step for k in range(times)])
    return replace(piece, root_pos=root, joint_quat=np.tile(piece.joint_quat, (times, 1, 1)))


def cpu_seconds(work) -> float:
    """The least of several runs: what else the machine does only adds."""
    spent = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def smplx_like(motion: HumanMotion) -> HumanMotion:
    """The same motion on a body that is skinned and has pose blend shapes, as SMPL-X has."""
    rng = np.random.default_rng(0)
    weights = motion.body.sole_weights * 0.9
    weights[:, [7, 8]] += 0.1 * (motion.body.sole_weights > 0).any(axis=1)[:, None] / 2
    body = replace(motion.body, sole_weights=weights, pose_dirs=1e-4 * rng.normal(size=(88, 3, 21, 3, 3)))
    return replace(motion, body=body)


def whole_mesh_frame_by_frame(frames: int) -> float:
    """CPU seconds a frame of posing a mesh of SMPL-X's size, to read 88 of its vertices: how it is done elsewhere."""
    rng = np.random.default_rng(0)
    vertices, joints = 10475, 55
    template = rng.normal(size=(vertices, 3)).astype(np.float32)
    pose_dirs = rng.normal(size=(vertices * 3, 486)).astype(np.float32)
    weights = rng.dirichlet(np.ones(joints), size=vertices).astype(np.float32)
    poses = rot.to_matrix(rot.normalize(rng.normal(size=(frames, joints, 4)))).astype(np.float32)
    began = time.process_time()
    for local in poses:
        shaped = template + (pose_dirs @ (local[1:] - np.eye(3, dtype=np.float32)).reshape(-1)).reshape(-1, 3)
        transforms = np.tile(np.eye(4, dtype=np.float32), (joints, 1, 1))
        transforms[:, :3, :3] = local
        blended = (weights @ transforms.reshape(joints, 16)).reshape(-1, 4, 4)
        np.einsum("vij,vj->vi", blended[:, :3, :3], shaped) + blended[:, :3, 3]
    return (time.process_time() - began) / frames


def speed_rows() -> list[list[object]]:
    rows: list[list[object]] = []
    one_30, one_120 = long_walk(1, 30.0), long_walk(1, 120.0)
    rows.append(["own skeleton or known body, 30 Hz", cpu_seconds(lambda: curate(one_30).clips)])
    rows.append(["the same, 120 Hz", cpu_seconds(lambda: curate(one_120).clips)])

    def fitted() -> None:
        body, _ = choose_body("open", SmplShape("smplx"), one_120.root_pos, one_120.joint_quat, one_120.fps)
        curate(replace(one_120, body=body)).clips  # noqa: B018

    rows.append(["open body, fitted to the recording, 120 Hz", cpu_seconds(fitted)])
    skinned = smplx_like(one_120)
    rows.append(["SMPL-X body (skinning and pose blend shapes), 120 Hz", cpu_seconds(lambda: curate(skinned).clips)])
    rows.append(["whole mesh, frame by frame, posing alone", whole_mesh_frame_by_frame(100) * 1800])
    return rows


def length_rows() -> list[list[object]]:
    rows: list[list[object]] = []
    for minutes in (0.25, 1, 4, 15, 60):
        motion = long_walk(minutes, 30.0)
        spent = cpu_seconds(lambda motion=motion: curate(motion).clips)
        rows.append([f"{minutes:g} min", spent, spent / minutes])
    return rows


def in_new_process(code: str) -> list[float]:
    done = subprocess.run([sys.executable, __file__, code], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def bvh_rows(folder: Path) -> list[list[object]]:
    rows: list[list[object]] = []
    for minutes in (10, 60):
        path = folder / f"{minutes}.bvh"
        bvh.write(path, long_walk(minutes, 120.0))
        read_cpu, read_wall, all_cpu, peak = in_new_process(str(path))
        name = f"{minutes} min at 120 Hz, {path.stat().st_size / 1e6:.0f} MB"
        rows.append([name, read_cpu, read_wall, all_cpu, f"{peak:.0f}"])
    return rows


def measure_file(path: str) -> None:
    """In a process of its own: reading, then curation, and the most memory that took."""
    cpu, wall = time.process_time(), time.perf_counter()
    motion = read(path)
    read_cpu, read_wall = time.process_time() - cpu, time.perf_counter() - wall
    curate(motion).clips  # noqa: B018
    print(read_cpu, read_wall, time.process_time() - cpu, peak_megabytes())


def peak_megabytes() -> float:
    """Of this process alone; the usual call counts its parent's memory too on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(
            "curation_speed",
            "What curation costs",
            "CPU seconds a minute of motion, on one thread, from parsed arrays to verdicts:",
            markdown(["", "CPU s a minute"], speed_rows()),
            "Growth with length (30 Hz, known body):",
            markdown(["length", "CPU s", "CPU s a minute"], length_rows()),
            "A BVH file in a process of its own, from the text to verdicts:",
            markdown(["file", "reading, CPU s", "reading, s", "all, CPU s", "peak memory, MB"], bvh_rows(Path(folder))),
        )


if __name__ == "__main__":
    measure_file(sys.argv[1]) if len(sys.argv) > 1 else main()
