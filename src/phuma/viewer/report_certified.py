"""Write the report's section on what robots performed under physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phuma.core.dataset_summary import Certification, LostClip, Tried
from phuma.viewer.charts import bar, legend
from phuma.viewer.formatting import count, decimal, percent
from phuma.viewer.html import Html, h


def certified_sections(found: Sequence[Certification], pictures: Mapping[tuple[str, str], Html]) -> list[Html]:
    """Return a section for each robot; `pictures` are of performances up to where they were lost, by robot and clip."""
    out: list[Html] = []
    for about in found:
        total = about.total
        missing = about.kept - total.tried
        untried = f" Not tried: {count(missing, 'kept clip')}." if missing else ""
        out += [
            h("h2", f"What {about.robot} can perform under physics"),
            h("p", f"{total.certified:,} of {count(total.tried, 'clip')} are certified: an expert that knows the "
              "robot's model performed them in simulation, within 0.15 m of the motion all the time. Loosely is within "
              f"0.5 m. The error is the mean over certified clips.{untried}"),
            legend([("kept", "certified"), ("right", "only loosely"), ("rejected", "lost")]),
            h("div", _table(about), class_="scroll"),
            *_lost(about, pictures),
        ]  # fmt: skip
    return out


def _table(about: Certification) -> Html:
    heads = [h("th", text, class_="n") for text in ("clips", "certified", "", "loosely", "", "mean error")]
    rows = [_row(part) for part in about.categories]
    return h("table", h("tr", h("th", "type"), h("th"), heads), rows, _row(about.total))


def _row(part: Tried) -> Html:
    shares = [
        (part.certified / part.tried, "kept"),
        ((part.loosely - part.certified) / part.tried, "right"),
        ((part.tried - part.loosely) / part.tried, "rejected"),
    ]
    error = "–" if part.error_mm is None else f"{decimal(part.error_mm)} mm"
    cells = [
        f"{part.tried:,}", f"{part.certified:,}", f"{percent(part.certified, part.tried)} %", f"{part.loosely:,}",
        f"{percent(part.loosely, part.tried)} %", error,
    ]  # fmt: skip
    return h(
        "tr", h("td", part.name), h("td", bar(shares), class_="wide"), [h("td", cell, class_="n") for cell in cells]
    )


def _lost(about: Certification, pictures: Mapping[tuple[str, str], Html]) -> list[Html]:
    """Return the clips that are not certified, each with the reason and a picture."""
    if not about.lost:
        return []
    more = about.total.tried - about.total.certified - len(about.lost)
    rest = [h("p", f"and {more:,} more; the manifest has them all")] if more > 0 else []
    cards = [_card(clip, pictures.get((clip.robot, clip.clip))) for clip in about.lost]
    return [h("h3", "What is not certified"), h("div", cards, class_="cards"), *rest]


def _card(clip: LostClip, picture: Html | None) -> Html:
    about = [f"{clip.start:.1f} to {clip.end:.1f} s", *([clip.category] if clip.category else [])]
    return h(
        "div",
        h("div", h("b", clip.recording), h("b", "loosely" if clip.loosely else "lost"), class_="name"),
        picture or h("p", "No picture: there is no performance."),
        h("div", clip.reason, class_="note"),
        h("div", ", ".join(about), class_="note", title=clip.clip),
        class_="card",
    )
