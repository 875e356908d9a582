#!/bin/bash
# Runs the tap into target-postgres, with the last state that the target printed, as Meltano does. Loads the same
# messages into target-duckdb, and ends with the exit code of the first two.
# Usage: singer-sync.sh TAP TARGET-POSTGRES CONFIG TARGET-DUCKDB CONFIG
set -o pipefail
export TAP_EXPORT_API_BASE_URL=$EXPORT_API_URL TAP_EXPORT_API_API_KEY=$EXPORT_API_KEY
export TAP_EXPORT_API_START_DATE=$EXPORT_API_START_DATE
touch states.jsonl
tail -n 1 states.jsonl >state.json
[ -s state.json ] || echo '{}' >state.json
"$1" --config=ENV --state state.json | tee messages.jsonl | "$2" --config "$3" >>states.jsonl
code=$?
"$4" --config "$5" <messages.jsonl >/dev/null || exit
exit $code
