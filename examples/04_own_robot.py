"""Onboard a humanoid from its MJCF or URDF, see what was understood, and put a motion on it.

    python examples/04_own_robot.py [MODEL.xml|MODEL.urdf]

Without a model the built-in G1's own file serves, as if nobody had ever seen it.
"""

import shutil
import sys
from pathlib import Path

import phuma
from phuma.robots.check import check_robot
from phuma.robots.onboarding import onboard_robot

OUT = Path("phuma-examples/my_robot")

model = Path(sys.argv[1]) if len(sys.argv) > 1 else phuma.load_robot("g1").model_file
shutil.rmtree(OUT, ignore_errors=True)  # onboarding never overwrites a robot that is there
made = onboard_robot(model, OUT)
robot = made.robot
print(f"{robot.name}: {robot.n_joints} joints, {robot.n_bodies} bodies, written to {OUT}")
for ambiguity in made.ambiguities:
    print("ambiguous:", ambiguity.what)
for finding in check_robot(robot):
    print("wrong:" if finding.wrong else "look at:", finding.what)

motion = phuma.retarget(phuma.generate("reach").motion, robot)
print(motion, {name: round(motion.report["metrics"][name], 1) for name in ("fidelity", "feasibility")})
