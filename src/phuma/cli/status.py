"""Say how far a dataset is, what it holds, and what could not be used. Works while it is being built."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from phuma.cli.options import command_parser
from phuma.cli.table import aligned
from phuma.core.words import count_of, harmless
from phuma.dataset.status import Status, Tally, status

SHOWN = 20


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("status", __doc__)
    parser.add_argument("dataset", type=Path, metavar="DIR", help="a folder made by `phuma build`")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    args = parser.parse_args(argv)
    found = status(args.dataset)
    print(json.dumps(found.as_json()) if args.json else "\n".join(lines(found, args.dataset)))
    return 0


def lines(found: Status, root: Path) -> list[str]:
    """Return the status as lines for the terminal."""
    share = found.total.kept_share
    kept = f", {found.total.kept} kept ({share:.1f} %), {found.total.hours:.3g} hours" if share is not None else ""
    of = "" if found.finished or found.planned is None else f" of {found.planned}"
    out = [
        f"{harmless(str(root))}: {state(found)}",
        f"{found.recordings}{of} recordings done, {len(found.failed)} of them could not be used; "
        f"{count_of(found.total.clips, 'clip')}{kept}",
    ]
    if found.tried:
        kept_clips = sum(tally.kept for tally in found.robots.values())
        out.append(
            f"{found.tried} of {kept_clips} kept clips were performed under physics, {found.certified} are certified"
        )
    for what, part in (("robot", found.robots), ("split", found.splits), ("category", found.categories)):
        if part:
            out += ["", table(what, part)]
    if found.failed:
        out += ["", "Could not be used:"]
        out += [f"  {harmless(f['recording'])}: {harmless(f['reason'])}" for f in found.failed[:SHOWN]]
        if len(found.failed) > SHOWN:
            out.append(
                f"  ... and {len(found.failed) - SHOWN} more; all of them: phuma status {shlex.quote(str(root))} --json"
            )
    return out


def state(found: Status) -> str:
    """Return whether the dataset is being written, unfinished or finished."""
    if found.building:
        return "being written right now"
    if not found.finished:
        return "not finished; run the same `phuma build` again, it continues where it stopped"
    return "finished" + (", a part of another dataset" if found.selected else "")


def table(what: str, part: Mapping[str, Tally]) -> str:
    """Return a table of counts, one row per robot, split or category."""
    rows = [
        (name, t.clips, t.kept, None if t.kept_share is None else round(t.kept_share, 1), round(t.hours, 4))
        for name, t in sorted(part.items())
    ]
    return aligned((what, "clips", "kept", "kept %", "hours"), rows)
