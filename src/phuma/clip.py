"""A clip: a few seconds of motion on the ground, with its contacts and a verdict on whether it is plausible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from phuma.contact import FootContacts
from phuma.errors import PhumaError
from phuma.motion import HumanMotion


@dataclass(frozen=True)
class Measure:
    """One metric of a clip against its limit."""

    name: str
    value: float
    limit: float
    bound: Literal["above", "below"]
    """On which side of the limit the value has to be"""
    unit: str = ""

    @property
    def passed(self) -> bool:
        return self.value > self.limit if self.bound == "above" else self.value < self.limit

    def __str__(self) -> str:
        wanted = ">" if self.bound == "above" else "<"
        return f"{self.name} {self.value:.3g}{self.unit}, needs {wanted} {self.limit:g}{self.unit}"


@dataclass(frozen=True)
class Verdict:
    """All metrics of a clip; it is kept when every one of them passed."""

    measures: tuple[Measure, ...]

    @property
    def kept(self) -> bool:
        return all(m.passed for m in self.measures)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the clip was rejected, in words; empty when it was kept."""
        return tuple(str(m) for m in self.measures if not m.passed)

    @property
    def metrics(self) -> dict[str, float]:
        return {m.name: m.value for m in self.measures}


@dataclass(frozen=True, eq=False)
class Clip:
    """A piece of a recording: ground at z = 0, contacts of curation, verdict."""

    motion: HumanMotion
    contact: FootContacts
    verdict: Verdict
    ground: float
    """Height of the ground in the recording's own frame, metres; already taken off `motion`"""

    def __post_init__(self) -> None:
        if len(self.motion) != len(self.contact) or self.motion.fps != self.contact.fps:
            raise PhumaError(
                f"a clip of {len(self.motion)} frames at {self.motion.fps:g} Hz has contacts of {len(self.contact)} "
                f"frames at {self.contact.fps:g} Hz"
            )

    def __repr__(self) -> str:
        verdict = "kept" if self.verdict.kept else "rejected: " + "; ".join(self.verdict.reasons)
        return f"Clip({self.motion.provenance.source!r}, {self.start:.2f} to {self.end:.2f} s, {verdict})"

    @property
    def start(self) -> float:
        """Seconds into the source."""
        return self.motion.provenance.start

    @property
    def end(self) -> float:
        return self.start + self.motion.duration

    def mirror(self) -> Clip:
        return replace(self, motion=self.motion.mirror(), contact=self.contact.mirror())
