"""Brings a copy of the Export API's metrics up to date."""

import sys

import dlt
from export_api import ExportApiError, load


def main() -> None:
    pipeline = dlt.pipeline(
        "export_api_pipeline",
        destination="duckdb",
        dataset_name="export_api",
        progress=dlt.progress.log(5, dump_system_stats=False),
    )
    try:
        load(pipeline)
    except Exception as error:
        # dlt wraps the errors of a source.
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ExportApiError):
            cause = cause.__cause__
        if cause is None:
            raise
        sys.exit(str(cause))


if __name__ == "__main__":
    main()
