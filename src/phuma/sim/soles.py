"""Soles of other sizes than the model's, as two files of one robot have them."""

from __future__ import annotations

import mujoco
import numpy as np

from phuma.core.rotations import Array, to_matrix
from phuma.robots.robot import Robot


def sole_fields(model: mujoco.MjModel, robot: Robot, factors: Array) -> dict[str, Array]:
    """Return sizes and places of all shapes, (E, G, 3) each, with feet of other lengths and widths: factors (E, 2), at
    most 1, about the middle of each sole."""
    size, pos = (np.repeat(values[None], len(factors), axis=0) for values in (model.geom_size, model.geom_pos))
    for side, along in enumerate(_directions(robot)):
        middle = robot.sole_point[2 * side : 2 * side + 2].mean(axis=0)
        body = model.body(robot.body_names[int(robot.sole_body[2 * side])])
        for geom in range(int(body.geomadr[0]), int(body.geomadr[0] + body.geomnum[0])):
            off = along @ (model.geom_pos[geom] - middle)  # (2,) m, along the sole and across it
            pos[:, geom] += ((factors - 1) * off) @ along
            if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
                share = np.abs(along @ to_matrix(model.geom_quat[geom]))  # (2, 3), of the box's own axes
                size[:, geom] *= 1 + (factors - 1) @ share
    return {"geom_size": size, "geom_pos": pos}


def _directions(robot: Robot) -> list[Array]:
    """Return for either foot (2, 3) unit vectors along its sole and across it, in its body's frame."""
    out = []
    for side in range(2):
        rear, front = robot.sole_point[2 * side : 2 * side + 2]
        inner, outer = robot.sole_side[side]
        along = (front - rear) / np.linalg.norm(front - rear)
        across = outer - inner - along * ((outer - inner) @ along)
        out.append(np.stack([along, across / np.linalg.norm(across)]))
    return out
