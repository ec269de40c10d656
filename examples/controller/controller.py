"""From standing through a motion to a stop, with the last word before the motors: limits and a watchdog.

Nothing here knows whether the robot is simulated. `Controller.step` is called at the policy's rate, `Motors.command` at
the motors' rate; on a robot in a thread of its own, so that the watchdog bites while the policy hangs.
"""

from typing import NamedTuple

import numpy as np
import rotations as rot
from policy import Policy, State

STAND, BLEND, SETTLE, HOLD, DAMP = 1.0, 2.0, 0.5, 1.0, 1.0
"""s of standing, of the way into the motion's first pose, of waiting there, of holding its last pose, and of damping
before the end"""
STIFFER, DAMPER = 3.0, 1.7
"""Factors on the policy's stiffness and damping while no policy balances the robot: its gains are soft"""
BALANCE, BALANCE_RATE = 2.0, 0.2
"""rad of the ankles per rad of the root's tilt, and per rad/s of its rate, while no policy balances the robot"""
LATE = 3.0
"""Control steps without a new target after which the motors are damped"""
DAMPING = 3.0
"""N m s/rad of motors that are damped"""
NEAR, BEYOND = 0.02, 0.3
"""rad from a joint's limit from which on no target is beyond it; rad beyond a limit from which on it is a fault: the
stops of a simulated robot give way, and landing from a jump takes an ankle 0.23 rad beyond; a real one's do not"""
LOST = 1.0
"""rad between the robot's up and the motion's from which on the robot has fallen"""

DONE = "done"
"""Why motors are damped that have done what was asked"""


class Command(NamedTuple):
    """What motors are sent:  torque = kp (q - measured q) + kd (dq - measured dq) + tau."""

    q: np.ndarray
    dq: np.ndarray
    kp: np.ndarray
    kd: np.ndarray
    tau: np.ndarray


class Motors:
    """The newest target within limits; or damping, once the watchdog has bitten or the controller has stopped."""

    def __init__(self, policy: Policy) -> None:
        about, motion = policy.about, policy.motion
        self.kp, self.kd, self.limit = (np.array(about[name]) for name in ("stiffness", "damping", "torque_limit"))
        self.lower, self.upper = motion["joint_lower"].astype(float), motion["joint_upper"].astype(float)
        self.names, self.patience = about["joint_names"], LATE * policy.period
        self.newest: tuple[np.ndarray, float, float, float] | None = None
        self.damped: str | None = None
        """Why the motors are damped; once damped they stay so"""

    def aim(self, target: np.ndarray, now: float, stiffer: float = 1.0, damper: float = 1.0) -> None:
        """Take a new target (N,) rad, with factors on the policy's gains; one that is not finite damps the motors."""
        if np.isfinite(target).all():
            self.newest = target, now, stiffer, damper
        else:
            self.damp(f"target of {self.names[int(np.argmin(np.isfinite(target)))]} is not finite")

    def damp(self, reason: str) -> None:
        """Damp the motors for good."""
        self.damped = self.damped or reason

    def command(self, state: State, now: float) -> Command:
        """Return what to send now; `now` is of the same clock as in `aim`."""
        measured = np.concatenate([*state])
        off = np.maximum(self.lower - state.q, state.q - self.upper)
        if not np.isfinite(measured).all():
            self.damp("a sensor is not finite")
        elif off.max() > BEYOND:
            self.damp(f"{self.names[int(off.argmax())]} is {off.max():.2f} rad beyond its limit")
        elif self.newest is None or now - self.newest[1] > self.patience:
            self.damp("no target in time")
        zero = np.zeros(len(self.kp))
        if self.damped or self.newest is None:
            return Command(zero, zero, zero, np.full(len(zero), DAMPING), zero)
        target, _, stiffer, damper = self.newest
        kp, kd = stiffer * self.kp, damper * self.kd
        return Command(self.within_limits(target, state, kp, kd), zero, kp, kd, zero)

    def within_limits(self, target: np.ndarray, state: State, kp: np.ndarray, kd: np.ndarray) -> np.ndarray:
        """Return the target (N,) rad that asks for no torque beyond a motor's limit, and, of a joint at the end of its
        range, for nothing further out."""
        target = np.where(state.q > self.upper - NEAR, np.minimum(target, self.upper), target)
        target = np.where(state.q < self.lower + NEAR, np.maximum(target, self.lower), target)
        still = state.q + kd / kp * state.dq  # here the torque is zero
        return np.clip(target, still - self.limit / kp, still + self.limit / kp)


class Controller:
    """Stand, blend into the motion's first pose, follow it, hold its last pose, and damp. `stop` damps at any time."""

    def __init__(self, policy: Policy, motors: Motors, stand: bool = True) -> None:
        self.policy, self.motors = policy, motors
        self.phase, self.steps = ("stand" if stand else "follow"), 0

    def step(self, state: State, now: float) -> None:
        """Do one control step."""
        if self.motors.damped and self.phase not in ("damp", "end"):
            self.enter("damp")
        passed = self.steps * self.policy.period
        self.steps += 1
        getattr(self, self.phase)(state, now, passed)

    def enter(self, phase: str) -> None:
        """Begin a phase."""
        self.phase, self.steps = phase, 0

    def stop(self, reason: str) -> None:
        """Damp the motors, whatever the phase."""
        self.motors.damp(reason)

    def stand(self, state: State, now: float, passed: float) -> None:
        self.balance(state, now, 0.0)
        if passed >= STAND:
            self.enter("blend")

    def blend(self, state: State, now: float, passed: float) -> None:
        self.balance(state, now, (1 - np.cos(np.pi * min(passed / BLEND, 1.0))) / 2)
        if passed >= BLEND + SETTLE:
            self.enter("follow")

    def balance(self, state: State, now: float, share: float) -> None:
        """Aim at a pose between standing and the motion's first one, and lean on the ankles against the root's tilt."""
        first = {name: self.policy.motion[name][0] for name in ("joint_pos", "root_quat")}
        target = (1 - share) * self.policy.default_pose + share * first["joint_pos"]
        tilt = rot.up(state.quat) - share * rot.up(first["root_quat"])
        for joint, name in enumerate(self.motors.names):
            if "ankle_pitch" in name:
                target[joint] += -BALANCE * tilt[0] + BALANCE_RATE * state.gyro[1]
            elif "ankle_roll" in name:
                target[joint] += BALANCE * tilt[1] + BALANCE_RATE * state.gyro[0]
        self.motors.aim(target, now, STIFFER, DAMPER)

    def follow(self, state: State, now: float, passed: float) -> None:
        if self.steps == 1:
            self.policy.begin(state)
        target = self.policy.target(state)
        if target is None:
            return self.enter("hold")
        self.motors.aim(target, now)
        self.last = target
        tilt = rot.up(self.policy.anchor(state)) @ rot.up(self.policy.wanted("anchor", self.policy.frame - 1))
        if tilt < np.cos(LOST):
            self.motors.damp("the robot has fallen")
        return None

    def hold(self, state: State, now: float, passed: float) -> None:
        self.motors.aim(self.last, now)
        if passed >= HOLD:
            self.motors.damp(DONE)

    def damp(self, state: State, now: float, passed: float) -> None:
        if passed >= DAMP:
            self.enter("end")

    def end(self, state: State, now: float, passed: float) -> None:
        """Do nothing: the robot lies or hangs."""
