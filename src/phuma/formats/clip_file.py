"""Read and write clips: `.npz` without pickle, as docs/formats.md specifies."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from phuma.body import OPEN_SPACE, Body
from phuma.body.smplx import cached_smplx
from phuma.core import rotations as rot
from phuma.core.clip import Clip, Measure, Verdict
from phuma.core.curation_metrics import CURATION_METRICS, RENAMED
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.metric import Metric
from phuma.core.rotations import Array
from phuma.core.skeleton import JOINTS, N_JOINTS, PARENTS, REGIONS
from phuma.errors import PhumaError, ReadError
from phuma.formats.meta import CLIP, provenance_of, read_meta
from phuma.io.atomic import save_npz
from phuma.io.npz import load_npz
from phuma.io.probe import Probe

FORMAT = "phuma-clip"
VERSION = 3
"""The version of the format; 2 renamed the measure `helping_force` to `external_support_force` and trimmed units, 3
added `contact_paper`."""
OWN_BODY = ("body_joints", "body_soles", "body_sole_weights")


def is_clip(probe: Probe) -> bool:
    """Return whether a file is a clip, by its content."""
    return probe.kind == "npz" and {"format", "version", "joint_quat", "contact", "meta"} <= set(probe.arrays)


def save_clip(path: str | Path, clip: Clip) -> None:
    """Write a clip atomically.

    >>> phuma.save_clip("stand.npz", phuma.curate(phuma.generate("stand", 2.0).motion).clips[0])
    """
    root, quat = clip.motion.root_pos.astype(np.float32), clip.motion.joint_quat.astype(np.float32)
    # Joints are posed from what is stored, so that the file agrees with itself to the last bit.
    motion, body = replace(clip.motion, root_pos=root, joint_quat=quat), clip.motion.body
    meta = {
        "body": {"name": body.name, "shape": dict(body.shape), "lumbar": body.lumbar.tolist()},
        "provenance": asdict(motion.provenance),
        "measures": [_plain(m) for m in clip.verdict.measures],
        "ground": clip.ground,
    }
    arrays: dict[str, Any] = {
        "format": FORMAT,
        "version": np.int64(VERSION),
        "fps": np.float64(motion.fps),
        "joint_names": np.array(JOINTS),
        "contact_names": np.array(REGIONS),
        "root_pos": root,
        "joint_quat": quat,
        "joints": motion.pose.position.astype(np.float32),
        "contact": clip.contact.ratio.astype(np.float32),
        "contact_paper": clip.contact.paper.astype(np.float32),
        "meta": json.dumps(meta, sort_keys=True),
    }
    if body.name == "bvh":  # a recording's own skeleton is not licensed: it may be stored with the clip
        arrays |= dict(zip(OWN_BODY, (body.joints, body.soles, body.sole_weights)))
    save_npz(path, arrays)


def load_clip(path: str | Path) -> Clip:
    """Read a clip; every fault of the file is a ReadError.

    >>> phuma.save_clip("stand.npz", phuma.curate(phuma.generate("stand", 2.0).motion).clips[0])
    >>> phuma.load_clip("stand.npz")
    Clip('synth:stand:0', 0.00 to 2.00 s, kept)
    """
    probe = Probe(Path(path))
    if not is_clip(probe):
        raise ReadError(path, f"is not a clip ({FORMAT}); `phuma inspect` says what it is")
    names = (
        "format",
        "version",
        "joint_names",
        "contact_names",
        "fps",
        "root_pos",
        "joint_quat",
        "joints",
        "contact",
        "contact_paper",
        "meta",
        *OWN_BODY,
    )
    data = load_npz(path, [n for n in names if n in probe.arrays])
    try:
        if str(data["format"]) != FORMAT:
            raise PhumaError(f"format is {str(data['format'])!r}, expected {FORMAT!r}")
        if int(data["version"].item()) > VERSION:
            raise PhumaError(
                f"is of version {int(data['version'])}, newer than this program's {VERSION}: pip install -U phuma"
            )
        if data["joint_names"].tolist() != list(JOINTS) or data["contact_names"].tolist() != list(REGIONS):
            raise PhumaError(
                "has joints or contacts in another order than SMPL-X's; it was not written by this program"
            )
        meta = read_meta(str(data["meta"]), path, CLIP)
        provenance = provenance_of(meta)
        body = _body(meta["body"], data, provenance.mirrored)
        motion = HumanMotion(body, data["root_pos"], data["joint_quat"], float(data["fps"].item()), provenance)
        verdict = Verdict(tuple(_measure(**m) for m in meta["measures"]))
        contact = FootContacts(data["contact"], motion.fps, data.get("contact_paper"))
        return Clip(motion, contact, verdict, float(meta["ground"]))
    except ReadError:
        raise
    except PhumaError as e:
        raise ReadError(path, str(e)) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as e:
        raise ReadError(path, f"is damaged: {type(e).__name__} {e}") from None


def _plain(measure: Measure) -> dict[str, Any]:
    """Return a measure as plain values, with enough of its metric that others can read it."""
    metric = measure.metric
    value = {"name": metric.name, "value": measure.value, "limit": measure.limit}
    return value | {"bound": metric.bound, "unit": metric.unit}


def _measure(name: str, value: float, limit: float, bound: str, unit: str) -> Measure:
    """Return a measure of a metric that is declared here, or of one that only the file knows."""
    for key, number in (("value", value), ("limit", limit)):
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise PhumaError(f"has a measure {str(name)[:40]!r} whose {key} is {str(number)[:40]!r}; expected a number")
    name = RENAMED.get(name, name)
    metric = CURATION_METRICS.get(name)
    if metric is None:
        metric = Metric(name, name.replace("_", " "), unit.strip(), "high" if bound == "above" else "low", "")
    return Measure(metric, value, limit)


def _body(about: dict[str, Any], data: dict[str, Any], mirrored: bool) -> Body:
    name = about["name"]
    if name == "bvh":
        joints, soles, weights = (data[n] for n in OWN_BODY)
        return Body(joints, soles, weights, name, lumbar=np.array(about["lumbar"]))
    space = OPEN_SPACE if name == "open" else cached_smplx(name)
    if space is None:
        return _bones_of(name, about, data)
    body = space.body([float(about["shape"][p]) for p in space.params])
    return body.mirror() if mirrored else body


def _bones_of(name: str, about: dict[str, Any], data: dict[str, Any]) -> Body:
    """Return the skeleton alone, from the posed joints: soles of a licensed model are not stored with a clip."""
    quat = np.asarray(data["joint_quat"][:1], dtype=float)
    position = np.asarray(data["joints"][0], dtype=float)
    rotation = (
        Body(np.zeros((N_JOINTS, 3)), np.zeros((0, 3)), np.zeros((0, N_JOINTS)), name)
        .forward(np.zeros((1, 3)), quat)
        .rotation[0]
    )
    joints: Array = np.zeros((N_JOINTS, 3))
    for j in range(1, N_JOINTS):
        p = PARENTS[j]
        joints[j] = joints[p] + rot.rotate(rot.conjugate(rotation[p]), position[j] - position[p])
    return Body(joints, np.zeros((0, 3)), np.zeros((0, N_JOINTS)), name, about["shape"], np.array(about["lumbar"]))
