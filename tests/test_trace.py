# SPDX-License-Identifier: Apache-2.0
"""`run --trace` of every system, and `emery trace`: what a trace says agrees with the result, and moves with what causes it."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from conftest import FOUR_PORTS

import emery
from emery import runs, system, traces
from emery.cli import main, packages
from emery.common import ROOT, whole
from emery.workload import workload

PAGE = (ROOT / "docs" / "trace.md").read_text()


@pytest.fixture
def traced(simulate, tmp_path):
    """Runs a system with a trace and compares that with the result; gives both."""

    def run(*words, ending=".jsonl"):
        file = tmp_path / f"trace{ending}"
        result, trace = simulate(*words, "--trace", file), traces.Trace(file)
        agree(result, list(trace))
        return result, trace

    return run


def agree(result, frames):
    """A record for each offered frame, in order; outcomes, reasons and latencies as in the result."""
    assert [x.frame for x in frames] == list(range(len(frames)))
    assert {x.stream for x in frames} == {x for x, stream in result["streams"].items() if stream["offered"]}
    for name, stream in result["streams"].items():
        mine = [x for x in frames if x.stream == name]
        delivered = [x for x in mine if x.outcome == "delivered"]
        assert (len(mine), len(delivered)) == (stream["offered"], stream["delivered"]), name
        dropped = Counter(x.reason for x in mine if x.outcome == "dropped")
        assert dropped == stream["dropped"] and len(delivered) + dropped.total() == len(mine), name
        latency = stream["latency_ns"]
        if delivered:
            took = sorted(x.took for x in delivered)
            assert (took[0], took[-1]) == pytest.approx((latency["min"], latency["max"]), abs=0.001), name
            assert took[(len(took) - 1) // 2] == pytest.approx(latency["p50"], rel=0.05), name
        for frame in mine:
            assert all(f"`{x}`" in PAGE for x in frame.at), frame


def order(trace, stream):
    """The stages of the delivered frames of a stream, which must be in the same order in all of them."""
    longest = max((list(x.at) for x in trace if x.stream == stream), key=len)
    for frame in trace:
        if frame.stream == stream:
            assert list(frame.at) == [x for x in longest if x in frame.at], frame
    return longest


def spent(trace, stream):
    """The median at each stage."""
    return {x.stage: x.p50 for x in trace.stages(stream)}


# ---------------------------------------------------------------- host-nic

SENT = ["driver", "doorbell", "desc_fetch", "tx_engine", "dma_read", "tx_readout", "cmac_tx", "wire"]
RECEIVED = ["cmac_rx", "rx_buffer", "dma_write", "cpl_write", "driver", "host"]
NIC = ("host-nic", "--size", "64-1518", "--frames", 150, "--rate", "0.4")


def test_the_way_of_every_frame_through_host_nic(traced):
    result, trace = traced(*NIC)
    assert order(trace, "tx") == SENT and order(trace, "rx") == RECEIVED
    assert all(len(x.at) == (8 if x.stream == "tx" else 6) for x in trace)  # each was seen everywhere
    assert {x.queue for x in trace if x.stream == "tx"} == {x.flow % 64 for x in trace if x.stream == "tx"}


def test_a_trace_changes_nothing(traced, tmp_path):
    result, _ = traced(*NIC)
    plain = tmp_path / "plain.json"
    assert main(["run", *map(str, NIC), "--json", str(plain), "--assertions"]) == 0
    plain = json.loads(plain.read_text())
    assert plain.pop("wall_s") and result.pop("wall_s")
    assert plain == result


MOST_MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def test_a_record_takes_little_memory(tmp_path):
    """What a trace costs is mostly memory that is touched for it: a frame of 64 bytes had a page of marks to itself, 2.9 kB."""
    nic, most = system.load("host-nic"), {}
    work = workload(nic, {"size": "64", "frames": "5000"})
    planned = runs.plan(nic, nic.values([]), work)
    for settings in ({}, {"trace": tmp_path / "t.jsonl"}):
        runs.write_config(tmp_path / "config", {**planned.settings, "result": tmp_path / "r.json", **settings})
        # By way of a small process: what is told of a child counts the memory of the one that started it.
        measured = [sys.executable, "-c", MOST_MEMORY, planned.program, tmp_path / "config"]
        done = subprocess.run(measured, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
        most[bool(settings)] = int(done.stdout.split()[-1]) * 1024
    offered = json.loads((tmp_path / "r.json").read_text())["totals"]["offered"]
    assert 100 < (most[True] - most[False]) / offered < 900


def test_time_shows_where_it_is_spent(traced):
    """A memory 1 us slower shows in both reads, a busy CPU in what waits for the driver; nothing else moves by as much."""
    words = ("host-nic", "--size", "256", "--frames", 150, "--rate", "0.05")
    _, usual = traced(*words)
    sent, received = spent(usual, "tx"), spent(usual, "rx")
    _, slow = traced(*words, "--set", "read_latency_ns=1350")
    more = {x: time - sent[x] for x, time in spent(slow, "tx").items()}
    assert more.pop("all") == pytest.approx(2000, abs=60)
    assert {x for x, time in more.items() if time == pytest.approx(1000, abs=40)} == {"desc_fetch", "dma_read"}
    assert all(abs(time) < 40 for x, time in more.items() if x not in ("desc_fetch", "dma_read"))
    _, busy = traced(*words, "--set", "cpu_ns_per_packet=1500", "--set", "cpus=1")
    more = {x: time - received[x] for x, time in spent(busy, "rx").items()}
    assert more["driver"] > 1000 and all(abs(more[x]) < 300 for x in RECEIVED[:-2])


def test_what_is_dropped_and_why(traced):
    """Faults of the wire are known frame by frame; what the buffer has no room for is the rest."""
    _, trace = traced("host-nic", "--size", "64", "--frames", 1500, "--direction", "rx", "--set", "bad_fcs_every=40")
    reasons = Counter(x.reason for x in trace if x.outcome == "dropped")
    assert reasons["bad_fcs"] > 10
    assert all(x.place == "rx_buffer" and x.sure for x in trace if x.reason == "bad_fcs")
    drops = {x.reason: x for x in trace.drops()}
    assert {x: y.frames for x, y in drops.items()} == reasons
    _, trace = traced("host-nic", "--size", "64", "--frames", 400, "--set", "fault=wild_address", "--set", "fault_frame=100")
    lost = [x for x in trace if x.outcome == "dropped"]
    assert lost and {x.stream for x in lost} == {"tx"} and all("cmac_tx" not in x.at for x in lost)
    assert len({x.queue for x in lost}) == 1  # an error stops its queue and no other


@pytest.mark.parametrize("settings", ["tx_push=frame", "segments=4", "tx_ring=16", "doorbell=1", " ".join(FOUR_PORTS)])
def test_other_ways_into_the_device(traced, settings):
    told = [x for setting in settings.split() for x in ("--set", setting)]
    _, trace = traced("host-nic", "--size", "64-400", "--frames", 60, "--rate", "0.02", *told)
    tx, rx = ("tx0", "rx0") if "ports=2" in settings else ("tx", "rx")
    found = order(trace, tx)
    assert order(trace, rx) == RECEIVED
    assert found == SENT
    pushed = sum("desc_fetch" not in x.at for x in trace if x.stream == tx)
    assert pushed > 0 if settings == "tx_push=frame" else pushed == 0


def test_queues_without_descriptors(traced):
    _, trace = traced(*NIC, "--set", "tx_mode=stream", "--set", "rx_mode=stream")
    assert order(trace, "tx") == ["driver", "doorbell", "desc_pages", "tx_cut", "cmac_tx", "wire"]
    assert order(trace, "rx") == RECEIVED


def test_a_reset_in_mid_run(traced):
    words = ("--size", "256", "--frames", 600, "--rate", "0.3", "--set", "reset_at_us=10")
    _, trace = traced("host-nic", *words)
    lost = [x for x in trace if x.reason == "reset"]
    assert lost and all(x.outcome == "dropped" for x in lost)
    order(trace, "tx"), order(trace, "rx")


# ---------------------------------------------------------------- the other systems


def test_core_nic(traced):
    _, trace = traced("core-nic", "--size", "64-1518", "--frames", 120, "--set", "bad_fcs_every=25")
    assert order(trace, "tx") == [
        *("driver", "mailbox", "descriptors", "core", "dma_read_host", "mac_tx_assist", "mac_tx_send", "wire")
    ]
    assert order(trace, "rx") == ["mac_rx_take", "mac_rx_store", "dma_write_host", "progress_order", "driver", "host"]
    assert all(len(x.at) == (8 if x.stream == "tx" else 6) for x in trace if x.outcome == "delivered")
    assert {(x.reason, x.place, x.sure) for x in trace if x.outcome == "dropped"} == {("bad_fcs", "mac_rx_store", True)}


def test_core_nic_with_a_filter_of_its_firmware(traced):
    """One descriptor a frame, and a reason that only a counter knows."""
    words = ("--size", "300", "--frames", 100, "--direction", "tx", "--set", "segments=1")
    _, trace = traced("core-nic", *words)
    assert order(trace, "tx")[-1] == "wire"


def test_capture_of_a_wire(traced):
    words = ("capture", "--size", "64-1518", "--frames", 300, "--set", "source=wire")
    _, trace = traced(*words, "--set", "bad_fcs_every=30")
    assert order(trace, "rx") == ["mac_rx", "cap_buffer", "dma_write", "cap_link", "consumer", "taken"]
    assert all(len(x.at) == 6 and 0 <= x.queue < 8 for x in trace if x.outcome == "delivered")
    assert {(x.reason, x.sure) for x in trace if x.outcome == "dropped"} == {("bad_fcs", True)}
    fast, slow = (spent(traced(*words, "--rate", "0.05", "--set", f"flush_us={x}")[1], "rx") for x in (2, 6))
    more = {x: slow[x] - fast[x] for x in slow}  # the end of most packets waits for company
    assert more.pop("all") == pytest.approx(4000, abs=200) and max(more, key=lambda x: more[x]) == "dma_write"
    assert abs(more["mac_rx"]) < 20 and abs(more["consumer"]) < 20


def test_capture_of_its_generator(traced):
    """With time stamps a packet's way begins when it was made; several consumers on a ring may take it in any order."""
    words = ("--size", "200", "--frames", 300, "--set", "timestamps=true", "--set", "consumers=16", "--set", "ns_per_packet=20")
    _, trace = traced("capture", *words)
    assert order(trace, "rx") == ["cap_generator", "dma_write", "cap_link", "consumer", "taken"]
    assert sum(len(x.at) == 5 for x in trace) == 300
    traced("capture", "--size", "64", "--frames", 200)


