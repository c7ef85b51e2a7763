# SPDX-License-Identifier: Apache-2.0
"""Every system does what it did, bit for bit and clock for clock: the runs of fence.toml against fence.json."""

import json
import tomllib
from pathlib import Path

import pytest

from emery import system
from emery.check import blocks
from emery.check.described import undescribed
from emery.cli import main

HERE = Path(__file__).parent
RECORD = HERE / "fence.json"
COUNTS = ("offered", "delivered", "dropped", "corrupted", "duplicated", "misdelivered", "reordered")
RUNS = [
    (which, name, words)
    for which, runs in tomllib.loads((HERE / "fence.toml").read_text()).items()
    for name, words in runs.items()
]


def as_declared(name, result):
    """The clocks went as system.toml says, against which paths are timed; 66 is 66 2/3."""
    declared = blocks.clocks(system.load(name), result["parameters"])
    for clock, count in result["cycles"].items():
        mhz = [x for port, x in declared.items() if (port.removesuffix("clk_i") or "core").startswith(clock)]
        assert mhz and mhz == pytest.approx([count / result["simulated_s"] / 1e6] * len(mhz), rel=0.012), clock


@pytest.mark.parametrize(("which", "name", "words"), RUNS, ids=[f"{which}-{name}" for which, name, _ in RUNS])
def test_as_it_was(which, name, words, tmp_path, capsys, request):
    out = tmp_path / "result.json"
    assert main(["run", which, *words.split(), "--json", str(out), "--assertions"]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    as_declared(which, result)
    assert undescribed(system.load(which), result) == ""
    seen = {"digest": result["digest"], "cycles": result["cycles"], "totals": {x: result["totals"][x] for x in COUNTS}}
    records = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if request.config.getoption("--record"):
        records.setdefault(which, {})[name] = seen
        RECORD.write_text(json.dumps(records, indent=1, sort_keys=True) + "\n")
    assert seen == records[which][name]


def test_nothing_is_recorded_that_is_not_run():
    records = json.loads(RECORD.read_text())
    assert {(which, name) for which, runs in records.items() for name in runs} == {(x, y) for x, y, _ in RUNS}
