"""Brings a copy of the Export API's metrics up to date. The environment variable EXPORT_API_KEY holds the key."""

import argparse
import os
import sys
from collections import Counter

import dlt
from dlt.pipeline.exceptions import PipelineStepFailed
from dlt.sources.helpers.requests import HTTPError
from export_api import RowsDifferError, export_api_source
from export_api.verify import days_that_differ

# A load holds a month of each brand. An interrupted run resumes after its last load.
MAX_DAYS = 31


def sync(pipeline: dlt.Pipeline, base_url: str, api_key: str, start_date: str) -> None:
    """Runs loads until one finds nothing to do. Prints the number of requests and the rows of each table."""
    requests, rows = 0, Counter()
    pipeline.sync_destination()
    is_done = False
    while not is_done:
        before = pipeline.state.get("sources")
        pipeline.run(export_api_source(base_url, api_key, start_date, max_days=MAX_DAYS))
        is_done = pipeline.state.get("sources") == before
        trace = pipeline.last_trace
        # Each load replaces the brands.
        del rows["brands"]
        rows.update(trace.last_normalize_info.row_counts)
        for [extracted, *_] in trace.last_extract_info.metrics.values():
            requests += extracted["resource_metrics"]["brands"].custom_metrics["requests"]
    print(f"{requests} requests")
    for table, count in sorted(rows.items()):
        if not table.startswith("_dlt"):
            print(f"{table}: {count} rows")


def cause_of(error: BaseException | None) -> HTTPError | RowsDifferError | None:
    """Returns the error of the source that caused an error."""
    while error is not None and not isinstance(error, (HTTPError, RowsDifferError)):
        error = error.__cause__
    return error


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base-url", required=True, help="root of the service's host, such as https://api.example.com")
    parser.add_argument("--start-date", required=True, help="first day of the copy, YYYY-MM-DD")
    parser.add_argument("--destination", required=True, help="a destination of dlt, such as duckdb or postgres")
    parser.add_argument("--dataset", required=True, help="schema of the tables")
    parser.add_argument("--database", help="file of the DuckDB database, or another destination's connection string")
    parser.add_argument("--verify", action="store_true", help="compare days with the changes; exit 1 if any differs")
    arguments = parser.parse_args()
    if not os.environ.get("EXPORT_API_KEY"):
        parser.error("Set the environment variable EXPORT_API_KEY to an export key.")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    # The state is in the destination, next to the rows. What an earlier run left in the working folder can be older.
    pipeline = dlt.pipeline(
        "export_api",
        destination=dlt.destination(arguments.destination, credentials=arguments.database),
        dataset_name=arguments.dataset,
        progress=dlt.progress.log(5, dump_system_stats=False),
    ).drop()
    try:
        sync(pipeline, arguments.base_url, os.environ["EXPORT_API_KEY"], arguments.start_date)
    except PipelineStepFailed as failure:
        cause = cause_of(failure)
        if cause is None:
            raise
        sys.exit(str(cause))
    if arguments.verify:
        differ = days_that_differ(pipeline)
        print(*differ, sep="\n")
        if differ:
            sys.exit(f"{len(differ)} days differ from the list of changes.")
        print("Every day equals the list of changes.")


if __name__ == "__main__":
    main()
