"""Describe files for `phuma inspect`: models, robot motions, rollouts, policies, runs and results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from phuma.body.smplx import load_smplx
from phuma.cli.policy_words import told_recipe
from phuma.cli.table import cell, number
from phuma.core.rollout import Rollout
from phuma.core.words import count_of
from phuma.errors import ReadError
from phuma.formats.robot_motion_file import load_robot_motion
from phuma.formats.rollout_file import load_rollout
from phuma.io.json_file import read_json
from phuma.io.npz import load_npz
from phuma.io.probe import Probe
from phuma.robots import is_built_in, load_robot
from phuma.sources.bvh.match import load_joint_map

Lines = list[str]


def describe_model(probe: Probe) -> Lines:
    """Describe a SMPL-X model file."""
    space = load_smplx(probe.path)
    return [
        f"  format   SMPL-X body model, {space.name}",
        f"  shape    {len(space.params)} betas",
        f"  used as  --body smplx:{probe.path}",
        "  licence  SMPL-X, not to be passed on; only its 22 joints and 88 sole points are used, from your cache",
    ]


def describe_robot_motion(probe: Probe) -> Lines:
    """Describe a robot's motion, with the metrics that are stored in it."""
    motion = load_robot_motion(probe.path)
    metrics = motion.report.get("metrics", {})
    return [
        f"  format   robot motion of {motion.robot}, {len(motion.joint_names)} joints",
        f"  source   {motion.provenance.source} ({motion.provenance.format})",
        f"  length   {len(motion)} frames at {motion.fps:g} Hz, {motion.duration:.2f} s",
        f"  method   {motion.report.get('method', 'not known')}",
        *(f"  {name:24}{number(value):>10}" for name, value in metrics.items()),
        *(f"  warning  {flag}" for flag in motion.report.get("flags", [])),
    ]


def describe_rollout(probe: Probe, plot: Path | None = None) -> Lines:
    """Describe a rollout, and draw what is known of every frame to `plot`."""
    rollout = load_rollout(probe.path)
    if plot is not None:
        _draw_rollout(plot, probe.path.name, rollout)
    ended = rollout.terminated_at
    return [
        f"  format   rollout of {rollout.motion} by {rollout.robot}, {len(rollout.joint_names)} joints",
        f"  length   {len(rollout)} frames at {rollout.fps:g} Hz, {rollout.duration:.2f} s",
        f"  ended    {'not terminated' if ended is None else f'terminated at {ended / rollout.fps:.2f} s'}",
        *_recorded(rollout),
        *(f"  {name:34}{cell(value)}" for name, value in rollout.report.items() if value is not None),
        *([f"Picture: {plot}"] if plot else []),
    ]


def _draw_rollout(path: Path, title: str, rollout: Rollout) -> None:
    from phuma.pipelines.scene_building import rollout_motion, stored_performer  # heavy
    from phuma.viewer.timeline import draw_tracks

    robot = load_robot(rollout.robot)
    draw_tracks(path, title, stored_performer(rollout_motion(rollout, robot), robot).tracks, rollout.fps)


def _recorded(rollout: Rollout) -> Lines:
    """Describe what was recorded of motors and feet: the greatest torque by its limit, and the greatest forces."""
    from phuma.pipelines.recorded_tracks import recorded_tracks  # heavy
    from phuma.pipelines.scene_building import rollout_motion

    if (rollout.torque is None and rollout.foot_force is None) or not is_built_in(rollout.robot):
        return []
    robot = load_robot(rollout.robot)
    tracks = [t for t in recorded_tracks(rollout_motion(rollout, robot), robot) if len(t.value)]
    peaks = [(t, int(t.value.argmax())) for t in tracks]
    return [f"  {t.label + ', greatest':34}{t.value[at]:.3g} {t.unit}, at {at / rollout.fps:.2f} s" for t, at in peaks]


def is_reference(probe: Probe) -> bool:
    """Return whether a file is a motion for a policy."""
    return probe.kind == "npz" and {"base_name", "future_rows", "anchor_quat"} <= set(probe.arrays)


def describe_reference(probe: Probe) -> Lines:
    """Describe a motion for a policy."""
    fps = "fps" if "fps" in probe.arrays else "rate"  # as version 1 called it
    data = load_npz(probe.path, ("motion", "robot", fps, "base_name", "joint_pos"))
    frames = data["joint_pos"].shape[:1]
    if data[fps].shape or not data[fps] > 0 or not frames:
        raise ReadError(probe.path, f"is damaged: its {fps} or its joint_pos cannot be those of a motion")
    return [
        f"  format   motion for a policy: {data['motion']} on {data['robot']}",
        f"  length   {frames[0]} frames at {data[fps]:g} Hz, {frames[0] / data[fps]:.2f} s",
        f"  base     {data['base_name']}",
    ]


