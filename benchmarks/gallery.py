"""The gallery: makes every film and page of docs/gallery by the command that stands below it, and writes the page.

    python benchmarks/gallery.py [--work DIR] [NAME ...]

What DIR (default: build/gallery) holds already is not made again. Robots that are not built in come from the PyPI
package example-robot-data, without which this is skipped. All people are generated: everything may be passed on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from phuma.robots.meshes import PACKAGE
from tables import PICTURES

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
WIDTH, FPS, QUALITY = 480, 15, 55
"""of the pictures on the page, in pixels, Hz and percent; the commands make larger films"""
MOST_MB = 8.0

PRELUDE = r"""
phuma synth --out people                                           # eleven generated people
phuma synth --type walk --fault jitter:40 --out shaking            # and three that no robot should follow
phuma synth --type walk --fault slide:0.6 --out sliding
phuma synth --type reach --fault chair:35 --out sitting
pip install example-robot-data                                     # three robots from their makers' files
PACKAGES=$(python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
ROBOTS=$PACKAGES/cmeel.prefix/share/example-robot-data/robots
phuma robot init $ROBOTS/talos_data/robots/talos_full_v2.urdf --out talos
phuma robot init $ROBOTS/icub_description/robots/icub.urdf --out icub
phuma robot init $ROBOTS/romeo_description/urdf/romeo.urdf --out romeo
phuma build people --robot g1 --out g1                             # a dataset, performed under physics
phuma certify g1
phuma build people --robot h1_2 --out h1_2
phuma certify h1_2 --where "recording LIKE '%kick%'"
phuma train g1 --where "recording LIKE '%walk%'" --split all --steps 200000 --out walker
""".strip()


@dataclass(frozen=True)
class Exhibit:
    """One film or page, with the command that makes it as its file `name`."""

    name: str
    title: str
    words: str
    command: str


PLAYED = "--at 2 --around 1.5 --size 480x320 --render"
FILM = "--size 480x320 --at 2 --around 1 --out"
SECTIONS: dict[str, tuple[Exhibit, ...]] = {
    "On five robots": (
        Exhibit(
            "walk.mp4", "A walk on a Unitree G1", "Its steps are shorter than the person's, as its legs are.",
            "phuma render people/walk_0000.npz --size 480x320 --out walk.mp4",
        ),
        Exhibit(
            "kick.mp4", "A kick on a Unitree H1-2", "Balanced on one leg, as the person is.",
            "phuma render people/kick_0000.npz --robot h1_2 --size 480x320 --out kick.mp4",
        ),
        Exhibit(
            "squat.mp4", "A squat on a Talos", "Made a robot of ours by `phuma robot init`, unedited.",
            f"phuma render people/squat_0000.npz --robot talos {FILM} squat.mp4",
        ),
        Exhibit(
            "reach.mp4", "A reach on an iCub", "One metre tall. Sticks stand for shapes that were not taken over.",
            f"phuma render people/reach_0000.npz --robot icub {FILM} reach.mp4",
        ),
        Exhibit(
            "lunge.mp4", "A lunge on a Romeo", "From its maker's file, too; sticks as above.",
            f"phuma render people/lunge_0000.npz --robot romeo {FILM} lunge.mp4",
        ),
        Exhibit(
            "twist.mp4", "One twist, three robots", "G1, H1-2 and Talos, in step.",
            f"phuma render people/twist_0000.npz --robot g1 --robot h1_2 --robot talos --camera front {FILM} twist.mp4",
        ),
    ),
    "Methods side by side": (
        Exhibit(
            "ik.mp4", "Bad and good: a walk by plain IK, and by the default", "Plain IK lets feet slide and sink.",
            f"phuma render people/walk_0000.npz --compare ik physink+dynamics {FILM} ik.mp4",
        ),
        Exhibit(
            "gmr.mp4", "A jump by GMR's way, and by the default", "The default makes flights ballistic.",
            "phuma render people/jump_0000.npz --compare gmr physink+dynamics --size 480x320 --out gmr.mp4",
        ),
    ),
    "Performed under physics": (
        Exhibit(
            "run.mp4", "A run: person, reference, performance", "Certified; torques and forces on the feet run below.",
            f"phuma render g1/clips/g1/people-run_*/*.npz --certified --human {FILM} run.mp4",
        ),
        Exhibit(
            "jump.mp4", "A jump, certified", "Both feet leave the ground; nothing holds the robot up.",
            f"phuma render g1/clips/g1/people-jump_*/*.npz --certified --human {FILM} jump.mp4",
        ),
        Exhibit(
            "turn.mp4", "A turn on the spot, certified", "",
            f"phuma render g1/clips/g1/people-turn_*/*.npz --certified --human {FILM} turn.mp4",
        ),
        Exhibit(
            "heavy.mp4", "The H1-2's kick, certified", "Twice the G1's mass.",
            f"phuma render h1_2/clips/h1_2/people-kick_*/*.npz --certified --human {FILM} heavy.mp4",
        ),
        Exhibit(
            "talos.mp4", "A Talos performs the kick", "From its maker's file to physics, with gains that were guessed.",
            "phuma certify people/kick_0000.npz --robot talos --effort quick --size 480x320 --film talos.mp4",
        ),
    ),
    "What is rejected, and why": (
        Exhibit(
            "shaking.mp4",
            "Bad: a recording that shakes",
            "Rejected: the pelvis shakes by 43 mm about its path, at most 3.",
            "phuma render shaking/*.npz --size 480x320 --out shaking.mp4",
        ),
        Exhibit(
            "sliding.mp4",
            "Bad: somebody who slides",
            "Rejected: soles that bear the weight slide at 60 cm/s, at most 15.",
            f"phuma render sliding/*.npz {FILM} sliding.mp4",
        ),
        Exhibit(
            "sitting.mp4",
            "Bad: a chair that is not there",
            "Rejected: 29 % of the weight comes from nowhere, at most 15.",
            f"phuma render sitting/*.npz {FILM} sitting.mp4",
        ),
    ),
    "Policies": (
        Exhibit(
            "policy.mp4", "A policy that learned the walk in 200,000 steps", "Blue is the reference.",
            f"phuma play walker g1 --where \"clip LIKE '%walk%'\" {PLAYED} policy.mp4",
        ),
        Exhibit(
            "pushed.mp4", "Bad: the same policy, pushed", "It learned without pushes, and falls.",
            f"phuma play walker g1 --where \"clip LIKE '%walk%'\" --pushes {PLAYED} pushed.mp4",
        ),
        Exhibit(
            "asked.mp4", "Bad: the same policy, asked to kick", "It never learned that; red is where it was given up.",
            f"phuma play walker g1 --where \"clip LIKE '%kick%'\" {PLAYED} asked.mp4",
        ),
    ),
    "To turn and to zoom": (
        Exhibit(
            "walk.html", "The walk, human and G1", "One file that plays in 3D anywhere; on a git host, download it.",
            "phuma share people/walk_0000.npz --robot g1 --out walk.html",
        ),
        Exhibit(
            "lunge.html", "The lunge on three robots", "",
            "phuma share people/lunge_0000.npz --robot g1 --robot h1_2 --robot romeo --out lunge.html",
        ),
    ),
}  # fmt: skip
EXHIBITS = [exhibit for section in SECTIONS.values() for exhibit in section]
FIRST = Exhibit(
    "performed.mp4", "", "",
    "phuma render g1/clips/g1/people-run_*/*.npz --certified --human --size 960x440 --out performed.mp4",
)  # fmt: skip
"""The moving picture of the README."""


def run(command: str, work: Path) -> None:
    """Run one line of the page in the work folder, as it stands there."""
    print(f"$ {command}", flush=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", "-ec", command], cwd=work, env={**os.environ, "PATH": path}, check=True)


def prepare(work: Path) -> None:
    """Run the prelude's lines whose folder is not there yet."""
    variables = "\n".join(line for line in PRELUDE.splitlines() if "=$" in line.split()[0])
    for line in PRELUDE.splitlines():
        words = line.split("  #")[0].split()
        if words[0] != "phuma":
            continue
        done = work / f".{words[1]}_{words[words.index('--out') + 1] if '--out' in words else words[2]}"
        if not done.exists():
            run(f"{variables}\n{line}", work)
            done.touch()


def shrink(film: Path, out: Path, width: int = WIDTH) -> None:
    """Write a film as a small WebP, which pages play in place."""
    from imageio_ffmpeg import get_ffmpeg_exe

    options = ["-vf", f"fps={FPS},scale={width}:-2:flags=lanczos", "-loop", "0", "-quality", str(QUALITY)]
    options += ["-compression_level", "6", "-c:v", "libwebp"]
    subprocess.run([get_ffmpeg_exe(), "-y", "-loglevel", "error", "-i", film, *options, out], check=True)


def page() -> str:
    """The page in Markdown: a heading a section; each exhibit with its picture or link, and its command."""
    count = len(EXHIBITS)
    parts = [
        "# Gallery",
        f"{count} films and pages on five robots, good and bad ones, each with the command that makes it. All people "
        "are generated: whoever runs the commands gets the same.",
        "First, in an empty folder:",
        f"```sh\n{PRELUDE}\n```",
    ]
    for section, exhibits in SECTIONS.items():
        parts.append(f"## {section}")
        for e in exhibits:
            parts.append(f"### {e.title}")
            if e.words:
                parts.append(e.words)
            film = e.name.endswith(".mp4")
            parts.append(f"![{e.title}]({Path(e.name).stem}.webp)" if film else f"[Open the page]({e.name})")
            parts.append(f"```sh\n{e.command}\n```")
    parts.append("Made by `benchmarks/gallery.py`.")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these files")
    parser.add_argument("--work", type=Path, default=Path("build/gallery"))
    args = parser.parse_args()
    try:
        metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        print(f"skipped: the package {PACKAGE} is not installed")
        return
    args.work.mkdir(parents=True, exist_ok=True)
    prepare(args.work)
    for e in [FIRST, *EXHIBITS]:
        if args.names and e.name not in args.names:
            continue
        if not (args.work / e.name).exists():
            run(e.command, args.work)
        if e is FIRST:
            shrink(args.work / e.name, PICTURES / "performed.webp", 2 * WIDTH)
        elif e.name.endswith(".mp4"):
            shrink(args.work / e.name, GALLERY / f"{Path(e.name).stem}.webp")
        else:
            shutil.copy(args.work / e.name, GALLERY)
    (GALLERY / "README.md").write_text(page(), encoding="utf-8")
    size = sum(file.stat().st_size for file in GALLERY.iterdir()) / 1e6
    print(f"{size:.1f} MB in {GALLERY}")
    if size > MOST_MB:
        raise SystemExit(f"more than {MOST_MB:g} MB: make films shorter or smaller")


if __name__ == "__main__":
    main()
