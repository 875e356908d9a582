"""What changed since the previous run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from tap_export_api.streams import BrandStream, Row
from tap_export_api.windows import pages_of

if TYPE_CHECKING:
    from singer_sdk import Tap

# Pages. A page of changes takes about 1 MB of memory.
LONGEST_LIST = 50


@dataclass(frozen=True)
class Changes:
    """Rows of `/changes` of a brand, the first day that they reach back to, and the `since` that stands for them."""

    rows: list[Row]
    from_date: str
    since: str


def start_of(page: Row) -> str:
    """Returns the first day that the service applied to a page."""
    return page["meta"]["fromDate"][:10]


def finish(state: Row, changes: Changes) -> None:
    """Stores the `since` of changes that were sent."""
    state.pop("round", None)
    if changes.since:
        state.update(since=changes.since, from_date=changes.from_date)


class ChangesStream(BrandStream):
    """The days that changed. Lists them for all streams of all brands.

    Streams have a `since` for each brand, as they can be deselected and runs can be interrupted. Those of a run share
    one list, which starts at the earliest of them.
    """

    def __init__(self, tap: Tap, definition: Row) -> None:
        super().__init__(tap, definition)
        self.due: set[str] = set()
        self.streams: list[BrandStream] = []
        # When a metric last wrote the state.
        self.saved_at = monotonic()
        # The greatest `changed_at` that was received.
        self.latest = ""
        self.shared: dict[str, Changes] = {}
        # By the brand, and the `since` that they start at.
        self.lists: dict[tuple[str, str | None], Changes] = {}

    def begin(self, streams: list[BrandStream], brand_ids: list[str], brands_digest: str) -> bool:
        """Lists the changes of all brands. Stores the new `since` where nothing changed; the other brands are due.

        Returns False, and stores nothing, when the key reads other brands than those of the digest.
        """
        states = [
            (brand_id, stream, stream.get_context_state({"brand_id": brand_id}))
            for brand_id in brand_ids
            for stream in streams
        ]
        since: dict[str, str] = {}
        for brand_id, _, state in states:
            if "since" in state:
                since[brand_id] = min(state["since"], since.get(brand_id, state["since"]))
                self.latest = max(self.latest, state["since"])
        shared = self.list_together(since, brands_digest)
        if shared is None:
            return False
        self.shared, self.streams = shared, streams
        for brand_id, stream, state in states:
            if self.is_shared(brand_id, state) and not shared[brand_id].rows:
                finish(state, shared[brand_id])
            else:
                self.due.add(brand_id)
        return True

    def announce_all(self, brand_ids: Iterable[str]) -> Iterator[list[str]]:
        """Yields the brands in batches, whose lists fit in the memory. Announces each batch."""
        batch = []
        for brand_id in brand_ids:
            batch.append(brand_id)
            for stream in self.streams if brand_id in self.due else []:
                stream.announce({"brand_id": brand_id})
            if pages_of(sum(len(changes.rows) for changes in self.lists.values())) >= LONGEST_LIST:
                yield batch
                batch = []
                self.lists.clear()
        yield batch

    def get_records(self, context: Any) -> Iterator[Row]:
        state = self.get_context_state(context)
        changes = self.list_changes(context["brand_id"], state)
        for row in changes.rows:
            yield self.record(row)
        finish(state, changes)

    def list_changes(self, brand_id: str, state: Row) -> Changes:
        """Lists what changed after the state's `since`; all days when the window now reaches further back."""
        if self.is_shared(brand_id, state):
            shared = self.shared[brand_id]
            return replace(shared, rows=[row for row in shared.rows if row["changed_at"] > state["since"]])
        since = state.get("since")
        changes = self.list_alone(brand_id, since)
        if since and changes.from_date < state["from_date"]:
            return self.list_alone(brand_id, None)
        return changes

    def is_shared(self, brand_id: str, state: Row) -> bool:
        """Returns whether the shared list has what changed after the state's `since`."""
        return brand_id in self.shared and "since" in state and state["from_date"] <= self.shared[brand_id].from_date

    def list_together(self, since: dict[str, str], brands_digest: str) -> dict[str, Changes] | None:
        """Lists the changes of brands, each after its `since`. Returns no brand when the list is too long for memory.

        Returns None when the key reads other brands than those of the digest.
        """
        if not since:
            return {}
        rows: dict[str, list[Row]] = {brand_id: [] for brand_id in since}
        only = next(iter(since)) if len(since) == 1 else None
        for number, page in enumerate(self.list_pages(only, min(since.values()))):
            if number == LONGEST_LIST:
                return {}
            if only is None and page["brands_digest"] != brands_digest:
                return None
            for row in page["data"]:
                self.latest = max(self.latest, row["changed_at"])
                if row["changed_at"] > since.get(row["brand_id"], row["changed_at"]):
                    rows[row["brand_id"]].append(row)
        from_date = start_of(page)
        return {brand_id: Changes(own, from_date, self.latest) for brand_id, own in rows.items()}

    def list_alone(self, brand_id: str, since: str | None) -> Changes:
        if (brand_id, since) in self.lists:
            return self.lists[brand_id, since]
        rows: list[Row] = []
        for page in self.list_pages(brand_id, since):
            rows += page["data"]
        # What became visible after an earlier list has a greater `changed_at`, and is in this one.
        self.latest = max([self.latest, *(row["changed_at"] for row in rows)])
        self.lists[brand_id, since] = Changes(rows, start_of(page), self.latest)
        return self.lists[brand_id, since]

    def list_pages(self, brand_id: str | None, since: str | None) -> Iterator[Row]:
        return self.pages(brandId=brand_id, fromDate=self.config["start_date"], since=since)