def describe_policy(probe: Probe) -> Lines:
    """Describe a policy.onnx."""
    from phuma.learning.deploy.onnx_policy import load_onnx  # heavy

    return _policy(load_onnx(probe.path).info.as_plain(), "policy as ONNX")


def _run(data: dict[str, Any]) -> Lines:
    from phuma.learning.run.folder import of_this_version

    run = of_this_version(data)
    lines = _policy(list(run["stages"].values())[-1]["policy"], "run.json: what a training run is made of")
    for name, stage in run["stages"].items():
        environment = stage["environment"]
        randomized = environment["disturbances"]["randomize"]
        lines.append(
            f"  {name:8} {count_of(run['motions'], 'motion')} in {environment['environments']} environments at a time, "
            f"seed {run['seed']}, {'with' if randomized else 'without'} randomization"
        )
    return lines


def _policy(info: dict[str, Any], what: str) -> Lines:
    data = ", ".join(f"{name} {value}" for name, value in info["data"].items() if value is not None)
    named = told_recipe(info["algo"], info["stage"])
    return [
        f"  format   {what}",
        f"  policy   {named} for {info['robot']}, {len(info['joint_names'])} joints, base {info['base']}, "
        f"{'sees' if info['future'] else 'does not see'} the future",
        f"  data     {data}",
        *([f"  trained  {info['steps']:,} environment steps"] if info["steps"] else []),
    ]


def describe_json(probe: Probe) -> Lines:
    """Describe a JSON file: a result, a run, the ground truth of a generated motion, a robot or a joint map."""
    data: Any = read_json(probe.path)
    if not isinstance(data, dict):
        raise ReadError(probe.path, f"is JSON, but of no kind that phuma knows: {type(data).__name__}, not an object")
    if set(data) <= {"joints", "metres_per_unit", "up"}:
        return _joint_map(probe)
    describe = _robot if {"keypoints", "soles", "shared_pose"} <= set(data) else _DOCUMENTS.get(str(data.get("format")))
    if describe is None:
        raise ReadError(probe.path, f"is JSON, but of no kind that phuma knows; keys: {', '.join(list(data)[:8])}")
    try:
        return describe(data)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
        raise ReadError(probe.path, f"is damaged: {type(e).__name__} {e}") from None


def _curation(data: dict[str, Any]) -> Lines:
    kept = sum(c["kept"] for c in data["clips"])
    reasons = sorted({reason.split()[0] for c in data["clips"] for reason in c["reasons"]})
    return [
        f"  format   result of `phuma curate` {data['phuma']}",
        f"  clips    {len(data['clips'])}, {kept} kept, {count_of(len(data['failed']), 'file')} could not be used",
        f"  rejected by {', '.join(reasons) or 'nothing'}",
    ]


def _truth(data: dict[str, Any]) -> Lines:
    fault = f", fault {data['fault']}" if data["fault"] else ""
    return [
        "  format   truth beside a generated motion",
        f"  motion   {data['kind']}, seed {data['seed']}{fault}",
        f"  truth    ground at {data['ground']} m, contacts of {len(data['contact'])} frames",
        f"  body     stature {data['shape']['stature']:.2f} m",
    ]


def _robot(data: dict[str, Any]) -> Lines:
    return [
        "  format   robot.json: what retargeting must know of a robot beside its model.xml",
        f"  robot    {data['title']}",
        f"  maps     {len(data['keypoints'])} keypoints, {len(data['soles'])} parts of the soles",
    ]


def _joint_map(probe: Probe) -> Lines:
    given = load_joint_map(probe.path)
    lines = ["  format   joint map for BVH files"]
    lines += [f"  {ours:15} {theirs}" for ours, theirs in given.joints.items()]
    return lines + ([f"  unit            {given.metres_per_unit:g} m"] if given.metres_per_unit else [])


def _retarget(data: dict[str, Any]) -> Lines:
    return [
        f"  format   result of `phuma retarget` {data['phuma']}",
        f"  motions  {len(data['motions'])} on {data['robot']} by {data['method']}",
        f"  failed   {count_of(len(data['failed']), 'file')}",
    ]


_DOCUMENTS: dict[str, Callable[[dict[str, Any]], Lines]] = {
    "phuma-curation": _curation,
    "phuma-retarget": _retarget,
    "phuma-run": _run,
    "phuma-truth": _truth,
}
