"""An Export API in memory, and a target."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.resources import files
from threading import Thread
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlsplit

from singer_sdk.exceptions import FatalAPIError
from tap_export_api.client import ExportStream
from tap_export_api.proof import digest_of
from tap_export_api.tap import TapExportApi

STREAMS = json.loads(files("tap_export_api").joinpath("streams.json").read_text("utf-8"))
METRICS = [stream for stream in STREAMS if stream["kind"] == "metric"]
[BRAND] = [
    dict.fromkeys([column["field"] for column in stream["columns"]], "2026-01-01T00:00:00.000Z")
    for stream in STREAMS
    if stream["kind"] == "brands"
]
VALUES = {
    "text": str,
    "uuid": "{:08}-0000-4000-8000-000000000000".format,
    "integer": int,
    "number": float,
    "boolean": bool,
}
CONFIG = {"base_url": "http://service.example", "api_key": "key", "start_date": "2026-01-01"}


def decimals_of(stream):
    return [column["field"] for column in stream["columns"] if column["type"] == "number"]


class Service:
    """Keeps its requests. `before` runs before each of them, `alter` returns the rows that a page of a metric has."""

    def __init__(self, brand_ids):
        self.brand_ids = list(brand_ids)
        self.days = {}
        self.changes = {}
        self.from_date = "0001-01-01"
        self.page_rows = 1000
        self.requests = []
        self.before = lambda: None
        self.alter = lambda rows: rows

    def put(self, brand_id, stream, day, values):
        """Replaces the rows of a day. A row has one value in all its fields."""
        key = (brand_id, stream["endpoint"], day)
        rows = [
            {"date": day, **{column["field"]: VALUES[column["type"]](value) for column in stream["columns"][2:]}}
            for value in values
        ]
        latest = max((int(change["changed_at"][-7:-1]) for change in self.changes.values()), default=0)
        changed_at = f"2026-11-22T04:31:07.{latest + 1:06}Z"
        self.days[key] = rows
        self.changes[key] = {
            **dict(zip(("brand_id", "endpoint", "date"), key)),
            "rows": len(rows),
            "totals": {name: sum(row[name] for row in rows) for name in stream["totals"]},
            "digest": digest_of(rows, decimals_of(stream)),
            "causes": {"answers": changed_at},
            "changed_at": changed_at,
        }

    def respond(self, url):
        """Returns the headers and the JSON of a response."""
        self.before()
        endpoint, query = url.path.split("/")[-1], dict(parse_qsl(url.query))
        self.requests.append(endpoint)
        if query.get("brandId", self.brand_ids[0]) not in self.brand_ids:
            raise FatalAPIError("404: Brand not found.")
        # The service has a number. Its clients compare it only.
        headers = {} if "brandId" in query else {"X-Brands-Digest": ",".join(self.brand_ids)}
        if endpoint == "brands":
            return headers, {"data": [{**BRAND, "id": brand_id} for brand_id in self.brand_ids]}
        # A cursor has the start of the first page's window, and the key of the last row.
        first, after = json.loads(query.get("cursor", "[null, []]"))
        start, end = max(self.from_date, first or query["fromDate"]), query.get("toDate", "9999-12-31")
        is_read = [query["brandId"]] if "brandId" in query else self.brand_ids
        days = [key for key in self.changes if key[0] in is_read and start <= key[2] <= end]
        if endpoint == "changes":
            found = {(self.changes[key]["changed_at"],): self.changes[key] for key in days}
            after = after or [query.get("since", "")]
        else:
            own = [key for key in days if key[1] == endpoint]
            found = {(key[2], number): row for key in own for number, row in enumerate(self.days[key])}
        keys = sorted(key for key in found if key > tuple(after))
        cursor = json.dumps([start, keys[self.page_rows - 1]]) if len(keys) > self.page_rows else None
        rows = [dict(found[key]) for key in keys[: self.page_rows]]
        if endpoint != "changes":
            rows = self.alter(rows)
        meta = {"fromDate": f"{start}T00:00:00.000Z"}
        return headers, {"data": rows, "pagination": {"nextCursor": cursor}, "meta": meta}


def serve(service):
    """Serves HTTP, without lengths of bodies, until the process ends. Returns the address.

    `respond` returns headers, a body as JSON or as chunks, and a status.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            headers, page, *status = service.respond(urlsplit(self.path))
            chunks = [json.dumps(page).encode()] if isinstance(page, dict) else page
            self.send_response(*status or [200])
            for header in {"Content-Type": "application/json", **headers}.items():
                self.send_header(*header)
            self.end_headers()
            for chunk in chunks:
                self.wfile.write(chunk)

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Target:
    """Keeps the rows that it loads, and the last state."""

    def __init__(self):
        self.rows = {stream["name"]: {} for stream in STREAMS}
        self.state = {}

    def load(self, messages):
        for message in messages:
            if message["type"] == "STATE":
                self.state = message["value"]
            elif message["type"] == "RECORD":
                row = message["record"]
                key = tuple(row.get(name) for name in ("id", "brand_id", "endpoint", "date", "day_row"))
                self.rows[message["stream"]][key] = row

    def held(self, name):
        return [row for row in self.rows[name].values() if "_sdc_deleted_at" not in row]


def run(service, monkeypatch, state=None, *, messages=None, deselected=(), **config):
    """Runs the tap. Returns its messages; a list of yours has them also when the run fails."""
    messages = [] if messages is None else messages
    writer = SimpleNamespace(write_message=lambda message: messages.append(message.to_dict()))

    def request(stream, prepared, context):
        headers, page = service.respond(urlsplit(prepared.url))
        return SimpleNamespace(headers=headers, json=lambda **_: page)

    monkeypatch.setattr(ExportStream, "_request", request)
    service.requests.clear()
    tap = TapExportApi(config={**CONFIG, **config}, state=json.loads(json.dumps(state or {})), message_writer=writer)
    for name in deselected:
        tap.streams[name].selected = False
    tap.sync_all()
    return messages


def assert_exact(target, service):
    """Asserts that the target holds the rows of all brands, and their changes."""
    for stream in METRICS:
        names = [column["name"] for column in stream["columns"]]
        held = [[row[name] for name in names] for row in target.held(stream["name"])]
        served = [
            [brand_id, *row.values()]
            for (brand_id, endpoint, _), rows in service.days.items()
            if endpoint == stream["endpoint"]
            for row in rows
        ]
        assert sorted(held, key=str) == sorted(served, key=str)
    assert sorted(map(str, target.held("changes"))) == sorted(map(str, service.changes.values()))
