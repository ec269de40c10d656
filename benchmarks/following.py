"""Whether following a motion perfectly pays: clips in which its reward is below zero somewhere, by preset.

    python benchmarks/following.py

PHUMA_CMU names the folder of the recordings. Writes docs/tables/following.md.
"""

from __future__ import annotations

import numpy as np

from cmu_table import CMU
from phuma.learning.env.config import EnvironmentCfg
from phuma.learning.env.following import following_reward
from phuma.learning.motions.library import MotionLibrary
from phuma.learning.recipes import beyondmimic
from phuma.pipelines.files_to_clips import kept_clips
from phuma.pipelines.retarget import retarget
from phuma.robots import cached_robot
from phuma.robots.inverse_dynamics import derivatives
from phuma.sim.coordinates import Coordinates
from phuma.sim.kinematics import Kinematics
from tables import markdown, save


def main() -> None:
    rows = []
    for name in ("g1", "h1_2"):
        robot = cached_robot(name)
        library, kinematics = MotionLibrary(robot), Kinematics(robot)
        for path in sorted(CMU.glob("*.bvh")):
            for k, clip in enumerate(kept_clips(path)[::2]):
                library.add(f"{path.name}:{k}", retarget(clip, robot))
        for label, forgiving in (("paper: beyond 90 % of the range", False), ("cpu: beyond the reference, too", True)):
            task, least, mean = beyondmimic.task(EnvironmentCfg(forgiving=forgiving)), [], []
            for motion in library.motions:
                path = motion.double()
                state = kinematics.of_coordinates(Coordinates(path.qpos, derivatives(path).velocity))
                reward = 50 * following_reward(state, task, robot)
                least.append(reward.min())
                mean.append(reward.mean())
            bad, below = np.array(least) < 0, np.array(mean) < 0
            rows.append([name, label, len(least), f"{100 * bad.mean():.0f}", f"{100 * below.mean():.0f}",
                         f"{np.mean(mean):.2f}", f"{np.min(least):.1f}"])  # fmt: skip
    head = ["robot", "penalty for joint limits", "clips", "% with a reward below 0 somewhere", "% below 0 in the mean",
            "mean reward a second", "least"]  # fmt: skip
    about = "Every other clip of CMU that the default preset keeps; 5 a second is the most there can be."
    save("following", "Does perfect following pay?", about, markdown(head, rows))


if __name__ == "__main__":
    main()
