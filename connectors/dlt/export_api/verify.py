"""Compares a copy with the list of its changes."""

import json
from collections.abc import Iterator

import dlt
from dlt.destinations.sql_client import SqlClientBase

from . import METRICS

# An endpoint, a brand and a date.
Day = tuple[str, str, str]
# The number of rows of a day, and its totals by column.
Content = tuple[int, dict[str, float]]


def days_that_differ(pipeline: dlt.Pipeline) -> list[str]:
    """Returns a line for each day whose rows or totals are not those in the table `changes`.

    Leaves out days that the plan did not reach when the days were last listed.
    """
    brands = pipeline.state.get("sources", {}).get("export_api", {})
    with pipeline.sql_client() as client:
        listed, copied = dict(listed_days(client)), dict(copied_days(client))
    lines = []
    for day in sorted(listed.keys() | copied.keys()):
        endpoint, brand_id, date = day
        copy, expected = describe(copied.get(day)), describe(listed.get(day))
        if copy != expected and date >= brands[brand_id]["from_date"]:
            lines.append(f"{endpoint} of {date} of brand {brand_id}: {copy}; listed: {expected}")
    return lines


def listed_days(client: SqlClientBase) -> Iterator[tuple[Day, Content]]:
    table = client.make_qualified_table_name("changes")
    query = f"SELECT endpoint, brand_id, date, rows, totals FROM {table}"
    for endpoint, brand_id, date, rows, totals in client.execute_sql(query):
        yield (endpoint, brand_id, str(date)), (rows, json.loads(totals) if isinstance(totals, str) else totals)


def copied_days(client: SqlClientBase) -> Iterator[tuple[Day, Content]]:
    for stream in METRICS:
        table = client.make_qualified_table_name(stream["name"])
        sums = ", ".join(f"SUM({name})" for name in stream["totals"])
        query = f"SELECT brand_id, date, COUNT(*), {sums} FROM {table} GROUP BY brand_id, date"
        for brand_id, date, rows, *totals in client.execute_sql(query):
            yield (stream["endpoint"], brand_id, str(date)), (rows, dict(zip(stream["totals"], totals)))


def describe(content: Content | None) -> str:
    """Returns the content of a day as text. Totals have at most four decimals."""
    rows, totals = content or (0, {})
    sums = [f"{name} {float(total):.4f}" for name, total in sorted(totals.items()) if total]
    return ", ".join([f"{rows} rows", *sums])
