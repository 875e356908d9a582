"""Loads the files of target-jsonl into ClickHouse, and writes the rows of its views.

Usage: clickhouse.py VIEWS FILES FOLDER NAME…
"""

import sys
from pathlib import Path

from chdb.session import Session

DAYS = "brand_id UUID, date Date32, changed_at DateTime64(6), rows String"
views, files, folder, *names = sys.argv[1:]
session = Session()
session.query("set date_time_input_format = 'best_effort'")
session.query("create database export_api_days")
for name in names:
    columns, order, version = (
        ("brands String", "tuple()", "") if name == "brands" else (DAYS, "(brand_id, date)", "changed_at")
    )
    session.query(
        f"create table export_api_days.{name} ({columns}) engine = ReplacingMergeTree({version}) order by {order}"
    )
    for file in sorted(Path(files).glob(f"{name}-*.jsonl")):
        session.query(f"insert into export_api_days.{name} from infile '{file}' format JSONEachRow")
for statement in Path(views).read_text("utf-8").split(";\n")[:-1]:
    session.query(statement)
for name in names:
    rows = session.query(f"select * from export_api.{name}", "JSONEachRow")
    Path(folder, f"{name}.jsonl").write_text(str(rows), "utf-8")
