# SPDX-License-Identifier: Apache-2.0
"""Sweeps: which points there are, what is said of those that fail, how long it takes, tables and plots of all."""

import csv
import json
import re
from types import SimpleNamespace

import pytest
from conftest import body, stream

from emery import data, points, sweeps, system
from emery.cli import main, packages
from emery.commands import options
from emery.common import ROOT, UserError
from emery.make import cache

TARGET = system.load("host-nic")


def swept(tmp_path, *words):
    return main(["sweep", "host-nic", "--size", "64", "--out", str(tmp_path / "runs.jsonl"), *words])


@pytest.fixture
def device(fake):
    """One that does better with larger mps, and not at all with 512."""
    code = "mps = int(settings['mps'])\nif mps == 512: print('integrity: lost', file=sys.stderr), sys.exit(1)\n"
    code += "import json; result = json.loads({body!r}); result['totals']['mpps'] = mps / 10\n"
    code += "open(settings['result'], 'w').write(json.dumps(result)); sys.exit(0)"
    both = {"tx": stream(100), "rx": stream(100, {"rx_buffer_full": 4})}
    return fake(None, code=code.replace("{body!r}", repr(json.dumps(body(both, stream(200, {"rx_buffer_full": 4}))))))


def test_a_grid_has_all_combinations():
    found = points.grid(TARGET, ["mps=128,256", "size=64,imix"])
    assert found == [{"mps": m, "size": s} for m in ("128", "256") for s in ("64", "imix")]


def test_draws_lie_in_their_ranges_and_stay():
    over = ["tx_queues=16..4096", "read_latency_ns=100..900", "rate=0.5..1", "pcie_gen=1,3", "mtu=1500..9000"]
    found = points.draws(TARGET, over, 300)
    assert found[:10] == points.draws(TARGET, over, 10)  # more of them begin with the same
    assert {int(x["tx_queues"]) for x in found} == {1 << n for n in range(4, 13)}
    latencies = [int(x["read_latency_ns"]) for x in found]
    assert 100 <= min(latencies) < 150 and 850 < max(latencies) <= 900
    rates = [float(x["rate"]) for x in found]
    assert 0.5 <= min(rates) < 0.55 and 0.95 < max(rates) <= 1 and len(set(rates)) > 290
    assert {x["pcie_gen"] for x in found} == {"1", "3"}
    wide = sorted(int(x["flows"]) for x in points.draws(TARGET, ["flows=1..10000"], 300))
    assert 50 < wide[150] < 200  # evenly by the logarithm


def test_ranges_are_written_as_the_page_has_them():
    """`.1..1` was read as a value, not as a range; the page's own command was refused."""
    found = [float(x["rate"]) for x in points.draws(TARGET, ["rate=.1..1"], 100)]
    assert 0.1 <= min(found) < 0.2 and 0.9 < max(found) <= 1 and len(set(found)) > 90


def test_commands_of_the_page_name_points_that_there_are():
    """Each `--over` and `--sample` of it."""
    commands = re.findall(r"^\./emery sweep ([a-z-]+) (.*)$", (ROOT / "docs" / "sweep.md").read_text(), re.MULTILINE)
    for name, words in commands:
        over, sample = re.findall(r"--over (\S+)", words), re.search(r"--sample (\d+)", words)
        if over:
            target = system.load(name)
            assert points.draws(target, over, int(sample[1])) if sample else points.grid(target, over)
    assert len(commands) > 3


def test_sources_are_looked_at_once_for_all_points(tmp_path, monkeypatch):
    """That took longer than a small run, for each point, also of a sweep that is resumed."""
    monkeypatch.setenv("EMERY_JOBS", "1")
    looked, digest = [], cache.sources_digest
    monkeypatch.setattr(cache, "sources_digest", lambda source, *more: looked.append(source) or digest(source, *more))
    words = ["sweep", "pcie-bench", "--over", "seed=1,2,3,4", "--frames", "20", "--out", str(tmp_path / "runs.jsonl")]
    for _ in range(2):
        looked.clear()
        assert main(words) == 0
        assert len(looked) == len(set(looked)) > 10


