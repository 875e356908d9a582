"""The tap: its settings and streams."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.resources import files

from singer_sdk import Stream, Tap
from singer_sdk import typing as th
from singer_sdk.exceptions import ConfigValidationError

from tap_export_api.changes import ChangesStream
from tap_export_api.client import wrong_settings
from tap_export_api.metrics import MetricStream
from tap_export_api.streams import BrandsStream


class TapExportApi(Tap):
    """Loads the brands, metrics and changes of an Export API."""

    name = "tap-export-api"

    config_jsonschema = th.PropertiesList(
        th.Property(
            "base_url",
            th.StringType,
            required=True,
            description="Root of the service, such as https://api.example.com.",
        ),
        th.Property("api_key", th.StringType, required=True, secret=True, description="Key with the scope export."),
        th.Property("start_date", th.DateType, required=True, description="First day to load (YYYY-MM-DD)."),
        th.Property(
            "brand_ids",
            th.ArrayType(th.UUIDType),
            description="Brands to load. Default: all that the key reads.",
        ),
        th.Property(
            "user_agent",
            th.StringType,
            default=f"export-api-singer/{version('tap-export-api')}",
            description="Names the loader to the operator of the service.",
        ),
    ).to_dict()

    def _validate_config(self, *, raise_errors: bool = True) -> list[str]:
        errors = super()._validate_config(raise_errors=raise_errors) or [*wrong_settings(self.config)]
        if errors and raise_errors:
            msg = "Config validation failed"
            raise ConfigValidationError(msg, errors=errors, schema={})
        return errors

    def discover_streams(self) -> list[Stream]:
        """Returns a stream for each entry of `streams.json`, in the order in which a brand's are sent."""
        definitions = json.loads(files(__package__).joinpath("streams.json").read_text("utf-8"))
        of_kind = {kind: [d for d in definitions if d["kind"] == kind] for kind in ("brands", "changes", "metric")}
        [brands], [changes] = of_kind["brands"], of_kind["changes"]
        changes_stream = ChangesStream(self, changes)
        metrics = [MetricStream(self, definition, changes_stream) for definition in of_kind["metric"]]
        return [BrandsStream(self, brands, changes_stream), changes_stream, *metrics]
