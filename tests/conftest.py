# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: captures to feed it, and a simulator that is none."""

import ast
import csv
import itertools
import json
import os
import re
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from emery import limits, system
from emery.cli import main
from emery.common import ROOT
from emery.make import build, registers
from emery.workload import workload

pytest.register_assert_rewrite("routers")


HARM = ("corrupted", "duplicated", "misdelivered", "reordered")
# host-nic with several ports and interfaces, as the fence has it: those who need them share this model.
FOUR_PORTS = ("ports=2", "interfaces=2", "tx_queues=16", "rx_queues=16")


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="test_fence.py: write down what the runs give now")
    parser.addoption("--slow", action="store_true", help="the tests that are left out otherwise, and no others (marked slow)")


LEFT_OUT, SPENT = pytest.StashKey[list](), pytest.StashKey[dict]()


def pytest_configure(config):
    config.stash[LEFT_OUT], config.stash[SPENT] = [], {}


def pytest_collection_modifyitems(config, items):
    """Leaves out what is slow, or all else."""
    wanted = config.getoption("--slow")
    left = [x for x in items if bool(x.get_closest_marker("slow")) != wanted]
    items[:] = [x for x in items if bool(x.get_closest_marker("slow")) == wanted]
    config.hook.pytest_deselected(items=left)
    if not wanted:
        config.stash[LEFT_OUT] = [x.nodeid for x in left]