def test_pcie_bench(traced):
    """Each part of a transfer's time is what the host's settings make it."""
    words = ("pcie-bench", "--size", "256", "--frames", 100, "--set", "in_flight=1")
    _, trace = traced(*words)
    assert order(trace, "read") == ["probe_ask", "dma_read", "probe_copy", "device"]
    assert order(trace, "write") == ["probe_write", "dma_write", "host"]
    usual = spent(trace, "read")
    slow = spent(traced(*words, "--set", "read_latency_ns=1350")[1], "read")
    assert slow["dma_read"] - usual["dma_read"] == pytest.approx(1000, abs=40)
    assert slow["probe_ask"] == pytest.approx(usual["probe_ask"], abs=40)


FORWARDED = {
    "direct-router": ["mac_rx", "ip_route", "burst", "mac_tx", "wire"],
    "tile-router": ["line_in", "frame_sender", "line_out", "wire"],
}


@pytest.mark.parametrize("system", FORWARDED)
def test_routers(traced, system):
    """What the judge has a router drop is known frame by frame."""
    _, trace = traced(system, "--size", "64-1518", "--duration", "150us", "--set", "bad_ip_every=4", "--trace-bytes", 40)
    frames = list(trace)
    assert all(len(x.data) == 40 for x in frames)
    assert {x.data[22] for x in frames if x.outcome == "delivered"} == {64}  # the time to live that was sent
    for stream in {x.stream for x in frames if not x.stream.endswith("drop")}:
        assert order(trace, stream) == FORWARDED[system]
    lost = [x for x in frames if x.outcome == "dropped"]
    assert len({x.reason for x in lost}) >= 3 and all(x.sure for x in lost)
    assert {x.place for x in lost} == {FORWARDED[system][1]}
    assert all(x.stream.endswith("drop") for x in lost)


