"""The SDK's own tests, against the service of `TAP_EXPORT_API_…`, or one in memory."""

import os
import time
from types import SimpleNamespace

import pytest
from service import CONFIG, METRICS, Service, serve
from singer_sdk.exceptions import FatalAPIError
from singer_sdk.testing import get_tap_test_class
from tap_export_api import client
from tap_export_api.tap import TapExportApi

BRAND = "7f9c24e8-3b1a-4d5e-8f60-1a2b3c4d5e6f"


def serve_rows():
    service = Service([BRAND])
    for stream in METRICS:
        service.put(BRAND, stream, "2026-01-01", [0, 1])
    return serve(service)


def config():
    names = {name: f"TAP_EXPORT_API_{name.upper()}" for name in CONFIG}
    if names["base_url"] in os.environ:
        return {name: os.environ[variable] for name, variable in names.items()}
    return {**CONFIG, "base_url": serve_rows()}


TestTapExportApi = get_tap_test_class(TapExportApi, config=config())


def test_the_key_does_not_follow_a_redirect():
    elsewhere = Service([BRAND])
    address = serve(elsewhere)
    url = serve(SimpleNamespace(respond=lambda url: ({"Location": address + url.path}, {})))
    with pytest.raises(FatalAPIError, match="redirects"):
        TapExportApi(config={**CONFIG, "base_url": url}).sync_all()
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "1.5"}, {}, 1.5),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:30 GMT"}, {}, 20),
        ({"Retry-After": "soon"}, {}, 1),
        ({}, b'{"data": [', 1),
    ],
)
def test_a_response_that_failed_or_is_cut_short_is_requested_again(monkeypatch, headers, body, seconds):
    responses, waits = [({}, {"data": []}), (headers, body)], []
    monkeypatch.setattr(client, "time", lambda: 10)
    monkeypatch.setattr(time, "sleep", waits.append)
    url = serve(SimpleNamespace(respond=lambda url: responses.pop()))
    [page] = TapExportApi(config={**CONFIG, "base_url": url}).streams["brands"].pages()
    assert (page["data"], waits) == ([], [seconds])
