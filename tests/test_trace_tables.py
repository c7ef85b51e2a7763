# SPDX-License-Identifier: Apache-2.0
"""`emery trace --by`, `--series`, `--histogram`, `--pcapng`: numbers that are known by hand, and files that others read."""

import csv
import json

import pytest
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgReader
from test_trace import lines, record

import emery
from emery import trace_tables
from emery.cli import main
from emery.common import ROOT
from emery.trace_records import Frame

CARD = str(ROOT / "tests" / "loop_card")


def frame(number, start, took, queue=0, size=64, stream="rx", reason=None):
    """A frame of 64 bytes; one that is dropped was seen last after `took`."""
    outcome = "dropped" if reason else "delivered"
    return Frame(number, stream, size, number % 3, queue, outcome, reason, {"a": float(start), "b": float(start + took)})


# Every 100 ns a frame, three of four of queue 1; each is delivered after 250 ns, every tenth is dropped then.
FRAMES = [frame(n, 100 * n, 250, queue=int(n % 4 != 0), reason="full" if n % 10 == 9 else None) for n in range(400)]


def write(tmp_path, frames, **more):
    path = tmp_path / "t.jsonl"
    path.write_text(lines(*({**vars(x), **more} for x in frames)))
    text = path.read_text()
    path.write_text(text.replace('"data": null, ', "").replace(', "data": null', ""))
    return path


# ---------------------------------------------------------------- rows


def test_queues():
    """Rates are of the time between the first delivery (250 ns) and the last offer (39.9 us)."""
    first, second = trace_tables.groups(FRAMES, "queue")
    assert [first[x] for x in ("stream", "queue", "offered", "delivered", "dropped")] == ["rx", 0, 100, 100, 0]
    assert [second[x] for x in ("queue", "offered", "delivered", "dropped")] == [1, 300, 260, 40]
    assert second["lost"] == pytest.approx(40 / 300)
    assert first["mpps"] == pytest.approx(2.5, rel=0.02) and second["mpps"] == pytest.approx(6.5, rel=0.02)
    assert first["l2_gbps"] == pytest.approx(first["mpps"] * 64 * 8e-3)
    assert first["l1_gbps"] == pytest.approx(first["mpps"] * 84 * 8e-3)
    assert [first[f"latency_ns.{x}"] for x in ("min", "p50", "p99", "max")] == [250.0] * 4
    together = trace_tables.groups(FRAMES, "stream")
    assert len(together) == 1 and together[0]["mpps"] == pytest.approx(first["mpps"] + second["mpps"])


def test_latencies_are_the_nearest_ranks():
    (row,) = trace_tables.groups([frame(n, n, n + 1) for n in range(1000)], "stream")
    assert [row[f"latency_ns.{x}"] for x in ("min", "p50", "p99", "p999", "max")] == [1, 500, 990, 999, 1000]


def test_nothing_delivered_has_no_rates():
    (row,) = trace_tables.groups([frame(0, 0, 5, reason="full")], "flow")
    assert row["mpps"] is row["latency_ns.p50"] is None and row["lost"] == 1
    assert trace_tables.fairness([row]) == {"rx": None}
    assert trace_tables.histogram([frame(0, 0, 5, reason="full")], "stream") == []


def test_fairness():
    """Three shares to one: (3 + 1) ** 2 / (2 * (9 + 1)); equal ones: 1; one that has all of three: 1/3."""

    def of(*rates):
        return trace_tables.fairness([{"stream": "rx", "l2_gbps": x} for x in rates])["rx"]

    assert of(3, 1) == pytest.approx(0.8) and of(2, 2, 2) == pytest.approx(1) and of(0, 5, 0) == pytest.approx(1 / 3)


def test_worst_groups():
    rows = trace_tables.groups([*FRAMES, frame(400, 40000, 900, queue=7)], "queue")
    assert [x["queue"] for x in trace_tables.worst(rows, 2)] == [1, 7]  # loss first, then the slowest
    kept = trace_tables.only(FRAMES, trace_tables.worst(rows, 1), "queue")
    assert {x.queue for x in kept} == {1}


