"""Tests of a connector in Python. Its own tests import them, and have a fixture `connector`:

`read` returns the pages of `/changes` at an address, `errors` are those of its requests, `wrong_setting` returns the
message about a setting, `windows` those of days and others, `digest` that of rows; `client` is its module of requests.
"""

import json
import random
import time
import traceback
from itertools import combinations
from pathlib import Path

import pytest
from service import serve

FILE = Path(__file__).parents[3] / "site/reference/digest-vectors.json"
PAGE = {"data": [], "pagination": {"nextCursor": None}, "meta": {}}


@pytest.mark.parametrize("vector", json.loads(FILE.read_text("utf-8")), ids=lambda vector: vector["name"])
def test_the_digest_is_that_of_the_reference(connector, vector):
    assert connector.digest(vector["endpoint"], vector["rows"]) == vector["digest"]


@pytest.mark.parametrize("rows", [1, 10, 100, 1000, 3000])
def test_windows_hold_all_days_in_the_fewest_pages(connector, rows):
    chance = random.Random(rows)
    calendar = [f"2026-10-{day:02}" for day in range(1, 13)]

    def cost(windows):
        counted = (sum(counts[day] for day in calendar if first <= day <= last) for first, last in windows)
        return sum(max(1, -(-count // 1000)) for count in counted)

    for _ in range(20):
        counts = {day: chance.choice([0, chance.randrange(rows)]) for day in calendar}
        listed = sorted(chance.sample(calendar, 6))
        days = [day for day in listed if counts[day]]
        windows = connector.windows({day: counts[day] for day in listed}, counts)
        assert all(any(first <= day <= last for first, last in windows) for day in days)
        # Each way to cut the days.
        cuts = [[0, *sorted(cut), len(days)] for n in range(len(days)) for cut in combinations(range(1, len(days)), n)]
        ways = [[[days[a], days[b - 1]] for a, b in zip(cut, cut[1:])] for cut in cuts]
        assert cost(windows) == min(map(cost, ways), default=0)


def test_the_key_does_not_follow_a_redirect(connector):
    requests = []
    address = serve(lambda request: requests.append(request) or (200, {}, PAGE))
    url = serve(lambda request: (302, {"Location": address + request.path}, {}))
    with pytest.raises(connector.errors, match="responded 302|redirects"):
        connector.read(url)
    assert requests == []


def test_the_traceback_of_what_is_no_response_does_not_have_the_key(connector, monkeypatch):
    key = "svc_live_" + "0" * 64
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    url = serve(lambda request: request.wfile.write(f"{key}\r\n".encode()) and (200, {}, PAGE))
    with pytest.raises(Exception, match="<API key>") as raised:
        connector.read(url, key)
    assert key not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("end", ["/", "/api/export/v1", "/api/export/v1/", "\n"])
def test_addresses_and_keys_are_read_as_people_paste_them(connector, monkeypatch, tmp_path, end):
    received = []

    def respond(request):
        url = request.path.split("?")[0]
        received.append((url, request.headers["X-API-Key"], request.headers["Authorization"]))
        return 200, {}, PAGE

    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password other", "utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    assert len(connector.read(serve(respond) + end, " svc_live_0\r\n")) == 1
    assert received == [("/api/export/v1/changes", "svc_live_0", "Bearer svc_live_0")]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("base_url", "api.example.com"), ("base_url", "htps://api.example.com"), ("base_url", "")]
    + [("api_key", value) for value in ("", "svc live", "svc\nlive", "svc_clé", "svc\x01live")],
)
def test_a_wrong_setting_is_named_and_not_shown(connector, setting, value):
    examples = {
        "base_url": "an address such as https://api.example.com",
        "api_key": "your API key, without other characters",
    }
    assert connector.wrong_setting(**{setting: value}) == f"Set {setting} to {examples[setting]}."


def test_a_request_is_sent_at_most_ten_times(connector, monkeypatch):
    waits = []
    responses = [
        (429, {}, {}),
        (200, {}, [b'{"data": [']),
        (200, {}, {"data": []}),
        # What is no number of seconds is ignored.
        (500, {"Retry-After": "-5"}, {}),
        (599, {"Retry-After": "7"}, []),
        (502, {"Retry-After": "Wed, 25 Nov 2026 12:00:00 GMT"}, []),
        (504, {"Retry-After": "1e9"}, []),
        (429, {"Retry-After": "60"}, {}),
        (503, {}, {}),
    ]
    answers = [*responses, (200, {}, PAGE), *responses, (503, {}, {"error": "The last one."})]
    monkeypatch.setattr(time, "sleep", waits.append)
    url = serve(lambda request: answers.pop(0))
    assert len(connector.read(url)) == 1
    with pytest.raises(connector.errors, match="503"):
        connector.read(url)
    assert waits == [12, 2, 4, 8, 7, 12, 12, 60, 12] * 2


@pytest.mark.parametrize("value", ["99999999999", "9" * 5000, "301"])
@pytest.mark.parametrize("status", [200, 503])
def test_a_service_that_asks_for_a_long_wait_is_an_error(connector, monkeypatch, status, value):
    monkeypatch.setattr(time, "sleep", pytest.fail)
    with pytest.raises(connector.errors, match=r"It asks to wait \w+ s\."):
        connector.read(serve(lambda request: (status, {"Retry-After": value}, {})))


@pytest.mark.parametrize("status", [200, 404, 503])
def test_a_body_without_end_is_an_error(connector, monkeypatch, status):
    monkeypatch.setattr(connector.client, "MOST_BYTES", 10**6)
    sent = []
    body = (sent.append(number) or bytes(10**6) for number in range(200))
    with pytest.raises(connector.errors, match="more than a page"):
        connector.read(serve(lambda request: (status, {}, body)))
    assert len(sent) < 100


@pytest.mark.parametrize(("cursor_of", "sent"), [(lambda number: "a", 2), (str, 5)], ids=["repeat", "do not end"])
def test_pages_without_end_are_an_error(connector, monkeypatch, cursor_of, sent):
    monkeypatch.setattr(connector.client, "MOST_PAGES", 5)
    requests = []

    def respond(request):
        requests.append(request.path)
        return 200, {}, {**PAGE, "pagination": {"nextCursor": cursor_of(len(requests))}}

    with pytest.raises(connector.errors, match="The pages of /?changes do not end"):
        connector.read(serve(respond))
    assert len(requests) == sent
