"""Loads tables with the official client. Stdin has the path of a profile and the calls as JSON.

Prints the result of each: columns with the types of their values, and rows; or the error.
"""

import datetime
import json
import sys

import delta_sharing
import pandas

FUNCTIONS = {
    "load": delta_sharing.load_as_pandas,
    "changes": delta_sharing.load_table_changes_as_pandas,
}


def type_of(column):
    """Names the type of a column: of its values, if pandas keeps them as objects."""
    if column.dtype != object:
        return str(column.dtype)
    return ", ".join(sorted({type(value).__name__ for value in column if value is not None}))


def call(profile, function, table, arguments):
    if function == "list":
        tables = delta_sharing.SharingClient(profile).list_all_tables()
        return [f"{table.share}.{table.schema}.{table.name}" for table in tables]
    try:
        frame = FUNCTIONS[function](f"{profile}#export.metrics.{table}", **arguments)
    except Exception as error:  # The test expects its text.
        return {"error": str(error)}
    columns = {name: type_of(frame[name]) for name in frame.columns}
    rows = frame.astype(object).where(pandas.notna(frame), None).to_dict("records")
    return {"columns": columns, "rows": rows}


def to_json(value):
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(type(value))


print(json.dumps([call(**each) for each in json.load(sys.stdin)], default=to_json, allow_nan=False))
