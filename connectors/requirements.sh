#!/usr/bin/env bash
# Writes requirements/ from pyproject.toml: what each environment needs for Python 3.11 or later on any platform, a package a
# line, with the hashes of its files. Takes the newest releases that are a week old. The tests of the connectors install uv.
set -euo pipefail
cd "$(dirname "$0")"
for group in $(sed -n 's/^\([a-z-]*\) = \[.*/\1/p' pyproject.toml); do
  ../.cache/python/uv/bin/uv pip compile --quiet --group "$group" --universal --python-version 3.11 \
    --exclude-newer '7 days' --generate-hashes --no-annotate --no-header |
    sed -e :a -e '/\\$/N; s/ *\\\n */ /; ta' >"requirements/$group.txt"
done
