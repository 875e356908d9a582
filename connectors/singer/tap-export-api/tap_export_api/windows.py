"""Windows of days."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta


def days_of(first: str, last: str) -> Iterator[str]:
    """Yields the days of a window."""
    day = date.fromisoformat(first)
    while day <= date.fromisoformat(last):
        yield str(day)
        day += timedelta(days=1)


def windows_of(days: Iterable[str]) -> list[list[str]]:
    """Joins adjacent days of a month. Returns the first and the last day of each window."""
    windows: list[list[str]] = []
    for day in sorted(days):
        eve = str(date.fromisoformat(day) - timedelta(days=1))
        if windows and windows[-1][1] == eve and eve[:7] == day[:7]:
            windows[-1][1] = day
        else:
            windows.append([day, day])
    return windows
