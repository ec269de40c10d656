"""What the pictures of a film tell besides the person: cuts, stand-still, light, and whether the camera moves."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from phuma.core.rotations import Array
from phuma.video.camera import flow, small
from phuma.video.landmarker import Pose

UNLIKE = 0.3
"""How little the light and dark of two successive pictures go together at a cut, as 1 - correlation: measured at cuts
within one room 0.47 and more, at flicker of light and jerks of the camera at most 0.15"""
FLAT = 2.0  # of 255, spread of light and dark below which a picture has no pattern
FLOW_SECONDS = 0.125
ROOM = 0.15  # about a person's landmarks, of the larger side of their box: hair, hands, feet, shadow


@dataclass(frozen=True, eq=False)
class Pictures:
    """What was measured of each of T frames."""

    cut: Array
    """(T,) 1 where a shot begins that is not the film's first"""
    change: Array
    """(T,) largest change of any pixel since the frame before, of 255; the first has that of the second"""
    light: Array
    """(T,) mean brightness of the person, else of the picture, of 255"""
    flow: Array
    """(T,) speed of the background, in longer sides of the picture a second; -1 where it is not known"""
    right: Array
    down: Array
    """(T,) the same at the middle of the picture, as a camera that turns moves the background"""
    clockwise: Array
    """(T,) rad a second"""
    rest: Array
    """(T,) speed of the background that a camera that turns does not explain, as `flow`"""
    people: Array
    """(T,) how many people were found; -1 in frames that were not searched"""

    def __len__(self) -> int:
        return len(self.cut)


NAMES = tuple(field.name for field in fields(Pictures))
_FLOW = slice(NAMES.index("flow"), NAMES.index("people"))


class PictureWatch:
    """A watch is shown the pictures in their order, and each person who was found in them after that."""

    def __init__(self, fps: float) -> None:
        self._fps, self._every = fps, max(1, round(FLOW_SECONDS * fps))
        self._rows: list[list[float]] = []
        self._thin: NDArray[np.int16] | None = None
        self._before: tuple[Array, NDArray[np.bool_]] | None = None

    def begins_shot(self, picture: NDArray[np.uint8]) -> bool:
        """Take the next picture (H, W, 3), and return whether it is the first of another shot."""
        step = max(1, max(picture.shape[:2]) // 160)
        thin, before = picture[::step, ::step].astype(np.int16), self._thin
        cut = before is not None and _unlike(_blocks(before), _blocks(thin)) > UNLIKE
        change = 0 if before is None else int(np.abs(thin - before).max())
        if cut:
            self._before = None
        self._thin = thin
        self._rows.append([float(cut), float(change), float(thin.mean()), -1.0, 0.0, 0.0, 0.0, 0.0, -1.0])
        return cut

    def person_found(self, picture: NDArray[np.uint8], pose: Pose | None, people: int | None) -> None:
        """Take what was found in the picture that was shown last."""
        row = self._rows[-1]
        if people is not None:
            row[NAMES.index("people")] = people
        if pose is not None and (body := picture[_slices(_box(pose), picture.shape)][::4, ::4]).size:
            row[NAMES.index("light")] = float(body.mean())
        if (len(self._rows) - 1) % self._every == 0:
            now = small(picture)
            hidden = _hidden(now.shape, picture.shape, pose)
            if self._before is not None and not (either := hidden | self._before[1]).all():
                moved = flow(self._before[0], now, either)
                if moved is not None:
                    row[_FLOW] = [v * self._fps / self._every for v in moved]
            self._before = now, hidden

    def pictures(self) -> Pictures:
        """Return what was measured up to now."""
        table = np.array(self._rows, np.float32).reshape(-1, len(NAMES))
        if len(table) > 1:
            table[0, NAMES.index("change")] = table[1, NAMES.index("change")]
        return Pictures(**{name: table[:, i].copy() for i, name in enumerate(NAMES)})


def _blocks(thin: NDArray[np.int16]) -> Array:
    """Return (h, w) the light and dark of a picture, as means over about ten blocks along its longer side."""
    size = max(1, max(thin.shape[:2]) // 10)
    height, width = (max(1, n // size) for n in thin.shape[:2])
    cut = thin[: height * size, : width * size]
    means = cut.reshape(height, -1, width, cut.shape[1] // width, 3).mean(axis=(1, 3, 4))
    return means - means.mean()


def _unlike(before: Array, after: Array) -> float:
    """Return 1 - correlation of two patterns of light and dark; exposure changes neither."""
    spreads = before.std(), after.std()
    if min(spreads) < FLAT:
        return float(max(spreads) > 2 * FLAT)
    return 1.0 - float((before * after).mean() / (spreads[0] * spreads[1]))


def _box(pose: Pose) -> Array:
    """Return (2, 2) px the upper left and the lower right corner about a person, with room."""
    low, high = pose.image.min(axis=0), pose.image.max(axis=0)
    room = ROOM * (high - low).max()
    return np.stack([low - room, high + room])


def _slices(box: Array, shape: tuple[int, ...], scale: float = 1.0) -> tuple[slice, slice]:
    (left, top), (right, bottom) = (box * scale).clip(0, [shape[1], shape[0]]).astype(int)
    return slice(top, bottom + 1), slice(left, right + 1)


def _hidden(small_shape: tuple[int, ...], shape: tuple[int, ...], pose: Pose | None) -> NDArray[np.bool_]:
    """Return where a person hides the background of a small picture."""
    out = np.zeros(small_shape, bool)
    if pose is not None:
        out[_slices(_box(pose), small_shape, max(small_shape) / max(shape[:2]))] = True
    return out
