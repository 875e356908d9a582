"""The tap: its settings and streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from singer_sdk.exceptions import ConfigValidationError

from tap_export_api.client import ExportStream, root_of

# <generated metrics>
METRICS = ["visibility", "competitors", "citations", "citation-share", "sentiment", "recommended-rate"]
# </generated metrics>

Row = dict[str, Any]

DAY: Row = {
    "brand_id": {"type": "string", "format": "uuid"},
    "date": {"type": "string", "format": "date", "description": "UTC day."},
    "changed_at": {"type": "string", "format": "date-time", "description": "Time at which the day's rows changed."},
    "causes": {"type": "object", "additionalProperties": True, "description": "Why the day changed, with times."},
    "digest": {"type": "string", "description": "Proof of the rows."},
    "row_count": {"type": "integer"},
    # Without `items`, targets store JSON: target-postgres has jsonb, not jsonb[].
    "rows": {"type": "array", "description": "All rows of the day; none when it has emptied."},
}

BRANDS: Row = {
    "id": {"type": "string", "description": "Always `brands`."},
    "brands": {"type": "array", "description": "All brands that the key reads."},
}


class BrandsStream(ExportStream):
    """The brands, in one record: a brand that left disappears."""

    name = "brands"
    path = "/brands"
    primary_keys = ("id",)
    schema = {"type": "object", "properties": BRANDS}

    def read(self, page: Row) -> list[Row]:
        return [{to_snake_case(name): brand[name] for name in brand} for brand in page["data"]]

    def get_records(self, context: Any) -> Iterator[Row]:
        yield {"id": "brands", "brands": self.fetch()}


class DaysStream(ExportStream):
    """The days of a metric, each with all its rows. The state has the cursor and its `start_date`."""

    path = "/days"
    primary_keys = ("brand_id", "date")
    schema = {"type": "object", "properties": DAY}

    def __init__(self, tap: Tap, endpoint: str) -> None:
        super().__init__(tap, name=endpoint.replace("-", "_"))
        self.endpoint = endpoint
        # A target must not take the days of earlier runs for deleted, as with FULL_TABLE.
        self.forced_replication_method = "LOG_BASED"

    def read(self, page: Row) -> tuple[list[Row], str, bool]:
        days = [{name: day[name] for name in (*DAY, "offset")} for day in page["data"]]
        return days, page["pagination"]["nextCursor"], page["pagination"]["hasMore"]

    def get_records(self, context: Any) -> Iterator[Row]:
        start_date = self.config.get("start_date")
        state = self.stream_state
        cursor = state.get("cursor") if state.get("start_date") == start_date else None
        day: Row = {}
        has_more = True
        while has_more:
            sent = cursor
            days, cursor, has_more = self.fetch(endpoint=self.endpoint, fromDate=start_date, cursor=sent)
            if has_more and cursor == sent:
                raise self.failure(f"The pages of {self.name} do not end. Check base_url.")
            is_whole = True
            for part in days:
                # A part that is not continued changed meanwhile: the day starts again.
                rows = day["rows"] + part["rows"] if part.pop("offset") else part["rows"]
                day = {**part, "rows": rows}
                is_whole = len(rows) == day["row_count"]
                if is_whole:
                    yield day
            if is_whole:
                # The SDK has written the page's records.
                state.update(cursor=cursor, start_date=start_date)
                self._tap.state_writer.write_state(self.tap_state)


def to_snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


class TapExportApi(Tap):
    """Loads the brands and the days of all metrics of an Export API."""

    name = "tap-export-api"

    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True, description="Root of the service."),
        th.Property("api_key", th.StringType, required=True, secret=True, description="Key with the scope export."),
        th.Property("start_date", th.DateType, description="First day. Default: as far back as the plan reaches."),
        th.Property(
            "user_agent",
            th.StringType,
            default=f"export-api-singer/{version('tap-export-api')}",
            description="Names the loader to the operator of the service.",
        ),
    ).to_dict()

    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        """Returns a sentence for each setting that cannot be right, without its value, which can be a key."""
        errors = super()._validate_config(raise_errors=raise_errors)
        if not re.fullmatch(r"(?ai)https?://[\w.:\[\]-]+(/[\w./~%-]+)?", root_of(str(self.config.get("base_url")))):
            errors.append("Set base_url to an address such as https://api.example.com.")
        if not re.fullmatch("[!-~]+", str(self.config.get("api_key")).strip()):
            errors.append("Set api_key to your API key, without other characters.")
        if errors and raise_errors:
            msg = "Config validation failed"
            raise ConfigValidationError(msg, errors=errors, schema={})
        return errors

    def load_streams(self) -> list[Stream]:
        # The brands last: a key of another organization ends the run before it replaces them.
        return sorted(super().load_streams(), key=lambda stream: stream.name == "brands")

    def discover_streams(self) -> list[Stream]:
        return [BrandsStream(self), *(DaysStream(self, endpoint) for endpoint in METRICS)]
