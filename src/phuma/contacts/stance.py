"""Estimate contacts that stand: by height, speed and forces together, as the most likely course of sixteen states.

A region that stands is at the floor, at rest, and the regions that stand together can give the force that the body's
motion takes. Each is a cost in nats; widths, the regions' own heights and the floor under them come from what stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from phuma.contacts.bearing import missing_force
from phuma.contacts.evidence import Evidence
from phuma.contacts.force import GRAVITY
from phuma.contacts.height import contacts_by_height
from phuma.contacts.local_floor import common_floor, local_floor
from phuma.contacts.regions import Regions
from phuma.contacts.states import STATES, most_likely
from phuma.contacts.support import Support
from phuma.core.foot_contacts import FootContacts
from phuma.core.median import median
from phuma.core.rotations import Array
from phuma.core.skeleton import REGIONS

HEIGHT_WIDTH, SPEED_WIDTH, FORCE_WIDTH = 0.012, 0.15, 0.3
"""Standard deviations of what stands, before it is known better: m, m/s, body weights"""
HEIGHT_WIDTHS, SPEED_WIDTHS = (0.006, 0.015), (0.045, 0.20)
"""Smallest and greatest widths that may be found, in m and m/s; noise widens the greatest"""
OF_SPEED = 1.2
"""Width of the speed over the median speed of what stands"""
BELOW = 2.1
"""Times by which heights below the floor are wider: soles sink into a floor that is too high"""
BONUS = 3.0
"""Nats for standing, at the widths above; narrower ones earn more, as a density does"""
MOST, MOST_FORCE = 12.0, 15.0
"""Greatest cost in nats of a height or a speed, and of a force"""
OF_FORCE = 3.0
"""Weight of the squared force that is missing"""
VETO, TOO_HIGH, TOO_FAST = 40.0, 0.05, 1.0
"""Cost in nats of standing above a height in m or beyond a speed in m/s, whatever forces ask"""
SWITCH = 3.5
"""Cost in nats of a region that begins or ends to stand"""
OFFSET = 0.03
"""Greatest height in m of a region's own above the floor: bodies fit soles to a centimetre or two"""
LOW = 0.02
"""Height in m over the lowest region at which a region says e times less about the floor"""
ROUNDS = 2
"""Times that the floor and the widths are found from what stands"""
RATE = 30.0
"""Frame rate in Hz at which costs count as they are; at higher rates neighbours say the same"""
FEWEST = 3
"""Frames from which on there are accelerations"""


@dataclass(frozen=True, eq=False)
class _Floor:
    """What standing looks like: where the floor is, how it moves, and how far what stands is from it."""

    height: Array
    """(T,) m"""
    offset: Array
    """(4,) m, each region's own height above it"""
    speed: Array
    """(T, 4) m/s, speeds of the regions on it"""
    height_width: float
    speed_width: float


def contacts_that_stand(evidence: Evidence) -> FootContacts:
    """Return contact ratios of 1 where a heel or toe stands and 0 elsewhere, with the ratios by height beside them.

    A recording of one or two frames has no forces: there they are the contacts by height.
    """
    by_height = contacts_by_height(evidence)
    short = len(evidence.recorded) < FEWEST
    stands = by_height.mask if short else standing(evidence.regions, evidence.support, evidence.known_ground)
    return FootContacts(stands.astype(float), by_height.fps, by_height.ratio)


def standing(regions: Regions, support: Support, known_ground: float | None = None) -> Array:
    """Return (T, 4) bool: whether each region stands, in a recording of at least three frames of a person or a robot;
    the height of the ground in m is found unless it is known."""
    height = regions.height
    found, common = _first_floor(regions, support, height, known_ground)
    bearing = _bearing_cost(regions, support, common)
    for _ in range(ROUNDS):
        stands = STATES[(bearing + _standing_cost(found, regions, height)).argmin(axis=1)]
        if not stands.any():
            break
        found = _refined(found, regions, height, stands, common, known_ground is None)
    cost = (bearing + _standing_cost(found, regions, height)) * min(1.0, RATE / regions.fps)
    return np.asarray(STATES[most_likely(cost, SWITCH)])


