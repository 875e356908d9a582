"""Runs of the tap, against a service in memory."""

import json
import random
import re
from types import SimpleNamespace

import pytest
from service import METRICS, STREAMS, Service
from singer_sdk.exceptions import ConfigurationError, FatalAPIError
from tap_export_api import changes, metrics, windows
from tap_export_api.client import ExportStream
from tap_export_api.day_rows import remember, rows_sent
from tap_export_api.tap import TapExportApi

VISIBILITY = next(m for m in METRICS if m["name"] == "visibility")


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


def run(service, monkeypatch, state, messages, deselected=(), **config):
    """Runs the tap. The list of messages has them also when the run fails."""
    writer = SimpleNamespace(write_message=lambda message: messages.append(message.to_dict()))

    def request(stream, prepared, context):
        status, headers, page = service.respond(prepared.url)
        if status != 200:
            raise FatalAPIError(page["error"])
        return SimpleNamespace(headers=headers, json=lambda **_: page)

    monkeypatch.setattr(ExportStream, "_request", request)
    service.requests.clear()
    settings = {"base_url": "http://service.example", "api_key": "key", "start_date": "2026-01-01", **config}
    tap = TapExportApi(config=settings, state=json.loads(json.dumps(state)), message_writer=writer)
    for name in deselected:
        tap.streams[name].selected = False
    tap.sync_all()


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


def records(messages, stream):
    return [m["record"] for m in messages if m["type"] == "RECORD" and m["stream"] == stream]


def states(messages):
    return [m["value"] for m in messages if m["type"] == "STATE"]


def days_sent(messages, stream):
    return [row["date"] for row in records(messages, stream)]


def last_record(messages):
    """Returns the number of messages up to the last record of a metric."""
    return max(number for number, m in enumerate(messages, 1) if "day_row" in m.get("record", {}))


@pytest.fixture
def sync(monkeypatch):
    """Returns a function that runs the tap and loads its messages into a target."""
    target = Target()

    def sync(service, until=None, **options):
        messages = []
        try:
            run(service, monkeypatch, target.state, messages, **options)
        finally:
            target.load(messages if until is None else messages[: until(messages)])
        return messages

    sync.target = target
    return sync


def test_brand_ids_choose_brands(sync):
    service = Service("ab")
    assert [row["id"] for row in records(sync(service, brand_ids=["b"]), "brands")] == ["b"]
    assert [row["id"] for row in records(sync(service, brand_ids=[]), "brands")] == ["a", "b"]
    with pytest.raises(ConfigurationError, match="an active brand c"):
        sync(service, brand_ids=["b", "c"])


def test_a_brand_that_is_gone_is_deleted(sync):
    service = Service("ab")
    sync(service)
    service.brand_ids = ["a"]
    sync(service)
    assert [row["id"] for row in sync.target.held("brands")] == ["a"]


@pytest.mark.parametrize("brands", [1, 500])
def test_a_run_without_changes_sends_two_requests_and_few_messages(sync, brands):
    service = Service(["0"])
    service.put("0", VISIBILITY, "2026-01-01", [1])
    sync(service)
    # As if all brands had been loaded.
    service.brand_ids = [str(number) for number in range(brands)]
    for state in sync.target.state["bookmarks"].values():
        state["partitions"] = [
            {**partition, "context": {"brand_id": brand_id}}
            for partition in state.get("partitions", [])
            for brand_id in service.brand_ids
        ]
    for day in ("2026-01-02", "2026-01-03"):
        messages = sync(service)
        assert service.requests == ["brands", "changes"]
        assert len([m for m in messages if m["type"] != "RECORD"]) <= 3
        service.put("0", VISIBILITY, day, [1])
        messages = sync(service)
        assert service.requests == ["brands", "changes", "visibility"]
        assert len(states(messages)) <= 3
    assert_exact(sync.target, service)


def test_a_state_is_written_before_the_rows_of_many_brands_and_each_minute(sync, monkeypatch):
    service = Service("abcdefgh")
    for brand_id in service.brand_ids:
        service.put(brand_id, VISIBILITY, "2026-01-01", [1, 2])
    # A request takes 25 seconds.
    monkeypatch.setattr(metrics, "monotonic", lambda: 25 * len(service.requests) + changes.monotonic())
    first, *_ = sent = states(sync(service, until=last_record))
    assert first["bookmarks"]["visibility"]["partitions"][7]["rows"] == {"2026-01": "2 0x30"}
    assert len(sent) == 5
    # The run is killed at its last row.
    sync(service)
    assert service.requests == ["brands", *["changes"] * 3, "visibility"]
    assert_exact(sync.target, service)


