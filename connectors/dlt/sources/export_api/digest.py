"""Contents of days, as texts that are equal when the rows are."""

from collections.abc import Iterable, Mapping
from hashlib import md5
from typing import Any


def describe_rows(stream: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Returns the content of a day that has these rows."""
    totals = {name: sum(row[name] for row in rows) for name in stream["totals"]}
    return describe_change(stream, {"rows": len(rows), "totals": totals, "digest": digest(stream, rows)})


def describe_change(stream: dict[str, Any], change: Mapping[str, Any]) -> str:
    """Returns the content of a day that `/changes` lists."""
    types = types_of(stream)
    totals = [f"{name} {cell_text(change['totals'][name], types[name])}" for name in stream["totals"]]
    return ", ".join([f"{change['rows']} rows", *totals, f"digest {change['digest']}"])


def digest(stream: dict[str, Any], rows: Iterable[Mapping[str, Any]]) -> str:
    """Returns the digest of a day's rows, whose fields are in the order in which the endpoint sends them."""
    types, result = types_of(stream), 0
    for row in rows:
        text = "\x1f".join(cell_text(cell, types.get(name)) for name, cell in row.items() if name != "brand_id")
        result ^= int(md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16)
    return f"{result:015x}"


def types_of(stream: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["type"] for column in stream["columns"]}


def cell_text(cell: Any, type: str | None) -> str:
    if cell is None:
        return r"\N"
    # Destinations can return numbers as integers or decimals. A field that this version does not know has no type.
    if type == "number" or isinstance(cell, float):
        # The sum of -0.0 and 0 is 0.0.
        return f"{cell + 0:.4f}"
    if type == "boolean":
        return ("false", "true")[cell]
    return str(cell).replace("\\", r"\\").replace("\x1f", r"\_")
