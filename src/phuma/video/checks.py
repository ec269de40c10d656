"""Checks of a film: each fault that spoils motion, as a reason with its times; and which stretches are left to use.

A check is a function from landmarks and pictures to the frames where something is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video import turning
from phuma.video.landmarks import NAMES, Landmarks
from phuma.video.pictures import Pictures

Mask = NDArray[np.bool_]

LEAST_SECONDS = 1.0
"""Of a stretch that is used"""
GAP = 0.2  # seconds without a person that are filled, and of another verdict that are overlooked
LEGS = 0.3  # mean visibility of the ankles
STILL = 6.0  # of 255, change of any pixel: compression makes up to 5 of nothing, and the quietest person 70
DARK = 25.0  # of 255
SMALL = 100.0  # px of the person's height in the film: the network sees 256
TURNED = 60.0  # degrees of the trunk against upright, in the middle of all frames
FAR = 0.25
"""Of the person's height: how far hips that belong to one person move from one frame to the next at most"""
STAYS_EXCHANGED, MOMENT = "sides", 1.0
"""The kind of an exchange of left and right that is not put right, and the seconds after which it is none any more"""
EXCHANGE_JUMP = 0.08
"""Of the person's height: how far legs jump on average at least when left and right are exchanged"""

_LEFT = [i for i, name in enumerate(NAMES) if name.startswith("left") and i >= NAMES.index("left_hip")]
_RIGHT = [NAMES.index(NAMES[i].replace("left", "right")) for i in _LEFT]
_SHOULDERS, _HIPS, _ANKLES = (
    [NAMES.index(f"{side}_{part}") for side in ("left", "right")] for part in ("shoulder", "hip", "ankle")
)


@dataclass(frozen=True)
class Finding:
    """Something that a person should know about a part of a film."""

    kind: str
    start: float
    """Seconds from the film's beginning"""
    end: float
    text: str
    """The finding in words, with its times"""
    spoils: bool
    """Whether these frames are of no use; otherwise it is a note"""


@dataclass(frozen=True)
class Check:
    """A check finds the frames of one kind of fault."""

    kind: str
    words: str
    find: Callable[[Landmarks, Pictures], Mask]
    spoils: bool = True
    least: float = GAP
    """Seconds that it must last to be told"""
    gap: float = GAP
    """Seconds without it between two times that are told as one"""
    breaks: bool = False
    """Whether it is an instant, at which one stretch ends and another may begin"""


def checked_film(
    landmarks: Landmarks, pictures: Pictures, offset: float = 0.0
) -> tuple[list[Finding], list[tuple[int, int]]]:
    """Return what is to be said of a film, in order of time, and the stretches that can be used.

    A stretch is (first frame, frame after the last), at least a second in which one person can be followed. `offset` is
    the time of the first frame in the film.
    """
    fps, count = landmarks.fps, len(landmarks)
    good, breaks, findings = np.ones(count, bool), np.zeros(count, bool), []
    for check in CHECKS:
        wrong = check.find(landmarks, pictures)
        if check.breaks:
            breaks |= wrong
        for first, last in _runs(wrong, round(check.gap * fps)):
            if last - first < check.least * fps and not check.breaks:
                continue
            if check.spoils:
                good[first:last] = False
            findings.append(_finding(check, int(wrong[first:last].sum()), offset + first / fps, offset + last / fps))
    stretches = [_trimmed(s, seen(landmarks)) for s in _split(good, breaks)]
    stretches = [s for s in stretches if s[1] - s[0] >= LEAST_SECONDS * fps]
    return sorted(findings, key=lambda f: (f.start, f.end)), stretches


def _finding(check: Check, times: int, start: float, end: float) -> Finding:
    if not check.breaks:
        return Finding(check.kind, start, end, f"{_when(start, end)}: {check.words}", check.spoils)
    if times == 1:
        return Finding(check.kind, start, start, f"{_when(start, start)}: {check.words}", check.spoils)
    return Finding(check.kind, start, end, f"{_when(start, end)}: {check.words}, {times} times", check.spoils)


