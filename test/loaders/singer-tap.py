"""Extracts two metrics with the Singer SDK, whose default back-off applies."""

from pathlib import Path

from singer_sdk import OpenAPISchema, RESTStream, StreamSchema, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import APIKeyAuthenticator

OPENAPI = OpenAPISchema(Path(__file__).parents[2] / "functions" / "openapi.json")


class MetricStream(RESTStream):
    records_jsonpath = "$.data[*]"
    next_page_token_jsonpath = "$.pagination.nextCursor"

    @property
    def url_base(self):
        return f"{self.config['url']}/api/export/v1"

    @property
    def authenticator(self):
        return APIKeyAuthenticator(key="X-API-Key", value=self.config["api_key"])

    def get_url_params(self, context, next_page_token):
        params = {
            "brandId": self.config["brand_id"],
            "fromDate": self.config["from_date"],
            "toDate": self.config["to_date"],
        }
        return {**params, "cursor": next_page_token} if next_page_token else params


class VisibilityStream(MetricStream):
    name = "visibility"
    path = "/visibility"
    schema = StreamSchema(OPENAPI, key="VisibilityRow")


class SentimentStream(MetricStream):
    name = "sentiment"
    path = "/sentiment"
    schema = StreamSchema(OPENAPI, key="SentimentRow")


class ExportTap(Tap):
    name = "tap-export-api"
    config_jsonschema = th.PropertiesList(
        th.Property("url", th.StringType, required=True),
        th.Property("api_key", th.StringType, required=True, secret=True),
        th.Property("brand_id", th.UUIDType, required=True),
        th.Property("from_date", th.DateType, required=True),
        th.Property("to_date", th.DateType, required=True),
    ).to_dict()

    def discover_streams(self):
        return [VisibilityStream(tap=self), SentimentStream(tap=self)]


if __name__ == "__main__":
    ExportTap.cli()
