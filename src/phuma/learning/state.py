"""What many robots do at one moment, simulated or in the reference."""

from __future__ import annotations

from dataclasses import dataclass, fields

from phuma.learning.tensors import Tensor, namespace


@dataclass(frozen=True, eq=False)
class State:
    """E robots with N joints and K key bodies: world z-up, metres, radians, seconds, quaternions wxyz, single
    precision; numpy arrays or torch tensors."""

    root_pos: Tensor
    """(E, 3)"""
    root_quat: Tensor
    """(E, 4)"""
    root_linvel: Tensor
    """(E, 3) in the world"""
    root_angvel: Tensor
    """(E, 3) in the root's frame, as a gyroscope there has it"""
    joint_pos: Tensor
    """(E, N)"""
    joint_vel: Tensor
    """(E, N)"""
    body_pos: Tensor
    """(E, K, 3) in the world, in the order of the robot's `key_bodies`"""
    body_quat: Tensor
    """(E, K, 4)"""
    body_linvel: Tensor
    """(E, K, 3) of the bodies' origins, in the world"""
    body_angvel: Tensor
    """(E, K, 3) in the world"""

    def __len__(self) -> int:
        return len(self.root_pos)

    def __getitem__(self, rows: Tensor) -> State:
        """Of some of the robots, or of the reference at some frames."""
        return State(*(getattr(self, f.name)[rows] for f in fields(self)))

    def replaced(self, rows: Tensor, other: State) -> State:
        """With the robots `rows` as in `other`, in their order."""
        out = []
        for f in fields(self):
            value = getattr(self, f.name)
            value = value.copy() if namespace(value).__name__ == "numpy" else value.clone()
            value[rows] = getattr(other, f.name)
            out.append(value)
        return State(*out)
