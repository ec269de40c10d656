"""Find by how much the world of a recording is tilted, and how fast its ground rises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phuma.core.rotations import Array
from phuma.curation.mending.footing import Footing

HEIGHT_ERROR = 0.012
"""Error in m of the height of a sole that stands: bodies fit soles to a centimetre"""
LEAN_ERROR = np.radians(2.0)
"""Angle in rad by which people lean on average, beyond what the extent of their support lets them"""
RISE_ERROR, STILL = 0.015, 1e-6
"""Error in m/s of how fast soles rise while they stand, as heels and toes roll; and of what is held to be nothing"""
FAR = 0.04
"""Distance in m from the plane at which a sole says nothing about it"""
UNKNOWN = np.radians(20.0)
"""Tilt in rad that soles are held to show at most where they stand on a line or a point"""
AGREES, DIFFERS = 0.4, 0.7
"""Share of a tilt or rise that each of its witnesses has to show alone, and by which the forces may differ from it"""
LEAST_LEAN = np.radians(1.5)
"""Tilt in rad that forces have to show at least: people do not stand quite upright"""
SURE = 2.0
"""Times by which a rise has to be greater than its standard deviation"""
FITS = 2


@dataclass(frozen=True, eq=False)
class Level:
    """The plane that soles stand on, z = height - tilt.(x - middle) + rise (t - time)."""

    tilt: Array
    """(2,) rad"""
    rise: float
    """m/s"""
    middle: Array
    """(3,) m, the middle of what stands, on the plane at `time`"""
    time: float
    """s"""
    soles: Array
    """(2,) rad, the tilt by the soles alone"""
    lean: Array
    """(2,) rad, the tilt by the forces alone"""
    climb: float
    """m/s, how fast standing soles rise"""
    rise_error: float
    """m/s, the standard deviation of `rise`"""
    spread: float
    """m, the median distance of what stands from the plane"""

    @property
    def angle(self) -> float:
        """Return the tilt's size in rad."""
        return float(np.arctan(np.linalg.norm(self.tilt)))

    @property
    def tilt_agrees(self) -> bool:
        """Return whether soles and forces are tilted alike: on a slope or on stairs people stand upright, and who sits
        or leans on something does so on a level floor."""
        size = float(np.linalg.norm(self.tilt))
        by_soles, by_forces = self.soles @ self.tilt, self.lean @ self.tilt
        alike = np.linalg.norm(self.lean - self.tilt) <= DIFFERS * size
        return bool(alike and by_soles >= AGREES * size**2 and by_forces >= LEAST_LEAN * size)

    @property
    def rise_agrees(self) -> bool:
        """Return whether soles rise with the ground while they stand: on a slope or on stairs they rest."""
        return abs(self.rise) >= SURE * self.rise_error and self.climb * self.rise >= AGREES * self.rise**2


def find_level(footing: Footing, rises: bool = True, tilts: bool = True) -> Level:
    """Return the plane by three witnesses; somebody stands. It may be held to be at rest, or to be level.

    With standing points (x, z) at times t, the lean of the forces l and the median speed c at which standing soles
    rise, tilt a and rise b minimise mean((z - h + a.x - b t)^2) / HEIGHT_ERROR^2 + (a - l)^T B (a - l)
    + (b - c)^2 / RISE_ERROR^2, where B = (D / height^2 + LEAN_ERROR^2)^-1 with the covariance D of the support, within
    which weight may be anywhere. Points that lie FAR from the plane are then left out, and it is found again.
    """
    on = footing.loaded
    points = footing.regions.corners[on].reshape(-1, 3)
    time = np.repeat(np.nonzero(on)[0] / footing.fps, footing.regions.corners.shape[2])
    lean, extent, height = footing.lean()
    climb = float(np.median(footing.velocity[..., 2][on])) if rises else 0.0
    prior = np.zeros((3, 3))
    prior[:2, :2] = np.linalg.inv(extent / height**2 + LEAN_ERROR**2 * np.eye(2)) if tilts else STILL**-2 * np.eye(2)
    prior[2, 2] = (RISE_ERROR if rises else STILL) ** -2
    expected = prior @ np.append(lean if tilts else np.zeros(2), climb)
    used = np.ones(len(points), dtype=bool)
    for _ in range(FITS):
        columns = np.column_stack([-points[:, :2], time])
        mean_columns, mean_z = columns[used].mean(axis=0), points[used, 2].mean()
        from_mean, up = columns - mean_columns, points[:, 2] - mean_z
        fit = from_mean[used].T @ from_mean[used] / used.sum() / HEIGHT_ERROR**2
        shown = from_mean[used].T @ up[used] / used.sum() / HEIGHT_ERROR**2
        found = np.linalg.solve(fit + prior, shown + expected)
        away = np.abs(up - from_mean @ found)
        used = away <= max(FAR, float(np.median(away)))
    free = np.linalg.solve(fit[:2, :2] + np.eye(2) / UNKNOWN**2, shown[:2] - fit[:2, 2] * found[2])
    middle = np.append(-mean_columns[:2], mean_z)
    error = float(np.sqrt(np.linalg.inv(fit + prior)[2, 2]))
    return Level(
        found[:2], float(found[2]), middle, float(mean_columns[2]), free, lean, climb, error, float(np.median(away))
    )
