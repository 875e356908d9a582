import json
import random
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import dlt
import pytest
from dlt.pipeline.exceptions import PipelineStepFailed
from dlt.sources.helpers.requests import HTTPError, RequestException
from sources.export_api import client, export_api_source
from sources.export_api.client import SettingError, make_client, read_pages
from sources.export_api.digest import digest
from sources.export_api.tables import METRICS
from sources.export_api.verify import days_that_differ
from sources.export_api.windows import join_days, pages, split_windows

STREAMS = {stream["endpoint"]: stream for stream in METRICS}
SENTIMENT_FIELDS = [column["name"] for column in STREAMS["sentiment"]["columns"][1:]]
BRAND = {
    **dict.fromkeys(["name", "displayName", "url", "siteUrl"], "Acme"),
    "createdAt": "2026-01-01T00:00:00.000Z",
}
VECTORS = json.loads((Path(__file__).parents[4] / "site/reference/digest-vectors.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_digest_is_that_of_the_reference(vector):
    assert digest(STREAMS[vector["endpoint"]], vector["rows"]) == vector["digest"]


def test_windows_join_adjacent_days_when_the_rows_of_others_are_not_known():
    days = dict.fromkeys(["2026-10-01", "2026-10-02", "2026-10-04"], 400)
    assert join_days(days) == [["2026-10-01", "2026-10-02"], ["2026-10-04", "2026-10-04"]]
    assert join_days({"0001-01-01": 1, "9999-12-31": 1}) == [["0001-01-01"] * 2, ["9999-12-31"] * 2]


@pytest.mark.parametrize("rows", [1, 10, 100, 1000, 3000])
def test_windows_hold_all_days_in_the_fewest_pages(rows):
    chance = random.Random(rows)
    calendar = split_windows([["2026-10-01", "2026-10-12"]])

    def cost(windows):
        return sum(pages(sum(counts[day] for day in split_windows([window]))) for window in windows)

    for _ in range(20):
        counts = {day: chance.choice([0, chance.randrange(rows)]) for day in calendar}
        listed = sorted(chance.sample(calendar, 6))
        days = [day for day in listed if counts[day]]
        windows = join_days({day: counts[day] for day in listed}, counts)
        assert set(days) <= set(split_windows(windows))
        # Each way to cut the days.
        cuts = [[0, *sorted(cut), len(days)] for n in range(len(days)) for cut in combinations(range(1, len(days)), n)]
        ways = [[[days[a], days[b - 1]] for a, b in zip(cut, cut[1:])] for cut in cuts]
        assert cost(windows) == min(map(cost, ways), default=0)


class Service:
    """Serves brands, changes and rows. `before` runs with the path of each request."""

    def __init__(self):
        self.brand_ids, self.is_identified = ["a"], True
        self.changes, self.rows, self.requests, self.puts = [], {}, [], 0
        self.before = lambda path: None
        # The first day that the service applied, by path.
        self.from_dates = {}

    def put(self, brand_id, day, value):
        """Replaces the row of a day of sentiment. Without a value, the day has no row."""
        rows = [] if value is None else [{**dict.fromkeys(SENTIMENT_FIELDS, value), "date": day}]
        self.rows[brand_id, day] = rows
        self.puts += 1
        changed_at = f"2026-10-06T00:00:00.{self.puts:06}Z"
        change = {
            "brand_id": brand_id,
            "endpoint": "sentiment",
            "date": day,
            "rows": len(rows),
            "totals": {name: sum(row[name] for row in rows) for name in STREAMS["sentiment"]["totals"]},
            "digest": digest(STREAMS["sentiment"], rows),
            "causes": {"answers": changed_at},
            "changed_at": changed_at,
        }
        key = itemgetter("brand_id", "date")
        self.changes = [listed for listed in self.changes if key(listed) != key(change)] + [change]

    def respond(self, path, query):
        """Returns rows, or None for a brand that the key cannot read."""
        if query.get("brandId", self.brand_ids[0]) not in self.brand_ids:
            return None
        brand_ids = [query["brandId"]] if "brandId" in query else self.brand_ids
        if path == "brands":
            return [{**BRAND, "id": brand_id} for brand_id in brand_ids]
        if path == "changes":
            since = query.get("since", "")
            return [row for row in self.changes if row["brand_id"] in brand_ids and row["changed_at"] > since]
        days = range(int(query["fromDate"][-2:]), int(query["toDate"][-2:]) + 1)
        return [row for day in days for row in self.rows.get((brand_ids[0], f"2026-10-{day:02}"), [])]

    def headers(self, path, query):
        if path not in ("brands", "changes") or "brandId" in query or not self.is_identified:
            return {}
        # The service has a number. Its clients compare it only.
        return {"X-Brands-Digest": ",".join(sorted(self.brand_ids))}


@pytest.fixture
def serve():
    """Returns a function that starts a server and returns its address.

    `respond` returns a status, headers, and a body as JSON or as chunks.
    """
    servers = []

    def serve(respond):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, headers, content = respond(self)
                chunks = [json.dumps(content).encode()] if isinstance(content, dict) else content
                self.send_response(status)
                for header in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(*header)
                self.end_headers()
                for chunk in chunks:
                    self.wfile.write(chunk)

            def log_message(self, *args):
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def service(serve):
    service = Service()

    def respond(request):
        url = urlsplit(request.path)
        path, query = url.path.rsplit("/", 1)[1], dict(parse_qsl(url.query))
        service.requests.append(path)
        service.before(path)
        rows = service.respond(path, query)
        if rows is None:
            return 404, {}, {"error": "Brand not found."}
        meta = {"fromDate": f"{service.from_dates.get(path, '2026-10-01')}T00:00:00.000Z"}
        page = {"data": rows, "pagination": {"nextCursor": None}, "meta": meta}
        return 200, service.headers(path, query), page

    service.url = serve(respond)
    return service


@pytest.fixture
def pipeline(tmp_path):
    return dlt.pipeline(
        "export_api",
        pipelines_dir=str(tmp_path),
        destination=dlt.destinations.duckdb(str(tmp_path / "copy.duckdb")),
        dataset_name="export_api",
    )


def load(pipeline, service):
    """Loads what changed."""
    service.requests.clear()
    pipeline.run(export_api_source(service.url, "svc_live_0", "2026-10-01"))
    assert days_that_differ(pipeline) == []


def days_of_copy(pipeline):
    with pipeline.sql_client() as client:
        return client.execute_sql("SELECT brand_id, date::text FROM sentiment ORDER BY ALL")


def test_runs_with_a_limit_request_days_together_and_reach_each_brand_before_they_list_one_again(service, pipeline):
    service.brand_ids = list("abc")
    for number in range(15):
        service.put("abc"[number // 5], f"2026-10-{1 + number % 5 * 6:02}", 1)
    runs = []
    while runs[-1:] != [["brands", "changes"]]:
        service.requests.clear()
        pipeline.run(export_api_source(service.url, "svc_live_0", "2026-10-01", max_rows=3))
        runs.append(service.requests[:])
    start, rest = ["brands", "changes", "sentiment"], ["brands", "changes", "changes", "sentiment"]
    assert runs[:6] == [start, start, rest, start, rest, start]
    assert sum(run.count("sentiment") for run in runs) == 6
    assert (days_that_differ(pipeline), len(days_of_copy(pipeline))) == ([], 15)


def test_a_run_ends_without_a_new_since_when_the_brands_change_at_each_request(service, pipeline):
    service.brand_ids = list("abc")
    for brand_id in "abc":
        service.put(brand_id, "2026-10-05", 1)
    # From the second run on, the changes of all brands are listed together.
    for _ in range(2):
        load(pipeline, service)
    before = pipeline.state["sources"]
    service.put("a", "2026-10-06", 2)
    service.before = lambda path: service.brand_ids.append(f"d{len(service.brand_ids)}")
    with pytest.raises(PipelineStepFailed, match="The brands of the key changed during 5 lists of changes"):
        load(pipeline, service)
    assert service.requests.count("changes") == 5
    assert pipeline.state["sources"] == before


def test_a_service_that_does_not_identify_the_brands_is_an_error(service, pipeline):
    service.is_identified = False
    with pytest.raises(PipelineStepFailed, match="X-Brands-Digest"):
        load(pipeline, service)


def test_the_key_does_not_follow_a_redirect(serve, pipeline):
    keys = []

    def elsewhere(request):
        keys.append(request.headers["X-API-Key"])
        return 200, {}, {"data": []}

    address = serve(elsewhere)
    url = serve(lambda request: (302, {"Location": address + request.path}, {}))
    with pytest.raises(PipelineStepFailed, match="The service responded 302"):
        pipeline.run(export_api_source(url, "svc_live_0", "2026-10-01"))
    assert keys == []


@pytest.mark.parametrize("end", ["/", "/api/export/v1", "/api/export/v1/", "\n"])
def test_addresses_and_keys_are_read_as_people_paste_them(serve, monkeypatch, tmp_path, end):
    received = []

    def respond(request):
        received.append((request.path, request.headers["X-API-Key"], request.headers["Authorization"]))
        return 200, {}, {"data": []}

    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password other", "utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    client = make_client(serve(respond) + end, " svc_live_0\r\n")
    assert len(list(read_pages(client, "brands"))) == 1
    assert received == [("/api/export/v1/brands", "svc_live_0", "Bearer svc_live_0")]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("base_url", "api.example.com"), ("base_url", "htps://api.example.com"), ("base_url", "")]
    + [("api_key", value) for value in ("", "svc live", "svc\nlive", "svc_clé", "svc\x01live")],
)
def test_a_wrong_setting_is_named_and_not_shown(setting, value):
    settings = {"base_url": "https://api.example.com", "api_key": "svc_live_0", "start_date": "2026-10-01"}
    examples = {
        "base_url": "an address such as https://api.example.com",
        "api_key": "your API key, without other characters",
    }
    with pytest.raises(SettingError, match=rf"^Set {setting} to {examples[setting]}\.$"):
        export_api_source(*{**settings, setting: value}.values())


def test_a_day_without_rows_is_deleted_without_a_request(service, pipeline):
    service.put("a", "2026-10-05", 1)
    load(pipeline, service)
    service.put("a", "2026-10-05", None)
    load(pipeline, service)
    assert (days_of_copy(pipeline), service.requests) == ([], ["brands", "changes"])


def test_runs_of_some_resources_leave_the_days_of_the_others_to_later_runs(service, pipeline):
    def load_only(*names, **options):
        source = export_api_source(service.url, "svc_live_0", "2026-10-01", **options)
        pipeline.run(source.with_resources(*names))

    service.put("a", "2026-10-05", 1)
    load_only("changes", "visibility")
    service.put("a", "2026-10-06", 2)
    # With a limit, what earlier runs have left comes before what changed.
    load_only("sentiment", max_rows=100)
    assert days_of_copy(pipeline) == [("a", "2026-10-05")]
    service.put("a", "2026-10-05", None)
    load_only("sentiment")
    assert days_of_copy(pipeline) == [("a", "2026-10-06")]
    # The table of changes has the days that runs without it have loaded.
    load(pipeline, service)


def test_a_request_is_sent_at_most_ten_times(serve, monkeypatch):
    waits, page = [], {"data": [], "pagination": {"nextCursor": None}, "meta": {}}
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
    answers = [*responses, (200, {}, page), *responses, (503, {}, {"error": "The last one."})]
    monkeypatch.setattr(time, "sleep", waits.append)
    client = make_client(serve(lambda request: answers.pop(0)), "svc_live_0")
    assert list(map(list, read_pages(client, "changes"))) == [[]]
    with pytest.raises(HTTPError, match="503: The last one."):
        list(read_pages(client, "changes"))
    assert waits == [12, 2, 4, 8, 7, 12, 12, 60, 12] * 2


@pytest.mark.parametrize("value", ["99999999999", "9" * 5000, "301"])
def test_a_service_that_asks_for_a_long_wait_is_an_error(serve, monkeypatch, value):
    monkeypatch.setattr(time, "sleep", pytest.fail)
    answers = [(503, {"Retry-After": value}, {"error": "Busy."}), (200, {"Retry-After": value}, {})]
    for answer, message in zip(answers, ["responded 503: Busy", "incomplete"]):
        client = make_client(serve(lambda request, answer=answer: answer), "svc_live_0")
        with pytest.raises(RequestException, match=rf"{message}.* It asks to wait \w+ s\."):
            list(read_pages(client, "changes"))


@pytest.mark.parametrize("status", [200, 404, 503])
def test_a_body_without_end_is_an_error(serve, monkeypatch, status):
    monkeypatch.setattr(client, "MOST_BYTES", 10**6)
    sent = []
    body = (sent.append(number) or bytes(10**6) for number in range(200))
    url = serve(lambda request: (status, {}, body))
    with pytest.raises(RequestException, match="more than a page"):
        list(read_pages(make_client(url, "svc_live_0"), "changes"))
    assert len(sent) < 100


@pytest.mark.parametrize(("cursor_of", "sent"), [(lambda number: "a", 2), (str, 5)], ids=["repeat", "do not end"])
def test_pages_without_end_are_an_error(serve, monkeypatch, cursor_of, sent):
    monkeypatch.setattr(client, "MOST_PAGES", 5)
    requests = []

    def respond(request):
        requests.append(request.path)
        return 200, {}, {"data": [], "pagination": {"nextCursor": cursor_of(len(requests))}, "meta": {}}

    with pytest.raises(RequestException, match="The pages of changes do not end"):
        list(read_pages(make_client(serve(respond), "svc_live_0"), "changes"))
    assert len(requests) == sent


def test_a_service_that_lists_days_and_never_serves_them_is_an_error(service, pipeline):
    service.put("a", "2026-10-05", 1)
    service.from_dates["sentiment"] = "2026-10-06"
    with pytest.raises(PipelineStepFailed, match="sentiment of 2026-10-05 .* differs after 3 requests: not reached"):
        load(pipeline, service)
