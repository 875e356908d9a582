"""Keeps an exact copy of the Export API's metrics."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from math import inf
from operator import itemgetter
from typing import Any, TypeVar

import dlt
from dlt.common.schema.utils import has_table_seen_data
from dlt.sources import DltResource

from .client import digest_of_brands, make_client, read_pages
from .digest import describe_change, describe_rows
from .tables import METRICS, STREAMS, empty_day, read_table, replace_days, table_hints
from .windows import join_days, split_windows

T = TypeVar("T")
# An endpoint and a day.
Day = tuple[str, str]
Changes = dict[Day, dict[str, Any]]

# More changes than this are listed by brand, to bound the memory.
MOST_CHANGES = 50_000
# How often a day is fetched before the run fails, while its change stays the same.
MOST_FETCHES = 3
# How often the changes of all brands are listed before the run fails, while the brands change.
MOST_LISTS = 5


class RowsDifferError(Exception):
    """Rows that do not equal what `/changes` lists."""


class BrandsChangedError(Exception):
    """The key read other brands when `/changes` was listed than when `/brands` was."""


@dlt.source(name="export_api", max_table_nesting=0)
def export_api_source(
    base_url: str = dlt.config.value,
    api_key: str = dlt.secrets.value,
    start_date: str = dlt.config.value,
    brand_ids: Sequence[str] | None = None,
    max_rows: int | None = None,
) -> Iterator[DltResource]:
    """Loads the days that changed since the previous run, all days the first time, and replaces them whole.

    Args:
        base_url: Root of the service's host, such as https://api.example.com.
        api_key: An export key.
        start_date: First day of the copy, YYYY-MM-DD.
        brand_ids: Brands to copy. All that the key can read by default.
        max_rows: The most rows of a brand that a run loads. A run that has loaded as many starts no other brand. Later
            runs load the rest, before they ask what changed. All by default.

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

        yield from read_pages(client, path, count, **params)

    brands_digest = ""

    def read_brands() -> Any:
        nonlocal brands_digest
        [page] = pages("brands")
        brands_digest = digest_of_brands(page.response)
        # When a brand that is gone returns, all its days are listed.
        for gone in brand_states().keys() - {brand["id"] for brand in page}:
            del brand_states()[gone]
        return page

    @dlt.resource(write_disposition="replace", **hints["brands"])
    def brands() -> Iterator[Any]:
        # Empties the table when the key reads no brand.
        yield dlt.mark.materialize_table_schema()
        page = read_brands()
        if not {brand["id"] for brand in page}.issuperset(brand_ids or ()):
            raise ValueError(f"The key cannot read all of the brands {', '.join(brand_ids or ())}.")
        yield [brand for brand in page if brand_ids is None or brand["id"] in brand_ids]

    @dlt.transformer(data_from=brands, selected=False)
    def changed_days(page: Any) -> Iterator[Any]:
        """Yields the changes of each brand, those of the days to load, and the rows of other days."""
        states = {brand["id"]: brand_states().setdefault(brand["id"], {"left": {}}) for brand in page}
        endpoints = {stream["endpoint"] for stream in METRICS if is_selected(stream["name"])}
        listed = list_changes(states)
        if max_rows is not None and any(endpoints & brand["left"].keys() for brand in states.values()):
            listed = ((brand_id, {}, False) for brand_id in states)
        limit, loaded = inf if max_rows is None else max_rows, 0
        for brand_id, changes, is_whole in listed:
            brand = states[brand_id]
            left = {(name, day) for name in brand["left"] for day in split_windows(brand["left"][name])}
            days = changes.keys() | left
            selected = {day for day in days if day[0] in endpoints}
            due = {day: changes[day] for day in selected & changes.keys()}
            others: dict[Day, int] | None = {} if is_whole else None
            if len(due) < len(selected):
                due, others = list_again(brand_id, selected)
            to_load = first_days(due, limit)
            brand["left"] = windows_of(days - selected | due.keys() - to_load.keys())
            if others is None and any(len(windows) > 1 for windows in windows_of(to_load).values()):
                others = rows_of_copy(brand_id)
            yield {"brand_id": brand_id, "changes": changes, "to_load": to_load, "others": others}
            loaded += sum(change["rows"] for change in to_load.values())
            if loaded >= limit:
                return

    def list_changes(states: dict[str, dict[str, Any]]) -> Iterator[tuple[str, Changes, bool]]:
        """Yields the changes of each brand, and whether they are those of all its days. Stores the new `since`.

        The brands that have the greatest `since` are listed together, then each other brand alone. The least `since` is
        first: runs with `max_rows` reach each brand before they list one again.
        """
        alone = dict(states)
        greatest = max((brand.get("since", "") for brand in states.values()), default="")
        together = [brand_id for brand_id, brand in states.items() if greatest and brand.get("since") == greatest]
        if together:
            shared, start = list_together(together, greatest)
            alone = {brand_id: brand for brand_id, brand in states.items() if brand_id in brand_states()}
            for brand in states.values():
                if start < brand.get("from_date", start):
                    # The plan or start_date reaches further back than before.
                    brand.pop("since", None)
            if shared is not None:
                greatest = newest(greatest, *shared.values())
                for brand_id in together:
                    if "since" in states[brand_id]:
                        changes = shared.pop(brand_id, {})
                        store_since(alone.pop(brand_id), greatest, start, changes)
                        yield brand_id, changes, False
        for brand_id, brand in sorted(alone.items(), key=lambda item: item[1].get("since", "")):
            since = brand.get("since")
            listed, start = list_days(brandId=brand_id, since=since)
            # Every change that becomes visible later is greater than those received before, of whichever brand.
            greatest = newest(max(greatest, since or ""), *listed.values())
            store_since(brand, greatest, start, listed[brand_id])
            yield brand_id, listed[brand_id], since is None

    def list_together(together: list[str], since: str) -> tuple[dict[str, Changes] | None, str]:
        """Returns what `list_days` returns of brands. Removes brands that are gone since they were read."""
        for _ in range(MOST_LISTS):
            try:
                return list_days(since=since, **({"brandId": together[0]} if len(together) == 1 else {}))
            except BrandsChangedError:
                read_brands()
                together[:] = [brand_id for brand_id in together if brand_id in brand_states()]
        raise BrandsChangedError(f"The brands of the key changed during {MOST_LISTS} lists of changes. Run again.")

    def list_days(**params: Any) -> tuple[dict[str, Changes] | None, str]:
        """Returns the changes of each brand, and the first day that the service applied.

        Returns None for the changes if they are too many, and of several brands. Raises `BrandsChangedError` if the key
        reads other brands than when they were read.
        """
        listed: dict[str, Changes] = defaultdict(dict)
        for page in pages("changes", **{"fromDate": start_date, **params}):
            if "brandId" not in params and digest_of_brands(page.response) != brands_digest:
                raise BrandsChangedError
            for change in page:
                # A day that changes meanwhile is listed again: the later change counts.
                listed[change["brand_id"]][change["endpoint"], change["date"]] = change
            if "brandId" not in params and sum(map(len, listed.values())) > MOST_CHANGES:
                return None, start_of(page)
        return listed, start_of(page)

    def list_again(brand_id: str, days: Collection[Day]) -> tuple[Changes, dict[Day, int]]:
        """Returns the changes of days that the plan reaches, and the number of rows of each day between."""
        first, last = min(day for _, day in days), max(day for _, day in days)
        listed, start = list_days(brandId=brand_id, fromDate=first, toDate=last)
        if start > first:
            # The plan was lowered since the days were listed. Days before start stay as they are.
            brand = brand_states()[brand_id]
            brand["from_date"] = max(brand["from_date"], start)
        again = listed[brand_id]
        return {day: again[day] for day in again.keys() & days}, {day: again[day]["rows"] for day in again}

    def rows_of_copy(brand_id: str) -> dict[Day, int] | None:
        """Returns the number of rows of each day, if the table `changes` has all days."""
        table = dlt.current.source_schema().tables.get("changes", {})
        if "unlisted" in brand_states()[brand_id] or not has_table_seen_data(table):
            return None
        copied = read_table(dlt.current.pipeline(), "changes", brand_id)
        return {(change["endpoint"], str(change["date"])): change["rows"] for change in copied}

    @dlt.transformer(data_from=changed_days, write_disposition="merge", **hints["changes"])
    def changes(changed: Any) -> Iterator[Any]:
        yield from create_table("changes")
        brand_id, listed = changed["brand_id"], changed["changes"]
        brand = brand_states()[brand_id]
        if "unlisted" in brand:
            # Earlier runs loaded metrics without this table.
            listed = {**listed, **list_days(brandId=brand_id, since=brand.pop("unlisted"))[0][brand_id]}
        yield list(listed.values())

    def rows(changed: Any, stream: dict[str, Any]) -> Iterator[Any]:
        yield from create_table(stream["name"])
        brand_id, endpoint = changed["brand_id"], stream["endpoint"]
        listed, others = changed["to_load"], changed["others"]
        differed: Counter[tuple[str, str]] = Counter()
        while to_load := of_endpoint(listed, endpoint):
            sizes, fetched = {day: change["rows"] for day, change in to_load.items()}, {}
            for day in [day for day in to_load if sizes[day] == 0]:
                yield [empty_day(stream, brand_id, day)]
                del to_load[day]
            for window in join_days(sizes, others and of_endpoint(others, endpoint)):
                for day, day_rows in fetch_days(endpoint, brand_id, *window):
                    if day in to_load:
                        fetched[day] = describe_rows(stream, day_rows)
                        if fetched[day] == describe_change(stream, to_load[day]):
                            yield day_rows
                            del to_load[day]
            for day, change in to_load.items():
                expected = describe_change(stream, change)
                differed[day, expected] += 1
                if differed[day, expected] == MOST_FETCHES:
                    raise RowsDifferError(
                        f"{endpoint} of {day} of brand {brand_id} differs after {MOST_FETCHES} requests:"
                        f" {fetched.get(day, 'not reached')}; listed: {expected}."
                        " Check what is between the service and this program."
                    )
            if not to_load:
                break
            listed, others = list_again(brand_id, [(endpoint, day) for day in to_load])

    def fetch_days(endpoint: str, brand_id: str, first: str, last: str) -> Iterator[tuple[str, list[Any]]]:
        """Yields each day of a window with its rows, except days that the plan does not reach."""
        start, empty = first, set(split_windows([[first, last]]))

        def fetch() -> Iterator[Any]:
            nonlocal start
            for page in pages(endpoint, brandId=brand_id, fromDate=first, toDate=last):
                # Later than that of the previous page if the plan was lowered between them.
                start = start_of(page)
                yield from ({"brand_id": brand_id, **row} for row in page)

        for day, day_rows in groupby(fetch(), itemgetter("date")):
            of_day = list(day_rows)
            if day >= start:
                yield day, of_day
            empty.discard(day)
        yield from ((day, []) for day in sorted(empty) if day >= start)

    yield from (brands, changed_days, changes)
    for stream in METRICS:
        yield dlt.transformer(
            rows, data_from=changed_days, write_disposition=replace_days(stream), **hints[stream["name"]]
        )(stream)


