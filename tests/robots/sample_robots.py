"""Sample robots of all kinds: small models with the hard cases, and what is true of each by construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MODELS = Path(__file__).parent / "models"
SIDES = ("left", "right")


@dataclass(frozen=True)
class SampleRobot:
    """A model file and the truth about it; names hold {side} in the words of the file."""

    file: str
    sides: tuple[str, str]
    """what the file calls left and right"""
    keypoints: Mapping[str, str]
    """part -> body of the left and the right one"""
    foot: str
    knee: str
    elbow: str
    pelvis: str
    chest: str
    waist: tuple[str, ...]
    unseen: int
    """joints that no keypoint sees"""
    sole: tuple[float, float, float, float]
    """heel and toe from the ankle, half the width, height of the ankle above the sole, metres"""
    lengths: tuple[float, float, float, float]
    """thigh, shank, upper arm, forearm to the wrist, metres"""
    ambiguities: tuple[str, ...]
    """words that have to occur in the list of ambiguities"""
    without: tuple[str, ...] = ()
    """words that must not"""
    numbers: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """for a file without sides in its names: part or joint -> left, right"""

    @property
    def path(self) -> Path:
        return MODELS / self.file

    @property
    def name(self) -> str:
        return self.path.stem

    def named(self, part: str, side: str) -> str:
        k = SIDES.index(side)
        return self.numbers[part][k] if part in self.numbers else part.replace("{side}", self.sides[k])


SPEED, TORQUE, WRIST = "Speed limits of every joint", "Torque limits of every joint", "has no joint at the wrist"
BESIDE = "beside the place where its hip's axes"
SAMPLE_ROBOTS = {
    s.name: s
    for s in (
        SampleRobot(
            file="scout/scout.xml",
            sides=SIDES,
            keypoints={"hip": "{side}_thigh", "knee": "{side}_shank", "ankle": "{side}_ankle",
                       "shoulder": "{side}_shoulder_roll", "elbow": "{side}_forearm", "wrist": "{side}_hand"},
            foot="{side}_foot", knee="{side}_knee_joint", elbow="{side}_elbow_joint", pelvis="pelvis", chest="chest",
            waist=("waist_yaw_joint", "waist_roll_joint", "waist_pitch_joint"), unseen=2,
            sole=(-0.07, 0.15, 0.045, 0.06),
            lengths=(0.36, 0.35, 0.25, 0.23),
            ambiguities=(SPEED, "head_yaw_joint, head_pitch_joint"), without=(TORQUE, WRIST),
        ),
        SampleRobot(
            file="numbered.xml",
            sides=SIDES,
            keypoints={"hip": "hip", "knee": "knee", "ankle": "ankle", "shoulder": "shoulder", "elbow": "elbow",
                       "wrist": "elbow"},
            foot="ankle", knee="knee_joint", elbow="elbow_joint", pelvis="L00", chest="L11", waist=("J11",), unseen=0,
            sole=(-0.055, 0.145, 0.04, 0.07),
            lengths=(0.32, 0.3, 0.22, 0.24),
            ambiguities=(SPEED, TORQUE, WRIST, "fixes its root", "turned by 90 degrees"),
            numbers={"hip": ("L07", "L02"), "knee": ("L09", "L04"), "ankle": ("L10", "L05"), "shoulder": ("L17", "L13"),
                     "elbow": ("L19", "L15"), "knee_joint": ("J09", "J04"), "elbow_joint": ("J19", "J15")},
        ),
        SampleRobot(
            file="handy.xml",
            sides=("l", "r"),
            keypoints={"hip": "{side}_thigh", "knee": "{side}_shank", "ankle": "{side}_talus",
                       "shoulder": "{side}_shoulder_b", "elbow": "{side}_forearm", "wrist": "{side}_palm"},
            foot="{side}_foot", knee="{side}_knee", elbow="{side}_elbow", pelvis="pelvis", chest="chest",
            waist=("waist_yaw", "waist_pitch"), unseen=17, sole=(-0.08, 0.17, 0.05, 0.08),
            lengths=(0.4, 0.39, 0.28, 0.25),
            ambiguities=("root of the file is 'chest'", "boom_slide", "17 joints", "Torque limits of 37 joints"),
            without=(WRIST,),
        ),
        SampleRobot(
            file="loops.xml",
            sides=("L", "R"),
            keypoints={"hip": "{side}Thigh", "knee": "{side}Shank", "ankle": "{side}Foot",
                       "shoulder": "{side}ShoulderRoll", "elbow": "{side}Forearm", "wrist": "{side}Hand"},
            foot="{side}Foot", knee="{side}Knee", elbow="{side}Elbow", pelvis="Pelvis", chest="Torso",
            waist=("WaistYaw",), unseen=4, sole=(-0.08, 0.15, 0.045, 0.062),
            lengths=(0.38, 0.38, 0.2508, 0.2209),
            ambiguities=("LRod1, LRod2, RRod1, RRod2", "LCrank1"), without=(WRIST,),
        ),
        SampleRobot(
            file="classic.xml",
            sides=SIDES,
            keypoints={"hip": "{side}_thigh", "knee": "{side}_shin", "ankle": "{side}_foot",
                       "shoulder": "{side}_upper_arm", "elbow": "{side}_lower_arm", "wrist": "{side}_lower_arm"},
            foot="{side}_foot", knee="{side}_knee", elbow="{side}_elbow", pelvis="pelvis", chest="torso",
            waist=("abdomen_z", "abdomen_y", "abdomen_x"), unseen=2, sole=(-0.085, 0.175, 0.055, 0.095),
            lengths=(0.39, 0.33, 0.2944, 0.335),
            ambiguities=(
                WRIST, "root_x, root_y, root_z, root_turn", "left_toes, right_toes", "Torque limits of 17 joints",
            ),
        ),
        SampleRobot(
            file="bare.urdf",
            sides=SIDES,
            keypoints={"hip": "{side}_hip_pitch", "knee": "{side}_shin", "ankle": "{side}_ankle",
                       "shoulder": "{side}_upper", "elbow": "{side}_fore", "wrist": "{side}_fore"},
            foot="{side}_foot", knee="{side}_knee", elbow="{side}_elbow", pelvis="base_link", chest="torso",
            waist=("waist_yaw",), unseen=5, sole=(-0.07, 0.15, 0.045, 0.07),
            lengths=(0.33, 0.33, 0.24, 0.22),
            ambiguities=("29 meshes were not found", WRIST, "a box with its inertia", "head_turn, left_shoulder_yaw"),
            without=(SPEED, TORQUE),
        ),
        SampleRobot(
            file="crouch.xml",
            sides=SIDES,
            keypoints={"hip": "{side}_hip_mid", "knee": "{side}_shank", "ankle": "{side}_foot",
                       "shoulder": "{side}_shoulder_b", "elbow": "{side}_forearm", "wrist": "{side}_hand"},
            foot="{side}_foot", knee="{side}_knee", elbow="{side}_elbow", pelvis="pelvis", chest="torso",
            waist=("waist_yaw",), unseen=0, sole=(-0.08, 0.16, 0.05, 0.07),
            lengths=(0.36, 0.36, 0.24, 0.22),
            ambiguities=(SPEED, TORQUE, "turned by 180 degrees"), without=(WRIST, BESIDE),
        ),
        SampleRobot(
            file="outset.xml",
            sides=SIDES,
            keypoints={"hip": "{side}_thigh", "knee": "{side}_shank", "ankle": "{side}_foot",
                       "shoulder": "{side}_shoulder_roll", "elbow": "{side}_forearm", "wrist": "{side}_forearm"},
            foot="{side}_foot", knee="{side}_knee", elbow="{side}_elbow", pelvis="pelvis", chest="torso",
            waist=("waist_yaw",), unseen=0, sole=(-0.07, 0.15, 0.04, 0.07),
            lengths=(0.38, 0.38, 0.26, 0.241),
            ambiguities=(
                SPEED, TORQUE, WRIST, f"The left leg hangs 11.5 cm {BESIDE}", f"The right leg hangs 11.5 cm {BESIDE}",
            ),
        ),
    )
}  # fmt: skip
