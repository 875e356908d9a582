"""Streams of the tap: the brands, and of each brand its changes and metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from singer_sdk.exceptions import ConfigurationError

from tap_export_api.client import ExportStream
from tap_export_api.day_rows import remember, rows_sent
from tap_export_api.windows import days_of, windows_of

if TYPE_CHECKING:
    from singer_sdk import Tap

Row = dict[str, Any]

TYPES = {
    "uuid": {"type": ["string"], "format": "uuid"},
    "date": {"type": ["string"], "format": "date"},
    "text": {"type": ["string"]},
    # With a maximum, targets choose a column of 64 bits.
    "integer": {"type": ["integer"], "maximum": 2**63 - 1},
    "number": {"type": ["number"]},
    "boolean": {"type": ["boolean"]},
    "timestamp": {"type": ["string"], "format": "date-time"},
    "json": {"type": ["object"], "additionalProperties": True},
}

DAY_ROW = {
    "name": "day_row",
    "type": "integer",
    "nullable": False,
    "description": "Position of the row in its day, from 1. Another row can have it after the day changed.",
}
DELETED_AT = {
    "name": "_sdc_deleted_at",
    "type": "timestamp",
    "nullable": True,
    "description": "Time at which the tap found the row gone. Its other columns, except the key, are null.",
}


def schema_of(columns: Iterable[Row]) -> Row:
    """Returns the JSON Schema of a stream's rows."""
    properties = {}
    for column in columns:
        schema = TYPES[column["type"]]
        types = [*schema["type"], "null"] if column["nullable"] else schema["type"]
        properties[column["name"]] = {**schema, "type": types, "description": column["description"]}
    return {"type": "object", "properties": properties}


def deleted_now() -> Row:
    return {"_sdc_deleted_at": datetime.now(timezone.utc).isoformat()}


class DefinedStream(ExportStream):
    """A stream of `streams.json`."""

    def __init__(self, tap: Tap, definition: Row, columns: Iterable[Row] = ()) -> None:
        self.columns = definition["columns"]
        super().__init__(
            tap,
            name=definition["name"],
            path=f"/{definition['endpoint']}",
            schema=schema_of([*self.columns, *columns]),
        )
        self.primary_keys = definition["key"]

    def record(self, row: Row) -> Row:
        """Returns the columns of a row."""
        return {column["name"]: row[column["field"]] for column in self.columns}

    def write_state(self) -> None:
        """Writes a STATE message unless the last one was the same."""
        self._tap.state_writer.write_state(self.tap_state)


class BrandsStream(DefinedStream):
    """The brands that the key can read. The state has their ids, to send those that are gone as deleted."""

    def __init__(self, tap: Tap, definition: Row) -> None:
        super().__init__(tap, definition, [DELETED_AT])

    def get_records(self, context: Row | None) -> Iterator[Row]:
        state = self.get_context_state(context)
        rows = {row["id"]: self.record(row) for page in self.pages() for row in page["data"]}
        ids = self.config.get("brand_ids") or list(rows)
        for brand_id in ids:
            if brand_id not in rows:
                msg = f"The key cannot read an active brand {brand_id}. Remove it from brand_ids."
                raise ConfigurationError(msg)
        for brand_id in state.get("ids", []):
            if brand_id not in ids:
                yield {"id": brand_id, **deleted_now()}
        # Before the rows: the SDK sends the streams of a brand, which can take hours, before the brand.
        state["ids"] = list(ids)
        for brand_id in ids:
            yield rows[brand_id]

    def generate_child_contexts(self, record: Row, context: Row | None) -> Iterator[Row]:
        if "_sdc_deleted_at" not in record:
            yield {"brand_id": record["id"]}


class BrandStream(DefinedStream):
    """A stream of one brand. The token in its state stands for all changes that were sent."""

    parent_stream_type = BrandsStream

    def __init__(self, tap: Tap, definition: Row, columns: Iterable[Row] = ()) -> None:
        super().__init__(tap, definition, columns)
        # Not FULL_TABLE: a target must not take the rows of an earlier run for deleted.
        self.forced_replication_method = "LOG_BASED"


@dataclass(frozen=True)
class Changes:
    """Rows of `/changes`, the first day that they reach back to, and the greatest `changed_at`."""

    rows: list[Row]
    from_date: str
    token: str | None


