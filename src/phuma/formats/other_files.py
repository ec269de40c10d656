"""What a file is that is no recording, and what to do with it: the one place that knows.

Files are told by their first bytes and by what they hold; a name is asked only where many kinds share one beginning.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from shlex import quote

from phuma.formats.robot_motion_file import is_robot_motion
from phuma.formats.rollout_file import is_rollout
from phuma.io.probe import Probe

FILM = "a film{} of a kind that is not read; convert it: ffmpeg -i {} film.mp4"
ANIMATION = "an animation ({}), which is not read; convert it to BVH, with Blender: {}"
IMPORT = "a robot's motion ({}), not a person's; run: phuma import {} --robot NAME --out FOLDER"
PACKED = "an archive ({}); unpack it, and name the files or the folder in it"
NOT_PEOPLE = "{}, in which nobody moves"

MAGIC = (
    (0, b"\x00\x00\x01\xb3", "film (MPEG without a container)"),
    (8, b"WAVE", "sound"), (0, b"ID3", "sound"), (0, b"fLaC", "sound"),
    (0, b"\xff\xfb", "sound"), (0, b"\x89PNG", "picture"), (0, b"\xff\xd8\xff", "picture"), (0, b"GIF8", "picture"),
    (8, b"WEBP", "picture"), (0, b"II*\x00", "picture"), (0, b"MM\x00*", "picture"), (0, b"BM", "picture"),
    (0, b"Kaydara FBX Binary", "FBX"), (0, b"; FBX ", "FBX"), (0, b"glTF", "glTF"), (0, b"PXR-USDC", "USD"),
    (0, b"#usda", "USD"), (0, b"PK\x05\x06", "zip"), (0, b"\x1f\x8b", "gzip"), (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\x00", "xz"), (0, b"7z\xbc\xaf'\x1c", "7z"), (0, b"Rar!", "rar"), (0, b"(\xb5/\xfd", "zstd"),
    (257, b"ustar", "tar"),
)  # fmt: skip
"""Where in a file which bytes say what it is"""
BRANDS = {b"M4A ": "sound", b"heic": "picture", b"heix": "picture", b"avif": "picture",
          b"mif1": "picture"}  # fmt: skip
"""What ISO's media files hold where it is no film"""
IMPORTERS = {"FBX": "import_scene.fbx", "glTF": "import_scene.gltf", "USD": "wm.usd_import"}
ROBOT_KEYS = (
    ("root_pos", "root_rot", "dof_pos"), ("root_trans", "root_ori", "dof_pos"), ("joint_pos", "body_pos_w"),
    ("rigid_body_pos", "dof_pos"), ("root_trans_offset", "dof"), ("qpos", "joint_names"),
)  # fmt: skip
"""Names by which the files of GMR, PHUMA, mjlab, BeyondMimic, ProtoMotions, PBHC and LocoMuJoCo are told"""


def what_is(probe: Probe) -> str | None:
    """Return what a file is, if it is known and no recording, and the next command; None where it is not known."""
    if probe.path.is_dir():
        return _folder(probe.path)
    word = _by_bytes(probe.head)
    if word is None and probe.kind == "zip":
        word = "USD" if _has_usd(probe.path) else "zip"
    if word is not None:
        return _said(word, probe.path)
    return _by_content(probe) or (_text(probe) if probe.kind == "text" else _binary(probe))


def blender_command(path: Path, importer: str) -> str:
    """Return the command by which Blender writes a BVH file of the first skeleton in an animation."""
    if not re.fullmatch(r"[\w./+ -]+", str(path)):  # a name with quotes would be read as a program
        path = Path("FILE")
    steps = (
        "import bpy",
        "bpy.ops.wm.read_factory_settings(use_empty=True)",
        f"bpy.ops.{importer}(filepath='{path}')",
        "a = next(o for o in bpy.data.objects if o.type == 'ARMATURE')",
        "bpy.context.view_layer.objects.active = a",
        "s, e = map(int, a.animation_data.action.frame_range)",
        f"bpy.ops.export_anim.bvh(filepath='{path.with_suffix('.bvh')}', frame_start=s, frame_end=e)",
    )
    return f'blender -b --python-expr "{"; ".join(steps)}"'


