"""Write one page that plays a film with its skeleton, the human and the robot, in step; it needs no server."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from phuma.core.rotations import Array
from phuma.core.skeleton import JOINTS, PARENTS
from phuma.core.trajectory import Trajectory
from phuma.io.atomic import write_atomic
from phuma.robots.kinematics import body_poses
from phuma.robots.robot import Robot
from phuma.robots.shapes import robot_shapes
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.stills import Stills
from phuma.viewer import style
from phuma.viewer.figure import side_colour
from phuma.viewer.html import Html, h

BONES = (
    ("shoulder", "elbow"), ("elbow", "wrist"), ("shoulder", "hip"), ("hip", "knee"), ("knee", "ankle"),
    ("ankle", "heel"), ("heel", "foot_index"), ("ankle", "foot_index"),
)  # fmt: skip
ACROSS = ("shoulder", "hip")
MOST = 6000
"""Frames of human and robot that are shown: 12 MB; of longer films fewer a second"""
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What the page may do: nothing from elsewhere"""


@dataclass(frozen=True, eq=False)
class Stretch:
    """A person's joints from a time in the film on."""

    start: float
    fps: float
    joints: Array
    """(T, 22, 3) m, z-up"""


@dataclass(frozen=True, eq=False)
class Layer:
    """What a robot does, under a name to choose it by."""

    name: str
    motions: Sequence[tuple[float, Trajectory]]
    """Each with the seconds in the film at which it begins"""


@dataclass(frozen=True)
class Span:
    """A part of the film on the timeline, and what is said of it."""

    start: float
    end: float
    kind: str
    """kept, rejected, spoiled or noted"""
    text: str


@dataclass(frozen=True, eq=False)
class FilmPage:
    """All that the page shows; times are seconds in the film."""

    title: str
    stills: Stills
    landmarks: Landmarks
    """From the first picture on"""
    people: Sequence[Stretch]
    robot: Robot
    layers: Sequence[Layer]
    spans: Sequence[Span]
    facts: Sequence[str]


def write_film_page(path: Path, page: FilmPage) -> None:
    """Write the page atomically."""
    text = page_of(page)
    write_atomic(path, lambda f: f.write(text.encode("utf-8", "replace")))


def page_of(page: FilmPage) -> str:
    """Return the page as HTML."""
    files = resources.files("phuma.viewer") / "page"
    css, body, script = ((files / f"film.{kind}").read_text("utf-8") for kind in ("css", "html", "js"))
    data = json.dumps(data_of(page), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        "<!doctype html>\n"
        + h("meta", charset="utf-8")
        + h("meta", http_equiv="Content-Security-Policy", content=POLICY)
        + h("meta", name="viewport", content="width=device-width, initial-scale=1")
        + h("title", page.title)
        + h("style", Html(css))
        + body.replace("<!--title-->", h("h1", page.title)).replace("<!--told-->", _told(page))
        + f'<script type="application/json" id="data">{data}</script>'
        + f"<script>{script}</script>\n"
    )


def data_of(page: FilmPage) -> dict[str, Any]:
    """Return what the page's program needs, as plain values; arrays are base64 of little-endian numbers."""
    stills, landmarks, every = page.stills, page.landmarks, slice(None, None, thinning(page))
    frames = len(landmarks)
    seen = landmarks.visibility * (landmarks.presence > 0)[:, None]
    return {
        "start": stills.start,
        "seconds": max(frames / landmarks.fps, len(stills.jpegs) / stills.fps),
        "stills": {"fps": stills.fps, "jpegs": [base64.b64encode(jpeg).decode() for jpeg in stills.jpegs]},
        "landmarks": {
            "fps": landmarks.fps,
            "size": list(landmarks.size),
            "image": _packed(landmarks.image.clip(-30_000, 30_000).round(), "<i2"),
            "seen": _packed((255 * seen.clip(0, 1)).round(), "u1"),
            "count": len(NAMES),
            "bones": _bones(),
        },
        "parents": list(PARENTS),
        "sides": [side_colour(name) for name in JOINTS],
        "people": [
            {
                "start": p.start,
                "fps": p.fps / every.step,
                "frames": len(p.joints[every]),
                "joints": _packed(p.joints[every], "<f4"),
            }
            for p in page.people
        ],
        "robot": _robot(page.robot) if page.layers else None,
        "layers": [
            {"name": layer.name, "motions": [_posed(page.robot, *motion, every) for motion in layer.motions]}
            for layer in page.layers
        ],
        "spans": [vars(span) for span in page.spans],
    }


def thinning(page: FilmPage) -> int:
    """Return of how many frames one is shown, so that a long film's page stays small."""
    return 1 + sum(len(p.joints) for p in page.people) // MOST


def _bones() -> list[tuple[int, int, str]]:
    """Return pairs of landmarks that a line joins, with its colour."""
    sides = {"left": style.LEFT, "right": style.RIGHT}
    own = [
        (NAMES.index(f"{side}_{a}"), NAMES.index(f"{side}_{b}"), colour)
        for side, colour in sides.items()
        for a, b in BONES
    ]
    return own + [(NAMES.index(f"left_{part}"), NAMES.index(f"right_{part}"), "#ffffff") for part in ACROSS]


def _robot(robot: Robot) -> dict[str, Any]:
    shapes = robot_shapes(robot)
    return {
        "name": robot.name,
        "height": robot.default_height,
        "bodies": [
            [
                {
                    "vertices": _packed(shape.vertices, "<f4"),
                    "faces": _packed(shape.faces, "<u2"),
                    "colour": [round(c / 255, 3) for c in shape.colour],
                }
                for shape in shapes.get(name, ())
            ]
            for name in robot.body_names
        ],
    }


def _posed(robot: Robot, start: float, motion: Trajectory, every: slice) -> dict[str, Any]:
    """Return the poses of all bodies in these frames: of each frame and body a matrix of 3 rows and 4 columns."""
    pos, matrix = (values[every] for values in body_poses(robot, motion.reordered(robot.joint_names)))
    poses = np.concatenate([matrix, pos[..., None]], axis=-1)
    return {"start": start, "fps": motion.fps / every.step, "frames": len(poses), "poses": _packed(poses, "<f4")}


def _packed(values: Array, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _when(span: Span) -> str:
    """Return the time of a span, or the times if these are two."""
    start, end = f"{span.start:.1f}", f"{span.end:.1f}"
    return f"{start} s" if start == end else f"{start} to {end} s"


def _told(page: FilmPage) -> Html:
    """Return what is said of the film and its clips, below the timeline."""
    rows = [
        h("tr", h("td", _when(s)), h("td", s.kind, class_=s.kind), h("td", s.text))
        for s in sorted(page.spans, key=lambda s: s.start)
    ]
    return Html(h("table", rows) + h("ul", [h("li", fact) for fact in page.facts]))
