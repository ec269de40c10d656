"""Style the report: light, dark and printed."""

from __future__ import annotations

from phuma.viewer import style

LIGHT = {
    "page": "#ffffff", "card": "#f6f7f9", "ink": style.INK, "soft": "#686e79", "line": "#dfe2e7", "quiet": style.GROUND,
    "kept": style.KEPT, "rejected": style.REJECTED, "left": style.LEFT, "right": style.RIGHT, "trunk": style.TRUNK,
    "contact": style.CONTACT, "human": "#c9cdd5", "stationary": "#2a6fbb", "angular": "#8257b5", "vertical": "#d9722e",
    "horizontal": "#14918b", "tint": "42 111 187",
}  # fmt: skip
DARK = {
    "page": "#14171c", "card": "#1d2128", "ink": "#e6e8ec", "soft": "#9aa1ad", "line": "#333943", "quiet": "#59606c",
    "kept": "#45b872", "rejected": "#e2625b", "left": "#5b9fe8", "right": "#ec8d4b", "trunk": "#d3d7de",
    "contact": "#45b872", "human": "#535a66", "stationary": "#5b9fe8", "angular": "#a98ad8", "vertical": "#ec8d4b",
    "horizontal": "#3cbab3", "tint": "91 159 232",
}  # fmt: skip

_RULES = """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.2rem 1.5rem 4rem; max-width: 1180px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
h1 { font-size: 1.7rem; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 3rem 0 .2rem; padding-top: .9rem; border-top: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 1.6rem 0 .5rem; }
p { margin: .3rem 0 1rem; max-width: 78ch; color: var(--soft); overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th { text-align: left; font-weight: 500; color: var(--soft); }
th, td { padding: .26rem .6rem .26rem 0; vertical-align: baseline; }
td { border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; }
.soft { color: var(--soft); }
.wide { width: 38%; }
.scroll { overflow-x: auto; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 1rem 2.6rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 310px), 1fr)); gap: 1rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 310px), 1fr)); gap: 1rem; }
.card { background: var(--card); border-radius: 8px; padding: .8rem .9rem; break-inside: avoid; }
.card svg { display: block; width: 100%; height: auto; }
.card b { font-weight: 600; }
.name { display: flex; justify-content: space-between; gap: 1rem; font-size: .9rem; }
.name :last-child { white-space: nowrap; }
.note { font-size: .8rem; color: var(--soft); overflow-wrap: anywhere; }
.hero { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 1rem; margin: 1.4rem 0 1rem; }
.five { display: grid; grid-template-columns: repeat(5, 1fr); gap: 1rem; margin-bottom: 1rem; }
.big { font-size: 2.6rem; line-height: 1.1; font-weight: 650; letter-spacing: -.02em; }
.five .big { font-size: 1.7rem; }
.big small { margin-left: .35rem; font-size: 1rem; font-weight: 500; color: var(--soft); letter-spacing: 0; }
.bar { display: flex; height: .72em; border-radius: 2px; overflow: hidden; }
.bar i { display: block; height: 100%; }
.track { background: var(--line); }
.meter { height: 6px; margin: .5rem 0 .1rem; border-radius: 3px; }
.tall { height: 1.5rem; border-radius: 4px; margin: .3rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.3rem; margin: .2rem 0 .9rem; font-size: .84rem;
  color: var(--soft); }
.legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
.matrix { width: auto; }
.matrix td, .matrix th { padding: .22rem .35rem; text-align: center; min-width: 2.9rem; border: 0; }
.matrix th:first-child { text-align: right; }
.matrix .hit { outline: 1px solid var(--quiet); outline-offset: -1px; }
.settings { columns: 3 250px; column-gap: 2.4rem; font-size: .82rem; }
.settings div { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0; break-inside: avoid;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
svg text { fill: var(--soft); font-size: 10px; font-family: inherit; }
svg .arrow { fill: none; stroke: var(--soft); stroke-width: 1.2; } svg .axis { stroke: var(--quiet); stroke-width: 1; }
svg .grid-line { stroke: var(--line); stroke-width: 1; }
svg .limit { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg .limit-text { fill: var(--ink); }
svg .f-kept { fill: var(--kept); } svg .f-this { fill: var(--rejected); } svg .f-other { fill: var(--quiet); }
svg .f-score { fill: var(--stationary); }
svg .hover { fill: transparent; } svg g:hover > .hover { fill: var(--ink); fill-opacity: .08; }
svg .bone { fill: none; stroke-linecap: round; stroke-linejoin: round; stroke-width: 6; }
svg .tie { stroke: var(--soft); stroke-width: 3; stroke-dasharray: 2 7; }
svg .head { stroke-width: 5; stroke: var(--trunk); fill: var(--card); }
svg .human { stroke: var(--human); stroke-width: 13; } svg .left { stroke: var(--left); }
svg .right { stroke: var(--right); } svg .trunk { stroke: var(--trunk); }
svg .contact { stroke: var(--contact); stroke-width: 12; } svg .ground { stroke: var(--quiet); stroke-width: 3; }
svg .time { font-size: 20px; text-anchor: middle; }
@media screen and (max-width: 760px) { .five { grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); }
  .hero { grid-template-columns: 1fr 1fr; }
  body { padding: 1.2rem 1rem 3rem; } .big { font-size: 2.1rem; } .wide { width: 28%; } }
@media print { html { font-size: 12px; } body { max-width: none; padding: 0; font-size: 12px; }
  h2, h3, .legend { break-after: avoid; } tr { break-inside: avoid; }
  .grid { grid-template-columns: repeat(3, 1fr); } .cards { grid-template-columns: repeat(2, 1fr); } }
"""


def stylesheet() -> str:
    """Return the CSS: colours, then the rules that use them. On paper it is always light."""

    def variables(colours: dict[str, str]) -> str:
        return ":root { " + " ".join(f"--{name}: {value};" for name, value in colours.items()) + " }"

    scheme = ":root { color-scheme: light dark; }"
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {variables(DARK)} }}"
    return f"{variables(LIGHT)}\n{scheme}\n{dark}{_RULES}"


def colour(name: str) -> str:
    """Return a colour of the page for a `style` attribute."""
    return f"var(--{name if name in LIGHT else 'quiet'})"
