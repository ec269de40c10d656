"""The interface of a simulator, as the environment calls it."""

from __future__ import annotations

from typing import Protocol

from phuma.core.tensors import Tensor
from phuma.sim.state import State


class Simulation(Protocol):
    """E environments, each with a robot alone on a floor. Tensors are of the simulator's own library and device."""

    num_envs: int
    """Number of environments E"""
    qpos: Tensor
    """(E, 7 + N) positions in MuJoCo's coordinates and the simulator's own precision"""
    qvel: Tensor
    """(E, 6 + N) velocities in MuJoCo's coordinates"""

    def reset(self, rows: Tensor, state: State) -> None:
        """Put the environments `rows` into the root and joint states of `state`, in their order."""

    def restore(self, qpos: Tensor, qvel: Tensor) -> None:
        """Put all environments into the states that these were copied from."""

    def step(self, target: Tensor) -> None:
        """Advance by one control step; target (E, N) rad is what the joints' controllers aim at."""

    def push(self, linear: Tensor, angular: Tensor) -> None:
        """Add (E, 3) m/s in the world and (E, 3) rad/s in the root's frame to the roots' velocities."""

    def state(self, rows: Tensor | None = None) -> State:
        """Return the state of all environments, or of the environments `rows`."""

    def touching(self) -> Tensor:
        """Return (E, B) N: the contact forces on bodies other than feet and hands, as of the last physics step."""

    def diverged(self) -> Tensor:
        """Return (E,) bool: whether the last step ended in non-finite values. The state is then the last good one."""
