"""Build HTML that its content cannot break: text is escaped unless it was made here."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = {"meta", "br", "rect", "line", "circle", "path"}
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories that are spelled out: control, format (marks of direction too), surrogates, line breaks."""


class Html(str):
    """Mark a string as markup; any other string is text and gets escaped."""


Child = Html | str | int | None | Iterable["Child"]


def h(tag: str, *children: Child, **attributes: Any) -> Html:
    """Return an element; attributes that are None are left out, and `class_` and `stroke_width` are `class` and
    `stroke-width`."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID and not children:
        return Html(f"<{tag}{given}>" if tag in ("meta", "br") else f"<{tag}{given}/>")
    return Html(f"<{tag}{given}>{join(children)}</{tag}>")


def join(children: Child) -> Html:
    """Return the children one after another; those that are not markup are escaped."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, (str, int)):
        return Html(escaped(str(children)))
    return Html("".join(map(join, children)))


def escaped(text: str) -> str:
    """Return text without markup for a browser; invisible characters are spelled out, as `\\n`."""
    plain = (c if unicodedata.category(c) not in _HIDDEN else c.encode("unicode_escape").decode() for c in text)
    return escape("".join(plain), quote=True)
