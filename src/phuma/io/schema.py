"""A schema says what plain data out of an untrusted file has to be; `fault` says where it is something else.

A schema is declared as a value: `Object({"id": TEXT, "rows": ListOf(ROW)})`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

SHOWN = 60  # characters of a wrong value


class Schema(Protocol):
    """What a value has to be."""

    def fault(self, value: Any, at: str) -> str | None:
        """Return what is wrong with the value found at `at`, in words; None where nothing is."""


@dataclass(frozen=True)
class Value:
    """A value that is one of some types and passes a test."""

    expected: str
    types: tuple[type, ...]
    """Types, exactly: a boolean is no integer"""
    test: Callable[[Any], bool] = lambda _: True

    def fault(self, value: Any, at: str) -> str | None:
        if type(value) in self.types and self.test(value):
            return None
        return f"{at} is {_shown(value)}; expected {self.expected}"


@dataclass(frozen=True)
class ListOf:
    """A list whose elements have the same schema."""

    each: Schema

    def fault(self, value: Any, at: str) -> str | None:
        if not isinstance(value, list):
            return f"{at} is {_shown(value)}; expected a list"
        faults = (self.each.fault(item, f"{at}[{i}]") for i, item in enumerate(value))
        return next((fault for fault in faults if fault), None)


@dataclass(frozen=True)
class Object:
    """An object with keys of its own, each with a schema."""

    needed: Mapping[str, Schema] = field(default_factory=dict)
    optional: Mapping[str, Schema] = field(default_factory=dict)
    others: Schema | None = None
    """Schema of all other keys; without one there must be none"""

    def fault(self, value: Any, at: str) -> str | None:
        if not isinstance(value, dict):
            return f"{at or 'the content'} is {_shown(value)}; expected an object"
        if missing := [key for key in self.needed if key not in value]:
            return f"{at or 'the content'} has no {missing[0]!r}"
        for key, item in value.items():
            schema = self.needed.get(key) or self.optional.get(key) or self.others
            if schema is None:
                return f"{at or 'the content'} has an unknown key {_shown(key)}"
            if fault := schema.fault(item, f"{at}.{key}" if at else key):
                return fault
        return None


@dataclass(frozen=True)
class OrNull:
    """A value that may be null."""

    schema: Schema

    def fault(self, value: Any, at: str) -> str | None:
        return None if value is None else self.schema.fault(value, at)


def between(low: float, high: float, types: tuple[type, ...] = (int, float)) -> Value:
    """Return the schema of a number from `low` to `high`."""
    return Value(
        f"{'a number' if float in types else 'an integer'} of {low:g} to {high:g}", types, lambda n: low <= n <= high
    )


LARGEST = 1e15
"""Largest number that a file may hold: sums and squares of such numbers are still numbers"""
ANYTHING = Value("anything", (str, bool, int, float, list, dict, type(None)))
TEXT = Value("a text", (str,))
BOOLEAN = Value("true or false", (bool,))
NUMBER = between(-LARGEST, LARGEST)
COUNT = Value("a count", (int,), lambda number: number >= 0)


def _shown(value: Any) -> str:
    """Return a value in few words."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = "null" if value is None else repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