def _by_bytes(head: bytes) -> str | None:
    if head[4:8] == b"ftyp":
        return BRANDS.get(head[8:12])
    return next((word for at, mark, word in MAGIC if head[at : at + len(mark)] == mark), None)


def _said(word: str, path: Path) -> str:
    if word.startswith("film"):
        return FILM.format(word.removeprefix("film"), quote(str(path)))
    if word in ("sound", "picture"):
        return NOT_PEOPLE.format(f"a {word}")
    if word in IMPORTERS:
        return ANIMATION.format(word, blender_command(path, IMPORTERS[word]))
    return PACKED.format(word)


def _folder(path: Path) -> str:
    if (path / "dataset.json").is_file():
        name = quote(str(path))
        return f"a dataset that is built already; run: phuma verify {name}, phuma view {name} or phuma train {name}"
    if (path / "run.json").is_file():
        return f"a training run; run: phuma inspect {quote(str(path))}"
    return "a folder"


def _has_usd(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith((".usd", ".usda", ".usdc")) for name in archive.namelist()[:20])
    except Exception:  # Damaged archives raise nearly anything.
        return False


def _by_content(probe: Probe) -> str | None:
    """Return what the names in an archive of arrays or in a pickle say."""
    path, content = quote(str(probe.path)), probe.content
    names = set(content) if isinstance(content, dict) else set(probe.arrays)
    if is_robot_motion(probe):
        return f"a robot's motion that was retargeted already; run: phuma inspect {path} or phuma view {path}"
    if is_rollout(probe):
        return f"a rollout of a robot; run: phuma inspect {path} or phuma view {path}"
    inner = (
        next((set(v) for v in content.values() if isinstance(v, dict)), set()) if isinstance(content, dict) else set()
    )
    if any(set(keys) <= some for keys in ROBOT_KEYS for some in (names, inner)):
        return IMPORT.format(probe.kind, path)
    if {"v_template", "J_regressor"} <= names:
        return f"a body model, in which nobody moves; give it beside a recording: --body smplx:{path}"
    if {"pred_cam_R", "pred_cam_T"} <= names:
        return "the camera of TRAM; name the tracks beside it, hps/hps_track_*.npy"
    return None


def _text(probe: Probe) -> str | None:
    text, path = probe.text.lstrip(), quote(str(probe.path))
    if text.startswith("{"):
        if '"asset"' in text or '"accessors"' in text:
            return _said("glTF", probe.path)
        return f"a JSON file; run: phuma inspect {path}"
    if "<mujoco" in text or "<robot" in text:
        return f"a robot's model; run: phuma robot init {path} --out FOLDER"
    line = next(iter(text.splitlines()[1:2] or text.splitlines()[:1]), "")
    if line.count(",") >= 7 and re.fullmatch(r"[-+0-9.eE,\s]+", line):  # whatever its header says
        return IMPORT.format("CSV", path)
    return None


def _binary(probe: Probe) -> str | None:
    head, path = probe.head, quote(str(probe.path))
    if head.startswith(b"PAR1"):
        return IMPORT.format("parquet, as LeRobot's datasets are", path)
    if head[:1] == b"\x08" and (b"onnx" in head or b"pytorch" in head or probe.path.suffix.lower() == ".onnx"):
        return f"a policy (ONNX); run: phuma inspect {path} or phuma evaluate {path} DATASET"
    if head[1:2] == b"\x50" and 2 <= head[0] <= 20 and len(head) >= 512:
        return (
            "markers (C3D), which are not read: a body has to be fitted to them, as SOMA and MoSh++ do; "
            "their results in AMASS's layout are read"
        )
    return None
