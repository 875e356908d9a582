from ipaddress import IPv4Network

import schemathesis

# Each request comes from a client of its own, so that none is over its rate limit.
addresses = IPv4Network("10.0.0.0/8").hosts()

# A pattern's digits can be those of any script to Python, and its year 0000.
SINCE = "2026-11-01T00:00:00.000000Z"

# The query of a next page that the service offered, by path.
next_pages = {}


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers["CF-Connecting-IP"] = str(next(addresses))
    if case.meta.generation.mode.is_positive:
        case.query = acceptable(case.path, case.query)


@schemathesis.hook
def after_call(context, case, response):
    if response.status_code == 200 and response.headers["content-type"] == ["application/json"]:
        cursor = response.json().get("pagination", {}).get("nextCursor")
        if cursor is not None:
            query = {**case.query, "cursor": cursor}
            # A run of days takes it in its first request only.
            if case.path.endswith("/days"):
                query.pop("since", None)
            next_pages[case.path] = query


def acceptable(path, query):
    """Returns a valid query that meets what OpenAPI cannot state: the first year, the order of dates, and the request and the format of a cursor."""
    if "since" in query:
        query = {**query, "since": SINCE}
    if query.get("format") in ("csv", "ndjson"):
        query = {**query, "cursor": ""}
    if query.get("cursor"):
        return next_pages.get(path) or acceptable(path, {**query, "cursor": ""})
    start, end = query.get("fromDate"), query.get("toDate")
    if end is not None and (start is None or start > end):
        return {**query, "fromDate": end}
    return query
