"""The provenance of a motion: where it comes from and what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """The source of a motion and what may be done with it.

    >>> origin = phuma.generate("walk", 2.0).motion.provenance
    >>> origin.source, origin.redistributable
    ('synth:walk:0', True)
    """

    source: str
    """File as it was found, or what generated the motion"""
    format: str
    """Layout that it was read from, for example `amass-smplx`"""
    licence: str = "unknown"
    redistributable: bool | None = None
    """Whether the licence lets the data be redistributed; None where that is not known"""
    up: str = "z"
    """Axis of the source's own frame that is up; every motion here is z-up, whatever it was"""
    start: float = 0.0
    """Seconds into the source at which this motion begins"""
    mirrored: bool = False
    notes: tuple[str, ...] = ()
    """Decisions that a reader had to take, in words: a body fit, an assumed rate, an ignored shape"""
