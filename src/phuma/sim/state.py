"""The state of many environments at one moment, simulated or in the reference."""

from __future__ import annotations

from dataclasses import dataclass, fields

from phuma.core.tensors import Tensor, namespace, rows_of


@dataclass(frozen=True, eq=False)
class State:
    """The states of E environments, each a robot with N joints and K key bodies: world z-up, metres, radians, seconds,
    quaternions wxyz, single precision; numpy arrays or torch tensors."""

    root_pos: Tensor
    """(E, 3) m, root positions in the world"""
    root_quat: Tensor
    """(E, 4) wxyz, root rotations in the world"""
    root_linvel: Tensor
    """(E, 3) m/s, root linear velocities in the world"""
    root_angvel: Tensor
    """(E, 3) rad/s, root angular velocities in the root's frame, as a gyroscope there measures them"""
    joint_pos: Tensor
    """(E, N) rad, joint angles"""
    joint_vel: Tensor
    """(E, N) rad/s, joint velocities"""
    body_pos: Tensor
    """(E, K, 3) m, body positions in the world, in the order of the robot's `key_bodies`"""
    body_quat: Tensor
    """(E, K, 4) wxyz, body rotations in the world"""
    body_linvel: Tensor
    """(E, K, 3) m/s, linear velocities of the bodies' origins in the world"""
    body_angvel: Tensor
    """(E, K, 3) rad/s, angular velocities of the bodies in the world"""

    def __len__(self) -> int:
        return len(self.root_pos)

    def __getitem__(self, rows: Tensor) -> State:
        """Return the state of some of the environments, or of the reference at some frames."""
        return State(*(rows_of(getattr(self, f.name), rows) for f in fields(self)))

    def at(self, rows: Tensor) -> State:
        """Return the same as `self[rows]`, each array taken when it is first asked for."""
        return _Taken(self, rows)

    def replaced(self, rows: Tensor, other: State) -> State:
        """Return the state with the environments `rows` as in `other`, in their order."""
        out = []
        for f in fields(self):
            value = getattr(self, f.name)
            value = value.copy() if namespace(value).__name__ == "numpy" else value.clone()
            value[rows] = getattr(other, f.name)
            out.append(value)
        return State(*out)


class _Taken(State):
    """Rows of another state, of which most terms ask for few arrays."""

    def __init__(self, whole: State, rows: Tensor) -> None:
        vars(self).update(_whole=whole, _rows=rows)

    def __getattr__(self, name: str) -> Tensor:
        """Return an array that nobody asked for before."""
        if name not in State.__dataclass_fields__:
            raise AttributeError(name)
        value = vars(self)[name] = rows_of(getattr(self._whole, name), self._rows)
        return value
