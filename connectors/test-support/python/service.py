"""An Export API in memory."""

import json
from functools import reduce
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from operator import xor
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

STREAMS = json.loads((Path(__file__).parents[2] / "dlt/sources/export_api/streams.json").read_text("utf-8"))
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


def digest_of(rows):
    """Returns the digest of rows without nulls, and without characters that a digest escapes."""
    cells = ((f"{cell:.4f}" if isinstance(cell, float) else str(cell) for cell in row.values()) for row in rows)
    texts = ("\x1f".join(row).replace("True", "true").replace("False", "false") for row in cells)
    return f"{reduce(xor, (int(md5(text.encode()).hexdigest()[:15], 16) for text in texts), 0):015x}"


class Service:
    """Keeps its requests. `before` runs before each response, `alter` returns the rows that a page of a metric has."""

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
            "digest": digest_of(rows),
            "causes": {"answers": changed_at},
            "changed_at": changed_at,
        }

    def respond(self, path):
        """Returns the status, the headers and the JSON of a response."""
        url = urlsplit(path)
        endpoint, query = url.path.split("/")[-1], dict(parse_qsl(url.query))
        self.requests.append(endpoint)
        self.before()
        if query.get("brandId", self.brand_ids[0]) not in self.brand_ids:
            return 404, {}, {"error": "Brand not found."}
        # The service has a number. Its clients compare it only.
        headers = {} if "brandId" in query else {"X-Brands-Digest": ",".join(self.brand_ids)}
        if endpoint == "brands":
            return 200, headers, {"data": [{**BRAND, "id": brand_id} for brand_id in self.brand_ids]}
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
        return 200, headers, {"data": rows, "pagination": {"nextCursor": cursor}, "meta": meta}


def serve(respond):
    """Serves HTTP, without lengths of bodies, until the process ends. Returns the address.

    `respond` gets a request. It returns a status, headers, and a body as JSON or as chunks.
    """

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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
