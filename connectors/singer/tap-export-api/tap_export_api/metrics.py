"""The rows of a metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from singer_sdk.exceptions import FatalAPIError

from tap_export_api.changes import Changes, ChangesStream, finish, start_of
from tap_export_api.day_rows import remember, rows_by_day, rows_sent
from tap_export_api.proof import difference
from tap_export_api.streams import DELETED_AT, BrandStream, Row, deleted_now
from tap_export_api.windows import day_after, windows_of

if TYPE_CHECKING:
    from singer_sdk import Tap

# Requests of a day whose rows differ from its row of `/changes`.
TRIES = 3
# Seconds between states. A state has all brands, so that their size adds up.
STATE_SECONDS = 60

Days = Iterator[tuple[str, list[Row] | None]]

DAY_ROW = {
    "name": "day_row",
    "type": "integer",
    "nullable": False,
    "description": "Position of the row in its day, from 1. Another row can have it after the day changed.",
}


def is_sent(change: Row, sent: Row) -> bool:
    """Returns whether an interrupted run has sent a day since its change."""
    return sent["from_date"] <= change["date"] <= sent["last"] and change["changed_at"] <= sent["since"]


class MetricStream(BrandStream):
    """The rows of a metric. Sends changed days whole, and positions that a day no longer has as deleted."""

    def __init__(self, tap: Tap, definition: Row, changes: ChangesStream) -> None:
        super().__init__(tap, definition, [DAY_ROW, DELETED_AT])
        self.primary_keys = ["brand_id", "date", "day_row"]
        self.endpoint = definition["endpoint"]
        self.decimals = [column["field"] for column in self.columns if column["type"] == "number"]
        self.changes = changes

    def announce(self, context: Row) -> None:
        state = self.get_context_state(context)
        self.expect(state, self.list_days(context, state)[1])

    def get_records(self, context: Any) -> Iterator[Row]:
        state = self.get_context_state(context)
        changes, left = self.list_days(context, state)
        tries: Counter[tuple[str, str]] = Counter()
        while left:
            if self.expect(state, left):
                self.write_state()
            changes, wrong = yield from self.send_days(context, state, changes, left)
            tries.update((day, left[day]["changed_at"]) for day in wrong)
            left = self.list_again(context, changes.since, {day: left[day] for day in wrong})
            for day, change in left.items():
                if tries[day, change["changed_at"]] == TRIES:
                    msg = (
                        f"{self.endpoint} of {day} of brand {context['brand_id']} differs from /changes after "
                        f"{TRIES} requests: {wrong[day]}. Check what lies between the tap and the service."
                    )
                    raise FatalAPIError(msg)
        finish(state, changes)

    def list_days(self, context: Row, state: Row) -> tuple[Changes, dict[str, Row]]:
        """Returns what changed, and the days to send with their changes."""
        changes = self.changes.list_changes(context["brand_id"], state)
        days = {row["date"]: row for row in changes.rows if row["endpoint"] == self.endpoint}
        if "round" in state:
            days = {day: change for day, change in days.items() if not is_sent(change, state["round"])}
        return changes, days

    def list_again(self, context: Row, since: str, days: dict[str, Row]) -> dict[str, Row]:
        """Returns days with their latest change."""
        pages = self.changes.list_pages(context["brand_id"], since) if days else []
        later = {row["date"]: row for page in pages for row in page["data"] if row["endpoint"] == self.endpoint}
        return {day: later.get(day, change) for day, change in days.items()}

    def expect(self, state: Row, days: dict[str, Row]) -> bool:
        """Stores how many rows of each day the target can hold from now on. Returns whether a day has more."""
        sent = state.setdefault("rows", {})
        more = {day: change["rows"] for day, change in days.items() if change["rows"] > rows_sent(sent, day)}
        for day, rows in more.items():
            remember(sent, day, rows)
        return bool(more)

    def send_days(
        self, context: Row, state: Row, changes: Changes, days: dict[str, Row]
    ) -> Generator[Row, None, tuple[Changes, dict[str, str]]]:
        """Sends the days that equal their row of `/changes`. Returns the others, with what differs."""
        sent = state["rows"]
        wrong = {}
        for day, rows in self.read_days(context, days, sent):
            if rows is None:
                changes = replace(changes, from_date=max(changes.from_date, day_after(day)))
            elif differs := difference(rows, days[day], self.decimals):
                wrong[day] = differs
            else:
                yield from self.records_of(context, day, rows, rows_sent(sent, day))
                remember(sent, day, len(rows))
                if not wrong:
                    state["round"] = {"since": changes.since, "from_date": changes.from_date, "last": day}
                if monotonic() >= self.changes.saved_at + STATE_SECONDS:
                    self.changes.saved_at = monotonic()
                    self.write_state()
        return changes, wrong

    def records_of(self, context: Row, day: str, rows: list[Row], sent: int) -> Iterator[Row]:
        """Yields the rows of a day, and the positions after them that were sent before, as deleted."""
        for number, row in enumerate(rows, 1):
            yield {**self.record({**row, **context}), "day_row": number}
        for number in range(len(rows) + 1, sent + 1):
            yield {**context, "date": day, "day_row": number, **deleted_now()}

    def read_days(self, context: Row, days: dict[str, Row], sent: dict[str, str]) -> Days:
        """Yields days with their rows, or with None when the plan does not reach them."""
        sizes = {day: change["rows"] for day, change in days.items()}
        # They need no request, but the state needs the order of the days.
        empty = [[day, day] for day, rows in sizes.items() if rows == 0]
        end = ""
        for first, last in sorted([*windows_of(sizes, rows_by_day(sent)), *empty]):
            if first <= end:
                continue
            end = last
            if sizes[first] == 0:
                yield first, []
                continue
            for day, rows in self.read_window(context["brand_id"], first, last):
                if day in days:
                    yield day, rows

    def read_window(self, brand_id: str, first: str, last: str) -> Days:
        day = first
        rows: list[Row] = []
        for page in self.pages(brandId=brand_id, fromDate=first, toDate=last):
            # When the plan is lowered between two pages, the rest of a day does not follow.
            while day < start_of(page) and day <= last:
                yield day, None
                day, rows = day_after(day), []
            for row in page["data"]:
                while day < row["date"]:
                    yield day, rows
                    day, rows = day_after(day), []
                rows.append(row)
        while day <= last:
            yield day, rows
            day, rows = day_after(day), []
