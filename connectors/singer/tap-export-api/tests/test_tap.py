"""The SDK's own tests, against the service of the environment variables `TAP_EXPORT_API_…`."""

import os

from singer_sdk.testing import get_tap_test_class
from tap_export_api.tap import TapExportApi

CONFIG = {
    name: os.environ[f"TAP_EXPORT_API_{name.upper()}"] for name in ("base_url", "api_key", "start_date")
}

TestTapExportApi = get_tap_test_class(TapExportApi, config=CONFIG)
