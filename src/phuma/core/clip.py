"""A clip: a few seconds of motion on the ground, with its contacts and a verdict on whether it is plausible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from phuma.core.by_hand import ByHand
from phuma.core.foot_contacts import FootContacts
from phuma.core.human_motion import HumanMotion
from phuma.core.metric import Metric
from phuma.errors import PhumaError


@dataclass(frozen=True)
class Measure:
    """The value of one metric of a clip, and the limit that it was held against."""

    metric: Metric
    value: float
    limit: float

    @property
    def name(self) -> str:
        """Return the metric's name."""
        return self.metric.name

    @property
    def passed(self) -> bool:
        """Return whether the value is on the good side of the limit."""
        return self.metric.passes(self.value, self.limit)

    def __str__(self) -> str:
        """Return the metric's name and what is wrong: `duration: the clip lasts 0.8 s (at least 1 s)`."""
        return self.metric.report(self.value, self.limit)


@dataclass(frozen=True)
class Verdict:
    """All metrics of a clip; it is kept when every one of them passed.

    >>> verdict = phuma.curate(phuma.read("walk.bvh")).clips[0].verdict
    >>> verdict.kept, verdict.reasons
    (True, ())
    >>> all(measure.passed for measure in verdict.measures)
    True
    """

    measures: tuple[Measure, ...]

    @classmethod
    def of(cls, metrics: Sequence[Metric], values: Mapping[str, float], limits: Mapping[str, float]) -> Verdict:
        """Return the verdict on values by the metrics' names; `values` and `limits` have one for each metric."""
        assert set(values) == {m.name for m in metrics}, f"values of {sorted(values)} for other metrics than declared"
        return cls(tuple(Measure(m, float(values[m.name]), limits[m.name]) for m in metrics))

    @property
    def kept(self) -> bool:
        """Return whether the clip passed every filter."""
        return all(m.passed for m in self.measures)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why the clip was rejected, in words behind the metric's name; nothing when it was kept."""
        return tuple(str(m) for m in self.measures if not m.passed)

    @property
    def metrics(self) -> dict[str, float]:
        """Return the values by the metrics' names."""
        return {m.name: m.value for m in self.measures}


@dataclass(frozen=True, eq=False)
class Clip(ByHand):
    """A piece of a recording with the ground at z = 0, its contacts and its verdict.

    >>> clip = phuma.curate(phuma.read("walk.bvh")).clips[0]
    >>> clip
    Clip('walk.bvh', 0.00 to 2.00 s, kept)
    >>> clip.save("walk_clip.npz")
    """

    motion: HumanMotion
    contact: FootContacts
    verdict: Verdict
    ground: float
    """Height of the ground in m in the recording's own frame; already subtracted from `motion`"""

    def __post_init__(self) -> None:
        if len(self.motion) != len(self.contact) or self.motion.fps != self.contact.fps:
            raise PhumaError(
                f"a clip of {len(self.motion)} frames at {self.motion.fps:g} Hz has contacts of {len(self.contact)} "
                f"frames at {self.contact.fps:g} Hz"
            )

    def __repr__(self) -> str:
        failed = ", ".join(m.name for m in self.verdict.measures if not m.passed)
        verdict = f"rejected by {failed}" if failed else "kept"
        return f"Clip({self.motion.provenance.source!r}, {self.start:.2f} to {self.end:.2f} s, {verdict})"

    @property
    def start(self) -> float:
        """Return the seconds into the source at which the clip begins."""
        return self.motion.provenance.start

    @property
    def end(self) -> float:
        """Return the seconds into the source at which the clip ends."""
        return self.start + self.motion.duration

    def mirror(self) -> Clip:
        """Return the mirror image, which has the same verdict."""
        return replace(self, motion=self.motion.mirror(), contact=self.contact.mirror())
