"""The stream of the brands, and what the streams of a brand have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from singer_sdk.exceptions import ConfigurationError, FatalAPIError

from tap_export_api.client import ExportStream

if TYPE_CHECKING:
    from singer_sdk import Tap

    from tap_export_api.changes import ChangesStream

Row = dict[str, Any]

# Lists of all changes before the run ends, while the brands change.
LISTS = 5

TYPES: dict[str, Row] = {
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

    def __init__(self, tap: Tap, definition: Row, changes: ChangesStream) -> None:
        super().__init__(tap, definition, [DELETED_AT])
        self.changes = changes

    def get_records(self, context: Any) -> Iterator[Row]:
        state = self.get_context_state(context)
        rows = self.read_brands()
        ids = list(rows)
        for brand_id in state.get("ids", []):
            if brand_id not in ids:
                yield {"id": brand_id, **deleted_now()}
        state["ids"] = list(ids)
        for batch in self.changes.announce_all(ids):
            # Before the rows: the SDK sends the streams of a brand, which can take hours, before the brand.
            self.write_state()
            for brand_id in batch:
                yield rows[brand_id]

    def read_brands(self) -> dict[str, Row]:
        """Returns the brands by id. Lists their changes."""
        for _ in range(LISTS):
            [page] = self.pages()
            if page["brands_digest"] is None:
                msg = "/brands has no X-Brands-Digest. Check what lies between the tap and the service."
                raise FatalAPIError(msg)
            rows = {row["id"]: self.record(row) for row in page["data"]}
            ids = self.config.get("brand_ids") or list(rows)
            for brand_id in ids:
                if brand_id not in rows:
                    msg = f"The key cannot read an active brand {brand_id}. Remove it from brand_ids."
                    raise ConfigurationError(msg)
            # The SDK leaves out the streams of a brand that a stream map leaves out.
            kept = [brand_id for brand_id in ids if self.stream_maps[0].get_filter_result(rows[brand_id])]
            streams: list[Any] = self.child_streams
            for stream in streams:
                stream.keep_brands(kept)
            selected = [stream for stream in streams if stream.selected]
            if self.changes.begin(selected, kept, page["brands_digest"]):
                return {brand_id: rows[brand_id] for brand_id in ids}
        msg = f"The brands of the key changed during {LISTS} lists of changes. Run again."
        raise FatalAPIError(msg)

    def generate_child_contexts(self, record: Any, context: Any) -> Iterator[Row]:
        if record["id"] in self.changes.due:
            yield {"brand_id": record["id"]}

    def _sync_children(self, child_context: Any) -> None:
        try:
            super()._sync_children(child_context)
        except Exception:
            # The next run does not send again what was sent.
            self.write_state()
            raise


class BrandStream(DefinedStream):
    """A stream of one brand. `since` in its state stands for all changes that were sent."""

    parent_stream_type = BrandsStream

    def __init__(self, tap: Tap, definition: Row, columns: Iterable[Row] = ()) -> None:
        super().__init__(tap, definition, columns)
        # Not FULL_TABLE: a target must not take the rows of an earlier run for deleted.
        self.forced_replication_method = "LOG_BASED"

    def keep_brands(self, brand_ids: Iterable[str]) -> None:
        """Forgets `since` of other brands, which may have been gone when it was stored."""
        kept = set(brand_ids)
        for state in self.stream_state.get("partitions", []):
            if state["context"]["brand_id"] not in kept:
                for key in ("since", "from_date", "round"):
                    state.pop(key, None)

    def announce(self, context: Row) -> None:
        """Stores in the state what the target can hold from now on."""

    def _write_state_message(self) -> None:
        """Writes nothing: the SDK would write the state of all brands after each stream of each brand."""
