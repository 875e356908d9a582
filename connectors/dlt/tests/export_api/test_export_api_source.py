import json
import random
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import dlt
import pytest
from sources.export_api import export_api_source
from sources.export_api.digest import digest
from sources.export_api.tables import METRICS
from sources.export_api.verify import days_that_differ
from sources.export_api.windows import join_days, pages, split_windows

STREAMS = {stream["endpoint"]: stream for stream in METRICS}
VECTORS = json.loads((Path(__file__).parents[4] / "reference/digest-vectors.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_digest_is_that_of_the_reference(vector):
    assert digest(STREAMS[vector["endpoint"]], vector["rows"]) == vector["digest"]


def test_windows_join_days_over_others_where_that_needs_no_more_pages():
    days = dict.fromkeys(["2026-10-01", "2026-10-02", "2026-10-04"], 400)
    whole = [["2026-10-01", "2026-10-04"]]
    adjacent = [["2026-10-01", "2026-10-02"], ["2026-10-04", "2026-10-04"]]
    assert join_days(days) == adjacent
    assert join_days(days, {}) == whole
    assert join_days(days, {"2026-10-03": 800}) == whole
    assert join_days(days, {"2026-10-03": 801}) == adjacent


@pytest.mark.parametrize("rows", [1, 10, 100, 1000, 3000])
def test_windows_hold_all_days_and_need_no_more_pages_than_one(rows):
    chance = random.Random(rows)
    calendar = split_windows([["2026-08-01", "2026-10-31"]])
    for _ in range(20):
        counts = {day: chance.randrange(rows) for day in calendar}
        days = {day: counts[day] for day in sorted(chance.sample(calendar, 30))}
        windows = [split_windows([window]) for window in join_days(days, counts)]
        whole = split_windows([[min(days), max(days)]])
        assert days.keys() <= {day for window in windows for day in window}
        assert sum(pages(sum(counts[day] for day in window)) for window in windows) <= pages(
            sum(counts[day] for day in whole)
        )


@pytest.fixture
def service():
    """Serves the pages of `responses`, by endpoint. Yields its address and the responses."""
    responses = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            page = {"data": responses[urlsplit(self.path).path.rsplit("/", 1)[1]]}
            body = json.dumps({**page, "meta": {"fromDate": "2026-10-01T00:00:00.000Z"}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", responses
    server.shutdown()
    server.server_close()


def test_a_run_loads_what_the_service_lists(service, tmp_path):
    url, responses = service
    columns = [column["name"] for column in STREAMS["sentiment"]["columns"]]
    row = {**dict.fromkeys(columns[1:], 1), "date": "2026-10-05"}
    names = dict.fromkeys(["name", "displayName", "url", "siteUrl"], "Acme")
    brand = {**names, "id": "a", "createdAt": "2026-01-01T00:00:00.000Z"}
    change = {
        "brand_id": "a",
        "endpoint": "sentiment",
        "date": row["date"],
        "rows": 1,
        "totals": {name: row[name] for name in STREAMS["sentiment"]["totals"]},
        "digest": digest(STREAMS["sentiment"], [row]),
        "changed_at": "2026-10-06T00:00:00.000000Z",
    }
    responses.update(brands=[brand], changes=[change], sentiment=[row])
    pipeline = dlt.pipeline(
        "export_api",
        pipelines_dir=str(tmp_path),
        destination=dlt.destinations.duckdb(str(tmp_path / "copy.duckdb")),
        dataset_name="export_api",
    )
    pipeline.run(export_api_source(url, "svc_live_0", "2026-10-01"))
    assert pipeline.last_trace.last_normalize_info.row_counts["sentiment"] == 1
    assert days_that_differ(pipeline) == []
    assert {stream["name"] for stream in METRICS} < {table["name"] for table in pipeline.default_schema.data_tables()}
