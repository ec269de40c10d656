"""Write the report's last tables: labels and guesses, licences, failures, configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phuma.core.dataset_summary import Confusion, Failure, Licence, Summary
from phuma.viewer.formatting import count, percent
from phuma.viewer.html import Html, h

MOST = 40
EXAMPLES = 3
LONGEST = 300  # characters of a reason
MAY = {True: "may be passed on", False: "may not be passed on", None: "not known"}


def confusion_section(data: Confusion) -> list[Html]:
    """Return a coloured table of labels and guesses, or nothing where no label gave a type."""
    if not data.total:
        return []
    shown = [i for i in range(len(data.types)) if sum(data.counts[i]) or sum(row[i] for row in data.counts)]
    rows = []
    for i in shown:
        whole = sum(data.counts[i]) or 1
        cells = [_cell(data.counts[i][j], data.counts[i][j] / whole, i == j) for j in shown]
        rows.append(h("tr", h("th", data.types[i]), cells))
    return [
        h("h2", "Labels and guesses"),
        h("p", f"Of {count(data.total, 'kept clip')} whose type a label gave, the motion itself would have been taken "
          f"for the same type in {data.right:,} ({percent(data.right, data.total)} %). Rows are labels, columns "
          "guesses. A label speaks of a whole recording, a guess of one clip."),
        h("div", h("table", h("tr", h("th"), [h("th", data.types[j]) for j in shown]), rows, class_="matrix"),
          class_="scroll"),
    ]  # fmt: skip


def _cell(clips: int, share: float, hit: bool) -> Html:
    tint = f"background:rgb(var(--tint) / {0.06 + 0.55 * share:.2f})" if clips else None
    return h("td", f"{clips:,}" if clips else "", style=tint, class_="hit" if hit else None)


def licences_section(licences: Sequence[Licence]) -> list[Html]:
    """Return a table of the sources' licences and whether they allow redistribution."""
    if not licences:
        return []
    rows = []
    for x in licences[:MOST]:
        cells = [h("td", text) for text in (x.source, x.licence, MAY[x.redistributable])]
        rows.append(h("tr", cells, h("td", f"{x.clips:,}", class_="n")))
    head = h("tr", [h("th", t) for t in ("source", "licence", "redistribution")], h("th", "clips", class_="n"))
    return [h("h2", "Licences of the sources"), h("div", h("table", head, rows), class_="scroll"),
            *_more(len(licences), "lines")]  # fmt: skip


def failures_section(failures: Sequence[Failure]) -> list[Html]:
    """Return a table of the recordings that could not be used, by reason."""
    if not failures:
        return []
    rows = []
    for failure in failures[:MOST]:
        names = ", ".join(failure.recordings[:EXAMPLES])
        more = len(failure.recordings) - EXAMPLES
        reason = failure.reason if len(failure.reason) <= LONGEST else failure.reason[:LONGEST] + " …"
        examples = names + (f" and {more:,} more" if more > 0 else "")
        rows.append(h("tr", h("td", f"{len(failure.recordings):,}", class_="n"), h("td", reason), h("td", examples)))
    head = h("tr", h("th", "recordings", class_="n"), h("th", "reason"), h("th", "which"))
    return [h("h2", "Recordings that could not be used"), h("div", h("table", head, rows), class_="scroll"),
            *_more(len(failures), "reasons")]  # fmt: skip


def _more(found: int, what: str) -> list[Html]:
    return [h("p", f"and {found - MOST:,} more {what}; the manifest has them all")] if found > MOST else []


def configuration(summary: Summary) -> list[Html]:
    """Return every setting and version that the content depends on."""
    versions = {f"version of {name}": value for name, value in sorted(summary.versions.items())}
    settings = [*_flat(summary.config), *versions.items()]
    rows = [h("div", h("span", name, class_="soft"), h("span", value)) for name, value in settings]
    return [h("h2", "How it was made"), h("div", rows, class_="settings")]


def _flat(values: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, str]]:
    for name, value in sorted(values.items()):
        if isinstance(value, Mapping):
            yield from _flat(value, f"{at}{name}.")
        elif value is not None:
            yield f"{at}{name}", f"{value:g}" if isinstance(value, float) else str(value)
