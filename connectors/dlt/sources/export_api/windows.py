"""Windows are pairs of their first and last day, both inclusive. Days are texts such as 2026-10-31."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

# <generated page size>
PAGE_SIZE = 1000
# </generated page size>


def join_days(days: Mapping[str, int], others: Mapping[str, int] | None = None) -> list[list[str]]:
    """Returns the windows that request days in the fewest pages (docs/sync.md, Fewest requests), in ascending order.

    Args:
        days: The number of rows of each day. Days without rows are in a window only between others.
        others: The number of rows of each day between them, 0 by default. If None, a window has adjacent days only.
    """
    if others is None:
        # With two pages of rows, the day after another is not worth to be included. Days can be centuries apart.
        followed = [day for day in days if day != str(date.max)]
        others = {str(date.fromisoformat(day) + timedelta(days=1)): 2 * PAGE_SIZE for day in followed}
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
        least, start = min((plan[0] + pages(end - groups[start][1]), start) for start, plan in enumerate(plans))
        plans.append((least, [*plans[start][1], [groups[start][0], last]]))
    return plans[-1][1]


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
