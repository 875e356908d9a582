"""Brings a copy of the Export API's metrics up to date."""

import argparse
import sys
from collections import Counter
from typing import Any

import dlt
from dlt.pipeline.exceptions import PipelineStepFailed
from dlt.sources.helpers.requests import RequestException
from export_api import BrandsChangedError, RowsDifferError, export_api_source
from export_api.client import SettingError
from export_api.verify import days_that_differ

# Of a load. An interrupted run resumes after its last load.
MAX_ROWS = 100_000


def sync(pipeline: dlt.Pipeline) -> None:
    """Runs loads until one finds nothing to do. Prints the number of requests and the rows of each table."""
    requests = 0
    rows: Counter[str] = Counter()
    pipeline.sync_destination()
    is_done = False
    while not is_done:
        before = pipeline.state.get("sources")
        pipeline.run(export_api_source(max_rows=MAX_ROWS))
        is_done = pipeline.state.get("sources") == before
        trace: Any = pipeline.last_trace
        # Each load replaces the brands.
        del rows["brands"]
        rows.update(trace.last_normalize_info.row_counts)
        for [extracted, *_] in trace.last_extract_info.metrics.values():
            requests += extracted["resource_metrics"]["brands"].custom_metrics["requests"]
    print(f"{requests} requests")
    for table, count in sorted(rows.items()):
        if not table.startswith("_dlt"):
            print(f"{table}: {count} rows")


def cause_of(error: BaseException | None) -> Exception | None:
    """Returns the error of the source that caused an error."""
    while error is not None and not isinstance(error, (RequestException, RowsDifferError, BrandsChangedError)):
        error = error.__cause__
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verify", action="store_true", help="compare days with the changes; exit 1 if any differs")
    arguments = parser.parse_args()
    # The state is in the destination, next to the rows. What an earlier run left in the working folder can be older.
    pipeline = dlt.pipeline(
        "export_api_pipeline",
        destination="duckdb",
        dataset_name="export_api",
        progress=dlt.progress.log(5, dump_system_stats=False),
    ).drop()
    try:
        sync(pipeline)
    except SettingError as error:
        sys.exit(str(error))
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