def test_series():
    rows = trace_tables.series(FRAMES, 1000, "stream")
    assert [x["from_ns"] for x in rows] == [1000 * n for n in range(41)]
    assert [rows[0][x] for x in ("offered", "delivered", "dropped")] == [10, 8, 0]  # those of 800 and 900 ns are inside
    assert [rows[5][x] for x in ("offered", "delivered", "dropped")] == [10, 9, 1]
    assert rows[5]["l2_gbps"] == pytest.approx(9 * 64 * 8 / 1000) and rows[5]["latency_ns.p99"] == 250
    for name in ("offered", "delivered", "dropped"):
        assert sum(x[name] for x in rows) == trace_tables.groups(FRAMES, "stream")[0][name]
    assert len(trace_tables.series(FRAMES, 1000, "queue")) == 2 * 41
    gap = trace_tables.series([frame(0, 0, 10), frame(1, 5000, 10)], 1000, "stream")
    assert [x["offered"] for x in gap] == [1, 0, 0, 0, 0, 1] and gap[2]["latency_ns.p50"] is None


@pytest.mark.parametrize("took", [(100, 104, 101, 103), (10, 20, 50_000, 1_000_000), (7, 7, 7, 7), (0, 0, 1, 2)])
def test_every_frame_is_in_the_histogram(took):
    rows = trace_tables.histogram([frame(n, 0, x) for n, x in enumerate(took)], "stream")
    assert sum(x["frames"] for x in rows) == len(took) and rows[-1]["below"] == 1 and len(rows) < 60
    for row in rows:
        assert row["frames"] == sum(row["from_ns"] <= x < row["to_ns"] for x in took)
    assert all(a["to_ns"] == b["from_ns"] for a, b in zip(rows, rows[1:], strict=False))


# ---------------------------------------------------------------- the command


