"""Whether feet rest on a floor with restitution: the speed of the ankles of a G1 that stands.

A floor of damping ratio z returns the share  e = exp(-2 z acos z / sqrt(1 - z^2))  of a speed.
MuJoCo's own floor has z = 1.
"""

from __future__ import annotations

import copy

import numpy as np

from phuma.learning.env.task import Task
from phuma.learning.motions.references import expand
from phuma.sim.mujoco_cpu import MujocoSimulation
from tables import markdown, save
from tracking import library_of_motions

SHARES = (0.0, 0.15, 0.2, 0.3, 0.5)
STEPS = (2, 4, 20)
"""physics steps a control step of 20 ms"""
ROBOTS, LAST, FIRST = 16, 50, 15
"""robots that begin at different frames; control steps, and those of them that are not looked at"""
USUAL = 0.02
"""s: the time constant of MuJoCo's floor"""


def damping_ratio(share: float) -> float:
    """The z of a share e, at most 1."""
    ratio = np.linspace(0.0, 1.0, 2000, endpoint=False)
    returned = np.exp(-2 * ratio * np.arccos(ratio) / np.sqrt(1 - ratio**2))
    return float(np.interp(-share, -returned, ratio, right=1.0))


def ankle_speed(share: float, steps: int, same_stiffness: bool) -> float:
    """rad/s, mean over ankles, robots and control steps. The floor's stiffness goes as 1 / (time constant z)^2."""
    library, _ = library_of_motions((("stand", 0),), "physink+collision:dynamic")
    references, robot = expand(library, [0], Task(())), library.robot
    start = np.linspace(0, len(references) - LAST - 1, ROBOTS).astype(int)
    simulation = MujocoSimulation(robot, ROBOTS, steps)
    model = copy.copy(simulation.model)
    z = damping_ratio(share)
    model.geom_solref[:] = USUAL / z if same_stiffness else USUAL, z
    simulation.models = [model]
    simulation.reset(np.arange(ROBOTS), references.state[start])
    ankles = [j for j, name in enumerate(robot.joint_names) if "ankle" in name]
    speeds = []
    for step in range(1, LAST + 1):
        simulation.step(references.base[start + step])
        speeds.append(np.abs(simulation.state().joint_vel[:, ankles]).mean())
    return float(np.mean(speeds[FIRST:]))


def main() -> None:
    head = ["share returned", *(f"{20 / n:g} ms{how}" for how in ("", ", same stiffness") for n in STEPS)]
    rows = [[f"{e:g}", *(f"{ankle_speed(e, n, same):.2f}" for same in (False, True) for n in STEPS)] for e in SHARES]
    save("restitution", "Feet on a floor with restitution", markdown(head, rows), NOTE)


NOTE = (
    "Mean speed of the ankles, rad/s, of 16 G1s that stand by their feed-forward base alone, from 0.3 to 1 s after "
    "they were put on the floor; by the length of a physics step. The floor's damping ratio is lowered until it "
    "returns that share, at MuJoCo's time constant of 20 ms, or at one that keeps the floor's stiffness. MuJoCo's own "
    "floor returns 0.135 of a speed, so that 0 means that."
)


if __name__ == "__main__":
    main()