def nobody(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Nobody is seen."""
    return landmarks.presence <= 0


def legs_out(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Neither ankle is seen, by what the network says of them or since they lie beyond the picture."""
    ankles = landmarks.image[:, _ANKLES]
    outside: Mask = (ankles < 0) | (ankles > np.array(landmarks.size))
    beyond = np.all(np.any(outside, axis=2), axis=1)
    hidden = _smooth(landmarks.visibility[:, _ANKLES].mean(axis=1), landmarks) < LEGS
    return (hidden | beyond) & seen(landmarks)


def moving_camera(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """The camera is carried, zooms or shakes."""
    return turning.moves(pictures, landmarks.fps)


def turning_camera(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """The camera turns on the spot, which is taken out."""
    return turning.turns(pictures, landmarks.fps)


def still(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Nothing changes at all."""
    return pictures.change <= STILL


def dark(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """There is hardly any light on the person."""
    return pictures.light < DARK


def small(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """The person has few pixels."""
    return (_heights(landmarks) < SMALL) & seen(landmarks)


def more_people(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Somebody else is there, in the last frame that was searched."""
    known = np.where(pictures.people >= 0, np.arange(len(landmarks)), -1)
    last = np.maximum.accumulate(known)
    return np.where(last >= 0, pictures.people[last.clip(0)], 0) > 1


def turned(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """The trunk is far from upright in most frames, as in a film that was turned."""
    trunk = landmarks.image[:, _SHOULDERS].mean(axis=1) - landmarks.image[:, _HIPS].mean(axis=1)
    angle = np.degrees(np.arctan2(np.abs(trunk[:, 0]), -trunk[:, 1]))
    there = seen(landmarks)
    return there & (bool(there.any()) and bool(np.median(angle[there]) > TURNED))


def cut(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Another shot begins."""
    return pictures.cut > 0


def jump(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """The hips are suddenly elsewhere, as if another person was followed."""
    at = np.flatnonzero(seen(landmarks))
    hips = landmarks.image[at][:, _HIPS].mean(axis=1)
    frames = np.diff(at).clip(1, 3) * max(1.0, 30 / landmarks.fps)
    far = np.linalg.norm(np.diff(hips, axis=0), axis=1) > FAR * _height(landmarks) * frames
    out = np.zeros(len(landmarks), bool)
    out[at[1:][far]] = True
    return out & ~cut(landmarks, pictures)


def exchanged(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Left and right leg are exchanged, and back within a moment: lifting puts that right."""
    swaps = _swaps(landmarks) & ~jump(landmarks, pictures)
    return swaps & ~_alone(swaps, MOMENT * landmarks.fps)


def stays_exchanged(landmarks: Landmarks, pictures: Pictures) -> Mask:
    """Left and right leg are exchanged, and not back within a moment, so that it is not known which are right."""
    return _alone(_swaps(landmarks) & ~jump(landmarks, pictures), MOMENT * landmarks.fps)


def _alone(instants: Mask, frames: float) -> Mask:
    """Return those instants that have no partner within so many frames; each is the partner of one other at most."""
    out, before = np.zeros(len(instants), bool), None
    for at in np.flatnonzero(instants):
        if before is not None and at - before <= frames:
            out[before], before = False, None
        else:
            out[at], before = True, at
    return out


def _swaps(landmarks: Landmarks) -> Mask:
    """Return (T,) whether the legs fit the frame before better than half as far when they are exchanged, and jump when
    they are not."""
    legs, swapped = landmarks.world[:, _LEFT + _RIGHT], landmarks.world[:, _RIGHT + _LEFT]
    kept = np.linalg.norm(legs[1:] - legs[:-1], axis=2).mean(axis=1)
    other = np.linalg.norm(swapped[1:] - legs[:-1], axis=2).mean(axis=1)
    stature = np.linalg.norm(np.ptp(landmarks.world, axis=1), axis=1)
    far = kept > EXCHANGE_JUMP * np.median(stature[seen(landmarks)], keepdims=True) if seen(landmarks).any() else False
    return _at_second((other < 0.5 * kept) & far & _both_seen(landmarks))


CHECKS = (
    Check("nobody", "nobody is seen", nobody),
    Check("legs", "legs out of the picture", legs_out),
    Check("camera", "the camera moves; put it on something firm", moving_camera),
    Check(
        "turning", "the camera turns, which is taken out; a firm one is better", turning_camera, spoils=False, gap=1.0
    ),
    Check("still", "a still picture: nothing moves", still, least=0.5),
    Check("dark", "it is too dark to see much", dark, spoils=False),
    Check("small", f"the person is small, under {SMALL:.0f} pixels; go nearer", small, spoils=False),
    Check("people", "more than one person; --person N chooses, from the left", more_people, spoils=False, gap=3.0),
    Check("turned", "the person is far from upright; turn the film if it lies on its side", turned, spoils=False),
    Check("cut", "a cut", cut, spoils=False, gap=0.0, breaks=True),
    Check("jump", "the person is suddenly elsewhere, or another one", jump, spoils=False, gap=1.0, breaks=True),
    Check("exchanged", "left and right leg are exchanged for a moment", exchanged, spoils=False, least=0.0, gap=1.0),
    Check(STAYS_EXCHANGED, "left and right leg are exchanged", stays_exchanged, spoils=False, gap=1.0, breaks=True),
)
"""Every check, with what a person is told"""


def seen(landmarks: Landmarks) -> Mask:
    """Return (T,) whether the person is seen."""
    return landmarks.presence > 0


def clock(seconds: float) -> str:
    """Return a time in a film as people write it: 0:04, 1:02:03."""
    minutes, s = divmod(math.floor(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{s:02}" if hours else f"{minutes}:{s:02}"


def _when(start: float, end: float) -> str:
    """Return the times of a finding, with tenths where whole seconds would not tell them apart."""
    if end <= start:
        return f"{clock(start)}.{math.floor(start * 10) % 10}"
    if clock(start) == clock(end):
        return f"{clock(start)}.{math.floor(start * 10) % 10} to {clock(end)}.{math.floor(end * 10) % 10}"
    return f"{clock(start)} to {clock(math.ceil(end))}"


def _heights(landmarks: Landmarks) -> Array:
    """Return (T,) px the larger side of the box about the person."""
    return np.ptp(landmarks.image, axis=1).max(axis=1)


def _height(landmarks: Landmarks) -> Array:
    """Return (1,) px the larger side of the box about the person in the middle of all frames."""
    there = seen(landmarks)
    return np.median(_heights(landmarks)[there], keepdims=True) if there.any() else np.ones(1)


def _smooth(values: Array, landmarks: Landmarks) -> Array:
    """Return the median over a tenth of a second to each side."""
    reach = max(1, round(0.1 * landmarks.fps))
    padded = np.pad(values, reach, mode="edge")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1), axis=1)


def _both_seen(landmarks: Landmarks) -> Mask:
    there = seen(landmarks)
    return there[1:] & there[:-1]


def _at_second(between: Mask) -> Mask:
    """Return (T,) from (T - 1,) what happens between two frames, at the second of them."""
    return np.concatenate([[False], between])


def _runs(mask: Mask, gap: int) -> Iterator[tuple[int, int]]:
    """Yield (first, after the last) of each run of true values, joined over gaps of up to `gap` false ones."""
    at = np.flatnonzero(mask)
    if not len(at):
        return
    ends = np.flatnonzero(np.diff(at) > gap + 1)
    for first, last in zip([at[0], *at[ends + 1]], [*at[ends], at[-1]]):
        yield int(first), int(last) + 1


def _split(good: Mask, breaks: Mask) -> Iterator[tuple[int, int]]:
    """Yield the runs of good frames, parted before each break."""
    for first, last in _runs(good, 0):
        edges = [first, *(first + 1 + np.flatnonzero(breaks[first + 1 : last])), last]
        yield from ((int(a), int(b)) for a, b in pairwise(edges))


def _trimmed(stretch: tuple[int, int], there: Mask) -> tuple[int, int]:
    """Return a stretch without the frames at its ends in which nobody is seen."""
    at = np.flatnonzero(there[slice(*stretch)])
    return (stretch[0] + int(at[0]), stretch[0] + int(at[-1]) + 1) if len(at) else (stretch[0], stretch[0])
