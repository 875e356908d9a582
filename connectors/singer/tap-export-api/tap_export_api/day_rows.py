"""How many rows of each day were sent, as short text in the state: `{"2026-01": "8x30 9"}`."""

from __future__ import annotations

from itertools import groupby


def rows_by_day(months: dict[str, str]) -> dict[str, int]:
    """Returns the days of which the target holds rows, with their number, at most."""
    return {f"{month}-{day:02}": rows for month in months for day, rows in enumerate(_counts(months, month), 1) if rows}


def rows_sent(months: dict[str, str], day: str) -> int:
    """Returns the number of rows that the target holds of a day, at most."""
    return _counts(months, day)[_index(day)]


def remember(months: dict[str, str], day: str, rows: int) -> None:
    """Sets the number of rows of a day."""
    counts = _counts(months, day)
    counts[_index(day)] = rows
    runs = [(rows, len(list(days))) for rows, days in groupby(counts)]
    months[day[:7]] = " ".join(f"{rows}x{days}" if days > 1 else str(rows) for rows, days in runs)


def _index(day: str) -> int:
    return int(day[8:]) - 1


def _counts(months: dict[str, str], day: str) -> list[int]:
    """Returns the number of rows of 31 days."""
    runs = (run.partition("x") for run in months.get(day[:7], "0x31").split())
    return [int(rows) for rows, _, days in runs for _ in range(int(days or 1))]
