"""Count what came of performing the clips of a dataset under physics."""

from __future__ import annotations

from phuma.core.dataset_summary import Certification, LostClip, Tried
from phuma.dataset.category import TYPES
from phuma.dataset.dataset import Dataset
from phuma.dataset.manifest import ask

KEPT = "(SELECT * FROM manifest WHERE kept AND robot = ?)"
COUNTS = """count(*), count(*) FILTER (certified), count(*) FILTER (certified_loosely),
    avg(certified_error_mm) FILTER (certified)"""


def certification(dataset: Dataset, robot: str, lost: int) -> Certification | None:
    """Return what came of the kept clips of one robot, with at most `lost` of those that are not certified; None where
    none was tried."""
    tried = f"FROM {KEPT} WHERE certified IS NOT NULL"
    total = Tried("all", *ask(dataset.database, f"SELECT {COUNTS} {tried}", [robot])[1][0])
    if not total.tried:
        return None
    sql = f"SELECT coalesce(category, 'not known') AS what, {COUNTS} {tried} GROUP BY what"
    categories = [Tried(*row) for row in ask(dataset.database, sql, [robot])[1]]
    order = {name: n for n, name in enumerate(TYPES)}
    columns = "clip, robot, recording, start, \"end\", coalesce(category, ''), coalesce(certified_loosely, false)"
    sql = f"""SELECT {columns}, coalesce(certified_reason, 'for no known reason') {tried} AND NOT certified
        ORDER BY coalesce(certified_loosely, false), clip LIMIT {int(lost)}"""
    return Certification(
        robot,
        kept=ask(dataset.database, f"SELECT count(*) FROM {KEPT}", [robot])[1][0][0],
        total=total,
        categories=tuple(sorted(categories, key=lambda c: (order.get(c.name, len(order)), c.name))),
        lost=tuple(LostClip(*row) for row in ask(dataset.database, sql, [robot])[1]),
    )