def spent():
    """Processor time of this process and of all that it has waited for: fair on a busy machine, as time that passes is not."""
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(x.ru_utime + x.ru_stime for x in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "setup":
        item.config.stash[SPENT][item.nodeid] = item.config.stash[SPENT].get("", 0.0)  # as of the end of the test before
    if call.when == "teardown":
        item.config.stash[SPENT][""] = spent()
        report.user_properties.append(("cpu_s", item.config.stash[SPENT][""] - item.config.stash[SPENT].pop(item.nodeid)))
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", [])


def pytest_sessionstart(session):
    session.config.stash[SPENT][""] = spent()


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[LEFT_OUT]


def pytest_terminal_summary(terminalreporter, config):
    """The tests that took the processors longest, and those that were not run."""
    reports = [x for kind in ("passed", "failed", "skipped", "") for x in terminalreporter.getreports(kind)]
    took = sorted(
        ((y, x.nodeid) for x in reports for key, y in getattr(x, "user_properties", ()) if key == "cpu_s"), reverse=True
    )
    if took:
        terminalreporter.write_sep("=", f"processor time: {sum(x for x, _ in took):,.0f} s; most of it:")
        for seconds, name in took[:10]:
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
    if left := config.stash[LEFT_OUT]:
        terminalreporter.write_sep("=", "not run, being slow: ./emery test --slow")
        for name, of_it in itertools.groupby(sorted(left), key=lambda x: x.partition("[")[0]):
            cases = [x.partition("[")[2].removesuffix("]") for x in of_it]
            terminalreporter.write_line(f"{name}: {', '.join(cases)}" if cases != [""] else name)


def slow(*cases):
    """Cases of a test that `./emery test --slow` has alone."""
    return [pytest.param(*(x if isinstance(x, tuple) else (x,)), marks=pytest.mark.slow) for x in cases]


def slow_but(in_every_run, cases):
    """All cases in order, of which every run has those that `in_every_run` says."""
    return [x if in_every_run(x) else slow(x)[0] for x in cases]


def write_pcap(path, frames, order="<", nano=False, link=1):
    """A capture of these frames; one with too long a length field when a frame is a (bytes, length) pair."""
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for number, frame in enumerate(frames):
        content, length = frame if isinstance(frame, tuple) else (frame, len(frame))
        data += struct.pack(order + "IIII", number, 0, len(content), length) + content
    path.write_bytes(data)
    return path


def read_pcap(path):
    """The frames of a capture, in order."""
    data = path.read_bytes()
    order = "<" if data[0] in (0xD4, 0x4D) else ">"
    frames, at = [], 24
    while at < len(data):
        kept = struct.unpack_from(order + "I", data, at + 8)[0]
        frames.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return frames


def listed(header, name):
    """The rows of an X list of a C header, as its preprocessor sees them: a list of words for each."""
    text = f'#include "{header}"\n#define ROW(...) #__VA_ARGS__,\n[{name}(ROW)]\n'
    done = subprocess.run(["gcc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    rows = ast.literal_eval(done.stdout[done.stdout.rindex("\n[") + 1 :])
    return list(csv.reader(rows, skipinitialspace=True))


@pytest.fixture
def simulate(tmp_path, capsys):
    """Runs a system, with assertions in its RTL unless told otherwise; gives its result. Settings are those of --set."""

    def run(name, *words, status=0, assertions=True, **settings):
        out = tmp_path / "result.json"
        values = {key: str(x).lower() if isinstance(x, bool) else x for key, x in settings.items()}
        told = [x for key, value in values.items() for x in ("--set", f"{key}={value}")]
        checks = ["--assertions"] if assertions else []
        ended = main(["run", str(name), *map(str, words), *told, "--json", str(out), *checks])
        assert ended == status, capsys.readouterr().err
        return json.loads(out.read_text())

    return run


def accounted_for(result):
    """Whatever was lost was counted by the device, and nothing was harmed."""
    for name, stream in result["streams"].items():
        assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values()), name
        assert not any(stream[x] for x in HARM), name


def all_well(stream):
    """Nothing of a stream is lost."""
    return stream["delivered"] == stream["offered"] and not stream["dropped"]


def writable(folder, name):
    """The registers that a host can write to, by their names in the register description of a system."""
    top = registers.elaborate(ROOT / "systems" / folder / f"{name}.rdl", name)
    found = [x for x in top.descendants(unroll=False) if getattr(x, "has_sw_writable", False)]
    return {re.sub(r"\[.*?\]", "", x.get_path()).removeprefix(f"{name}.") for x in found}


def whole(result):
    """Nothing lost and nothing harmed."""
    accounted_for(result)
    for name, stream in result["streams"].items():
        assert stream["offered"] == stream["delivered"] > 0, name


def padded(path):
    """A capture's frames as they are on the wire."""
    return [x.ljust(60, b"\0") for x in read_pcap(path)]


def refused(command, capsys, *words):
    """What a run of a system (its name and options) says before it ends with status 2: one line."""
    assert main(["run", *command, *map(str, words)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("emery: ")
    return lines[0]


def limit_of(name, *settings, **options):
    """What a system with these settings can do at the most for a workload, its own records counted."""
    target = system.load(name)
    return limits.limit(target, target.values(settings), workload(target, options))["protocol"]


def stream(offered, dropped=None, mpps=10.0, size=64, **extra):
    """One stream of a result."""
    dropped = dropped or {}
    counts = dict.fromkeys(HARM, 0)
    rates = {"mpps": mpps, "l1_gbps": mpps * (size + 20) * 8e-3, "l2_gbps": mpps * size * 8e-3}
    latency = {"min": 900.0, "p50": 1000.0, "p99": 1500.0, "p999": 1800.0, "max": 2000.0}
    delivered = offered - sum(dropped.values())
    return {"offered": offered, "delivered": delivered, "dropped": dropped, **counts, **rates, "latency_ns": latency, **extra}


def body(streams, totals=None):
    """What a simulator writes."""
    return {
        "simulated_s": 1e-5,
        "traffic_s": 9e-6,
        "wall_s": 0.02,
        "cycles": {"core": 2500},
        "window": {"from_ns": 1000.0, "to_ns": 9000.0, "steady": True, "settled_mpps": 0.1},
        "streams": streams,
        "totals": totals or next(iter(streams.values())),
        "resources": {},
        "digest": "0" * 64,
    }


@pytest.fixture
def data_packages(tmp_path, monkeypatch):
    """pandas and pyarrow, as the launcher brings them when a table is to be Parquet; this point is refused then."""
    words = ["sweep", "host-nic", "--over", "mps=1", "--table", str(tmp_path / "x.parquet")]
    done = subprocess.run([sys.executable, str(ROOT / "emery"), *words], capture_output=True, text=True)
    assert done.returncode == 2 and "mps" in done.stderr, done.stderr
    for path in (Path(os.environ.get("EMERY_HOME") or ROOT) / ".venv").glob("data-*"):
        monkeypatch.syspath_prepend(str(path))


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Puts a script in place of every simulator: it keeps its settings, writes a body, says its last words and ends."""
    monkeypatch.setenv("EMERY_CACHE", str(tmp_path / "cache"))

    def put(result, status=0, last="", code=""):
        seen = tmp_path / "settings"
        seen.mkdir(exist_ok=True)
        script = tmp_path / "sim"
        script.write_text(
            f"#!{sys.executable}\nimport os, sys, time\n"
            "settings = dict(x.split('=', 1) for x in open(sys.argv[1]).read().splitlines())\n"
            "number = 0\nwhile True:\n"
            f"    try: kept = open({str(seen)!r} + f'/{{number}}', 'x')\n"
            "    except FileExistsError: number += 1\n"
            "    else: break\n"
            "kept.write(open(sys.argv[1]).read())\nkept.close()\n"
            f"print('progress 0.5', file=sys.stderr)\n{code}\n"
            f"if {result is not None}: open(settings['result'], 'w').write({json.dumps(result)!r})\n"
            f"print({last!r}, file=sys.stderr)\nsys.exit({status})\n"
        )
        script.chmod(0o755)
        monkeypatch.setattr(build, "build_system", lambda *a, **k: script)
        return lambda number=0: dict(x.split("=", 1) for x in (seen / str(number)).read_text().splitlines())

    return put
