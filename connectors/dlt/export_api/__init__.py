"""Keeps an exact copy of the Export API's metrics."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dlt
from dlt.sources import DltResource

from .client import check, make_client
from .windows import join_days, split_windows

STREAMS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("streams.json").read_text())
METRICS = [stream for stream in STREAMS if stream["kind"] == "metric"]

DATA_TYPES = {
    "uuid": "text",
    "date": "date",
    "text": "text",
    "integer": "bigint",
    "number": "double",
    "boolean": "bool",
    "timestamp": "timestamp",
    "json": "json",
}

# Of the columns of a key, the values in a row that stands for an empty day.
EMPTY = {"uuid": "", "text": "", "boolean": False}


@dlt.source(name="export_api", max_table_nesting=0)
def export_api_source(
    base_url: str = dlt.config.value,
    api_key: str = dlt.secrets.value,
    start_date: str = dlt.config.value,
    brand_ids: Sequence[str] | None = None,
    max_days: int | None = None,
) -> Iterator[DltResource]:
    """Loads the days that changed since the previous run, all days the first time, and replaces them whole.

    Args:
        base_url: Root of the service's host, such as https://api.example.com.
        api_key: An export key.
        start_date: First day of the copy, YYYY-MM-DD.
        brand_ids: Brands to copy. All that the key can read by default.
        max_days: The most days of each brand and metric that a run loads. Later runs load the rest, before they ask
            what changed. All by default.

    Returns:
        The resources brands, changes and the metrics. A run that loads some of the metrics leaves the days of the
        others to later runs.
    """
    client = make_client(base_url, api_key)
    hints = {stream["name"]: table_hints(stream) for stream in STREAMS}

    def pages(path: str, **params: Any) -> Iterator[Any]:
        # Of all resources, since dlt does not report the metrics of one that is not selected, as changed_days is.
        metrics = dlt.current.source().resources["brands"].custom_metrics

        def count(response: Any, *args: Any, **kwargs: Any) -> None:
            metrics["requests"] = metrics.get("requests", 0) + 1

        yield from client.paginate(path, params=params, hooks={"response": [count, check]})

    @dlt.resource(write_disposition="replace", **hints["brands"])
    def brands() -> Iterator[Any]:
        # Empties the table when the key reads no brand.
        yield dlt.mark.materialize_table_schema()
        for page in pages("brands"):
            listed = {brand["id"] for brand in page}
            if not listed.issuperset(brand_ids or ()):
                raise ValueError(f"The key cannot read all of the brands {', '.join(brand_ids)}.")
            yield [brand for brand in page if brand_ids is None or brand["id"] in brand_ids]

    @dlt.transformer(data_from=brands, selected=False)
    def changed_days(page: Any) -> Iterator[Any]:
        """Yields the changes of each brand, and notes their days as those to load."""
        for brand in page:
            yield {"brand_id": brand["id"], "changes": list_changes(brand["id"])}

    def list_days(brand_id: str, **since: str) -> tuple[dict[tuple[str, str], Any], str]:
        """Returns the changes by endpoint and day, and the first day that the service applied."""
        # A day that changes meanwhile is listed again: the later change counts.
        changes = {}
        for page in pages("changes", brandId=brand_id, fromDate=start_date, **since):
            changes.update(((change["endpoint"], change["date"]), change) for change in page)
        return changes, start_of(page)

    def list_changes(brand_id: str) -> dict[tuple[str, str], Any]:
        brand = brand_state(brand_id)
        selected = dlt.current.source().selected_resources
        if max_days is not None and any(s["name"] in selected and s["endpoint"] in brand["left"] for s in METRICS):
            return {}
        since = {"since": brand["since"]} if "since" in brand else {}
        changes, from_date = list_days(brand_id, **since)
        if since and from_date < brand["from_date"]:
            # The plan or start_date reaches further back than before.
            del brand["since"]
            return list_changes(brand_id)
        if changes:
            brand["since"] = max(change["changed_at"] for change in changes.values())
            brand["from_date"] = from_date
            if "changes" not in selected:
                brand["unlisted"] = brand.get("unlisted", since) if since else {}
        for endpoint in {endpoint for endpoint, _ in changes}:
            days = [day for name, day in changes if name == endpoint]
            brand["left"][endpoint] = join_days(days + split_windows(brand["left"].get(endpoint, [])))
        return changes

    @dlt.transformer(data_from=changed_days, write_disposition="merge", **hints["changes"])
    def changes(changed: Any) -> Iterator[Any]:
        yield from create_table("changes")
        brand_id, listed = changed["brand_id"], changed["changes"]
        brand = brand_state(brand_id)
        if "unlisted" in brand:
            # Earlier runs loaded metrics without this table.
            listed = {**listed, **list_days(brand_id, **brand.pop("unlisted"))[0]}
        yield [{"brand_id": brand_id, **change} for change in listed.values()]

    def rows(changed: Any, stream: dict[str, Any]) -> Iterator[Any]:
        yield from create_table(stream["name"])
        brand_id, brand = changed["brand_id"], brand_state(changed["brand_id"])
        left = split_windows(brand["left"].get(stream["endpoint"], []))
        count = len(left) if max_days is None else max_days
        for first, last in join_days(left[:count]):
            empty = set(split_windows([[first, last]]))
            starts = set()
            for page in pages(stream["endpoint"], brandId=brand_id, fromDate=first, toDate=last):
                yield [{"brand_id": brand_id, **row} for row in page]
                empty.difference_update(row["date"] for row in page)
                starts.add(start_of(page))
            if len(starts) > 1:
                raise RuntimeError("The plan was lowered during the run. Run again.")
            [start] = starts
            yield [empty_day(stream, brand_id, day) for day in empty if day >= start]
            if start > first:
                # The plan was lowered since the days were listed. Days before start stay as they are.
                brand["from_date"] = max(brand["from_date"], start)
        if left[count:]:
            brand["left"][stream["endpoint"]] = join_days(left[count:])
        else:
            brand["left"].pop(stream["endpoint"], None)

    yield from (brands, changed_days, changes)
    for stream in METRICS:
        yield dlt.transformer(
            rows, data_from=changed_days, write_disposition=replace_days(stream), **hints[stream["name"]]
        )(stream)


def brand_state(brand_id: str) -> dict[str, Any]:
    """Returns what is stored of a brand, together with the rows of each load.

    `since` is the greatest `changed_at` that was listed, `from_date` the first day that is known to be exact, and
    `left` the windows to load of each endpoint. `unlisted` has the token of the table `changes`, if runs without this
    table have stored a later one: none at all if the table has no days.
    """
    return dlt.current.source_state().setdefault(brand_id, {"left": {}})


def create_table(name: str) -> Iterator[Any]:
    """Creates the table of a resource that may have no rows."""
    if name not in dlt.current.source_schema().tables:
        yield dlt.mark.materialize_table_schema()


def start_of(page: Any) -> str:
    """Returns the first day that the service applied to a page."""
    return page.response.json()["meta"]["fromDate"][:10]


def table_hints(stream: dict[str, Any]) -> dict[str, Any]:
    """Returns the name, columns, types and primary key of a stream's table."""
    columns = {
        column["name"]: {
            "data_type": DATA_TYPES[column["type"]],
            "description": column["description"],
            # Empty days have nulls in the staging table.
            "nullable": column["nullable"] or (stream["kind"] == "metric" and column["name"] not in stream["key"]),
        }
        for column in stream["columns"]
    }
    return {"name": stream["name"], "columns": columns, "primary_key": stream["key"]}


def replace_days(stream: dict[str, Any]) -> dict[str, Any]:
    """Returns the write disposition that deletes each day in the staging table, and inserts its rows.

    A day without rows has one row there, without a number: it deletes the day and is not inserted.
    """
    return {
        "disposition": "merge",
        "strategy": "delete-insert",
        "destination_scope": "EXISTS (SELECT 1 FROM {staging_table} AS loaded"
        " WHERE loaded.brand_id = {table}.brand_id AND loaded.date = {table}.date)",
        "source_filter": f"{stream['totals'][0]} IS NOT NULL",
    }


def empty_day(stream: dict[str, Any], brand_id: str, day: str) -> dict[str, Any]:
    """Returns the row that stands for a day without rows."""
    key = {column["name"]: EMPTY.get(column["type"]) for column in stream["columns"] if column["name"] in stream["key"]}
    return {**key, "brand_id": brand_id, "date": day}