@pytest.mark.parametrize("settings", ["message_bytes=32", "bus=pcie"])
def test_bursts_of_direct_router(traced, settings):
    """Frames are found in bursts whatever they go over; what has waited for its burst has waited there."""
    _, trace = traced("direct-router", "--size", "64-1518", "--duration", "60us", "--set", settings)
    frames = [x for x in trace if x.outcome == "delivered"]
    assert len(frames) > 20 and all(list(x.at) == FORWARDED["direct-router"] for x in frames)


def test_the_slow_path_of_direct_router(traced):
    """Through the host: what its CPU takes for a frame is between its two stages."""
    words = ("--size", "300", "--duration", "100us", "--rate", "0.1", "--set", "config=A")
    _, trace = traced("direct-router", *words, "--set", "cpu_ns=3000")
    forwarded = [x for x in trace if x.outcome == "delivered"]
    assert forwarded and {tuple(x.at) for x in forwarded} == {("mac_rx", "ip_route", "host", "slow_tx", "mac_tx", "wire")}
    assert all(3000 <= x.spent["host"] < 3040 for x in forwarded)


def test_a_system_that_names_no_stages(traced, capsys):
    _, trace = traced(ROOT / "tests" / "loop_card", "--size", "64", "--frames", 20)
    assert order(trace, "loop") == ["offered", "delivered"]
    assert main(["trace", trace.path]) == 0
    assert "offered" in capsys.readouterr().out


