"""Put the site's pages together in build/docs: docs/, the pages beside it, and what is written from the code.

    python website/stage.py [--out build/docs]

Pages stay as they are read on a git host; only links that leave docs/ are turned to where their file is on the site.
Files of code that a page links to become pages with that code. `api.md` and `commands.md` are written from docstrings.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from pathlib import Path

from latex2mathml.converter import convert

import reference

ROOT = Path(__file__).parents[1]

FENCE = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"(`[^`\n]+`)")
MATH = re.compile(r"\$(\$?)([^$]+)\$\1")
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
MOVED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
CODE = {".py": "python", ".toml": "toml", ".json": "json", ".csv": "text", "": "text"}
"""Language of the files that become pages, by their suffix."""
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
"""Begins pages that the search passes over."""


def place(file: Path) -> Path:
    """Where a file of the project is on the site."""
    name = file.relative_to(ROOT)
    if str(name) in MOVED:
        return Path(MOVED[str(name)])
    if name.parts[0] == "docs":
        return name.relative_to("docs")
    return name if name.suffix == ".md" else Path("source") / f"{name}.md"


def turned(page: Path, out: Path, named: set[Path]) -> str:
    """The page's text with its links turned; files that it links to are added to `named`."""

    def turn(link: re.Match[str]) -> str:
        path, mark, anchor = link[2].partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return link[0]
        file = (page.parent / path).resolve()
        file = file / "README.md" if file.is_dir() else file
        named.add(file)
        return f"{link[1]}{os.path.relpath(out / place(file), (out / place(page)).parent)}{mark}{anchor}{link[3]}"

    parts = FENCE.split(page.read_text(encoding="utf-8"))
    return "".join(part if k % 2 else formulas(LINK.sub(turn, part)) for k, part in enumerate(parts))


def formulas(text: str) -> str:
    """The text with its formulas as MathML, which browsers draw by themselves; in code bars of tables stay bars."""
    parts = SPAN.split(text)
    return "".join(part.replace(r"\|", "|") if k % 2 else MATH.sub(drawn, part) for k, part in enumerate(parts))


def drawn(formula: re.Match[str]) -> str:
    text = convert(formula[2], display="block" if formula[1] else "inline")
    if "\\" in text:
        raise SystemExit(f"a formula that latex2mathml does not know: {formula[0]}")
    return text


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def stage(out: Path) -> int:
    """Fill `out` anew and return the number of pages."""
    shutil.rmtree(out, ignore_errors=True)
    waiting = {ROOT / name for name in MOVED} | set((ROOT / "docs").rglob("*"))
    done: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in done or not file.is_file():
            continue
        done.add(file)
        if file.suffix == ".md":
            named: set[Path] = set()
            write(out / place(file), turned(file, out, named))
            waiting |= named
        elif place(file).parts[0] == "source":
            title, code = file.relative_to(ROOT), file.read_text(encoding="utf-8")
            write(out / place(file), f"{UNSEARCHED}# {title}\n\n````{CODE.get(file.suffix, 'text')}\n{code}\n````\n")
        else:
            (out / place(file)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, out / place(file))
    write(out / "api.md", reference.api())
    write(out / "commands.md", reference.commands())
    shutil.copy(Path(__file__).parent / "site.css", out)
    return sum(1 for _ in out.rglob("*.md"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    out = parser.parse_args().out.resolve()
    print(f"{stage(out)} pages in {os.path.relpath(out)}")


if __name__ == "__main__":
    main()
