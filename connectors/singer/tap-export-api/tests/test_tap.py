"""The SDK's own tests, and those of connectors in Python."""

import json
from decimal import Decimal
from types import SimpleNamespace

import pytest
from connector_tests import *  # noqa: F403
from service import METRICS, Service, serve
from singer_sdk.exceptions import ConfigValidationError, FatalAPIError, RetriableAPIError
from singer_sdk.testing import get_tap_test_class
from tap_export_api import client
from tap_export_api.proof import difference, digest_of
from tap_export_api.tap import TapExportApi
from tap_export_api.windows import windows_of

BRAND = "7f9c24e8-3b1a-4d5e-8f60-1a2b3c4d5e6f"
CONFIG = {"base_url": "http://service.example", "api_key": "key", "start_date": "2026-01-01"}
DECIMALS = {
    stream["endpoint"]: [column["field"] for column in stream["columns"] if column["type"] == "number"]
    for stream in METRICS
}


def serve_rows():
    service = Service([BRAND])
    for stream in METRICS:
        service.put(BRAND, stream, "2026-01-01", [0, 1])
    return serve(lambda request: service.respond(request.path))


TestTapExportApi = get_tap_test_class(TapExportApi, config={**CONFIG, "base_url": serve_rows()})


@pytest.fixture
def connector():
    def read(url, key="key"):
        tap = TapExportApi(config={**CONFIG, "base_url": url, "api_key": key})
        return list(tap.streams["changes"].pages())

    def wrong_setting(**settings):
        with pytest.raises(ConfigValidationError) as raised:
            TapExportApi(config={**CONFIG, **settings})
        [message] = raised.value.errors
        return message

    def digest(endpoint, rows):
        return digest_of(json.loads(json.dumps(rows), parse_float=Decimal), DECIMALS[endpoint])

    errors = (FatalAPIError, RetriableAPIError)
    return SimpleNamespace(
        client=client, errors=errors, read=read, wrong_setting=wrong_setting, windows=windows_of, digest=digest
    )


def test_a_difference_names_what_differs():
    rows = [{"date": "2026-10-01", "url": "a", "domain": None, "is_owned": False, "citations": 2}]
    change = {"rows": 2, "totals": {"citations": 3}, "digest": digest_of(rows, [])}
    assert difference(rows, change, []) == "rows 1 instead of 2, citations 2 instead of 3"
    assert difference([], {"rows": 0, "totals": {"citations": 0}, "digest": "0" * 15}, []) == ""
