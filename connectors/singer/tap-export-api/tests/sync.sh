#!/bin/bash
# Runs the tap into a target with the last state that the target printed, as Meltano does. Then creates the views.
# Usage: sync.sh TAP TARGET CONFIG COMMAND…
set -o pipefail
export TAP_EXPORT_API_BASE_URL=$EXPORT_API_URL TAP_EXPORT_API_API_KEY=$EXPORT_API_KEY
export TAP_EXPORT_API_START_DATE=$EXPORT_API_START_DATE
touch states.jsonl
tail -n 1 states.jsonl >state.json
[ -s state.json ] || echo '{}' >state.json
"$1" --config=ENV --state state.json | "$2" --config "$3" >>states.jsonl || exit
"${@:4}"