def test_tables(tmp_path, capsys):
    path = write(tmp_path, FRAMES)
    assert main(["trace", str(path), "--by", "queue", "--worst", "1", "--table", str(tmp_path / "t.csv")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[2].split()[:6] == ["rx", "1", "300", "260", "40", "13.33%"] and "fairness of queues" in told[4]
    (row,) = csv.DictReader((tmp_path / "t.csv").open())
    assert row["queue"] == "1" and float(row["mpps"]) == trace_tables.groups(FRAMES, "queue")[1]["mpps"]
    assert main(["trace", str(path), "--by", "queue", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == trace_tables.groups(FRAMES, "queue")
    assert found["fairness"]["rx"] == pytest.approx((2.5 + 6.5) ** 2 / (2 * (2.5**2 + 6.5**2)), rel=0.01)
    assert main(["trace", str(path), "--series", "10us"]) == 0
    assert [x.split()[1:4] for x in capsys.readouterr().out.splitlines()[2:5]] == [
        ["0", "100", "89"],
        ["10,000", "100", "90"],
        ["20,000", "100", "90"],
    ]
    assert main(["trace", str(path), "--histogram"]) == 0
    assert capsys.readouterr().out.count("#" * 40) == 1


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["--by", "queue"], ["rx queue 1", "Gb/s L2", "p99 latency, ns", "part lost"]),
        (["--by", "stream"], ["Gb/s L2", "part lost"]),
        (["--series", "2us"], ["time, us", "latency of a window, ns", "rx p99", "frames dropped in a window"]),
        (["--histogram", "--by", "queue"], ["latency, ns", "% of the frames", "rx queue 1"]),
    ],
)
def test_plots(tmp_path, words, labels):
    path, out = write(tmp_path, FRAMES), tmp_path / "p.svg"
    assert main(["trace", str(path), *words, "--plot", str(out)]) == 0
    drawn = out.read_text()
    assert all(f">{x}" in drawn for x in labels) and "<path" in drawn
    assert main(["trace", str(path), *words, "--plot", str(tmp_path / "q.svg")]) == 0
    assert (tmp_path / "q.svg").read_text() == drawn and path.name in drawn


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["--perfetto"], "p.json"),
        (["--html"], "p.html"),
        (["--by", "flow", "--table"], "p.csv"),
        (["--by", "flow", "--table"], "p.parquet"),
        (["--by", "flow", "--json"], "p.json"),
        (["--by", "flow", "--plot"], "p.svg"),
    ],
)
def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, capsys, data_packages, words, name):
    path, out = write(tmp_path, FRAMES), tmp_path / name
    out.symlink_to("/dev/full")
    assert main(["trace", str(path), *words, str(out)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and told[0].startswith(f"emery: {out}: ") and "No space left on device" in told[0]


def test_a_plot_of_many_queues(tmp_path):
    path, out = write(tmp_path, [frame(n, n, 5, queue=n % 50) for n in range(200)]), tmp_path / "p.svg"
    assert main(["trace", str(path), "--by", "queue", "--plot", str(out)]) == 0
    assert ">queue<" in out.read_text()


def test_from_python(tmp_path, data_packages):
    found = emery.trace(write(tmp_path, FRAMES))
    assert list(found.by("queue")["delivered"]) == [100, 260] and found.fairness("queue")["rx"] < 1
    assert found.series(1000)["offered"].sum() == 400
    assert found.histogram("queue")["frames"].sum() == 360
    with pytest.raises(emery.UserError, match="there is no que"):
        found.by("que")
    with pytest.raises(emery.UserError, match="is no window"):
        found.series(0)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--by", "colour"], "invalid choice"),
        (["--series", "5"], "write a number with a unit"),
        (["--series", "1ps"], "more than 200,000 rows"),
        (["--series", "1us", "--histogram"], "one at a time"),
        (["--table", "{}/x.csv"], "are of --by"),
        (["--by", "flow", "--table", "{}/x.txt"], "name it *.csv or *.parquet"),
        (["--by", "flow", "--plot", "{}/x.txt"], "name it *.png or *.svg or *.pdf"),
        (["--by", "flow", "--plot", "{}/no/x.png"], "no directory"),
        (["--by", "flow", "--json", "{}"], "is a directory"),
        (["--pcapng", "{}"], "is a directory"),
        (["--pcapng", "{}/x.pcapng"], "it has no bytes of the frames: run with --trace-bytes"),
    ],
)
def test_refused(tmp_path, capsys, words, told):
    path = write(tmp_path, FRAMES)
    assert main(["trace", str(path), *(x.format(tmp_path) for x in words)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and told in said[0], said


def test_too_many_lines_for_a_plot(tmp_path, capsys):
    path = write(tmp_path, [frame(n, n, 5, queue=n) for n in range(20)])
    words = ["trace", str(path), "--series", "1us", "--by", "queue", "--plot", str(tmp_path / "p.png")]
    assert main(words) == 2 and "20 lines cannot be told from each other" in capsys.readouterr().err
    assert main([*words, "--worst", "4"]) == 0


# ---------------------------------------------------------------- frames for Wireshark


def test_comments_and_places(tmp_path):
    """What scapy reads: stamps, interfaces, lengths, what became of each."""
    frames = [
        {**record(0), "data": "AAECAwQF"},
        {**record(1, "rx", took=(5.0,), reason="tx_error", sure=False), "data": "AAEC", "queue": 4},
    ]
    path, out = tmp_path / "t.jsonl", tmp_path / "t.pcapng"
    path.write_text(lines(*frames))
    assert main(["trace", str(path), "--pcapng", str(out)]) == 0
    first, second = PcapNgReader(str(out))
    assert first.sniffed_on == "tx" and second.sniffed_on == "rx"
    assert (bytes(first), first.wirelen, float(first.time)) == (bytes(range(6)), 60, 0.0)
    assert first.comment == b"frame 0 delivered; tx, flow 0; ns from driver: dma_read +10, wire +30"
    assert float(second.time) == pytest.approx(100e-9) and bytes(second) == bytes(range(3))
    assert second.comment.startswith(b"frame 1 dropped: tx_error (or another in its place); rx, flow 1")


def test_a_run_can_be_played_from_its_trace(tmp_path, capsys):
    """Bytes of frames in trace and pcapng are those that were sent: played again, the same comes out."""
    run = ["run", CARD, "--size", "64-300", "--frames", "30"]
    trace, out, first, second = (tmp_path / x for x in ("t.jsonl", "t.pcapng", "1.json", "2.json"))
    assert main([*run, "--json", str(first), "--trace", str(trace), "--trace-bytes"]) == 0
    assert main(["trace", str(trace), "--pcapng", str(out)]) == 0
    assert all(isinstance(x, Ether) and "delivered" in x.comment.decode() for x in PcapNgReader(str(out)))
    assert main(["run", CARD, "--pcap", str(out), "--json", str(second)]) == 0
    found = [json.loads(x.read_text()) for x in (first, second)]
    assert found[0]["digest"] == found[1]["digest"] and found[0]["totals"]["delivered"] == 30
    assert main([*run, "--trace", str(trace), "--trace-bytes", "20"]) == 0
    assert {len(x.data) for x in emery.trace(trace)} == {20}
    capsys.readouterr()
    assert main([*run, "--trace-bytes"]) == 2 and "--trace FILE" in capsys.readouterr().err
