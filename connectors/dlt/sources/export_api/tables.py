"""Tables of the copy."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dlt

STREAMS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("streams.json").read_text("utf-8"))
METRICS = [stream for stream in STREAMS if stream["kind"] == "metric"]

DATA_TYPES = {
    "uuid": "text",
    "date": "date",
    "text": "text",
    "integer": "bigint",
    "number": "double",
    "boolean": "bool",
    "timestamp": "timestamp",
    "json": "json",
}

# Of the columns of a key, the values in a row that stands for an empty day.
EMPTY = {"uuid": "", "text": "", "boolean": False}


def table_hints(stream: dict[str, Any]) -> dict[str, Any]:
    """Returns the name, columns, types and primary key of a stream's table."""
    columns = {
        column["name"]: {
            "data_type": DATA_TYPES[column["type"]],
            "description": column["description"],
            # Empty days have nulls in the staging table.
            "nullable": column["nullable"] or (stream["kind"] == "metric" and column["name"] not in stream["key"]),
        }
        for column in stream["columns"]
    }
    return {"name": stream["name"], "columns": columns, "primary_key": stream["key"]}


def replace_days(stream: dict[str, Any]) -> Any:
    """Returns the write disposition that deletes each day in the staging table, and inserts its rows.

    A day without rows has one row there, without a number: it deletes the day and is not inserted.
    """
    return {
        "disposition": "merge",
        "strategy": "delete-insert",
        "destination_scope": "EXISTS (SELECT 1 FROM {staging_table} AS loaded"
        " WHERE loaded.brand_id = {table}.brand_id AND loaded.date = {table}.date)",
        "source_filter": f"{stream['totals'][0]} IS NOT NULL",
    }


def empty_day(stream: dict[str, Any], brand_id: str, day: str) -> dict[str, Any]:
    """Returns the row that stands for a day without rows."""
    key = {column["name"]: EMPTY.get(column["type"]) for column in stream["columns"] if column["name"] in stream["key"]}
    return {**key, "brand_id": brand_id, "date": day}


def read_table(pipeline: dlt.Pipeline, name: str, brand_id: str) -> Iterator[dict[str, Any]]:
    """Yields the rows that the copy has of a brand, in ascending order of their dates."""
    [columns] = [[column["name"] for column in stream["columns"]] for stream in STREAMS if stream["name"] == name]
    with pipeline.sql_client() as client:
        selected = ", ".join(map(client.escape_column_name, columns))
        query = f"SELECT {selected} FROM {client.make_qualified_table_name(name)} WHERE brand_id = %s ORDER BY date"
        with client.execute_query(query, brand_id) as cursor:
            for rows in cursor.iter_fetch(10_000):
                yield from (dict(zip(columns, row)) for row in rows)