# ---------------------------------------------------------------- the file and the command


def lines(*records):
    return "".join(json.dumps(x) + "\n" for x in records)


def record(number, stream="tx", took=(10.0, 20.0), reason=None, **more):
    times, at = [100.0 * number], dict
    for x in took:
        times.append(times[-1] + x)
    at = dict(zip(("driver", "dma_read", "wire"), times, strict=False))
    outcome = "dropped" if reason else "delivered"
    facts = {"bytes": 64, "flow": number, "queue": None, "outcome": outcome, "reason": reason}
    return {"frame": number, "stream": stream, **facts, "at": at, **more}


@pytest.fixture
def trace(tmp_path):
    """Three delivered frames, of which frame 1 waited at dma_read, and one that was dropped there."""
    path = tmp_path / "t.jsonl"
    dropped = record(3, took=(5.0,), reason="tx_error", sure=False)
    path.write_text(lines(record(0), record(1, took=(10.0, 70.0)), record(2, "rx"), dropped))
    return path


def test_summary(trace, capsys):
    assert main(["trace", str(trace)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [x.split() for x in out if x.startswith("tx  ")] == [
        ["tx", "3", "2", "1"],
        ["tx", "driver", "2", "10", "10", "10", "18.2", "%"],
        ["tx", "dma_read", "2", "20", "70", "70", "81.8", "%"],
        ["tx", "all", "2", "30", "80", "80", "100.0", "%"],
    ] + [["tx", "tx_error", "dma_read", "1", "0"]]


def test_frame_and_worst(trace, capsys):
    assert main(["trace", str(trace), "--worst", "1", "--frame", "1"]) == 0
    told = capsys.readouterr().out
    assert "frame 1: 64 bytes of stream tx, flow 1" in told and "delivered 80.0 ns later" in told
    assert "50.0 ns longer than the median of its stream, most of it at dma_read: 50.0 ns" in told
    assert told.splitlines()[-1].split() == ["1", "tx", "dma_read", "70.0", "80.0", "64", "1", "-"]
    assert main(["trace", str(trace), "--frame", "3"]) == 0
    told = capsys.readouterr().out
    assert "dropped for tx_error" in told and "at dma_read" in told and "not which" in told


def test_a_file_that_cannot_be_written_stays(tmp_path, monkeypatch):
    """Nothing of it was begun. (Who may write to all is told that this one may not.)"""
    path = tmp_path / "kept.json"
    path.write_text("before")
    monkeypatch.setattr(os, "access", lambda *a: False)
    with pytest.raises(OSError), whole(path):
        raise PermissionError(13, "Permission denied")
    assert path.read_text() == "before"


@pytest.mark.parametrize("option", ["--perfetto", "--pcapng", "--html"])
def test_nothing_is_left_of_a_file_that_cannot_be_made_whole(trace, tmp_path, capsys, option):
    """A trace without the bytes of its frames, or with a bad record behind good ones."""
    out = tmp_path / "out.html"
    trace.write_text(trace.read_text() + "x\n")
    assert main(["trace", str(trace), option, str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not out.exists()


def test_perfetto(trace, tmp_path):
    out = tmp_path / "p.json"
    assert main(["trace", str(trace), "--perfetto", str(out)]) == 0
    events = json.loads(out.read_text())["traceEvents"]
    frames = [x for x in events if x["name"].startswith("frame ")]
    assert [x["name"] for x in frames] == [
        "frame 0 delivered",
        "frame 1 delivered",
        "frame 2 delivered",
        "frame 3 dropped: tx_error",
    ]
    slices = [x for x in events if x["ph"] == "X"]
    assert {x["pid"] for x in slices if x["cat"] == "tx"}.isdisjoint({x["pid"] for x in slices if x["cat"] == "rx"})
    for slot in {(x["pid"], x["tid"]) for x in slices}:  # on a track no frame begins before the last one has ended
        mine = sorted((x["ts"], x["dur"]) for x in frames if (x["pid"], x["tid"]) == slot)
        assert all(a + b <= c + 1e-9 for (a, b), (c, _) in zip(mine, mine[1:], strict=False))
    assert sum(x["dur"] for x in slices if x["name"] == "dma_read") == pytest.approx(0.11)


def test_a_page(trace, tmp_path, monkeypatch, capsys):
    """It holds every frame, names nothing of elsewhere, and no name of a stream or file is taken for a part of it."""
    out = tmp_path / "p.html"
    assert main(["trace", str(trace), "--html", str(out)]) == 0
    page = out.read_text()
    assert "http" not in page and "src=" not in page and "t.jsonl</title>" in page
    streams = json.loads(page.split("const data = ")[1].split(";\n")[0])
    assert {x["name"]: [y["frame"] for y in x["frames"]] for x in streams} == {"rx": [2], "tx": [0, 1, 3]}
    assert [y["lost"] for y in streams[1]["frames"]] == [False, False, True]
    assert main(["trace", str(trace), "--worst", "1", "--html", str(out)]) == 0
    assert json.loads(out.read_text().split("const data = ")[1].split(";\n")[0])[0]["frames"][0]["frame"] == 1
    trace.write_text(lines(record(0, "</script>")))
    assert main(["trace", str(trace), "--html", str(out)]) == 0
    assert out.read_text().count("</script>") == 1
    monkeypatch.setattr("emery.trace_page.MOST", 0)
    capsys.readouterr()
    assert main(["trace", str(trace), "--html", str(out)]) == 2
    assert "a page has room for 0 frames" in capsys.readouterr().err


def test_many_streams_are_one_in_the_table(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text(lines(*(record(x, f"{x}->0") for x in range(12))))
    assert main(["trace", str(path)]) == 0
    told = capsys.readouterr().out
    rows = [x.split() for x in told.splitlines() if "dma_read" in x]
    assert rows == [["(12", "streams)", "dma_read", "12", "20", "20", "20", "66.7", "%"]]


def test_frames_at_the_same_time_are_on_tracks_of_their_own(tmp_path):
    path, out = tmp_path / "t.jsonl", tmp_path / "p.json"
    path.write_text(lines(*(record(x, took=(250.0, 10.0)) for x in range(8))))
    traces.Trace(path).perfetto(out)
    frames = [x for x in json.loads(out.read_text())["traceEvents"] if x["name"].startswith("frame ")]
    assert len({x["tid"] for x in frames}) == 3


def test_python_and_parquet(trace, tmp_path, data_packages):
    import pyarrow
    from pyarrow import parquet

    packed = tmp_path / "t.parquet"
    parquet.write_table(
        pyarrow.Table.from_pylist([{"sure": True, **json.loads(x)} for x in trace.read_text().splitlines()]), packed
    )
    found = emery.trace(packed)
    assert list(found) == list(emery.trace(trace)) and not found.frame(3).sure
    assert [list(x.at) for x in found] == [list(x.at) for x in emery.trace(trace)]
    table = found.table()
    assert list(table["at.wire"].dropna()) == [30.0, 180.0, 230.0] and table["sure"].sum() == 3
    assert isinstance(found, emery.Trace) and isinstance(found.stages()[0], emery.Stage)


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (["host-nic", "--size", "64", "--frames", 1500, "--direction", "rx", "--set", "bad_fcs_every=40"], "bad_fcs"),
        (
            ["host-nic", "--size", "64-1518", "--frames", 300, "--direction", "tx", "--trace-bytes"],
            "data",
        ),  # several groups of rows
        (["direct-router", "--size", "64", "--frames", 100], "->"),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else x,
)
def test_a_run_writes_parquet(traced, data_packages, words, holds):
    """The simulator does, without a library; Arrow's reader finds in it what the lines of JSON say."""
    from pyarrow import parquet

    _, lines_ = traced(*words)
    _, table = traced(*words, ending=".parquet")
    assert list(table) == list(lines_) and [list(x.at) for x in table] == [list(x.at) for x in lines_]
    file = parquet.ParquetFile(table.path)
    file.read()  # the whole, with its types
    assert (file.num_row_groups > 1) == (holds == "data") == any(x.data for x in table)
    said = {x.reason for x in table} | {x.stream for x in table} | ({"data"} if table.frame(0).data else set())
    assert any(holds in x for x in said if x)
    assert str(file.schema_arrow.field("at").type).startswith("struct<") and file.schema_arrow.field("queue").type == "int32"


def test_parquet_needs_no_packages():
    words = ["run", "host-nic", "--trace", "x.parquet"]
    assert packages(words) == ("run",) and packages(["trace", "x.parquet"]) == ("data",)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "it has no frames"),
        ("x\n", ":1: not a trace: not JSON"),
        ("[]\n", ":1: not a trace: no record"),
        (lines(record(0)) + '{"frame": 1}\n', ":2: not a trace: no record with a stream"),
        (lines({**record(0), "at": {}}), "no record with times"),
        (lines({**record(0), "at": {"x": "y"}}), "no record with times"),
        (lines({**record(0), "bytes": True}), "no record with a bytes"),
        (lines({**record(0), "queue": -1}), "no record with a queue"),
        (lines({**record(0), "at": {"x": float("nan")}}), "no record with times"),
        (lines({**record(0), "at": {"x": -1.0}}), "no record with times"),
        (lines({**record(0), "data": "AA*="}), "base64"),
        (lines({**record(0), "data": 7}), "no record with data"),
        (lines(record(0))[:-9], ":1: not a trace: not JSON"),
        (lines(record(0)) + "\0\0", ":2: not a trace: not JSON"),
        (lines(record(0), record(1), record(0)), "not one trace: frame 0 comes behind frame 1"),
    ],
)
def test_files_that_are_no_trace(tmp_path, capsys, content, told):
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    assert main(["trace", str(path)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and told in said[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trace"], "FILE"),
        (["trace", "{}/none.jsonl"], "no such file"),
        (["trace", "{}/t.txt"], "name it *.jsonl or *.parquet"),
        (["trace", "{}/d.jsonl"], "is not a file"),
        (["trace", "{}/b.jsonl"], "not a trace"),
        (["trace", "{}/t.jsonl", "--frame", "4"], "there is no frame 4, the last one is 3"),
        (["trace", "{}/t.jsonl", "--frame", "-1"], "not a number"),
        (["trace", "{}/t.jsonl", "--worst", "0"], "not a number"),
        (["trace", "{}/t.jsonl", "--perfetto", "{}"], "is a directory"),
        (["trace", "{}/t.jsonl", "--perfetto", "{}/no/p.json"], "no directory"),
        (["trace", "{}/t.jsonl", "--html", "{}"], "is a directory"),
        (["run", "host-nic", "--trace", "{}/t.csv"], "name it *.jsonl or *.parquet"),
        (["run", "host-nic", "--trace", "{}/no/t.jsonl"], "no directory"),
        (["run", "host-nic", "--trace", ""], "it is empty"),
    ],
)
def test_refused(trace, tmp_path, capsys, words, told):
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "t.txt").write_text("")
    (tmp_path / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    assert main([x.format(tmp_path) for x in words]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and told in said[0], said


def test_what_may_be_null_may_be_left_out(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text(lines({name: x for name, x in record(0).items() if name not in ("queue", "reason")}))
    assert main(["trace", str(path), "--frame", "0"]) == 0
    assert capsys.readouterr().err == ""


def parquet_of(path, numbers, **how):
    """The bytes of a Parquet file with records of these numbers."""
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist([record(x) for x in numbers]), path, **how)
    return path.read_bytes()


def test_a_file_that_is_no_parquet(tmp_path, capsys, data_packages):
    path = tmp_path / "t.parquet"
    one, long = parquet_of(path, range(3), compression="none"), parquet_of(path, range(300), compression="none")
    files = [b"", b"PAR1 no", one[:-9], one + b"\0", one + one, one + long, long + one, one[:4] + bytes(99) + one[103:]]
    for content in [*files, parquet_of(path, [0, 1, 1])]:
        path.write_bytes(content)
        assert main(["trace", str(path)]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and said[0].startswith(f"emery: {path}: not "), said


def test_parquet_of_other_writers(tmp_path, capsys, data_packages):
    for how in ({}, {"write_page_index": True}, {"row_group_size": 2}):
        parquet_of(tmp_path / "t.parquet", [3, 4, 9], **how)
        assert main(["trace", str(tmp_path / "t.parquet")]) == 0, how
