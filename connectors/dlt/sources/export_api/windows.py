"""Windows are pairs of their first and last day, both inclusive. Days are texts such as 2026-10-31."""

from collections.abc import Iterable, Mapping
from datetime import date

PAGE_SIZE = 1000


def join_days(days: Mapping[str, int], others: Mapping[str, int] | None = None) -> list[list[str]]:
    """Joins days in windows, in ascending order.

    Args:
        days: The number of rows of each day.
        others: The number of rows of each day between them, 0 by default. A window includes such days if that costs no
            more pages. If None, a window has adjacent days only.
    """
    if others is None:
        # With two pages of rows, no day is worth to be included.
        others = dict.fromkeys(split_windows([[min(days), max(days)]]) if days else [], 2 * PAGE_SIZE)
    windows: list[list[str]] = []
    size = between = 0
    for day in sorted(days.keys() | others.keys()):
        if day not in days:
            between += others[day]
            continue
        joined = size + between + days[day]
        if windows and pages(joined) <= pages(size) + pages(days[day]):
            windows[-1][1], size = day, joined
        else:
            windows.append([day, day])
            size = days[day]
        between = 0
    return windows


def pages(rows: int) -> int:
    """Returns the number of pages of a window."""
    return max(1, -(-rows // PAGE_SIZE))


def split_windows(windows: Iterable[list[str]]) -> list[str]:
    """Returns each day of the windows."""
    return [
        date.fromordinal(day).isoformat()
        for first, last in windows
        for day in range(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal() + 1)
    ]