def test_a_list(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("mps, size\n128, 64\n,imix\n\n256,\n")
    assert points.listed(TARGET, str(path)) == [{"mps": "128", "size": "64"}, {"size": "imix"}, {"mps": "256"}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a line with names"),
        ("mps\n", "a line with names"),
        ("mps,sise\n1,2\n", "did you mean size"),
        ("mps,size\n128\n", "point 1 has 1 values, not 2"),
        ("mps\n129\n", "out of range"),
        (b"\xff\xfe\x00", "not a table of text"),
    ],
)
def test_lists_that_are_refused(tmp_path, text, says):
    path = tmp_path / "points.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=re.escape(says)):
        points.listed(TARGET, str(path))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give --over (once or more), or --list"),
        (["--over", "mps=128", "--list", "x"], "give --over"),
        (["--list", "x", "--sample", "3"], "--sample is for --over"),
        (["--list", "nowhere.csv"], "--list nowhere.csv: No such file"),
        (["--list", "/"], "--list /: Is a directory"),
        (["--over", "mps=128..512"], "a range is for --sample"),
        (["--over", "mps=128,x"], "parameter mps"),
        (["--over", "mps=1..512", "--sample", "2"], "out of range"),
        (["--over", "size=64,63"], "--size 63"),
        (["--over", "size=64", "--over", "mps=128", "--over", "size=65"], "--over size=65: size is given twice"),
        (["--over", "size=64,65,64"], "--over size=64,65,64: 64 is given twice"),
        (["--over", "mps=128,0128"], "--over mps=128,0128: 0128 is given twice"),
        (["--over", "size=64..99", "--over", "size=65", "--sample", "2"], "size is given twice"),
        (["--over", "rate=0.1..2", "--sample", "2"], "--rate 2"),
        (["--over", "seed=1,x"], "--seed x"),
        (["--over", "mps=128,256", "--sample", "0"], "from 1 to 1000000"),
        (["--over", "mps=128", "--table", "x.txt"], "name it *.csv or *.parquet"),
        (["--over", "mps=128", "--plot", "/nowhere/x.svg"], "--plot /nowhere/x.svg"),
        (["--over", "tx_queues=4", "--over", "rx_queues=2", "--set", "ports=4"], "rx_queues=2, ports=4"),
    ],
)
def test_refused(tmp_path, capsys, monkeypatch, device, words, says):
    monkeypatch.chdir(tmp_path)
    assert swept(tmp_path, *words) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and says in captured.err and captured.out == ""


def test_points_that_cannot_be_run_are_told_beside_the_others(tmp_path, capsys, device):
    """Settings that do not go together, and a run that fails."""
    words = ["--set", "ports=4", "--over", "rx_queues=2,16", "--over", "mps=128,512"]
    assert swept(tmp_path, *words) == 1
    lines = capsys.readouterr().out.splitlines()[2:6]
    assert [x.split()[:3] for x in lines] == [
        ["2", "128", "failed"],
        ["2", "512", "failed"],
        ["16", "128", "200"],
        ["16", "512", "failed"],
    ]
    assert "rx_queues=2, ports=4" in lines[0] and lines[3].endswith("lost")


def test_what_does_nothing_at_a_point_is_left_out_there(tmp_path, capsys, device):
    """What all points have in common is refused only where no point has a use for it; an axis is what was asked for."""
    grid = points.grid(TARGET, ["direction=tx,rx"])
    found, _ = sweeps.Sweep(TARGET, grid, ["segments=4"], {"size": "64"}, str(tmp_path / "x")).run(lambda line: None)
    assert [x["parameters"]["segments"] for _, x in found] == [4, 1]
    assert swept(tmp_path, "--over", "direction=rx", "--set", "segments=4") == 2
    assert "segments does nothing unless" in capsys.readouterr().err
    assert swept(tmp_path, "--over", "direction=tx,rx", "--over", "segments=1,4") == 1
    out = capsys.readouterr().out
    assert len(re.findall(r"^rx +4 +failed .*: segments does nothing unless", out, re.M)) == out.count("failed") == 1


