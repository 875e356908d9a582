"""Windows of days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

PAGE_ROWS = 1000


def day_after(day: str) -> str:
    return str(date.fromisoformat(day) + timedelta(days=1))


def pages_of(rows: int) -> int:
    """Returns the number of pages that a window with this many rows has."""
    return max(1, -(-rows // PAGE_ROWS))


def windows_of(days: Mapping[str, int], others: Mapping[str, int]) -> list[list[str]]:
    """Returns the first and the last day of each window. Joins days where that needs no more pages.

    Args:
        days: The number of rows of each day to request.
        others: The number of rows of other days, which a window can include.
    """
    windows: list[list[str]] = []
    rows = between = 0
    for day, count in sorted({**others, **days}.items()):
        if day not in days:
            between += count
            continue
        if windows and pages_of(rows + between + count) <= pages_of(rows) + pages_of(count):
            windows[-1][1] = day
            rows += between + count
        else:
            windows.append([day, day])
            rows = count
        between = 0
    return windows
