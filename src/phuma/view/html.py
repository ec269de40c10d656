"""HTML that cannot be broken by what is put into it: text is escaped unless it was made here."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

_VOID = {"meta", "br", "rect", "line", "circle", "path"}
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Unicode categories: control, format (marks of direction, too), half a character, breaks of lines"""


class Html(str):
    """Markup. Any other text is taken as text."""


Child = Html | str | int | None | Iterable["Child"]


def h(tag: str, *children: Child, **attributes: Any) -> Html:
    """An element. Attributes that are None are left out; `class_` is `class`, `stroke_width` is `stroke-width`."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID and not children:
        return Html(f"<{tag}{given}>" if tag in ("meta", "br") else f"<{tag}{given}/>")
    return Html(f"<{tag}{given}>{join(children)}</{tag}>")


def join(children: Child) -> Html:
    """One after another; what is no markup is escaped."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, (str, int)):
        return Html(escaped(str(children)))
    return Html("".join(map(join, children)))


def escaped(text: str) -> str:
    """Text that means nothing to a browser; what cannot be seen is spelled out, as `\\n`."""
    plain = (c if unicodedata.category(c) not in _HIDDEN else c.encode("unicode_escape").decode() for c in text)
    return escape("".join(plain), quote=True)
