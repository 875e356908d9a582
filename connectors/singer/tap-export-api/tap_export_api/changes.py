"""What changed since the previous run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tap_export_api.streams import BrandStream, Row

if TYPE_CHECKING:
    from singer_sdk import Tap

# Pages. A page of changes takes about 1 MB of memory.
LONGEST_SHARED_LIST = 50


@dataclass(frozen=True)
class Changes:
    """Rows of `/changes` of a brand, the first day that they reach back to, and the token that stands for them."""

    rows: list[Row]
    from_date: str
    token: str


def start_of(page: Row) -> str:
    """Returns the first day that the service applied to a page."""
    return page["meta"]["fromDate"][:10]


def finish(state: Row, changes: Changes) -> None:
    """Stores the token of changes that were sent."""
    state.pop("round", None)
    if changes.token:
        state.update(token=changes.token, from_date=changes.from_date)


class ChangesStream(BrandStream):
    """The days that changed. Lists them for all streams of all brands.

    Streams have a token for each brand, since they can be deselected and runs can be interrupted. The tokens of a run
    share one list, which starts at the earliest of them.
    """

    def __init__(self, tap: Tap, definition: Row) -> None:
        super().__init__(tap, definition)
        self.due: set[str] = set()
        # The greatest token that was received.
        self.latest = ""
        self.shared: dict[str, Changes] = {}
        # The streams of a brand are sent one after another, and few have a list of their own.
        self._list = lru_cache(maxsize=4)(self._list)

    def begin(self, streams: list[BrandStream], brand_ids: list[str], brands_digest: str) -> bool:
        """Lists the changes of all brands. Stores the new token where nothing changed; the other brands are due.

        Returns False, and stores nothing, when the key reads other brands than those of the digest.
        """
        states = [
            (brand_id, stream, stream.get_context_state({"brand_id": brand_id}))
            for brand_id in brand_ids
            for stream in streams
        ]
        since: dict[str, str] = {}
        for brand_id, _, state in states:
            if "token" in state:
                since[brand_id] = min(state["token"], since.get(brand_id, state["token"]))
                self.latest = max(self.latest, state["token"])
        shared = self.list_together(since, brands_digest)
        if shared is None:
            return False
        self.shared = shared
        for brand_id, stream, state in states:
            if not self.is_shared(brand_id, state):
                self.due.add(brand_id)
            elif self.shared[brand_id].rows:
                self.due.add(brand_id)
                stream.announce({"brand_id": brand_id})
            else:
                finish(state, self.shared[brand_id])
        return True

    def get_records(self, context: Row) -> Iterator[Row]:
        state = self.get_context_state(context)
        changes = self.list_changes(context["brand_id"], state)
        for row in changes.rows:
            yield self.record(row)
        finish(state, changes)

    def list_changes(self, brand_id: str, state: Row) -> Changes:
        """Lists what changed since the state's token; all days when the window now reaches further back."""
        if self.is_shared(brand_id, state):
            shared = self.shared[brand_id]
            return replace(shared, rows=[row for row in shared.rows if row["changed_at"] > state["token"]])
        since = state.get("token")
        changes = self._list(brand_id, since)
        if since and changes.from_date < state["from_date"]:
            return self._list(brand_id, None)
        return changes

    def is_shared(self, brand_id: str, state: Row) -> bool:
        """Returns whether the shared list has what changed since the state's token."""
        return brand_id in self.shared and "token" in state and state["from_date"] <= self.shared[brand_id].from_date

    def list_together(self, since: dict[str, str], brands_digest: str) -> dict[str, Changes] | None:
        """Lists the changes of brands, each since a token. Returns no brand when the list is too long for the memory.

        Returns None when the key reads other brands than those of the digest.
        """
        if not since:
            return {}
        rows: dict[str, list[Row]] = {brand_id: [] for brand_id in since}
        only = next(iter(since)) if len(since) == 1 else None
        for number, page in enumerate(self.list_pages(only, min(since.values()))):
            if number == LONGEST_SHARED_LIST:
                return {}
            if only is None and page["brands_digest"] != brands_digest:
                return None
            for row in page["data"]:
                self.latest = max(self.latest, row["changed_at"])
                if row["changed_at"] > since.get(row["brand_id"], row["changed_at"]):
                    rows[row["brand_id"]].append(row)
        from_date = start_of(page)
        return {brand_id: Changes(own, from_date, self.latest) for brand_id, own in rows.items()}

    def _list(self, brand_id: str, since: str | None) -> Changes:
        rows: list[Row] = []
        for page in self.list_pages(brand_id, since):
            rows += page["data"]
        # What became visible after an earlier list has a greater stamp, and is in this one.
        self.latest = max([self.latest, *(row["changed_at"] for row in rows)])
        return Changes(rows, start_of(page), self.latest)

    def list_pages(self, brand_id: str | None, since: str | None) -> Iterator[Row]:
        return self.pages(brandId=brand_id, fromDate=self.config["start_date"], since=since)
