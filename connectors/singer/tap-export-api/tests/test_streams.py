"""What streams make of pages, without a service."""

import pytest
from singer_sdk.exceptions import ConfigurationError
from tap_export_api.tap import TapExportApi

CONFIG = {"base_url": "http://service.example", "api_key": "key", "start_date": "2026-01-01"}


def brands_of(brand_ids):
    """Returns the records of the stream of brands, for a key that reads a and b."""
    stream = TapExportApi(config={**CONFIG, "brand_ids": brand_ids}).streams["brands"]
    fields = [column["field"] for column in stream.columns]
    page = {"data": [{**dict.fromkeys(fields, "text"), "id": brand_id} for brand_id in "ab"]}
    stream.pages = lambda *args, **kwargs: iter([page])
    return stream.get_records(None)


def test_brand_ids_choose_brands():
    assert [row["id"] for row in brands_of(["b"])] == ["b"]
    assert [row["id"] for row in brands_of([])] == ["a", "b"]


def test_a_brand_that_the_key_cannot_read_is_an_error():
    with pytest.raises(ConfigurationError, match="an active brand c"):
        list(brands_of(["b", "c"]))


def test_a_plan_that_is_lowered_between_two_pages_leaves_the_day_between_them_as_it_is():
    stream = TapExportApi(config=CONFIG).streams["citations"]

    def page(start, *rows):
        data = [{"date": day, "url": url, "domain": None, "is_owned": False, "citations": 1} for day, url in rows]
        return {"meta": {"fromDate": f"{start}T00:00:00.000Z"}, "data": data}

    before = page("2026-01-01", ("2026-01-01", "a"), ("2026-01-02", "a"))
    after = page("2026-01-03", ("2026-01-03", "a"))
    stream.pages = lambda *args, **kwargs: iter([before, after])
    sent = {"2026-01": "2x4 0x27"}

    window = stream.send_window({"brand_id": "brand"}, sent, "2026-01-01", "2026-01-04")
    records = [(row["date"], row["day_row"], "_sdc_deleted_at" in row) for row in window]

    assert records == [
        ("2026-01-01", 1, False),
        ("2026-01-03", 1, False),
        ("2026-01-01", 2, True),
        ("2026-01-03", 2, True),
        ("2026-01-04", 1, True),
        ("2026-01-04", 2, True),
    ]
    assert sent == {"2026-01": "1x1 2x1 1x1 0x28"}
