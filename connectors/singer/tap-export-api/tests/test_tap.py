"""The tests of the Singer SDK, against the service."""

import os

from singer_sdk.testing import get_tap_test_class
from tap_export_api.tap import TapExportApi

CONFIG = {"base_url": os.environ["EXPORT_API_URL"], "api_key": os.environ["EXPORT_API_KEY"]}

TestTapExportApi = get_tap_test_class(TapExportApi, config=CONFIG)
