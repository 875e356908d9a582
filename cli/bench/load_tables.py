"""Loads a table with the options of each line of standard input. Prints the number of its rows."""

import contextlib
import json
import sys

import delta_sharing

for line in sys.stdin:
    with contextlib.redirect_stdout(None):  # The client reports its progress there.
        rows = len(delta_sharing.load_as_pandas(sys.argv[1], **json.loads(line)))
    print(rows, flush=True)
