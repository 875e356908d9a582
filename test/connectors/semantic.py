"""Evaluates the measures of Looker and Cube over DuckDB, and checks those of Power BI. Reads a task as JSON, prints JSON.

No engine for DAX exists outside Microsoft's products: the measures are parsed, and their columns looked up.
"""

import json
import sys

import sidemantic_dax
from sidemantic import SemanticLayer
from sidemantic.loaders import load_from_directory

task = json.load(sys.stdin)


def evaluate(folder):
    layer = SemanticLayer(connection="duckdb:///:memory:")
    for statement in task["tables"]:
        layer.adapter.execute(statement)
    load_from_directory(layer, folder)
    return [
        layer.query(
            metrics=[f"{figure['stream']}.{figure['name']}"],
            dimensions=[f"{figure['stream']}.{column}" for column in figure["per"]],
        ).fetchall()
        for figure in task["figures"]
    ]


with open(task["dax"]) as file:
    text = file.read()
measures = {measure.name: measure.table.name for measure in sidemantic_dax.parse_query(text).define.defs}
model = sidemantic_dax.ModelMetadata(
    tables=[
        sidemantic_dax.ModelTable(
            name=table, columns=columns, measures=[name for name, owner in measures.items() if owner == table]
        )
        for table, columns in task["columns"].items()
    ]
)
json.dump(
    {
        "looker": evaluate(task["looker"]),
        "cube": evaluate(task["cube"]),
        "measures": measures,
        "issues": [str(issue) for issue in sidemantic_dax.validate_query_against_model(text, model)],
    },
    sys.stdout,
    default=str,
)
