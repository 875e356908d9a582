"""Windows of days."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

# <generated page size>
PAGE_SIZE = 1000
# </generated page size>


def day_after(day: str) -> str:
    return str(date.fromisoformat(day) + timedelta(days=1))


def pages_of(rows: int) -> int:
    """Returns the number of pages that a window with this many rows has."""
    return max(1, -(-rows // PAGE_SIZE))


def windows_of(days: Mapping[str, int], others: Mapping[str, int]) -> list[list[str]]:
    """Returns the windows that request days in the fewest pages (docs/sync.md, Fewest requests), in ascending order.

    Args:
        days: The number of rows of each day. Days without rows are in a window only between others.
        others: The number of rows of other days, which a window can include.
    """
    # A group is its first day, the number of rows before it, its last day, and the number of rows through it.
    groups: list[tuple[str, int, str, int]] = []
    total, is_open = 0, False
    for day, rows in sorted({**others, **days}.items()):
        if rows == 0:
            continue
        if day in days:
            first, before = groups.pop()[:2] if is_open else (day, total)
            groups.append((first, before, day, total + rows))
        is_open, total = day in days, total + rows
    # For the groups before each: the least number of pages, and the windows.
    plans: list[tuple[int, list[list[str]]]] = [(0, [])]
    for _, _, last, end in groups:
        least, start = min((plan[0] + pages_of(end - groups[start][1]), start) for start, plan in enumerate(plans))
        plans.append((least, [*plans[start][1], [groups[start][0], last]]))
    return plans[-1][1]
