"""Query a dataset's manifest by SQL (DuckDB's). The table is `manifest`: one row per clip and robot, kept or not.

No other file can be read and none written. docs/formats/dataset.md says what each column is.

  phuma query DIR "SELECT category, count(*) FROM manifest WHERE kept GROUP BY category"
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

from phuma.cli.options import command_parser
from phuma.cli.table import aligned
from phuma.dataset.dataset import open_dataset


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    parser = command_parser("query", __doc__)
    parser.add_argument("dataset", type=Path, metavar="DIR", help="a folder made by `phuma build`")
    parser.add_argument("sql", metavar="SQL", help="the query")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help='print one object, {"columns": [...], "rows": [[...], ...]}')
    how.add_argument("--csv", action="store_true", help="print comma-separated values with a header")
    args = parser.parse_args(argv)
    columns, rows = open_dataset(args.dataset).query_once(args.sql)
    if args.json:
        print(json.dumps({"columns": columns, "rows": [[plain(v) for v in row] for row in rows]}, allow_nan=False))
    elif args.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([json.dumps(v) if isinstance(v, list) else v for v in map(plain, row)] for row in rows)
    else:
        print(aligned(columns, rows))
    return 0


def plain(value: Any) -> Any:
    """Return a value for JSON; non-finite numbers become null, and values of unknown types their text."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
