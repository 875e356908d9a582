"""Syncs as Airbyte's platform runs them: source-declarative-manifest, a destination "Append + Deduped", saved state.

usage: airbyte-sync.py MANIFEST MODELS

MODELS is a folder with the compiled models and tests of connectors/dbt. Runs a sync and the tests for each line of the
standard input, a JSON object with EXPORT_API_URL, EXPORT_API_KEY and EXPORT_API_START_DATE. Writes a line of JSON: the
source's exit code and its errors, or 1 and the tests that failed. Loads export.duckdb in the working folder, with the
exact rows as views in its schema `exact`.
"""

import json
import os
import sys
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path

from airbyte_cdk.cli.source_declarative_manifest import run

import duckdb

MANIFEST = ["--manifest-path", sys.argv[1], "--config", "config.json"]
MODELS = Path(sys.argv[2])
TYPES = {
    "date": "DATE",
    "date-time": "TIMESTAMPTZ",
    "string": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "object": "JSON",
}


class Failed(Exception):
    pass


def source(command, output):
    os.dup2(output.fileno(), 1)
    # A failure is a message, too; the traceback of an expected one is not for the log of the tests.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.argv = ["source-declarative-manifest", *command, *MANIFEST]
    run()


def messages(*command):
    """Yields the messages of the source. Throws `Failed` when it ends with another exit code than 0."""
    reader, writer = (os.fdopen(end, mode, encoding="utf-8") for end, mode in zip(os.pipe(), ("r", "w")))
    # A fork has the engine imported, which takes most of the time of a sync without changes.
    process = get_context("fork").Process(target=source, args=(command, writer))
    process.start()
    writer.close()
    errors = []
    for line in reader:
        message = json.loads(line)
        if message["type"] == "TRACE" and message["trace"]["type"] == "ERROR":
            errors.append(message["trace"]["error"]["message"])
        yield message
    process.join()
    if process.exitcode != 0:
        raise Failed(process.exitcode, "\n".join(errors))


def catalog():
    """Returns the streams that a user would pick: incremental where it is offered."""
    file = Path("catalog.json")
    if not file.exists():
        [found] = [message["catalog"] for message in messages("discover") if message["type"] == "CATALOG"]
        streams = [
            {
                "stream": stream,
                "sync_mode": stream["supported_sync_modes"][-1],
                "destination_sync_mode": "append_dedup",
                "primary_key": stream["source_defined_primary_key"],
                "cursor_field": stream.get("default_cursor_field", []),
            }
            for stream in found["streams"]
        ]
        file.write_text(json.dumps({"streams": streams}), "utf-8")
    return json.loads(file.read_text("utf-8"))["streams"]


def type_of(schema):
    names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return TYPES[schema.get("format") or names[0]]


def columns_of(stream):
    return {name: type_of(schema) for name, schema in stream["stream"]["json_schema"]["properties"].items()}


def create(db, stream):
    name = stream["stream"]["name"]
    columns = ", ".join(f"{column} {kind}" for column, kind in columns_of(stream).items())
    key = ", ".join(path[0] for path in stream["primary_key"])
    db.execute(
        f"create table if not exists main.{name} ({columns}, _airbyte_extracted_at timestamptz, primary key ({key}))"
    )


def load(db, stream, rows):
    """Inserts rows; of rows with the same key the one with the greatest cursor stays, and of these the last one."""
    name, columns = stream["stream"]["name"], columns_of(stream)
    key = [path[0] for path in stream["primary_key"]]
    in_order = sorted(rows, key=lambda row: row["changed_at"]) if stream["cursor_field"] else rows
    newest = {tuple(row[column] for column in key): row for row in in_order}
    file = Path(f"{name}.jsonl")
    file.write_text("".join(json.dumps(row) + "\n" for row in newest.values()), "utf-8")
    if not stream["cursor_field"]:
        db.execute(f"delete from main.{name}")
    updated = [column for column in [*columns, "_airbyte_extracted_at"] if column not in key]
    newer = f"where excluded.changed_at >= {name}.changed_at" if stream["cursor_field"] else ""
    db.execute(
        f"insert into main.{name} select {', '.join(columns)}, now() "
        f"from read_json('{file}', format = 'newline_delimited', columns = {columns}) "
        f"on conflict ({', '.join(key)}) do update set {', '.join(f'{c} = excluded.{c}' for c in updated)} {newer}"
    )


def create_models(db):
    db.execute("create schema if not exists of_dbt; create schema if not exists exact")
    for file in MODELS.glob("*.sql"):
        db.execute(f"create or replace view of_dbt.{file.stem} as {file.read_text('utf-8')}")
        db.execute(f"create or replace view exact.{file.stem.removeprefix('export_api__')} as from of_dbt.{file.stem}")


def prove():
    """Runs the tests of the models. Throws `Failed` when the copy differs from what `/changes` listed."""
    with duckdb.connect("export.duckdb") as db:
        tests = {file.stem: db.execute(file.read_text("utf-8")).fetchall() for file in MODELS.glob("*/*.sql")}
    differing = [name for name, rows in tests.items() if rows]
    if differing:
        raise Failed(1, "\n".join(differing))


def sync(environment):
    config = {
        "base_url": environment["EXPORT_API_URL"],
        "api_key": environment["EXPORT_API_KEY"],
        "start_date": environment["EXPORT_API_START_DATE"],
    }
    Path("config.json").write_text(json.dumps(config), "utf-8")
    streams = {stream["stream"]["name"]: stream for stream in catalog()}
    stored = Path("state.json")
    states = json.loads(stored.read_text("utf-8")) if stored.exists() else {}
    Path("current.json").write_text(json.dumps(list(states.values())), "utf-8")
    rows = defaultdict(list)
    try:
        for message in messages("read", "--catalog", "catalog.json", "--state", "current.json"):
            if message["type"] == "RECORD":
                rows[message["record"]["stream"]].append(message["record"]["data"])
            if message["type"] == "STATE":
                states[message["state"]["stream"]["stream_descriptor"]["name"]] = message["state"]
    finally:
        # A destination keeps what it received before a run failed.
        with duckdb.connect("export.duckdb") as db:
            db.execute("set timezone = 'UTC'")
            for stream in streams.values():
                create(db, stream)
            for name, own in rows.items():
                load(db, streams[name], own)
            create_models(db)
        stored.write_text(json.dumps(states), "utf-8")


for line in sys.stdin:
    ended = {"code": 0, "output": ""}
    try:
        sync(json.loads(line))
        prove()
    except Failed as failed:
        ended = dict(zip(ended, failed.args))
    print(json.dumps(ended), flush=True)
