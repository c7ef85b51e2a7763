# SPDX-License-Identifier: Apache-2.0
"""Every system does what it did, bit for bit and clock for clock: the runs of fence.toml against fence.json."""

import json
import tomllib
from pathlib import Path

import pytest

from emery.cli import main

HERE = Path(__file__).parent
RECORD = HERE / "fence.json"
COUNTS = ("offered", "delivered", "dropped", "corrupted", "duplicated", "misdelivered", "reordered")
RUNS = [
    (system, name, words)
    for system, runs in tomllib.loads((HERE / "fence.toml").read_text()).items()
    for name, words in runs.items()
]


@pytest.mark.parametrize(("system", "name", "words"), RUNS, ids=[f"{system}-{name}" for system, name, _ in RUNS])
def test_as_it_was(system, name, words, tmp_path, capsys, request):
    out = tmp_path / "result.json"
    assert main(["run", system, *words.split(), "--json", str(out), "--assertions"]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    seen = {"digest": result["digest"], "cycles": result["cycles"], "totals": {x: result["totals"][x] for x in COUNTS}}
    records = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if request.config.getoption("--record"):
        records.setdefault(system, {})[name] = seen
        RECORD.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")
    assert seen == records[system][name]


def test_nothing_is_recorded_that_is_not_run():
    records = json.loads(RECORD.read_text())
    assert {(system, name) for system, runs in records.items() for name in runs} == {(x, y) for x, y, _ in RUNS}