class ChangesStream(BrandStream):
    """The days that changed."""

    def __init__(self, tap: Tap, definition: Row) -> None:
        super().__init__(tap, definition)
        # All streams of a brand share the changes of a run.
        self._list = lru_cache(maxsize=4)(self._list)

    def get_records(self, context: Row) -> Iterator[Row]:
        state = self.get_context_state(context)
        changes = self.list_changes(context["brand_id"], state)
        for row in changes.rows:
            yield self.record({**row, **context})
        if changes.token:
            state.update(token=changes.token, from_date=changes.from_date)

    def list_changes(self, brand_id: str, state: Row) -> Changes:
        """Lists what changed since the state's token; all days when the window now reaches further back."""
        changes = self._list(brand_id, state.get("token"))
        if changes.from_date < state.get("from_date", changes.from_date):
            return self._list(brand_id, None)
        return changes

    def _list(self, brand_id: str, since: str | None) -> Changes:
        rows: list[Row] = []
        for page in self.pages(brandId=brand_id, fromDate=self.config["start_date"], since=since):
            rows += page["data"]
        token = max((row["changed_at"] for row in rows), default=None)
        return Changes(rows, page["meta"]["fromDate"][:10], token)


class MetricStream(BrandStream):
    """The rows of a metric. Sends changed days whole, and positions that a day no longer has as deleted."""

    def __init__(self, tap: Tap, definition: Row, changes: ChangesStream) -> None:
        super().__init__(tap, definition, [DAY_ROW, DELETED_AT])
        self.primary_keys = ["brand_id", "date", "day_row"]
        self.endpoint = definition["endpoint"]
        self.changes = changes

    def get_records(self, context: Row) -> Iterator[Row]:
        state = self.get_context_state(context)
        state.setdefault("rows", {})
        # A run that was interrupted left a round.
        yield from self.finish_round(context, state)
        self.begin_round(context, state)
        yield from self.finish_round(context, state)

    def begin_round(self, context: Row, state: Row) -> None:
        """Stores the windows to send, and how many rows of each day the target can hold from now on."""
        changes = self.changes.list_changes(context["brand_id"], state)
        days = {row["date"]: row["rows"] for row in changes.rows if row["endpoint"] == self.endpoint}
        for day, rows in days.items():
            remember(state["rows"], day, max(rows, rows_sent(state["rows"], day)))
        if changes.token:
            windows = windows_of(days)
            state["round"] = {"token": changes.token, "from_date": changes.from_date, "windows": windows}
            self.write_state()

    def finish_round(self, context: Row, state: Row) -> Iterator[Row]:
        """Sends the windows that the state has. Stores the token after the last one."""
        if "round" not in state:
            return
        left = state["round"]
        while left["windows"]:
            first, last = left["windows"][0]
            start = yield from self.send_window(context, state["rows"], first, last)
            if start > first:  # The plan was lowered after the days were listed.
                left["from_date"] = max(left["from_date"], start)
            del left["windows"][0]
            self.write_state()
        state.update(token=left["token"], from_date=left["from_date"])
        del state["round"]

    def send_window(self, context: Row, sent: dict[str, str], first: str, last: str) -> Iterator[Row]:
        """Sends the days of a window that the plan reaches. Returns the first day that it reaches."""
        counts: Counter[str] = Counter()
        day_rows: list[Row] = []
        window = {"brandId": context["brand_id"], "fromDate": first, "toDate": last}
        for page in self.pages(**window):
            start = page["meta"]["fromDate"][:10]
            if day_rows and day_rows[0]["date"] < start:
                # The plan was lowered between two pages: the rest of this day does not follow.
                del counts[day_rows[0]["date"]]
                day_rows.clear()
            for row in page["data"]:
                if day_rows and day_rows[0]["date"] != row["date"]:
                    yield from day_rows
                    day_rows.clear()
                counts[row["date"]] += 1
                day_rows.append({**self.record({**row, **context}), "day_row": counts[row["date"]]})
        yield from day_rows
        for day in days_of(first, last):
            if day < start and day not in counts:
                continue
            for day_row in range(counts[day] + 1, rows_sent(sent, day) + 1):
                yield {**context, "date": day, "day_row": day_row, **deleted_now()}
            remember(sent, day, counts[day])
        return start
