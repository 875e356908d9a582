"""Reads every version of Delta tables with delta-rs, polars, pandas and DuckDB.

Stdin has the addresses of the tables, the options of their bucket, and DuckDB's statements for it, as JSON. Prints the
days of each table and version by engine, each as the place of its rows; and the rows.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import duckdb_extension_delta
import pandas
import polars
import pyarrow
from deltalake import DeltaTable, QueryBuilder

import duckdb

job = json.load(sys.stdin)
connection = duckdb.connect()
for package in duckdb_extension_delta.__path__:
    for file in Path(package).rglob("*.duckdb_extension"):
        connection.execute(f"load '{file}'")
connection.execute(f"set timezone = 'UTC'; {job['setup']}")


def read_deltalake(table, _url):
    batches = QueryBuilder().register("t", table).execute("select * from t")
    return pyarrow.table(batches).to_pylist()


def read_polars(table, _url):
    return polars.read_delta(table).to_dicts()


def read_pandas(table, _url):
    return table.to_pandas(types_mapper=pandas.ArrowDtype).to_dict("records")


def read_duckdb(table, url):
    scan = connection.sql(f"from delta_scan('{url}', version := {table.version()})")
    return scan.to_arrow_table().to_pylist()


ENGINES = {
    "delta-rs": read_deltalake,
    "polars": read_polars,
    "pandas": read_pandas,
    "duckdb": read_duckdb,
}

places = {}


def days_of(rows):
    """Returns the place of the rows of each day."""
    days = defaultdict(list)
    for row in rows:
        row = {name: None if value is pandas.NA else value for name, value in row.items()}
        days[f"{row.get('brand_id')}/{row.get('date')}"].append(json.dumps(row, default=str))
    texts = {day: f"[{','.join(sorted(rows))}]" for day, rows in days.items()}
    return {day: places.setdefault(text, len(places)) for day, text in texts.items()}


def versions_of(url):
    table = DeltaTable(url, storage_options=job["options"])
    for version in range(table.version() + 1):
        table.load_as_version(version)
        yield {engine: days_of(read(table, url)) for engine, read in ENGINES.items()}


tables = {name: list(versions_of(url)) for name, url in job["tables"].items()}
print(json.dumps({"tables": tables, "contents": [json.loads(text) for text in places]}, allow_nan=False))
