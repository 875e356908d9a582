"""Brings a copy of the Export API's metrics up to date."""

import os
import sys

# Texts cannot begin with the characters by which dlt marks types in its files: these are no characters.
os.environ.setdefault("DLT_JSON_TYPED_PUA_START", "fdd0")

import dlt  # noqa: E402
from export_api import ExportApiError, load  # noqa: E402


def main() -> None:
    pipeline = dlt.pipeline(
        "export_api_pipeline",
        # By default, all projects with a pipeline of this name share a folder, and its state.
        pipelines_dir=".dlt/pipelines",
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
