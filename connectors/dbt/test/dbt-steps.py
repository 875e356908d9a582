"""Runs steps in one process: SQL over a DuckDB file, and dbt commands. Stdin has the file and the steps as JSON.

Prints the result of each as JSON: rows, or the status of each node.
"""

import contextlib
import json
import sys

import duckdb


def run_sql(file, statement):
    with duckdb.connect(file) as connection:
        result = connection.execute(statement)
        columns = [column[0] for column in result.description]
        return [dict(zip(columns, row)) for row in result.fetchall()]


def run_dbt(command):
    from dbt.cli.main import dbtRunner

    with contextlib.redirect_stdout(sys.stderr):
        outcome = dbtRunner().invoke(command)
    if outcome.exception:
        raise outcome.exception
    return [
        {"name": result.node.name, "status": str(result.status), "failures": result.failures}
        for result in outcome.result
    ]


task = json.load(sys.stdin)
results = [
    run_dbt(step["dbt"]) if "dbt" in step else run_sql(task["file"], step["sql"])
    for step in task["steps"]
]
json.dump(results, sys.stdout, default=str)
