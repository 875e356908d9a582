"""Windows of days, and the number of rows of each day."""

from tap_export_api.day_rows import remember, rows_by_day, rows_sent
from tap_export_api.windows import windows_of


def test_windows_have_the_days_in_the_fewest_pages():
    others = {"2024-02-29": 700, "2024-03-01": 1000, "2024-03-03": 600}
    days = {"2024-03-02": 300, "2024-02-28": 100, "2023-12-31": 0, "2024-03-04": 900, "2024-03-05": 100}
    assert windows_of(days, others) == [["2024-02-28", "2024-02-28"], ["2024-03-02", "2024-03-05"]]
    # The first day could be joined with the second one, but then the third one needs a page of its own.
    days = {"2024-03-01": 400, "2024-03-03": 500, "2024-03-05": 100}
    others = {"2024-03-02": 1100, "2024-03-04": 400}
    assert windows_of(days, others) == [["2024-03-01", "2024-03-01"], ["2024-03-03", "2024-03-05"]]
    assert windows_of({}, others) == []


def test_the_number_of_rows_is_kept_by_day():
    months: dict[str, str] = {}
    for day, rows in [("2024-02-01", 8), ("2024-02-02", 8), ("2024-02-29", 1250), ("2024-02-02", 9)]:
        remember(months, day, rows)
    assert months == {"2024-02": "8 9 0x26 1250 0x2"}
    assert [rows_sent(months, f"2024-02-{day}") for day in ("01", "02", "03", "29")] == [8, 9, 0, 1250]
    assert rows_sent(months, "2024-01-01") == 0
    assert rows_by_day(months) == {"2024-02-01": 8, "2024-02-02": 9, "2024-02-29": 1250}
