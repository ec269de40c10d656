"""Judge a trained policy, keep its rollouts, and write what a deployment needs.

    python examples/07_evaluate_and_play.py

Takes the run of 06_train.py. Watch it in the browser by `phuma play phuma-examples/run phuma-examples/dataset`.
"""

import shutil
from pathlib import Path

import phuma
from phuma.formats.rollout_file import save_rollout
from phuma.learning.deploy.onnx_export import export_policy
from phuma.learning.deploy.reference_file import save_reference
from phuma.pipelines.evaluate_policy import dataset_library, judge_rollouts, load_policy, try_out

OUT = Path("phuma-examples")
DEPLOY = OUT / "deploy"

robot = phuma.load_robot("g1")
policy = load_policy(OUT / "run", robot)
library = dataset_library(OUT / "dataset", robot, where="category = 'squat'", performed=True)

rollouts = list(try_out(policy, library, physics_dt=0.005))
total = judge_rollouts(rollouts, library)["total"]
for name in ("success_0.15", "success_0.5", "tracked", "progress"):
    print(f"{name:14} {total[name]:5.1f} %")

DEPLOY.mkdir(exist_ok=True)
save_rollout(DEPLOY / "rollout.npz", rollouts[0])
export_policy(policy, DEPLOY / "policy.onnx")
save_reference(DEPLOY / "motion.npz", library, 0, policy.info)
shutil.copy(robot.model_file, DEPLOY / "model.xml")
print(f"{DEPLOY}: run it without this package by 08_run_a_policy.py, or `phuma render {DEPLOY / 'rollout.npz'}`")
