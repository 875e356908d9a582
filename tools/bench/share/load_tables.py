"""Loads each table that a line of standard input names. Prints the milliseconds and the rows."""

import json
import sys
import time

import delta_sharing

for line in sys.stdin:
    start = time.perf_counter()
    rows = len(delta_sharing.load_as_pandas(line.strip()))
    print(json.dumps({"ms": 1000 * (time.perf_counter() - start), "rows": rows}), flush=True)
