"""Pages that are written from the code: the Python interface from docstrings, the commands from their own help."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import re
import textwrap
from types import FunctionType
from typing import Any

import phuma
from phuma.cli.main import COMMANDS
from phuma.cli.main import main as run

OPTION = re.compile(r"(?<![\w`-])--[a-z][\w-]*")
"""An option in a sentence, which as code is not broken after its hyphens"""


def api() -> str:
    """The page of all public names: functions, then classes with their fields, properties and methods."""
    names = [name for name in phuma.__all__ if not name.startswith("_")]
    things = {name: getattr(phuma, name) for name in names}
    functions = {n: t for n, t in things.items() if not inspect.isclass(t)}
    classes = {n: t for n, t in things.items() if inspect.isclass(t)}
    parts = [
        "# Python interface",
        "Everything that `import phuma` offers, from its docstrings. Arrays are numpy's; the world is z-up, in metres, "
        "seconds and radians, quaternions are `wxyz`.",
        "## Functions",
        *(part for name, thing in functions.items() for part in one(f"phuma.{name}", thing)),
        "## Classes",
        *(part for name, thing in classes.items() for part in whole(name, thing)),
    ]
    return "\n\n".join(parts) + "\n"


def signature(thing: Any) -> str:
    """A name's parameters, each on its line where they are many, with annotations as they are written."""
    try:
        given = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    words: list[str] = []
    for p in given.parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.kind is p.KEYWORD_ONLY and "*" not in words and not any(w.startswith("*") for w in words):
            words.append("*")
        kind = "" if p.annotation is p.empty else f": {written(p.annotation)}"
        words.append(f"{star}{p.name}{kind}" + ("" if p.default is p.empty else f" = {p.default!r}"))
    back = "" if given.return_annotation is inspect.Signature.empty else f" -> {written(given.return_annotation)}"
    line = f"({', '.join(words)}){back}"
    return line if len(line) < 80 else "(\n    " + ",\n    ".join(words) + f",\n){back}"


def written(annotation: Any) -> str:
    """An annotation as it stands in the code."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def one(name: str, thing: Any, level: int = 3) -> list[str]:
    """A heading, how it is called, and what its docstring says."""
    says = inspect.getdoc(thing) or ""
    return [f"{'#' * level} `{name}`", f"```python\n{name}{signature(thing)}\n```", *([example(says)] if says else [])]


def whole(name: str, kind: type) -> list[str]:
    """A class with what can be asked of it; dataclasses do not repeat their signature as a docstring."""
    says = inspect.getdoc(kind) or ""
    parts = [f"### `phuma.{name}`"]
    if says and not says.startswith(f"{name}("):
        parts.append(example(says))
    if dataclasses.is_dataclass(kind):
        rows = [f"| `{f.name}` | `{str(f.type).replace('|', chr(92) + '|')}` |" for f in dataclasses.fields(kind)]
        parts.append("\n".join(["| field | type |", "| --- | --- |", *rows]))
    for member, thing in vars(kind).items():
        if member.startswith("_"):
            continue
        if isinstance(thing, property):
            parts.append(f"**`{name}.{member}`** {inspect.getdoc(thing) or ''}".strip())
        elif isinstance(thing, (FunctionType, classmethod, staticmethod)):
            parts += one(f"{name}.{member}", getattr(kind, member), 4)
    return parts


def example(says: str, indent: str = "    ", language: str = "python") -> str:
    """A docstring as Markdown: indented blocks and prompts become code."""
    out: list[str] = []
    for block in says.split("\n\n"):
        lines = block.splitlines()
        code = all(line.startswith(indent) for line in lines) or lines[0].lstrip().startswith(">>>")
        out.append(f"```{language}\n" + textwrap.dedent(block) + "\n```" if code else block)
    return "\n\n".join(out)


def commands() -> str:
    """The page of all commands: what each says of itself as text that fits any width, and its options as they stand."""
    parts = ["# Commands", "What each command says of itself by `phuma COMMAND --help`."]
    for name in COMMANDS:
        usage, says, options = parted(help_of(name))
        says = re.sub(r"^\S.*", lambda line: OPTION.sub(r"`\g<0>`", line[0]), says, flags=re.MULTILINE)
        parts += [f"## phuma {name}", example(says, "  ", "sh"), f"```text\n{usage}\n\n{options}\n```"]
    return "\n\n".join(parts) + "\n"


def parted(text: str) -> tuple[str, str, str]:
    """A help's usage, its description, and its lists of arguments, which begin with a title like `options:`."""
    usage, _, rest = text.partition("\n\n")
    first = re.search(r"^[\w ]+:\n  ", rest, re.MULTILINE)
    at = len(rest) if first is None else first.start()
    return usage, rest[:at].strip(), rest[at:].strip()


def help_of(name: str) -> str:
    """The text of `phuma NAME --help`."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        run([name, "--help"])
    return text.getvalue().strip()