def brand_states() -> dict[str, dict[str, Any]]:
    """Returns what is stored of each brand, together with the rows of each load.

    `since` is the greatest `changed_at` that was listed. `from_date` is the first day that is known to be exact, and
    `left` has the windows to load of each endpoint. `unlisted` is the `since` of the table `changes`, if runs without
    this table have stored a later one. It is None if the table has no days.
    """
    return dlt.current.source_state().setdefault("brands", {})


def store_since(brand: dict[str, Any], greatest: str, start: str, changes: Changes) -> None:
    """Stores the greatest `changed_at` of a list that starts at the day `start`."""
    since = brand.get("since")
    if greatest and greatest != since:
        brand.update(since=greatest, from_date=max(start, brand["from_date"]) if since else start)
    if changes and not is_selected("changes"):
        brand["unlisted"] = brand.get("unlisted", since) if since else None


def newest(greatest: str, *lists: Changes) -> str:
    """Returns the greatest `changed_at`."""
    return max([greatest, *(change["changed_at"] for changes in lists for change in changes.values())])


def first_days(changes: Changes, max_rows: float) -> Changes:
    """Returns the changes of the first days that have at most this number of rows, or of one day."""
    days = sorted(changes, key=itemgetter(1))
    totals = accumulate(changes[day]["rows"] for day in days)
    return {day: changes[day] for day, total in zip(days, totals) if total <= max_rows or day == days[0]}


def windows_of(days: Collection[Day]) -> dict[str, list[list[str]]]:
    """Joins adjacent days of each endpoint."""
    return {name: join_days(of_endpoint(dict.fromkeys(days, 1), name)) for name in sorted({name for name, _ in days})}


def of_endpoint(days: Mapping[Day, T], endpoint: str) -> dict[str, T]:
    return {day: value for (name, day), value in days.items() if name == endpoint}


def is_selected(name: str) -> bool:
    return name in dlt.current.source().selected_resources


def create_table(name: str) -> Iterator[Any]:
    """Creates the table of a resource that may have no rows."""
    if name not in dlt.current.source_schema().tables:
        yield dlt.mark.materialize_table_schema()


def start_of(page: Any) -> str:
    """Returns the first day that the service applied to a page."""
    return page.response.json()["meta"]["fromDate"][:10]
