"""Proof that the rows of a day are those that `/changes` lists (docs/specification.md, Digest)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import md5
from typing import Any

Row = dict[str, Any]


def digest_of(rows: Iterable[Row], decimals: Iterable[str]) -> str:
    """Returns the digest of rows as the service sent them. `decimals` are the fields with four decimals."""
    digest = 0
    for row in rows:
        text = "\x1f".join(_text(value, field in decimals) for field, value in row.items())
        digest ^= int(md5(text.encode(), usedforsecurity=False).hexdigest()[:15], 16)
    return f"{digest:015x}"


def difference(rows: list[Row], change: Row, decimals: Iterable[str]) -> str:
    """Returns what differs between the rows of a day and its row of `/changes`; an empty text if nothing does."""
    listed = {"rows": change["rows"], **change["totals"], "digest": change["digest"]}
    received = {name: sum(row[name] for row in rows) for name in change["totals"]}
    received |= {"rows": len(rows), "digest": digest_of(rows, decimals)}
    return ", ".join(
        f"{name} {received[name]} instead of {value}" for name, value in listed.items() if received[name] != value
    )


def _text(value: Any, is_decimal: bool) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, bool):
        return str(value).lower()
    if is_decimal:
        # Adding 0 makes a negative zero positive.
        return f"{value + 0:.4f}"
    return str(value).replace("\\", r"\\").replace("\x1f", r"\_")
