"""What pictures of robots cost without a graphics card: drawn, by their shapes and by how fine they are; encoded."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from phuma.core import rotations as rot
from phuma.core.provenance import Provenance
from phuma.core.robot_motion import RobotMotion
from phuma.robots import Robot, load_robot
from phuma.robots.meshes import PACKAGE, read_stl, visual_meshes
from phuma.robots.shapes import Shape, robot_shapes
from phuma.viewer import film, scene
from tables import markdown, save

SIZE = (640, 480)
FPS = 30.0
FRAMES = 30
ROUNDS = 5  # the least of them counts: what else the machine does only adds
ENCODED = 150


def swaying(robot: Robot) -> RobotMotion:
    """Every joint about its default pose."""
    phase = np.sin(2 * np.pi * np.arange(FRAMES) / FRAMES)[:, None]
    joints = np.clip(robot.default_pose + 0.25 * phase, robot.lower, robot.upper)
    root = np.tile([0.0, 0.0, robot.default_height], (FRAMES, 1))
    still = np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, 1))
    made = Provenance("swaying", "benchmark")
    return RobotMotion(robot.name, robot.joint_names, FPS, root, still, joints, np.ones((FRAMES, 4)), None, made)


def least(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds and CPU seconds of a round."""
    spent = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        spent.append((time.perf_counter() - wall, time.process_time() - cpu))
    seconds, cpu_seconds = np.min(spent, axis=0)
    return float(seconds), float(cpu_seconds)


def drawn(robot: Robot) -> list[object]:
    """Pictures a second and CPU milliseconds a picture; the first picture, which sets everything up, is not counted."""
    count = FRAMES // ROUNDS
    pictures = film.frames_of([swaying(robot)], [robot], [0, *range(ROUNDS * count)], size=SIZE)
    next(pictures)
    seconds, cpu = least(lambda: [next(pictures) for _ in range(count)])
    pictures.close()
    return [f"{count / seconds:.1f}", f"{1000 * cpu / count:.0f}"]


def triangles(shapes: dict[str, tuple[Shape, ...]]) -> str:
    return f"{sum(len(shape.faces) for parts in shapes.values() for shape in parts):,}"


def whole_meshes(robot: Robot) -> dict[str, tuple[Shape, ...]]:
    """The package's files as they are."""
    out = {}
    for body, placed in (visual_meshes(robot) or {}).items():
        shapes = []
        for mesh in placed:
            corners = mesh.pos + rot.rotate(mesh.quat, read_stl(mesh.file))
            faces = np.arange(corners.size // 3, dtype=np.int32).reshape(-1, 3)
            shapes.append(Shape(corners.reshape(-1, 3).astype(np.float32), faces, mesh.colour))
        out[body] = tuple(shapes)
    return out


def shape_rows() -> list[list[object]]:
    rows: list[list[object]] = []
    g1 = load_robot("g1")
    if visual_meshes(g1) is not None:
        whole = whole_meshes(g1)
        with patch.object(scene, "robot_shapes", lambda robot: whole):
            rows.append(["G1", "real meshes, whole", triangles(whole), *drawn(g1)])
        rows.append(["G1", "real meshes, decimated", triangles(robot_shapes(g1)), *drawn(g1)])
    with patch("phuma.robots.shapes.visual_meshes", lambda robot: None), patch("phuma.robots.shapes._KEPT", {}):
        for robot, title in ((g1, "G1"), (load_robot("h1_2"), "H1-2")):
            with patch.object(scene, "_dress", lambda spec, robot: None):
                rows.append([title, "primitives, as MuJoCo draws them", "", *drawn(robot)])
            rows.append([title, "primitives", triangles(robot_shapes(robot)), *drawn(robot)])
    return rows


def quality_rows() -> list[list[object]]:
    """The G1 as it is shown here, with less beauty."""
    rows: list[list[object]] = []
    stage, robot = scene._stage, load_robot("g1")
    for samples in (4, 0):
        for shadows in (2048, 1024, 0):

            def plainer(width: int, height: int, samples: int = samples, shadows: int = shadows):
                spec = stage(width, height)
                spec.visual.quality.offsamples = samples
                spec.visual.quality.shadowsize = shadows or 1024
                spec.lights[0].castshadow = bool(shadows)
                return spec

            with patch.object(scene, "_stage", plainer):
                rows.append([samples or "none", shadows or "none", *drawn(robot)])
    return rows


def film_rows() -> list[list[object]]:
    robot = load_robot("g1")
    motion = swaying(robot)
    pictures = list(film.frames_of([motion], [robot], range(0, FRAMES, 4), size=SIZE))
    many = [pictures[k % len(pictures)] for k in range(ENCODED)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        encoding = least(lambda: film._write_mp4(path, iter(many), FPS))[0]
        whole = least(lambda: film.film(path, [motion], [robot], size=SIZE))[0]
    return [["encoding alone", f"{ENCODED / encoding:.0f}"], ["drawing and encoding", f"{FRAMES / whole:.1f}"]]


def main() -> None:
    missing = "" if visual_meshes(load_robot("g1")) else f" `{PACKAGE}` was not installed: no rows for real meshes."
    save(
        "drawing",
        "What pictures of robots cost",
        f"{SIZE[0]} x {SIZE[1]}, one robot, drawn by MuJoCo in software. CPU time is that of all threads.{missing}",
        markdown(["robot", "shapes", "triangles", "pictures a second", "CPU ms a picture"], shape_rows()),
        "The G1 by the samples a pixel that smooth its edges and by the size of the shadow map; films have 4 and 1024:",
        markdown(["samples", "shadow map", "pictures a second", "CPU ms a picture"], quality_rows()),
        "Films of the G1 as mp4:",
        markdown(["", "pictures a second"], film_rows()),
    )


if __name__ == "__main__":
    main()
