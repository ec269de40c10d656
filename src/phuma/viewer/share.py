"""Write one file that plays a show in 3D by itself: viser's client, the recorded scene and the clip's facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from phuma.io.atomic import write_atomic
from phuma.viewer import style
from phuma.viewer.formatting import percentage
from phuma.viewer.html import Html, h
from phuma.viewer.session import start_viser
from phuma.viewer.show import Performer, Show
from phuma.viewer.stage import LAYOUTS, Stage

__all__ = ["LAYOUTS", "share"]

STYLE = f"""
#about {{ position: fixed; right: 14px; top: 14px; max-width: 21rem; max-height: 80vh; overflow: auto; z-index: 1000;
  background: #fffffff0; border: 1px solid {style.FAINT}; border-radius: 8px; padding: 10px 14px; color: {style.INK};
  font: 13px/1.45 system-ui, sans-serif; box-shadow: 0 1px 6px #0001; overflow-wrap: anywhere; }}
#about h1 {{ display: inline; font-size: 15px; }}
#about summary {{ cursor: pointer; font-weight: 600; }}
#about table {{ border-spacing: 0; margin-top: 6px; }}
#about td {{ padding: 1px 12px 1px 0; vertical-align: top; }}
#about .good {{ color: {style.KEPT}; }} #about .bad {{ color: {style.REJECTED}; }}
#about .dot {{ display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 6px; }}
#about footer {{ margin-top: 8px; opacity: 0.6; }}
"""
SCRIPT = "if (innerWidth < 700) document.querySelector('#about details').open = false;"
"""On a phone the facts would cover the robot: a tap opens them"""


def share(path: Path, show: Show, layout: str = "side", progress: Callable[[], object] = lambda: None) -> None:
    """Write the page of a show atomically."""
    page = page_of(show, layout, progress)
    write_atomic(path, lambda f: f.write(page.encode("utf-8", "replace")))


def page_of(show: Show, layout: str = "side", progress: Callable[[], object] = lambda: None) -> str:
    """Return the page of a show; `progress` is called once per frame."""
    server = start_viser()
    try:
        stage = Stage(server)
        stage.set_layout(layout)
        stage.load(show)
        recording = server.get_scene_serializer()
        for frame in range(len(show)):
            stage.pose(frame)
            recording.insert_sleep(1.0 / show.fps)
            progress()
        page: str = recording.as_html()
    finally:
        server.stop()
    end = page.rindex("</body>")
    return page[:end] + h("style", Html(STYLE)) + about(show) + h("script", Html(SCRIPT)) + page[end:]


def about(show: Show) -> Html:
    """Return the clip's facts for the corner of the page."""
    verdict = None
    if show.kept is not None:
        verdict = h("div", show.verdict or ("kept" if show.kept else "rejected"), class_="good" if show.kept else "bad")
    robots = [
        [
            h("div", h("span", class_="dot", style=f"background:{colour}"), p.title),
            _table(_scores(p)),
            [h("div", flag, class_="bad") for flag in p.flags],
        ]
        for p, colour in zip(show, style.PERFORMERS * len(show.performers))
    ]
    all_of_it = [
        h("div", show.subtitle),
        verdict,
        [h("div", reason, class_="bad") for reason in show.reasons],
        robots,
        h("details", h("summary", "Facts"), _table(show.facts)),
        h("footer", "made by PHUMA"),
    ]
    return h("aside", h("details", h("summary", h("h1", show.title)), all_of_it, open="open"), id="about")


def _scores(performer: Performer) -> list[tuple[str, str]]:
    return [(name, percentage(value)) for name, value in performer.scores.items()]


def _table(rows: Sequence[tuple[str, str]]) -> Html:
    return h("table", [h("tr", h("td", name), h("td", value)) for name, value in rows])
