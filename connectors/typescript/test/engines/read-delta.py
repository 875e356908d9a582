"""Reads Delta tables with delta-rs, polars, pandas and DuckDB.

Stdin has the addresses of the tables, the options of their bucket, and DuckDB's statements for it, as JSON. Prints the
rows of each table by engine.
"""

import json
import sys
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
    scan = connection.sql(f"from delta_scan('{url}')")
    return scan.to_arrow_table().to_pylist()


ENGINES = {
    "delta-rs": read_deltalake,
    "polars": read_polars,
    "pandas": read_pandas,
    "duckdb": read_duckdb,
}


def rows_of(url):
    table = DeltaTable(url, storage_options=job["options"])
    return {
        engine: [
            {name: None if value is pandas.NA else value for name, value in row.items()} for row in read(table, url)
        ]
        for engine, read in ENGINES.items()
    }


print(json.dumps({name: rows_of(url) for name, url in job["tables"].items()}, default=str, allow_nan=False))
