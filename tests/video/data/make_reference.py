"""Make mediapipe.npz: what mediapipe itself says of frames of the films beside this script.

It runs by hand, where mediapipe 0.10.21 is installed, which needs an environment of its own. The frames are decoded by
phuma's own `frames` and handed over in a file:

    python make_reference.py frames FOLDER       # in phuma's environment
    python make_reference.py mediapipe FOLDER    # in mediapipe's

Of each film it holds: `alone` every tenth frame, each looked at anew; of walk.mp4 also `track`, the first 30, each
looked at where the one before says. Arrays: `detection` (T, 13) score, left, top, width, height, four points; `region`
(T, 5) x, y, width, height, angle of the region in which landmarks were looked for, `next` the same for the following
frame; `image` and `world` (T, 33, 4) x, y, z, visibility. Places are shares of the picture.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SETS = {
    "walk_alone": ("walk", slice(0, None, 10)),
    "beam_alone": ("beam", slice(0, None, 10)),
    "walk_track": ("walk", slice(0, 30)),
}
GRAPH = "mediapipe/modules/pose_landmark/pose_landmark_cpu.binarypb"
LANDMARKS = "poselandmarkbyroicpu__tensorstoposelandmarksandsegmentation__ThresholdingCalculator.threshold"
STREAMS = [
    "pose_landmarks",
    "pose_world_landmarks",
    "pose_detection",
    "pose_rect_from_detection",
    "pose_rect_from_landmarks",
]


def write_frames(folder: Path) -> None:
    from phuma.video.film import open_film
    from phuma.video.frames import frames

    for name, (film, part) in SETS.items():
        pictures = list(frames(open_film(HERE / f"{film}.mp4")))
        np.save(folder / f"{name}.npy", np.stack(pictures[part]))


def ask_mediapipe(folder: Path) -> None:
    arrays = {}
    for name in SETS:
        for key, values in answers(np.load(folder / f"{name}.npy"), name.endswith("track")).items():
            arrays[f"{name}_{key}"] = np.array(values, np.float32)
    np.savez_compressed(HERE / "mediapipe.npz", **arrays)


def answers(pictures, track):
    from mediapipe.python.solution_base import SolutionBase

    graph = SolutionBase(
        binary_graph_path=GRAPH,
        side_inputs={
            "model_complexity": 1, "smooth_landmarks": False, "enable_segmentation": False,
            "smooth_segmentation": False, "use_prev_landmarks": track,
        },
        calculator_params={LANDMARKS: 0.5, "posedetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": 0.5},
        outputs=STREAMS,
    )  # fmt: skip
    out = {key: [] for key in ("image", "world", "detection", "region", "next")}
    last = None
    for picture in pictures:
        told = graph.process({"image": picture})
        out["image"].append([[p.x, p.y, p.z, p.visibility] for p in told.pose_landmarks.landmark])
        out["world"].append([[p.x, p.y, p.z, p.visibility] for p in told.pose_world_landmarks.landmark])
        out["detection"].append(detection(told.pose_detection))
        found, following = told.pose_rect_from_detection, told.pose_rect_from_landmarks
        out["region"].append(rectangle(found if last is None or not track else last))
        out["next"].append(rectangle(following))
        last = following
    return out


def rectangle(rect):
    return [rect.x_center, rect.y_center, rect.width, rect.height, rect.rotation]


def detection(found):
    if found is None:
        return [np.nan] * 13
    box = found.location_data.relative_bounding_box
    points = [v for p in found.location_data.relative_keypoints for v in (p.x, p.y)]
    return [found.score[0], box.xmin, box.ymin, box.width, box.height, *points]


if __name__ == "__main__":
    {"frames": write_frames, "mediapipe": ask_mediapipe}[sys.argv[1]](Path(sys.argv[2]))
