from types import SimpleNamespace

import dlt
import pytest
from connector_tests import *  # noqa: F403
from dlt.pipeline.exceptions import PipelineStepFailed
from dlt.sources.helpers.requests import RequestException
from service import METRICS, Service, serve
from sources.export_api import client, export_api_source
from sources.export_api.client import SettingError, make_client, read_pages
from sources.export_api.digest import digest
from sources.export_api.verify import days_that_differ
from sources.export_api.windows import join_days

STREAMS = {stream["endpoint"]: stream for stream in METRICS}
SETTINGS = {"base_url": "https://api.example.com", "api_key": "svc_live_0", "start_date": "2026-10-01"}


@pytest.fixture
def connector():
    def wrong_setting(**settings):
        with pytest.raises(SettingError) as raised:
            export_api_source(**{**SETTINGS, **settings})
        return str(raised.value)

    return SimpleNamespace(
        client=client,
        errors=RequestException,
        read=lambda url, key="svc_live_0": list(read_pages(make_client(url, key), "changes")),
        wrong_setting=wrong_setting,
        windows=join_days,
        digest=lambda endpoint, rows: digest(STREAMS[endpoint], rows),
    )


def test_windows_join_adjacent_days_when_the_rows_of_others_are_not_known():
    days = dict.fromkeys(["2026-10-01", "2026-10-02", "2026-10-04"], 400)
    assert join_days(days) == [["2026-10-01", "2026-10-02"], ["2026-10-04", "2026-10-04"]]
    assert join_days({"0001-01-01": 1, "9999-12-31": 1}) == [["0001-01-01"] * 2, ["9999-12-31"] * 2]


@pytest.fixture
def service():
    service = Service("a")
    service.url = serve(lambda request: service.respond(request.path))
    return service


def put(service, brand_id, day, *values):
    """Replaces the rows of a day of sentiment."""
    service.put(brand_id, STREAMS["sentiment"], day, values)


@pytest.fixture
def pipeline(tmp_path):
    return dlt.pipeline(
        "export_api",
        pipelines_dir=str(tmp_path),
        destination=dlt.destinations.duckdb(str(tmp_path / "copy.duckdb")),
        dataset_name="export_api",
    )


def load(pipeline, service):
    """Loads what changed."""
    service.requests.clear()
    pipeline.run(export_api_source(service.url, "svc_live_0", "2026-10-01"))
    assert days_that_differ(pipeline) == []


def days_of_copy(pipeline):
    with pipeline.sql_client() as client:
        return client.execute_sql("SELECT brand_id, date::text FROM sentiment ORDER BY ALL")


def test_runs_with_a_limit_request_days_together_and_reach_each_brand_before_they_list_one_again(service, pipeline):
    service.brand_ids = list("abc")
    for number in range(15):
        put(service, "abc"[number // 5], f"2026-10-{1 + number % 5 * 6:02}", 1)
    runs = []
    while runs[-1:] != [["brands", "changes"]]:
        service.requests.clear()
        pipeline.run(export_api_source(service.url, "svc_live_0", "2026-10-01", max_rows=3))
        runs.append(service.requests[:])
    start, rest = ["brands", "changes", "sentiment"], ["brands", "changes", "changes", "sentiment"]
    assert runs[:6] == [start, start, rest, start, rest, start]
    assert sum(run.count("sentiment") for run in runs) == 6
    assert (days_that_differ(pipeline), len(days_of_copy(pipeline))) == ([], 15)


def test_a_run_ends_without_a_new_since_when_the_brands_change_at_each_request(service, pipeline):
    service.brand_ids = list("abc")
    for brand_id in "abc":
        put(service, brand_id, "2026-10-05", 1)
    # From the second run on, the changes of all brands are listed together.
    for _ in range(2):
        load(pipeline, service)
    before = pipeline.state["sources"]
    put(service, "a", "2026-10-06", 2)
    service.before = lambda: service.brand_ids.append(f"d{len(service.brand_ids)}")
    with pytest.raises(PipelineStepFailed, match="The brands of the key changed during 5 lists of changes"):
        load(pipeline, service)
    assert service.requests.count("changes") == 5
    assert pipeline.state["sources"] == before


def test_a_service_that_does_not_identify_the_brands_is_an_error(service, pipeline, monkeypatch):
    respond = service.respond
    monkeypatch.setattr(service, "respond", lambda path: (200, {}, respond(path)[2]))
    with pytest.raises(PipelineStepFailed, match="X-Brands-Digest"):
        load(pipeline, service)


def test_a_day_without_rows_is_deleted_without_a_request(service, pipeline):
    put(service, "a", "2026-10-05", 1)
    load(pipeline, service)
    put(service, "a", "2026-10-05")
    load(pipeline, service)
    assert (days_of_copy(pipeline), service.requests) == ([], ["brands", "changes"])


def test_runs_of_some_resources_leave_the_days_of_the_others_to_later_runs(service, pipeline):
    def load_only(*names, **options):
        source = export_api_source(service.url, "svc_live_0", "2026-10-01", **options)
        pipeline.run(source.with_resources(*names))

    put(service, "a", "2026-10-05", 1)
    load_only("changes", "visibility")
    put(service, "a", "2026-10-06", 2)
    # With a limit, what earlier runs have left comes before what changed.
    load_only("sentiment", max_rows=100)
    assert days_of_copy(pipeline) == [("a", "2026-10-05")]
    put(service, "a", "2026-10-05")
    load_only("sentiment")
    assert days_of_copy(pipeline) == [("a", "2026-10-06")]
    # The table of changes has the days that runs without it have loaded.
    load(pipeline, service)


def test_a_service_that_lists_days_and_never_serves_them_is_an_error(service, pipeline):
    put(service, "a", "2026-10-05", 1)
    days = {"changes": "2026-10-01", "sentiment": "2026-10-06"}
    service.before = lambda: setattr(service, "from_date", days.get(service.requests[-1]))
    with pytest.raises(PipelineStepFailed, match="sentiment of 2026-10-05 .* differs after 3 requests: not reached"):
        load(pipeline, service)
