"""Windows of days, and the number of rows of each day."""

from tap_export_api.day_rows import remember, rows_sent
from tap_export_api.windows import days_of, windows_of


def test_windows_join_adjacent_days_and_end_with_the_month():
    days = ["2024-03-01", "2024-02-28", "2024-02-29", "2024-03-02", "2024-03-04", "2023-12-31"]
    assert windows_of(days) == [
        ["2023-12-31", "2023-12-31"],
        ["2024-02-28", "2024-02-29"],
        ["2024-03-01", "2024-03-02"],
        ["2024-03-04", "2024-03-04"],
    ]


def test_a_window_has_all_its_days_and_none_when_it_ends_before_it_starts():
    assert list(days_of("2023-12-31", "2024-01-02")) == ["2023-12-31", "2024-01-01", "2024-01-02"]
    assert list(days_of("2024-01-02", "2024-01-01")) == []


def test_the_number_of_rows_is_kept_by_day():
    months: dict[str, str] = {}
    for day, rows in [("2024-02-01", 8), ("2024-02-02", 8), ("2024-02-29", 1250), ("2024-02-02", 9)]:
        remember(months, day, rows)
    assert months == {"2024-02": "8x1 9x1 0x26 1250x1 0x2"}
    assert [rows_sent(months, f"2024-02-{day}") for day in ("01", "02", "03", "29")] == [8, 9, 0, 1250]
    assert rows_sent(months, "2024-01-01") == 0
