"""Measure how well a policy tracks the clips of a dataset: success rates and errors with intervals, in total and by
category, and the worst clips. docs/formats/evaluation.md says what each number is.

A policy in the layout of another project is judged by --dialect, with its own gains, default pose and action scale;
docs/policies.md says which are read.

The simulation uses the physics steps that the policy was trained with; --physics-dt 0.005 uses steps of 5 ms. Both use
all collision shapes of the robot's model.

--sim2sim judges it in many worlds instead: another simulator, physics step, friction, mass, gains, delay, noise and
pushes. docs/transfer.md says what each is.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from phuma.cli.evaluation_lines import lines
from phuma.cli.options import command_parser, from_options
from phuma.cli.rollout_options import add_rollout_options, add_world_options
from phuma.learning.deploy.dialects.registry import DIALECTS, OWN
from phuma.learning.env.conditions import CONDITIONS
from phuma.pipelines.evaluating.evaluate import evaluate
from phuma.pipelines.evaluating.options import EvaluateCfg


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    args = parser().parse_args(argv)
    found = evaluate(from_options(EvaluateCfg, args))
    print(json.dumps(found.document) if args.json else "\n".join(lines(found, args.policy, args.dialect)))
    return found.code


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    out = command_parser("evaluate", __doc__)
    out.add_argument("policy", type=Path, metavar="POLICY", help="a RUN of `phuma train`, or a policy.onnx")
    out.add_argument("dataset", type=Path, metavar="DATASET", help="a folder made by `phuma build` or `phuma import`")
    add_rollout_options(out, split=None)
    out.add_argument(
        "--dialect", choices=(OWN, *DIALECTS), default=OWN,
        help=f"whose layout a policy.onnx has (default: {OWN})",
    )  # fmt: skip
    out.add_argument(
        "--episodes", type=int, default=1, metavar="N",
        help="rollouts per clip; a single one starts on the reference, several start near it (default: 1)",
    )  # fmt: skip
    out.add_argument(
        "--condition", metavar="C", help=f"what a masked policy is told: {', '.join(CONDITIONS)} (default: as trained)"
    )
    out.add_argument("--out", type=Path, metavar="DIR", help="write every rollout there, CLIP.EPISODE.npz")
    out.add_argument("--sim2sim", action="store_true", help="judge it in every world instead, and compare them")
    add_world_options(out)
    out.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return out
