"""The proof of a day's rows."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from service import METRICS, decimals_of
from tap_export_api.proof import difference, digest_of

# Outside the repository, this test is skipped.
FILE = Path(__file__).parent / "../../../../site/reference/digest-vectors.json"
VECTORS = json.loads(FILE.read_text("utf-8"), parse_float=Decimal) if FILE.exists() else []
DECIMALS = {stream["endpoint"]: decimals_of(stream) for stream in METRICS}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["name"])
def test_the_digest_is_that_of_the_reference(vector):
    decimals = DECIMALS[vector["endpoint"]]
    assert [digest_of([row], decimals) for row in vector["rows"]] == vector["numbers"]
    assert digest_of(reversed(vector["rows"]), decimals) == vector["digest"]


def test_a_difference_names_what_differs():
    rows = [{"date": "2026-10-01", "url": "a", "domain": None, "is_owned": False, "citations": 2}]
    change = {"rows": 2, "totals": {"citations": 3}, "digest": digest_of(rows, [])}
    assert difference(rows, change, []) == "rows 1 instead of 2, citations 2 instead of 3"
    assert difference([], {"rows": 0, "totals": {"citations": 0}, "digest": "0" * 15}, []) == ""
