"""Runs the queries of the README over a folder. Stdin has them as JSON. Prints the rows by engine."""

import json
import sys
from pathlib import Path

import duckdb_extension_delta
import pandas
import polars

import duckdb

queries = json.load(sys.stdin)
connection = duckdb.connect()
for package in duckdb_extension_delta.__path__:
    for file in Path(package).rglob("*.duckdb_extension"):
        connection.execute(f"load '{file}'")
of_duckdb = connection.sql(queries["sql"])
names: dict = {}
exec(queries["python"], names)
print(
    json.dumps(
        {
            "types": [str(column) for column in of_duckdb.types],
            "duckdb": [dict(zip(of_duckdb.columns, row)) for row in of_duckdb.fetchall()],
            "pandas": pandas.DataFrame(names["rows"]).to_dict("records"),
            "polars": polars.DataFrame(names["rows"]).to_dicts(),
        },
        default=str,
    )
)
