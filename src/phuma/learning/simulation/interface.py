"""What the task asks of a simulator."""

from __future__ import annotations

from typing import Protocol

from phuma.learning.state import State
from phuma.learning.tensors import Tensor


class Simulation(Protocol):
    """E robots on a floor, each alone. Tensors are of the simulator's own library, on its own device."""

    robots: int
    """E"""
    qpos: Tensor
    """(E, 7 + N) in MuJoCo's coordinates and the simulator's own precision"""
    qvel: Tensor
    """(E, 6 + N)"""

    def reset(self, rows: Tensor, state: State) -> None:
        """Put the robots `rows` into root and joint states of `state`, in their order."""

    def restore(self, qpos: Tensor, qvel: Tensor) -> None:
        """Put all robots where they were when these were copied."""

    def step(self, target: Tensor) -> None:
        """Go on by one control step; target (E, N) rad is what the joints' controllers aim at."""

    def push(self, linear: Tensor, angular: Tensor) -> None:
        """Add (E, 3) m/s in the world and (E, 3) rad/s in the root's frame to the roots' velocities."""

    def state(self, rows: Tensor | None = None) -> State:
        """What all robots do now, or these."""

    def touching(self) -> Tensor:
        """(E, B) N: the contact forces on bodies other than feet and hands, as of the last physics step."""

    def diverged(self) -> Tensor:
        """(E,) bool: whose last step ended in numbers that mean nothing. Their state is the last good one."""