def test_scattered_changes_cost_no_more_than_a_full_load(sync):
    service = Service("a")
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 29)]
    for stream in METRICS:
        for day in days:
            service.put("a", stream, day, range(40))
    assert len(states(sync(service))) == 2
    full_load = len(service.requests)
    for stream in METRICS:
        for day in days[::2]:
            service.put("a", stream, day, range(41))
    messages = sync(service)
    assert (full_load, len(service.requests)) == (26, 26)
    assert set(days_sent(messages, "visibility")) == set(days[::2])
    assert_exact(sync.target, service)


def test_a_brand_that_a_stream_map_leaves_out_for_a_time_is_listed_in_full_after_that(sync):
    service = Service("ab")
    for day in ("2026-01-01", "2026-01-02"):
        for brand_id in "ab":
            service.put(brand_id, VISIBILITY, day, [1])
        sync(service, stream_maps={"brands": {"__filter__": "id != 'b'"}} if day == "2026-01-02" else {})
    assert service.requests == ["brands", "changes", "visibility"]
    assert days_sent(sync(service), "visibility") == ["2026-01-01", "2026-01-02"]
    assert_exact(sync.target, service)


def test_a_run_ends_without_a_new_since_when_the_brands_change_at_each_request(sync):
    service = Service("abc")
    service.put("a", VISIBILITY, "2026-01-01", [1])
    sync(service)
    service.put("a", VISIBILITY, "2026-01-02", [2])
    service.before = lambda: service.brand_ids.append(f"d{len(service.brand_ids)}")
    with pytest.raises(FatalAPIError, match="The brands of the key changed during 5 lists of changes"):
        sync(service)
    assert service.requests == ["brands", "changes"] * 5
    service.before, service.brand_ids = lambda: None, ["a"]
    assert days_sent(sync(service), "visibility") == ["2026-01-02"]


def test_a_service_that_does_not_identify_the_brands_is_an_error(sync, monkeypatch):
    service = Service("a")
    respond = service.respond
    monkeypatch.setattr(service, "respond", lambda url: (200, {}, respond(url)[2]))
    with pytest.raises(FatalAPIError, match="X-Brands-Digest"):
        sync(service)


@pytest.mark.parametrize("seed", range(100))
def test_the_copy_is_exact_after_a_random_history(sync, monkeypatch, seed):
    """Runs are interrupted, pages altered; plan, brands and streams change, also between two requests."""
    chance = random.Random(seed)
    service = Service("ab")
    service.page_rows = chance.choice([2, 3, 1000])
    monkeypatch.setattr(windows, "PAGE_SIZE", service.page_rows)
    monkeypatch.setattr(metrics, "STATE_SECONDS", chance.choice([0, 0, 60]))
    monkeypatch.setattr(changes, "LONGEST_LIST", chance.choice([1, 50]))
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in (1, 2, 3)]
    altered, changed = chance.choice([0, 0, 0.2]), chance.choice([0, 0.1, 0.3])

    def change():
        rows = range(chance.choice([0, 1, 2, 7]))
        service.put(chance.choice("ab"), chance.choice(METRICS[:2]), chance.choice(days), rows)

    def set_plan():
        service.from_date = chance.choice(["0001-01-01", *days])

    def set_brands():
        service.brand_ids = chance.choice(["ab", "ab", "b"])

    def before():
        if chance.random() < changed:
            chance.choice([change, change, set_plan, set_brands])()

    def alter(rows):
        return rows[1:] if chance.random() < altered else rows

    for _ in range(20):
        change()
    for _ in range(6):
        service.before, service.alter = before, alter
        for _ in range(chance.randint(0, 4)):
            chance.choice([change, change, change, set_plan])()
        set_brands()
        messages = []
        deselected = chance.choice([(), (), ("visibility",), ("competitors", "changes")])
        try:
            run(service, monkeypatch, sync.target.state, messages, deselected)
        except FatalAPIError as error:
            assert re.search("differs from /changes|Brand not found|The brands of the key changed", str(error))
        # An interrupted run: the target loads what arrived until then.
        sync.target.load(messages[: chance.choice([len(messages), chance.randint(0, len(messages))])])
    service.before, service.alter = lambda: None, lambda rows: rows
    service.brand_ids, service.from_date = "ab", "0001-01-01"
    for _ in range(2):
        sync(service)
    assert_exact(sync.target, service)
    assert "round" not in str(states(sync(service))[-1])
    assert service.requests == ["brands", "changes"]


def test_the_number_of_rows_is_kept_by_day():
    months = {}
    for day, rows in [("2024-02-01", 8), ("2024-02-02", 8), ("2024-02-29", 1250), ("2024-02-02", 9)]:
        remember(months, day, rows)
    assert months == {"2024-02": "8 9 0x26 1250 0x2"}
    assert [rows_sent(months, f"2024-02-{day}") for day in ("01", "02", "03", "29")] == [8, 9, 0, 1250]
