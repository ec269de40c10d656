"""Simulate by mujoco_warp: all environments in one batch, on a GPU, or slowly on the CPU."""

from __future__ import annotations

from collections.abc import Callable

import mujoco

from phuma.core.tensors import Tensor
from phuma.errors import ConfigError, missing_extra
from phuma.robots.robot import Robot
from phuma.sim.model import simulation_model
from phuma.sim.randomization import Randomization, randomizable_model, randomized_fields
from phuma.sim.state import State

try:
    import mujoco_warp as mjw
    import torch
    import warp as wp
except ModuleNotFoundError as e:
    raise missing_extra(e, "simulation by mujoco_warp") from None

MOST_CONTACTS = 64
"""Contacts per environment, on average over all, and of pairs of shapes that are near; 28 is the most seen in one"""
MOST_CONSTRAINTS = 192
"""Constraints per environment: four for a contact, one for a joint at its limit; 140 is the most seen, half a metre
deep in the floor"""
HUGE = 1e10
"""Size of a number from which on MuJoCo takes it for diverged"""


def known_device(name: str) -> wp.Device:
    """Return Warp's device of this name, or raise an error that lists the devices."""
    try:
        return wp.get_device(name)
    except (RuntimeError, ValueError) as e:
        raise ConfigError(f"device {name!r}: {e}; there are: {', '.join(map(str, wp.get_devices()))}") from None


class WarpSimulation:
    """A simulation of `num_envs` environments with a robot each, `substeps` physics steps per control step; torch
    tensors on `device`, cpu or cuda. A `model` of the robot may stand in for that of `simulation_model`.

    Single precision. The solver starts each physics step from the last one's forces, also across control steps. On CUDA
    the work of a control step is recorded once as a graph and replayed; this has not been tried, for want of a GPU.
    """

    def __init__(
        self,
        robot: Robot,
        num_envs: int,
        substeps: int,
        device: str = "cpu",
        randomization: Randomization | None = None,
        model: mujoco.MjModel | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.substeps = substeps
        self.model = simulation_model(robot, substeps) if model is None else model
        wp.config.log_level = wp.LOG_WARNING
        self._warp_device, self.device = known_device(device), torch.device(device)
        fields = {}
        if randomization is not None:
            self.model, fields = randomizable_model(self.model), randomized_fields(self.model, robot, randomization)
        with wp.ScopedDevice(self._warp_device):
            self._model = mjw.put_model(self.model, batch_sizes=dict.fromkeys(fields, num_envs))
            self._data = mjw.make_data(self.model, nworld=num_envs, nconmax=MOST_CONTACTS, njmax=MOST_CONSTRAINTS)
        self._model.opt.warn_overflow = 0
        for name, values in fields.items():
            getattr(self._model, name).assign(values)
        data = self._data
        self.qpos, self.qvel, self._control = (wp.to_torch(x) for x in (data.qpos, data.qvel, data.ctrl))
        self._warm = wp.to_torch(data.qacc_warmstart)
        self._pos, self._quat = wp.to_torch(data.xpos), wp.to_torch(data.xquat)
        self._twist, self._centre = wp.to_torch(data.cvel), wp.to_torch(data.subtree_com)
        self._sensed, self._overflow = wp.to_torch(data.sensordata), wp.to_torch(data.overflow)
        self._key = torch.tensor([self.model.body(name).id for name in robot.key_bodies], device=self.device)
        self._advance, self._pose = self._recorded(self._physics), self._recorded(self._kinematics)
        self._diverged = torch.zeros(num_envs, dtype=torch.bool, device=self.device)
        for tensor in (self.qpos, self.qvel, self._warm, self._sensed, self._overflow):
            tensor.zero_()
        self.qpos[:, 3] = 1.0
        self._posed = False

    def reset(self, rows: Tensor, state: State) -> None:
        self.qpos[rows] = torch.cat([state.root_pos, state.root_quat, state.joint_pos], 1)
        self.qvel[rows] = torch.cat([state.root_linvel, state.root_angvel, state.joint_vel], 1)
        self._warm[rows] = 0.0
        self._diverged[rows] = False
        self._posed = False

    def restore(self, qpos: Tensor, qvel: Tensor) -> None:
        self.qpos.copy_(qpos)
        self.qvel.copy_(qvel)
        self._warm.zero_()
        self._diverged.zero_()
        self._posed = False

    def step(self, target: Tensor) -> None:
        qpos, qvel = self.qpos.clone(), self.qvel.clone()
        self._control.copy_(target)
        self._advance()
        # With more contacts than there is room for, some are left out, and the state counts as diverged too.
        good = (self._overflow == 0) & target.isfinite().all(1)
        for tensor in (self.qpos, self.qvel):
            good &= (tensor.abs() < HUGE).all(1)
        self._diverged = ~good
        self.qpos.copy_(torch.where(good[:, None], self.qpos, qpos))
        self.qvel.copy_(torch.where(good[:, None], self.qvel, qvel))
        self._warm.masked_fill_(self._diverged[:, None], 0.0)
        self._overflow.zero_()
        self._posed = False

    def push(self, linear: Tensor, angular: Tensor) -> None:
        self.qvel[:, :3] += linear
        self.qvel[:, 3:6] += angular
        self._posed = False

    def state(self, rows: Tensor | None = None) -> State:
        if not self._posed:
            self._pose()
            self._posed = True
        who = torch.arange(self.num_envs, device=self.device) if rows is None else rows
        qpos, qvel = self.qpos[who], self.qvel[who]
        quat = qpos[:, 3:7] / qpos[:, 3:7].norm(dim=1, keepdim=True)
        pos, body_quat, twist = (x[who][:, self._key] for x in (self._pos, self._quat, self._twist))
        # MuJoCo's velocities are of the point of the body that is at the whole robot's centre of mass.
        spin, arm = twist[..., :3], pos - self._centre[who, 1][:, None]
        speed = twist[..., 3:] + torch.linalg.cross(spin, arm)
        return State(
            qpos[:, :3], quat, qvel[:, :3], qvel[:, 3:6], qpos[:, 7:], qvel[:, 6:], pos, body_quat, speed, spin
        )

    def touching(self) -> Tensor:
        return self._sensed.reshape(self.num_envs, -1, 3).norm(dim=-1)

    def diverged(self) -> Tensor:
        return self._diverged

    def _physics(self) -> None:
        for _ in range(self.substeps):
            mjw.step(self._model, self._data)

    def _kinematics(self) -> None:
        """Compute poses and velocities, which a step leaves as they were before it."""
        mjw.kinematics(self._model, self._data)
        mjw.com_pos(self._model, self._data)
        mjw.com_vel(self._model, self._data)

    def _recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """Return a function that does `work` on the device, on CUDA as one recorded graph."""

        def on_device() -> None:
            with wp.ScopedDevice(self._warp_device):
                work()

        if not self._warp_device.is_cuda:
            return on_device
        on_device()  # loads the kernels
        with wp.ScopedDevice(self._warp_device), wp.ScopedCapture() as capture:
            work()
        return lambda: wp.capture_launch(capture.graph)