def _first_floor(regions: Regions, support: Support, height: Array, known: float | None) -> tuple[_Floor, float]:
    """Return the floor before anything is known to stand, and its common height: where regions are low, at rest and
    loaded, unless it is known."""
    found = _Floor(
        height=np.full(len(height), known or 0.0),
        offset=np.zeros(len(REGIONS)),
        speed=regions.speed(np.zeros(3)),
        height_width=float(np.hypot(HEIGHT_WIDTH, _height_noise(regions))),
        speed_width=float(np.hypot(SPEED_WIDTH, _speed_noise(regions))),
    )
    if known is not None:
        return found, known
    load = np.clip(np.where(support.trusted, support.force.vertical, 1.0), 0.0, 1.5)
    low = np.exp(-(height - height.min(axis=1, keepdims=True)) / LOW)
    weight = load[:, None] * low * np.exp(-0.5 * (found.speed / found.speed_width) ** 2)
    common = common_floor(height, weight)
    return replace(found, height=local_floor(height, weight, common, regions.fps)), common


def _height_noise(regions: Regions) -> float:
    """Return m: the noise that smoothing leaves in heights, whose power is as wide as the band."""
    return regions.noise * regions.calm**0.5


def _speed_noise(regions: Regions) -> float:
    """Return m/s: the noise that smoothing leaves in speeds, whose power grows with the band cubed."""
    return 1.5 * regions.noise * regions.fps * regions.calm**1.5


def _bearing_cost(regions: Regions, support: Support, floor: float) -> Array:
    """Return (T, 16) nats: what each state costs by the force that it misses, the least of this frame and both
    neighbours, as smoothing blurs by as much; 0 where accelerations are not the recording's."""
    missing = missing_force(support.force, support.soles.position, floor)
    around = np.pad(missing, ((1, 1), (0, 0)), mode="edge")
    missing = np.minimum(np.minimum(around[:-2], around[2:]), missing)
    width = np.hypot(FORCE_WIDTH, 2.0 * regions.noise * regions.fps**2 / GRAVITY)
    return np.where(support.trusted[:, None], np.minimum(OF_FORCE * (missing / width) ** 2, MOST_FORCE), 0.0)


def _standing_cost(found: _Floor, regions: Regions, height: Array) -> Array:
    """Return (T, 16) nats: what each state costs by the heights and speeds of the regions that stand in it.

    A region costs min(h^2 / 2 sigma_h^2, MOST) + min(v^2 / 2 sigma_v^2, MOST) - b, b = BONUS + ln(HEIGHT_WIDTH /
    sigma_h) + ln(SPEED_WIDTH / sigma_v), and VETO where that cannot be.
    """
    above = height - found.height[:, None] - found.offset
    wide = np.where(above < 0, BELOW, 1.0) * found.height_width
    bonus = BONUS + np.log(HEIGHT_WIDTH / found.height_width) + np.log(SPEED_WIDTH / found.speed_width)
    cost = np.minimum(0.5 * (above / wide) ** 2, MOST) - bonus
    cost += np.minimum(0.5 * (found.speed / found.speed_width) ** 2, MOST)
    too_fast = TOO_FAST * max(1.0, 0.5 * np.hypot(SPEED_WIDTH, _speed_noise(regions)) / SPEED_WIDTH)
    cost += VETO * ((above > TOO_HIGH) | (found.speed > too_fast))
    return np.asarray(cost @ STATES.T)


def _refined(found: _Floor, regions: Regions, height: Array, stands: Array, common: float, local: bool) -> _Floor:
    """Return the floor as those samples show it that stand (T, 4): medians of heights and velocities, and widths."""
    above = height - found.height[:, None]
    offset = [median(above[on, r]) if on.any() else 0.0 for r, on in enumerate(stands.T)]
    own = np.clip(offset, -OFFSET, OFFSET)
    floor = local_floor(height - own, stands.astype(float), common, regions.fps) if local else found.height
    along = regions.velocity[stands]
    speed = regions.speed(np.array([median(along[:, 0]), median(along[:, 1]), 0.0]))
    spread = 1.48 * median(np.abs(height - floor[:, None] - own)[stands])
    widest = np.hypot(HEIGHT_WIDTH, _height_noise(regions)), np.hypot(SPEED_WIDTH, _speed_noise(regions))
    return _Floor(
        height=floor,
        offset=own,
        speed=speed,
        height_width=_between(np.hypot(spread, _height_noise(regions)), HEIGHT_WIDTHS, widest[0]),
        speed_width=_between(OF_SPEED * median(speed[stands]), SPEED_WIDTHS, widest[1]),
    )


def _between(width: float, limits: tuple[float, float], widest: float) -> float:
    return float(np.clip(width, limits[0], max(limits[1], widest)))
