"""Loads two metrics into DuckDB with dlt's REST API source, all of whose defaults apply: pagination, retries, types."""

import json

import dlt
from dlt.sources.rest_api import rest_api_source

with open("config.json") as file:
    config = json.load(file)

source = rest_api_source(
    {
        "client": {
            "base_url": f"{config['url']}/api/export/v1/",
            "auth": {"type": "api_key", "name": "X-API-Key", "api_key": config["api_key"]},
        },
        "resource_defaults": {
            "endpoint": {
                "params": {
                    "brandId": config["brand_id"],
                    "fromDate": config["from_date"],
                    "toDate": config["to_date"],
                }
            }
        },
        "resources": ["visibility", "sentiment"],
    },
    name="export_api",
)

pipeline = dlt.pipeline("export_api", destination=dlt.destinations.duckdb("loaded.duckdb"), dataset_name="export_api")
pipeline.run(source)
