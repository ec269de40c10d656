"""A rig is written as the `model.xml` of a robot's folder: primitives, no meshes, no floor, no constraints, radians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from phuma.core import rotations as rot
from phuma.core.rotations import Array
from phuma.robots.mesh_file import Mesh
from phuma.robots.onboarding.motors import Motor
from phuma.robots.onboarding.rig import Link, Rig, carrier
from phuma.robots.onboarding.shapes import Shape

BONE = 0.02  # m: radius of what is drawn for a link whose shape is not known
HEAD = """<mujoco model={name}>
  <compiler angle="radian" autolimits="true" inertiafromgeom="false" balanceinertia="true"/>
  <option timestep="0.005"/>

  <default>
    <default class="visual">
      <geom group="2" contype="0" conaffinity="0"/>
    </default>
    <default class="collision">
      <geom group="3" rgba=".8 .45 .2 .6" friction="1"/>
    </default>
  </default>
"""


def model_xml(
    rig: Rig,
    name: str,
    comment: str,
    motors: Mapping[str, Motor],
    shapes: Mapping[str, Mapping[int, Sequence[Shape]]],
    excludes: Sequence[tuple[str, str]],
    height: float,
) -> str:
    """Return the text of a model.

    `shapes` are those of the classes collision and visual by link, `height` that of the root above the ground.
    """
    lines = [f"<!-- {comment.replace('--', '- -')} -->", HEAD.format(name=quoteattr(name)), "  <worldbody>"]
    _write_body(rig, 0, motors, shapes, height, lines, "    ")
    lines.append("  </worldbody>\n\n  <contact>")
    lines += [f"    <exclude body1={quoteattr(a)} body2={quoteattr(b)}/>" for a, b in excludes]
    lines.append("  </contact>\n\n  <actuator>")
    for _, h in rig.hinges_of(range(len(rig.links))):
        m = motors[h.name]
        lines.append(
            f"    <position name={quoteattr(h.name)} joint={quoteattr(h.name)} kp={_n(m.stiffness)} kv={_n(m.damping)} "
            f"forcerange={_n(-m.torque, m.torque)}/>"
        )
    lines.append("  </actuator>\n</mujoco>\n")
    return "\n".join(lines)


def carried_shapes(rig: Rig) -> dict[int, list[Shape]]:
    """Return the shapes of every link that moves, with those of the links fixed to it, in its frame."""
    out: dict[int, list[Shape]] = {}
    for b in range(len(rig.links)):
        pos, quat, at = np.zeros(3), rot.IDENTITY, b
        while at != carrier(rig, b):
            link = rig.links[at]
            pos, quat, at = link.pos + rot.rotate(link.quat, pos), rot.multiply(link.quat, quat), link.parent
        out.setdefault(at, []).extend(s.moved(pos, quat) for s in rig.links[b].shapes)
    return out


def shown_shapes(rig: Rig) -> dict[int, list[Shape]]:
    """Return what the eye sees of each link: shapes that do not collide, else those that do, else a bone."""
    out = {}
    for b, shapes in carried_shapes(rig).items():
        drawn = [s for s in shapes if not s.collides] or shapes
        out[b] = drawn or _bones(rig, b)
    return out


def shown_meshes(rig: Rig) -> dict[str, list[Mesh]]:
    """Return the meshes of each link that the eye sees as meshes alone, by its name."""
    out = {}
    for b, shapes in carried_shapes(rig).items():
        drawn = [s for s in shapes if not s.collides] or shapes
        if drawn and all(s.faces is not None for s in drawn):
            out[rig.links[b].name] = [_mesh(s) for s in drawn]
    return out


def _mesh(shape: Shape) -> Mesh:
    assert shape.faces is not None
    red, green, blue = (round(255 * float(v)) for v in shape.rgba[:3])
    return Mesh(shape.points, shape.faces, (red, green, blue))


def _bones(rig: Rig, b: int) -> list[Shape]:
    """Lines to the links that hang on one."""
    out = []
    for c in rig.children(b):
        way = rig.links[c].pos
        length = float(np.linalg.norm(way))
        if length > 2 * BONE:
            out.append(bone(np.zeros(3), way))
    return out


def bone(start: Array, end: Array, radius: float = BONE) -> Shape:
    """Return a capsule between two points."""
    way = end - start
    length = float(np.linalg.norm(way))
    quat = rot.between(np.array([0.0, 0.0, 1.0]), way / max(length, 1e-9))
    size = np.array([radius, max(length / 2, 1e-3), 0.0])
    return Shape(
        "capsule", (start + end) / 2, quat, size, False, np.array([0.6, 0.6, 0.65, 1.0]), np.stack([start, end])
    )


def _write_body(
    rig: Rig,
    b: int,
    motors: Mapping[str, Motor],
    shapes: Mapping[str, Mapping[int, Sequence[Shape]]],
    height: float,
    lines: list[str],
    indent: str,
) -> None:
    link = rig.links[b]
    pos = np.array([0.0, 0.0, height]) if b == 0 else link.pos
    quat = rot.IDENTITY if b == 0 else link.quat
    rotation = "" if np.allclose(quat, rot.IDENTITY, atol=1e-12) else f" quat={_n(*quat)}"
    lines.append(f"{indent}<body name={quoteattr(link.name)} pos={_n(*pos)}{rotation}>")
    deeper = indent + "  "
    lines += [deeper + text for text in _inside(link, b == 0, motors)]
    for kind, of_kind in shapes.items():
        lines += [deeper + _geom(kind, s) for s in of_kind.get(b, ())]
    for c in rig.children(b):
        _write_body(rig, c, motors, shapes, height, lines, deeper)
    lines.append(f"{indent}</body>")


def _inside(link: Link, is_root: bool, motors: Mapping[str, Motor]) -> list[str]:
    out = []
    if link.mass > 0:
        out.append(
            f"<inertial pos={_n(*link.com)} quat={_n(*link.inertia_quat)} mass={_n(link.mass)} "
            f"diaginertia={_n(*link.inertia)}/>"
        )
    if is_root:
        out.append('<freejoint name="floating_base"/>')
    for h in link.hinges:
        anchor = "" if np.allclose(h.anchor, 0, atol=1e-12) else f" pos={_n(*h.anchor)}"
        out.append(
            f"<joint name={quoteattr(h.name)}{anchor} axis={_n(*h.axis)} range={_n(h.lower, h.upper)} "
            f"armature={_n(motors[h.name].armature)}/>"
        )
    return out


def _geom(kind: str, shape: Shape) -> str:
    count = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(shape.kind, 3)
    colour = "" if kind == "collision" else f" rgba={_n(*(round(float(v), 3) for v in (*shape.rgba[:3], 1.0)))}"
    rotation = "" if shape.kind == "sphere" else f" quat={_n(*shape.quat)}"
    size = _n(*shape.size[:count])
    return f'<geom class="{kind}" type="{shape.kind}" pos={_n(*shape.pos)}{rotation} size={size}{colour}/>'


def _n(*values: float) -> str:
    """Numbers as an attribute's value, to nine digits."""
    return '"' + " ".join(f"{float(v) + 0.0:.9g}" for v in values) + '"'
