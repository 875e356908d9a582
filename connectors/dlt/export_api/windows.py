"""Windows are pairs of their first and last day, both inclusive. Days are texts such as 2026-10-31."""

from collections.abc import Iterable
from datetime import date


def join_days(days: Iterable[str]) -> list[list[str]]:
    """Joins adjacent days in windows, in ascending order."""
    numbers = {date.fromisoformat(day).toordinal() for day in days}
    first = sorted(day for day in numbers if day - 1 not in numbers)
    last = sorted(day for day in numbers if day + 1 not in numbers)
    return [[date.fromordinal(day).isoformat() for day in window] for window in zip(first, last)]


def split_windows(windows: Iterable[list[str]]) -> list[str]:
    """Returns each day of the windows."""
    return [
        date.fromordinal(day).isoformat()
        for first, last in windows
        for day in range(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal() + 1)
    ]
