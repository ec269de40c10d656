"""Put a recording on a robot and write the motion.

    python examples/02_retarget.py [RECORDING] [ROBOT]

ROBOT is g1 (default), h1_2, or the folder of your own (see 04_own_robot.py).
"""

import sys
from pathlib import Path

import phuma

OUT = Path("phuma-examples/walk_g1.npz")

source = phuma.read(sys.argv[1]) if len(sys.argv) > 1 else phuma.generate("walk").motion
robot = sys.argv[2] if len(sys.argv) > 2 else "g1"

motion = phuma.retarget(source, robot)
print(motion)
print(f"joint_pos {motion.joint_pos.shape} rad, root_pos {motion.root_pos.shape} m, root_quat wxyz")
for name in ("fidelity", "feasibility", "non_floating", "non_penetration", "non_skating"):
    print(f"    {name:16} {motion.report['metrics'][name]:5.1f} %")
print("flags:", "; ".join(motion.report["flags"]) or "none")

OUT.parent.mkdir(exist_ok=True)
phuma.save_robot_motion(OUT, motion)
print(f"{OUT}: look at it by `phuma view {OUT}`")
