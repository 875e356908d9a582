"""Loads each table that a line of standard input names. Prints the milliseconds and the rows."""

import contextlib
import json
import sys
import time

import delta_sharing

for line in sys.stdin:
    table, options = json.loads(line)
    start = time.perf_counter()
    with contextlib.redirect_stdout(None):  # The client reports its progress there.
        rows = len(delta_sharing.load_as_pandas(table, **options))
    print(json.dumps({"ms": 1000 * (time.perf_counter() - start), "rows": rows}), flush=True)
