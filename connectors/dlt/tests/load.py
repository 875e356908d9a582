"""Loads into the destination of the first argument. A second one, `kill`, ends it before the cursor is stored.

Writes the rows of Delta tables to copy/<table>.jsonl.
"""

import json
import os
import signal
import sys
from pathlib import Path

os.environ["DLT_JSON_TYPED_PUA_START"] = "fdd0"

import dlt  # noqa: E402
import export_api  # noqa: E402
from deltalake import DeltaTable  # noqa: E402
from dlt.load.load import Load  # noqa: E402

destination, *failure = sys.argv[1:]
export_api.MOST_PAGES = int(os.environ.get("PAGES_OF_A_LOAD", "50"))
if failure == ["kill"]:
    Load.complete_package = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
export_api.load(dlt.pipeline("copy", destination=destination, dataset_name="export_api"))

if destination == "filesystem":
    address = f"{os.environ['DESTINATION__FILESYSTEM__BUCKET_URL']}/export_api"
    tables = {"brands": DeltaTable(f"{address}/brands").to_pyarrow_table().to_pylist()}
    tables |= {name: [] for name in export_api.TABLES if name not in ("brands", "days")}
    for day in DeltaTable(f"{address}/days").to_pyarrow_table().to_pylist():
        rows = [{"brand_id": day["brand_id"], **row} for row in json.loads(day["rows"])]
        tables[day["endpoint"].replace("-", "_")] += rows
    Path("copy").mkdir(exist_ok=True)
    for name, rows in tables.items():
        lines = "".join(json.dumps(row, default=str) + "\n" for row in rows)
        Path("copy", f"{name}.jsonl").write_text(lines, "utf-8")
