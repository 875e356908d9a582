"""Keeps an exact copy of the Export API's metrics."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dlt
from dlt.common.json import PUA_CHARACTER_MAX, PUA_START
from dlt.sources import DltResource

from .client import Client, ExportApiError

__all__ = ["ExportApiError", "export_api_source", "load"]

# The columns of each table. `npm run openapi` writes the file.
TABLES: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("streams.json").read_text("utf-8"))
# The days of a load are kept in memory.
MOST_PAGES = 50
# Deletes the days that are in the staging table. Destinations differ in how they qualify names, so it renames columns.
DELETE_DAYS = (
    "EXISTS (SELECT 1 FROM (SELECT brand_id AS b, date AS d FROM {staging_table}) AS loaded"
    " WHERE loaded.b = brand_id AND loaded.d = date)"
)


def load(pipeline: dlt.Pipeline, **settings: Any) -> None:
    """Runs a pipeline until the copy is up to date. The settings are arguments of `export_api_source`.

    Deletes the working folder of the pipeline first, because an interrupted run can leave a later state there than the
    destination has.
    """
    pipeline.drop()
    has_more = True
    while has_more:
        source = export_api_source(**settings)
        pipeline.run(source)
        has_more = source.state["resources"]["days"]["has_more"]


@dlt.source(name="export_api", max_table_nesting=0)
def export_api_source(
    base_url: str = dlt.config.value, api_key: str = dlt.secrets.value, start_date: str | None = None
) -> list[DltResource]:
    """Loads days that changed since the previous load, up to 50 pages or the end of a large day. `load` loads all.

    Args:
        base_url: Root of the service's host, such as https://api.example.com.
        api_key: An export key.
        start_date: First day of the copy, YYYY-MM-DD. As far back as the plan reaches by default.

    Returns:
        The resources `brands` and `days`. `days` fills the tables of the metrics, too.
    """
    client = Client(base_url, api_key)
    if start_date and not re.fullmatch(r"\d{4}-\d\d-\d\d", start_date):
        raise ExportApiError("Set start_date to a day such as 2026-01-31.")

    @dlt.resource
    def brands() -> Iterator[Any]:
        rows = unmarked(client.get("brands", lambda body: [*body["data"]]))
        yield to_table("brands", rows, TABLES["brands"], write_disposition="replace")

    @dlt.resource
    def days() -> Iterator[Any]:
        state = dlt.current.resource_state()
        if state.get("start_date") != start_date:
            state.update(start_date=start_date, cursor=None)
        documents = read_days(client, state)
        columns = dict(TABLES["days"])
        if not has_documents():
            del columns["rows"]
            yield from to_metrics(documents)
        rows = [{name: document[name] for name in columns} for document in documents]
        yield to_table("days", rows, columns, write_disposition="merge", primary_key=["endpoint", "brand_id", "date"])

    return [brands, days]


def read_days(client: Client, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the days of the next pages, and stores the cursor that follows them."""
    days: dict[tuple[str, str, str], dict[str, Any]] = {}
    number, is_part = 0, False
    while True:
        number += 1
        cursor = state.get("cursor")
        page = client.get("days", parse_days, cursor=cursor, fromDate=state.get("start_date"))
        documents, state["cursor"], state["has_more"] = page
        for document in documents:
            key = document["endpoint"], document["brand_id"], document["date"]
            offset = document.pop("offset")
            unmarked(document["rows"])
            is_part = offset + len(document["rows"]) < document["row_count"]
            if offset:
                days[key]["rows"] += document["rows"]
            else:
                # Replaces the day if it came before and changed meanwhile.
                days[key] = document
        if not state["has_more"] or number >= MOST_PAGES and not is_part:
            # A large day that changed between two of its parts comes again, maybe in the next load only.
            return [day for day in days.values() if len(day["rows"]) == day["row_count"]]
        if state["cursor"] == cursor:
            raise ExportApiError("The pages of days do not end. Check base_url.")


def unmarked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows. Raises `ExportApiError` for a text that begins like those by which dlt marks types in its files."""
    for text in (value for row in rows for value in row.values() if isinstance(value, str)):
        if 0 <= ord(text[:1] or " ") - PUA_START <= PUA_CHARACTER_MAX:
            raise ExportApiError(
                f"A text begins with U+{ord(text[0]):04X}, which dlt would alter. Set DLT_JSON_TYPED_PUA_START=fdd0."
            )
    return rows


def parse_days(body: Any) -> tuple[list[dict[str, Any]], str, bool]:
    """Returns the days of a page, the next cursor, and whether there are more."""
    members = [*TABLES["days"], "offset"]
    days = [{member: day[member] for member in members} for day in body["data"]]
    return days, body["pagination"]["nextCursor"], body["pagination"]["hasMore"]


def to_metrics(documents: list[dict[str, Any]]) -> Iterator[Any]:
    """Yields the rows of each metric. In its table, they replace those of the same days.

    A day without rows has one row in the staging table, of nulls: it deletes the day and is not inserted.
    """
    for name, columns in TABLES.items():
        if name in ("brands", "days"):
            continue
        rows = [
            {"brand_id": document["brand_id"], "date": document["date"], **row}
            for document in documents
            if document["endpoint"].replace("-", "_") == name
            for row in document["rows"] or [{}]
        ]
        key = ("brand_id", "date")
        never_null = next(name for name, column in columns.items() if not column["nullable"] and name not in key)
        yield to_table(
            name,
            rows,
            {name: {**column, "nullable": name not in key} for name, column in columns.items()},
            write_disposition={
                "disposition": "merge",
                "strategy": "delete-insert",
                "destination_scope": DELETE_DAYS,
                "source_filter": f"{never_null} IS NOT NULL",
            },
        )


def to_table(name: str, rows: list[Any], columns: dict[str, Any], **hints: Any) -> Any:
    """Marks rows for a table. Creates the table, even without rows."""
    table_format = "delta" if has_documents() else None
    hints = dlt.mark.make_hints(table_name=name, columns=columns, table_format=table_format, **hints)
    # Without rows, nothing would create a table, or replace its rows.
    is_needed = name == "brands" or name not in dlt.current.source_schema().tables
    items = dlt.mark.materialize_table_schema() if is_needed and not rows else rows
    return dlt.mark.with_hints(items, hints, create_table_variant=True)


def has_documents() -> bool:
    """Returns whether a day is a row in the destination: Delta tables have no merge that replaces whole days."""
    return dlt.current.pipeline().destination.destination_type.endswith(".filesystem")