def test_a_sweep_says_how_long_it_takes(tmp_path, device, monkeypatch):
    said, clock = [], iter(range(0, 10**6, 60))
    monkeypatch.setattr(options, "say", lambda: said.append)
    monkeypatch.setenv("EMERY_JOBS", "1")
    monkeypatch.setattr(sweeps, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert swept(tmp_path, "--over", "mps=128,256", "--over", "seed=1,2") == 0
    assert said[0] == "mps 128, seed 1: 12.800 Mpps (1 of 4, 3.0 min left)" and said[3].endswith("(4 of 4)")
    assert [sweeps.span(x) for x in (5, 90, 9000)] == ["5 s", "1.5 min", "2.5 h"]


def test_tables(tmp_path, device):
    out = tmp_path / "out.csv"
    assert swept(tmp_path, "--over", "mps=128,256,512", "--table", str(out)) == 1
    rows = list(csv.DictReader(out.open()))
    assert [x["mps"] for x in rows] == ["128", "256", "512"] and [x["totals.mpps"] for x in rows] == ["12.8", "25.6", ""]
    assert rows[0]["streams.rx.dropped.rx_buffer_full"] == "4" and rows[0]["totals.lost"] == "0.02"
    assert rows[0]["limit.by"] and float(rows[0]["totals.latency_ns.p99"]) == 1500.0 and len(rows[0]["identity"]) == 64
    assert rows[2]["failure"] == "lost" and not rows[0]["failure"]


def test_parquet(tmp_path, data_packages, device):
    from pyarrow import parquet

    out = tmp_path / "out.parquet"
    assert swept(tmp_path, "--over", "mps=128,256,512", "--table", str(out)) == 1
    table = parquet.read_table(out).to_pydict()
    assert table["mps"] == [128, 256, 512] and table["totals.mpps"] == [12.8, 25.6, None] and table["failure"][2] == "lost"
    assert table["totals.offered"] == [200, 200, None]


def test_parquet_brings_its_packages():
    words = ["sweep", "host-nic", "--over", "mps=128", "--table"]
    assert packages([*words, "x.parquet"]) == ("run", "data") and packages([*words, "x.csv"]) == ("run",)


def test_columns_of_one_kind():
    assert data._column([1, 2.5, None]) == [1.0, 2.5, None] and data._column([1, "x", None]) == ["1", "x", None]
    assert data._column([True, None]) == [True, None] and [data.typed(x) for x in ("4", ".5", "imix")] == [4, 0.5, "imix"]


@pytest.mark.parametrize(("name", "begins"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_plots(tmp_path, device, name, begins):
    out = tmp_path / name
    assert swept(tmp_path, "--over", "mps=128,256", "--over", "size=64,imix", "--plot", str(out)) == 0
    assert out.read_bytes().startswith(begins)


def test_a_legend_hides_nothing(tmp_path, device, monkeypatch):
    """A line without rates (never steady) is in it too, with the same colour in every panel; what has no number is counted."""
    from matplotlib import figure

    drawn = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *a, **k: drawn.append(self))
    unsteady = body({"tx": stream(100)}, stream(100)) | {
        "window": {"from_ns": 0, "to_ns": 1, "steady": False},
        "identity": {"digest": ""},
    }
    unsteady["totals"].update(mpps=None, l1_gbps=None, l2_gbps=None)
    rows = [({"mps": mps, "size": size}, {}) for mps in (128, 256) for size in (64, 1518)]
    steady = {**body({"tx": stream(100)}, stream(100)), "identity": {"digest": ""}}
    done = [(x, unsteady if x["size"] == 64 else steady) for x, _ in rows]
    data.plot(str(tmp_path / "a.svg"), "t", [*done, ({"mps": 512, "size": 64}, {"failure": "lost"})])
    (canvas,) = drawn
    assert [x.get_text() for x in canvas.legends[0].get_texts()] == ["size 64", "size 1518"]
    colours = [{line.get_label(): line.get_color() for line in axes.lines} for axes in canvas.axes]
    assert list(colours[0]) == ["size 1518"] and len(colours[2]) == 2 and colours[0].items() <= colours[2].items()
    assert canvas.get_suptitle() == "t, 1 failed, 2 without a steady rate"
    assert all(axes.get_ylim()[0] == 0 for axes in canvas.axes)


def test_what_is_plotted(tmp_path, device, monkeypatch):
    """A line for each combination of the other names; words stand beside each other; what failed leaves a gap."""
    from matplotlib import axes

    drawn = []
    plain = axes.Axes.plot
    monkeypatch.setattr(axes.Axes, "plot", lambda self, *x, **k: (drawn.append((k["label"], x)), plain(self, *x, **k))[1])
    assert swept(tmp_path, "--over", "mps=256,128,512", "--over", "seed=1,2", "--plot", str(tmp_path / "a.svg")) == 1
    assert drawn[:2] == [("seed 1", ((128, 256), (12.8, 25.6))), ("seed 2", ((128, 256), (12.8, 25.6)))]
    drawn.clear()
    assert swept(tmp_path, "--over", "size=imix,64", "--plot", str(tmp_path / "a.svg")) == 0
    assert drawn[0] == ("", ((0, 1), (25.6, 25.6)))
