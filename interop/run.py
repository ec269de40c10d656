"""Try exports in the programs that they are for: `make interop`, or `run.py NAME...` for some of them.

Each peer has a file here, `NAME_peer.py`, that says what to install and what to export. It is run in an environment of
its own, made below `.venvs` on the first run, where it loads the export with the peer's code, compares it with the
motion as we have it, and prints a row. Nothing of a peer is part of this project.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import phuma
from phuma.dataset.dataset import Dataset
from phuma.dataset.exchange import export_motion, format_named
from phuma.formats.robot_motion_file import load_robot_motion, save_robot_motion
from phuma.learning.motions.library import library_of
from phuma.pipelines.evaluate_policy import judge_policy, load_stranger
from phuma.robots.kinematics import body_poses
from phuma.synth import generate

HERE = Path(__file__).resolve().parent
VENVS = HERE / ".venvs"
TABLE = HERE.parent / "docs" / "tables" / "interop.md"
HEADER = ("peer", "version", "what its own code did", "positions differ by [mm]", "velocities differ by", "remarks")
SECONDS = 1800


def main(names: list[str]) -> int:
    """Run the peers of these names, or all, and return how many failed."""
    peers = {path.stem.removesuffix("_peer"): path for path in sorted(HERE.glob("*_peer.py"))}
    if unknown := set(names) - set(peers):
        print(f"no peer {', '.join(sorted(unknown))}; there are: {', '.join(peers)}")
        return 2
    folder = HERE / ".venvs" / "exports"
    motion = made_motion(folder)
    rows = []
    for name, path in peers.items():
        if not names or name in names:
            rows.append(tried(name, path, folder, motion))
            print(" | ".join(rows[-1][column] for column in HEADER), flush=True)
    if not names:
        TABLE.write_text(as_table(rows))
    return sum(row["failed"] for row in rows)


def made_motion(folder: Path) -> phuma.RobotMotion:
    """Return a walk of the G1 that keeps clear of its limits, and store what peers' results are compared with."""
    folder.mkdir(parents=True, exist_ok=True)
    robot = phuma.load_robot("g1")
    motion = phuma.retarget(generate("walk", 4.0, 3).motion, robot, within=0.9)
    for fps in (30, 50):
        at = motion.resampled(float(fps))
        np.savez(
            folder / f"truth_{fps}.npz", root_pos=at.root_pos, root_quat=at.root_quat, joint_pos=at.joint_pos,
            joint_names=robot.joint_names, body_names=robot.body_names, body_pos=body_poses(robot, at)[0],
            model=str(robot.model_file),
        )  # fmt: skip
    save_robot_motion(folder / "walk.npz", motion)
    return motion


def made_policy(dialect: str, folder: Path) -> None:
    """Train a policy that other projects can run on a squat, and write it as they have it, and the squat for mjlab."""
    out = folder / f"policy_{dialect}.onnx"
    if out.exists():
        return
    data, run = folder / "squats", folder / "squat_run"
    for old in (data, run):
        shutil.rmtree(old, ignore_errors=True)
    phuma_command("synth", "--type", "squat", "--count", 1, "--seconds", 4, "--out", folder / "squat")
    phuma_command("build", folder / "squat", "--robot", "g1", "--out", data)
    phuma_command("train", data, "--preset", "deploy", "--split", "all", "--minutes", 2, "--out", run)
    (clip,) = Dataset(data).entries()
    export_motion(clip.motion(), phuma.load_robot("g1"), folder / "squat_mjlab.npz", "mjlab")
    phuma_command("policy", "export", run, "--dialect", dialect, "--motion", data, "--clip", clip.id, "--out", out)


def observed_by(path: Path, dialect: str) -> int:
    """Return how many numbers a policy observes that a peer's own exporter wrote, after it was tried on a walk."""
    policy = load_stranger(path, dialect)
    judge_policy(policy, library_of(policy.robot, [("walk", load_robot_motion(path.parents[1] / "walk.npz"), None)]))
    return policy.info.task.actor[0].width(policy.info)


def phuma_command(*words: object) -> None:
    """Run one of our commands."""
    subprocess.run([sys.executable, "-m", "phuma", *map(str, words)], check=True, capture_output=True, text=True)


def tried(name: str, path: Path, folder: Path, motion: phuma.RobotMotion) -> dict[str, Any]:
    """Return the row of a peer: what its script said, or why there is none."""
    peer = loaded(path)
    try:
        python = environment(name, peer.INSTALL)
        exported(peer.FORMAT, folder, motion)
        if hasattr(peer, "DIALECT"):
            made_policy(peer.DIALECT, folder)
        done = subprocess.run([python, path, folder], capture_output=True, text=True, timeout=SECONDS, check=True)
        said = json.loads(done.stdout.strip().splitlines()[-1])
        if hasattr(peer, "DIALECT"):
            said["remarks"] += (
                f"; its own policy is judged, {observed_by(folder / peer.THEIRS, peer.DIALECT)} numbers wide"
            )
        return {"peer": peer.TITLE, "failed": False, **{column: str(said.get(column, "")) for column in HEADER[1:]}}
    except (subprocess.SubprocessError, json.JSONDecodeError, IndexError, phuma.PhumaError) as e:
        print(getattr(e, "stderr", "") or e, file=sys.stderr)
        return {**dict.fromkeys(HEADER, ""), "peer": peer.TITLE, HEADER[2]: "not run: see above", "failed": True}


def loaded(path: Path) -> ModuleType:
    """Return a peer's script as a module; it imports the peer only when it is run."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def environment(name: str, install: list[list[str]]) -> Path:
    """Return the Python of a peer's environment, which is made where what is to be installed is new."""
    root = VENVS / name
    wanted, ready = json.dumps(install), root / ".ready"
    python = root / "bin" / "python"
    if not ready.exists() or ready.read_text() != wanted:
        venv.create(root, with_pip=True, clear=True)
        for words in install:
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *words], cwd=HERE.parent, check=True, capture_output=True,
                text=True, timeout=SECONDS,
            )  # fmt: skip
        ready.write_text(wanted)
    return python


def exported(layout: str | None, folder: Path, motion: phuma.RobotMotion) -> None:
    """Write the motion in a format; a layout of one dataset for all is written by the command."""
    if layout is None:
        return
    if format_named(layout).gather is None:
        export_motion(motion, phuma.load_robot("g1"), folder / f"{layout}{format_named(layout).suffix}", layout)
        return
    phuma_command("export", folder / "walk.npz", "--format", layout, "--out", folder / layout)


def as_table(rows: list[dict[str, Any]]) -> str:
    """Return the table as docs/tables has it."""
    lines = [HEADER, ["---"] * len(HEADER), *([row[column] for column in HEADER] for row in rows)]
    said = "Made by `make interop`: a walk of the G1, 4 s, exported and loaded with the peers' own code, on a CPU.\n\n"
    return said + "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
