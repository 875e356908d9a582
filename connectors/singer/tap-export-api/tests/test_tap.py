"""The SDK's own tests, against the service of `TAP_EXPORT_API_…`, or one in memory."""

import os
import time
from types import SimpleNamespace

import pytest
from service import CONFIG, METRICS, Service, serve
from singer_sdk.exceptions import FatalAPIError, RetriableAPIError
from singer_sdk.testing import get_tap_test_class
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
    url = serve(SimpleNamespace(respond=lambda url: ({"Location": address + url.path}, {}, 302)))
    with pytest.raises(FatalAPIError, match="redirects"):
        TapExportApi(config={**CONFIG, "base_url": url}).sync_all()
    assert elsewhere.requests == []


def test_a_request_is_sent_at_most_ten_times(monkeypatch):
    waits, page = [], {"data": [], "pagination": {"nextCursor": None}, "meta": {}}
    responses = [
        ({}, {}, 429),
        ({}, b'{"data": [', 200),
        ({}, {"data": []}, 200),
        ({}, {}, 500),
        ({"Retry-After": "7"}, {}, 599),
        ({}, {}, 502),
        ({}, {}, 504),
        ({"Retry-After": "60"}, {}, 429),
        ({"Retry-After": "99999999999"}, {}, 503),
    ]
    answers = [*responses, ({}, page, 200), *responses, ({}, {}, 503)]
    monkeypatch.setattr(time, "sleep", waits.append)
    url = serve(SimpleNamespace(respond=lambda url: answers.pop(0)))
    stream = TapExportApi(config={**CONFIG, "base_url": url}).streams["changes"]
    assert list(stream.pages()) == [{**page, "brands_digest": None}]
    with pytest.raises(RetriableAPIError, match="503"):
        list(stream.pages())
    assert waits == [12, 2, 4, 8, 7, 12, 12, 60, 300] * 2
