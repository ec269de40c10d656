"""What a robot aims at by the law of a motion's certificate, where a policy estimates how far it is from the motion.

Along the certified performance, and along ways back to it, there are gains K that hold near the state of one moment k,
for the deviation x from it, and L with |L x|^2 what that will cost. Taken are the gains of the moment, within AWAY
steps of the clock t, for which |L_k x_k|^2 + w (k - t)^2 is least; of a way back, where that costs less.
"""

import numpy as np
import rotations as rot

AWAY = 10


class Law:
    """The law in a motion's file, from what the policy's output says."""

    def __init__(self, motion: dict, units: np.ndarray) -> None:
        self.motion, self.units = motion, np.array(units)
        own = {name[4:]: values.astype(float) for name, values in motion.items() if name.startswith("law_")}
        self.qpos, self.qvel, self.aimed, self.gains, self.value = (
            own[name] for name in ("qpos", "qvel", "target", "gains", "value")
        )
        self.lateness = own["lateness"]
        steps = own["steps"].astype(int)
        self.first = np.cumsum(steps) - steps
        self.last, self.begin = self.first + steps - 1, own["begin"].astype(int)

    def target(self, deviation: np.ndarray, t: int) -> np.ndarray:
        """Return (N,) rad, what to aim at from frame t, the robot being so far from it."""
        state = self.state(deviation * self.units, t)
        best, price = self.along(0, state, t)
        there = [n for n in range(1, len(self.first)) if 0 <= t - self.begin[n] <= self.last[n] - self.first[n]]
        if there:
            rows = [self.first[n] + t - self.begin[n] for n in there]
            way = there[int(np.argmin([self.cost(row, state) for row in rows]))]
            other, cost = self.along(way, state, t)
            best = other if cost < price else best
        return self.aimed[best] + self.gains[best] @ self.off(best, state)

    def state(self, off: np.ndarray, t: int) -> tuple:
        """Return the state that is so far from the motion's frame t: height, root's rotation, joints, velocities."""
        n, quat = len(self.motion["joint_pos"][0]), self.motion["root_quat"][t].astype(float)
        height, linear, turn, joints, angular, speeds = np.split(off, np.cumsum([1, 3, 3, n, 3]))
        angle = np.linalg.norm(turn)
        turned = rot.multiply(quat, rot.about(turn / max(angle, 1e-12), angle))
        velocity = self.motion["root_linvel"][t] + rot.turned(quat, linear)
        return (
            self.motion["root_pos"][t][2] + height[0], turned, self.motion["joint_pos"][t] + joints,
            np.concatenate([velocity, self.motion["root_angvel"][t] + angular, self.motion["joint_vel"][t] + speeds]),
        )  # fmt: skip

    def off(self, row: int, state: tuple) -> np.ndarray:
        """Return how far the state is from one of the law's; where it stands on the floor does not count."""
        height, quat, joints, velocity = state
        turn = rot.vector(rot.multiply(rot.inverse(self.qpos[row, 3:7]), quat))
        place = [0.0, 0.0, height - self.qpos[row, 2]]
        return np.concatenate([place, turn, joints - self.qpos[row, 7:], velocity - self.qvel[row]])

    def cost(self, row: int, state: tuple) -> float:
        return float(((self.value[row] @ self.off(row, state)) ** 2).sum())

    def along(self, strand: int, state: tuple, t: int) -> tuple[int, float]:
        """Return the moment of a strand to go by, and what the deviation from it costs."""
        now = self.first[strand] + t - self.begin[strand]
        weight = self.lateness[now]
        away = AWAY if np.isfinite(weight) else 0
        rows = range(max(self.first[strand], now - away), min(self.last[strand], now + away) + 1)
        costs = {row: self.cost(row, state) for row in rows}
        best = min(rows, key=lambda row: costs[row] + (row != now and weight * (row - now) ** 2))
        return best, costs[best]
