"""Count what a dataset amounts to, by SQL over its manifest."""

from __future__ import annotations

from phuma.core.dataset_summary import Amount, Confusion, Failure, Licence, Summary
from phuma.dataset.category import GROUP_OF, TYPES
from phuma.dataset.certification import certification
from phuma.dataset.dataset import Dataset
from phuma.dataset.funnel import curation_histograms, filters
from phuma.dataset.labels import type_of_text
from phuma.dataset.rows import clips, judged
from phuma.dataset.scores import robot_summary
from phuma.dataset.split import SPLITS

AMOUNT = """count(*) FILTER (NOT mirrored), count(*) FILTER (kept AND NOT mirrored), count(*) FILTER (kept),
    coalesce(sum(frames / fps) FILTER (kept), 0) / 3600"""


def summarise(dataset: Dataset, worst: int = 3, lost: int = 24) -> Summary:
    """Return all numbers of a dataset, with `worst` of the worst clips by each metric and `lost` of those that a robot
    did not perform under physics."""
    description = dataset.description
    considered, passed, kept, hours = dataset.query(f"SELECT {AMOUNT} FROM {clips(dataset)}")[1][0]
    mirrored, imported = dataset.query(
        f"SELECT count(*) FILTER (mirrored), count(*) FILTER (imported) FROM {clips(dataset)} WHERE kept"
    )[1][0]
    return Summary(
        total=Amount("all", considered, passed, kept, hours),
        mirrored=mirrored,
        imported=imported,
        judged=dataset.query(f"SELECT count(*) FROM {judged(dataset)}")[1][0][0],
        recordings=recordings(dataset),
        sources=amounts(dataset, "source"),
        categories=categories(dataset),
        splits=tuple(sorted(amounts(dataset, "split"), key=lambda a: SPLITS.index(a.name) if a.name in SPLITS else 2)),
        filters=filters(dataset),
        curation=curation_histograms(dataset),
        robots=tuple(robot_summary(dataset, robot, worst) for robot in robots(dataset)),
        licences=licences(dataset),
        failures=failures(dataset),
        confusion=confusion(dataset),
        config={**description.config, **({"selected": description.selected} if description.selected else {})},
        versions=description.versions,
        certification=tuple(c for robot in robots(dataset) if (c := certification(dataset, robot, lost)) is not None),
    )


def amounts(dataset: Dataset, column: str) -> tuple[Amount, ...]:
    """Return how much there is by the values of a column, most hours first."""
    sql = f"SELECT coalesce({column}, 'not known') AS what, {AMOUNT} AS hours FROM {clips(dataset)} GROUP BY what"
    found = [Amount(*row) for row in dataset.query(sql)[1]]
    return tuple(sorted(found, key=lambda a: (-a.hours, -a.considered, a.name)))


def categories(dataset: Dataset) -> tuple[Amount, ...]:
    """Return all eleven types in their order, also those that are missing; then whatever else the manifest names."""
    found = {a.name: a for a in amounts(dataset, "category")}
    names = [*TYPES, *sorted(set(found) - set(TYPES))]
    known = (found.get(name, Amount(name, 0, 0, 0, 0.0)) for name in names)
    return tuple(Amount(a.name, a.considered, a.passed, a.kept, a.hours, GROUP_OF.get(a.name, "")) for a in known)


def robots(dataset: Dataset) -> list[str]:
    """Return the robots that have clips, in the order in which they were asked for."""
    there = {row[0] for row in dataset.query("SELECT DISTINCT robot FROM manifest WHERE kept")[1]}
    first = [name for name in dataset.description.robots if name in there]
    return [*first, *sorted(there - set(first))]


def recordings(dataset: Dataset) -> int:
    """Return the number of recordings that were read, or tried to be read."""
    read = dataset.query("SELECT count(DISTINCT recording) FROM manifest")[1][0][0]
    return int(dataset.description.counts.get("recordings", read + len(dataset.description.failed)))


def licences(dataset: Dataset) -> tuple[Licence, ...]:
    """Return one row for each licence of every source."""
    sql = f"""SELECT source, coalesce(licence, 'not known') AS terms, redistributable, count(*) FILTER (kept)
        FROM {clips(dataset)} GROUP BY source, terms, redistributable ORDER BY ALL"""
    return tuple(Licence(*row) for row in dataset.query(sql)[1])


def failures(dataset: Dataset) -> tuple[Failure, ...]:
    """Return the recordings that could not be used, the commonest reason first."""
    by_reason: dict[str, list[str]] = {}
    for failed in dataset.description.failed:
        by_reason.setdefault(failed["reason"], []).append(failed["recording"])
    found = (Failure(reason, tuple(sorted(names))) for reason, names in by_reason.items())
    return tuple(sorted(found, key=lambda f: (-len(f.recordings), f.reason)))


def confusion(dataset: Dataset) -> Confusion:
    """Return labels beside guesses, for kept clips whose type a label gave."""
    sql = f"""SELECT label, category, category_guess, count(*) FROM {judged(dataset)}
        WHERE kept AND label IS NOT NULL AND category_guess IS NOT NULL GROUP BY ALL"""
    counts = [[0] * len(TYPES) for _ in TYPES]
    for label, category, guess, count in dataset.query(sql)[1]:
        if type_of_text(label) == category and guess in TYPES:
            counts[TYPES.index(category)][TYPES.index(guess)] += count
    return Confusion(TYPES, tuple(map(tuple, counts)))
