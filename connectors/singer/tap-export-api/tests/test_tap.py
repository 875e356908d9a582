"""The SDK's own tests, and those of requests, against a service in memory."""

import time
from types import SimpleNamespace

import pytest
from service import CONFIG, METRICS, Service, serve
from singer_sdk.exceptions import ConfigValidationError, FatalAPIError, RetriableAPIError
from singer_sdk.testing import get_tap_test_class
from tap_export_api import client
from tap_export_api.tap import TapExportApi

BRAND = "7f9c24e8-3b1a-4d5e-8f60-1a2b3c4d5e6f"


def serve_rows():
    service = Service([BRAND])
    for stream in METRICS:
        service.put(BRAND, stream, "2026-01-01", [0, 1])
    return serve(service)


TestTapExportApi = get_tap_test_class(TapExportApi, config={**CONFIG, "base_url": serve_rows()})


def test_the_key_does_not_follow_a_redirect():
    elsewhere = Service([BRAND])
    address = serve(elsewhere)
    url = serve(SimpleNamespace(respond=lambda url: ({"Location": address + url.path}, {}, 302)))
    with pytest.raises(FatalAPIError, match="redirects"):
        TapExportApi(config={**CONFIG, "base_url": url}).sync_all()
    assert elsewhere.requests == []


@pytest.mark.parametrize("end", ["/", "/api/export/v1", "/api/export/v1/", "\n"])
def test_addresses_and_keys_are_read_as_people_paste_them(monkeypatch, tmp_path, end):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password other", "utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    paths, sent = [], []
    url = serve(SimpleNamespace(respond=lambda url: paths.append(url.path) or ({}, PAGE)))
    stream = TapExportApi(config={**CONFIG, "base_url": url + end, "api_key": " svc_live_0\r\n"}).streams["changes"]
    send = stream.requests_session.send
    monkeypatch.setattr(
        stream.requests_session, "send", lambda request, **o: sent.append(request) or send(request, **o)
    )
    assert len(list(stream.pages())) == 1
    headers = [(request.headers["X-API-Key"], request.headers["Authorization"]) for request in sent]
    assert (paths, headers) == (["/api/export/v1/changes"], [("svc_live_0", "Bearer svc_live_0")])


@pytest.mark.parametrize(
    ("setting", "value"),
    [("base_url", "api.example.com"), ("base_url", "htps://api.example.com"), ("base_url", "")]
    + [("api_key", value) for value in ("", "svc live", "svc\nlive", "svc_clé", "svc\x01live")],
)
def test_a_wrong_setting_is_named_and_not_shown(setting, value):
    examples = {
        "base_url": "an address such as https://api.example.com",
        "api_key": "your API key, without other characters",
    }
    with pytest.raises(ConfigValidationError) as raised:
        TapExportApi(config={**CONFIG, setting: value})
    assert raised.value.errors == [f"Set {setting} to {examples[setting]}."]


PAGE = {"data": [], "pagination": {"nextCursor": None}, "meta": {}}


def stream_of(respond):
    """Returns the stream of changes of a service."""
    url = serve(SimpleNamespace(respond=respond))
    return TapExportApi(config={**CONFIG, "base_url": url}).streams["changes"]


def test_a_request_is_sent_at_most_ten_times(monkeypatch):
    waits = []
    responses = [
        ({}, {}, 429),
        ({}, [b'{"data": ['], 200),
        ({}, {"data": []}, 200),
        # What is no number of seconds is ignored.
        ({"Retry-After": "-5"}, {}, 500),
        ({"Retry-After": "7"}, {}, 599),
        ({"Retry-After": "Wed, 25 Nov 2026 12:00:00 GMT"}, {}, 502),
        ({"Retry-After": "1e9"}, {}, 504),
        ({"Retry-After": "60"}, {}, 429),
        ({}, {}, 503),
    ]
    answers = [*responses, ({}, PAGE, 200), *responses, ({}, {}, 503)]
    monkeypatch.setattr(time, "sleep", waits.append)
    stream = stream_of(lambda url: answers.pop(0))
    assert list(stream.pages()) == [{**PAGE, "brands_digest": None}]
    with pytest.raises(RetriableAPIError, match="503"):
        list(stream.pages())
    assert waits == [12, 2, 4, 8, 7, 12, 12, 60, 12] * 2


@pytest.mark.parametrize("value", ["99999999999", "9" * 5000, "301"])
def test_a_service_that_asks_for_a_long_wait_is_an_error(monkeypatch, value):
    monkeypatch.setattr(time, "sleep", pytest.fail)
    for status in (503, 200):
        stream = stream_of(lambda url, status=status: ({"Retry-After": value}, {}, status))
        with pytest.raises(FatalAPIError, match=r"It asks to wait \w+ s\."):
            list(stream.pages())


@pytest.mark.parametrize("status", [200, 404, 503])
def test_a_body_without_end_is_an_error(monkeypatch, status):
    monkeypatch.setattr(client, "MOST_BYTES", 10**6)
    sent = []
    body = (sent.append(number) or bytes(10**6) for number in range(200))
    with pytest.raises(FatalAPIError, match="more than a page"):
        list(stream_of(lambda url: ({}, body, status)).pages())
    assert len(sent) < 100


@pytest.mark.parametrize(("cursor_of", "sent"), [(lambda number: "a", 2), (str, 5)], ids=["repeat", "do not end"])
def test_pages_without_end_are_an_error(monkeypatch, cursor_of, sent):
    monkeypatch.setattr(client, "MOST_PAGES", 5)
    requests = []

    def respond(url):
        requests.append(url)
        return {}, {**PAGE, "pagination": {"nextCursor": cursor_of(len(requests))}}

    with pytest.raises(FatalAPIError, match="The pages of /changes do not end"):
        list(stream_of(respond).pages())
    assert len(requests) == sent
