"""Tell which columns a question to the manifest is about, so that no others have to be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

_PLAIN = {
    "BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR", "TYPE",
    "WINDOW",
}  # fmt: skip
"""Classes of DuckDB's expressions that have a meaning of their own, whatever other columns there are"""


def columns_of(database: duckdb.DuckDBPyConnection, sql: str, known: Mapping[str, Any]) -> set[str] | None:
    """Return the columns that a plain question names; None where it is not plain, and may be about any column.

    Plain is one SELECT of expressions from `manifest` alone: without a star, which stands for all columns, without
    joins, and without a question inside the question. Each name has to be a known column's, or be given by an AS.
    """
    parsed = json.loads(database.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0][0])
    if parsed["error"] or len(parsed["statements"]) != 1:
        return None
    node = parsed["statements"][0]["node"]
    table = node.get("from_table") or {}
    if node["type"] != "SELECT_NODE" or node["cte_map"]["map"] or table["type"] != "BASE_TABLE":
        return None
    if (table["catalog_name"], table["schema_name"], table["table_name"].lower()) != ("", "", "manifest"):
        return None
    if table["column_name_alias"] or table["alias"] or table["sample"] or node["sample"]:
        return None
    expressions = [e for part in node.values() for e in _expressions(part) if not _is_order_by_all(e, node)]
    if any(e["class"] not in _PLAIN for e in expressions):
        return None
    names = {".".join(e["column_names"]).lower() for e in expressions if e["class"] == "COLUMN_REF"}
    given = {e["alias"].lower() for e in node["select_list"]}
    return names & set(known) if names <= set(known) | given else None


def _expressions(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the expressions in a part of a parsed question, and those inside them."""
    if isinstance(part, dict):
        if "class" in part:
            yield part
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from _expressions(inner)


def _is_order_by_all(expression: dict[str, Any], node: dict[str, Any]) -> bool:
    """Return whether this is the star of ORDER BY ALL, which stands for what is selected."""
    orders = [o["expression"] for m in node["modifiers"] for o in m.get("orders", ())]
    return len(orders) == 1 and orders[0] is expression and expression["class"] == "STAR" and not expression["expr"]
