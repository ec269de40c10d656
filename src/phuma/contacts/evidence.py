"""The evidence from which an estimator finds the contacts of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from phuma.contacts.ground import vote_ground
from phuma.contacts.regions import LIGHT, Regions, recorded_noise, regions_of
from phuma.contacts.support import Support, support_of
from phuma.core.human_motion import HumanMotion
from phuma.core.rotations import Array
from phuma.core.smoothing import smooth


@dataclass(frozen=True, eq=False)
class Evidence:
    """A whole recording at the clips' frame rate, in its own frame. Properties are computed when they are first
    used."""

    recorded: HumanMotion
    """The recording before it is smoothed"""
    motion: HumanMotion
    """The recording smoothed as clips are"""
    heights: Array
    """(T, 88) m, float32, the heights of the sole points of `motion`"""
    band: float
    """Distance from the ground in m within which a sole point counts as in contact"""
    known_ground: float | None = None
    """Height of the ground in m if the user knows it"""
    voted_ground: float | None = None
    """Height of the ground in m if this is a part of a recording that has voted for it as a whole"""
    known_light: HumanMotion | None = None
    """What `light` returns if it is there already"""

    @cached_property
    def ground(self) -> float:
        """Return the height of the ground in m: as given by the user, else the vote of all sole points."""
        known = self.voted_ground if self.known_ground is None else self.known_ground
        return vote_ground(self.heights, self.band) if known is None else known

    @cached_property
    def light(self) -> HumanMotion:
        """Return the recording smoothed just enough to take accelerations of it."""
        if self.known_light is not None:
            return self.known_light
        return smooth(self.recorded, LIGHT * self.recorded.fps, LIGHT * self.recorded.fps)

    @cached_property
    def support(self) -> Support:
        """Return the forces, the corners of the soles and the floor on which they carry, from `light`."""
        return support_of(self.light, self.known_ground, self.band)

    @cached_property
    def regions(self) -> Regions:
        """Return heels and toes as they are seen in a recording of at least two frames."""
        corners = self.support.soles.position
        return regions_of(corners, recorded_noise(self.recorded, corners), self.recorded.fps)
