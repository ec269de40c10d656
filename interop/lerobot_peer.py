"""LeRobot: its dataset class opens the folder and gives frames out of it."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

TITLE, FORMAT = "LeRobot", "lerobot"
INSTALL = [
    ["torch==2.13.0"],
    # Without what it needs for cameras, motors and training, which asks for other versions and for CUDA.
    ["--no-deps", "lerobot==0.4.4", "torchvision==0.28.0"],
    [
        "datasets==4.8.5", "huggingface-hub==0.35.3", "av==15.1.0", "jsonlines==4.0.0", "packaging==25.0",
        "einops==0.8.2", "draccus==0.10.0", "deepdiff==8.6.2", "imageio==2.38.1", "termcolor==3.3.0", "pillow==13.0.0",
        "gymnasium==1.4.0", "accelerate==1.15.0", "pyserial==3.5",
    ],
]  # fmt: skip


def main(folder: Path) -> None:
    import numpy as np
    import torch

    # The package's image operators are built for CUDA; they are declared here, and none is called.
    operators = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    truth = dict(np.load(folder / "truth_30.npz"))
    dataset = LeRobotDataset(
        "phuma/walk", root=folder / "lerobot" / "g1", delta_timestamps={"observation.state": [0, 1 / 30]}
    )
    assert dataset.meta.names["observation.state"][7:] == [f"{name}.pos" for name in truth["joint_names"]]
    assert (dataset.num_episodes, dataset.fps, len(dataset)) == (1, 30, len(truth["root_pos"]))
    wanted = np.concatenate([truth["root_pos"], truth["root_quat"], truth["joint_pos"]], axis=1)
    frames = [dataset[t] for t in range(len(dataset))]
    state = np.array([frame["observation.state"][0].numpy() for frame in frames])
    speed = np.array([frame["observation.velocity"].numpy() for frame in frames])
    fast = np.abs(speed[:, 6:] - np.gradient(truth["joint_pos"], 1 / 30, axis=0, edge_order=2)).max()
    print(json.dumps({
        "version": version("lerobot"),
        "what its own code did": f"LeRobotDataset opened it and gave all {len(dataset)} frames",
        "positions differ by [mm]": f"{1000 * np.abs(state - wanted)[:, :3].max():.4f}",
        "velocities differ by": f"{fast:.0e} rad/s",
        "remarks": f"joints differ by {np.abs(state - wanted)[:, 7:].max():.1e} rad; task {frames[0]['task']!r}",
    }))  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
