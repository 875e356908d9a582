"""Compares a copy with the list of its changes."""

import json
from itertools import groupby
from operator import itemgetter

import dlt

from .digest import describe_change, describe_rows
from .tables import METRICS, read_table


def days_that_differ(pipeline: dlt.Pipeline) -> list[str]:
    """Returns a line for each day whose rows, totals or digest are not those in the table `changes`.

    Leaves out days that the plan did not reach when the days were last listed, and brands that the key no longer reads.
    """
    streams = {stream["endpoint"]: stream for stream in METRICS}
    nothing = {endpoint: describe_rows(stream, []) for endpoint, stream in streams.items()}
    lines = []
    for brand_id, brand in pipeline.state["sources"]["export_api"]["brands"].items():
        listed, copied = {}, {}
        for change in read_table(pipeline, "changes", brand_id):
            if isinstance(change["totals"], str):
                change["totals"] = json.loads(change["totals"])
            endpoint = change["endpoint"]
            listed[endpoint, str(change["date"])] = describe_change(streams[endpoint], change)
        for endpoint, stream in streams.items():
            for date, rows in groupby(read_table(pipeline, stream["name"], brand_id), itemgetter("date")):
                copied[endpoint, str(date)] = describe_rows(stream, list(rows))
        for endpoint, date in sorted(listed.keys() | copied.keys()):
            copy, expected = (days.get((endpoint, date), nothing[endpoint]) for days in (copied, listed))
            if copy != expected and date >= brand.get("from_date", ""):
                lines.append(f"{endpoint} of {date} of brand {brand_id}: {copy}; listed: {expected}")
    return lines
