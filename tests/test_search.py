# SPDX-License-Identifier: Apache-2.0
"""Searching for the highest rates, on devices whose limits are known because they are a script."""

import json

import pytest
from conftest import body, stream

from emery.cli import main
from emery.searches import Goal, confidence

# A line of 10 Mpps, and what a device makes of `rate`, a share of it.
DEVICE = """
import json
rate, seed = float(settings['rate']), int(settings['seed'])
micro = int(settings['duration_ps']) / 1e6 if 'duration_ps' in settings else 0
offered = round(rate * micro * 10) if micro else int(settings['frames'])
delivered, out, p99 = offered, rate * 10, 1500.0
{law}
result = json.loads({body!r})
for counts in (result['totals'], *result['streams'].values()):
    counts.update(offered=offered, delivered=delivered, dropped={{'full': offered - delivered}})
    counts['latency_ns']['p99'] = p99
    counts.update(mpps=out, l1_gbps=out and out * .672, l2_gbps=out and out * .512)
result['window'] = {{'from_ns': 0, 'to_ns': 1e3 * (micro or 1), 'steady': out is not None, 'settled_mpps': out}}
open(settings['result'], 'w').write(json.dumps(result))
sys.exit(0)
"""


@pytest.fixture
def device(tmp_path, fake):
    def put(law):
        result = json.dumps(body({"rx": stream(1)}))
        return fake(None, code=DEVICE.format(law=law, body=result))

    return put


def searched(tmp_path, *words):
    out = tmp_path / "out.json"
    base = [
        "search",
        "core-nic",
        "--size",
        "64",
        "--direction",
        "rx",
        "--duration",
        "1ms",
        "--out",
        str(tmp_path / "runs.jsonl"),
    ]
    assert main([*base, "--json", str(out), *words]) == 0
    return json.loads(out.read_text())


def test_throughput_is_the_highest_load_without_loss(tmp_path, device):
    device("if rate > .7212: delivered -= 1")
    found = searched(tmp_path, "--goals", "throughput,ndr,pdr")
    assert found["width"] == 0.005 and found["seeds"] == [1, 2, 3]
    goals = found["goals"]
    for name in ("throughput", "ndr"):
        assert (goals[name]["lower"], goals[name]["upper"]) == (0.72, 0.725)
        assert goals[name]["conditional_throughput"] == 0.72
    assert (goals["pdr"]["lower"], goals["pdr"]["upper"]) == (1.0, None)  # one frame of 10,000
    assert goals["pdr"]["conditional_throughput"] == pytest.approx(1 - 1e-4)
    assert goals["throughput"]["mpps"] == pytest.approx({"least": 7.2, "mean": 7.2, "most": 7.2})
    assert goals["throughput"]["latency_ns"]["rx"]["p99"] == {"least": 1500.0, "mean": 1500.0, "most": 1500.0}
    assert "back_to_back" not in found
    assert len(found["trials"]) == 3 * len({x["rate"] for x in found["trials"]}) < 3 * 12  # halves what is left each time


def test_partial_drop_rate(tmp_path, device):
    device("delivered = min(delivered, round(6 * micro))")
    goals = searched(tmp_path, "--goals", "ndr,pdr", "--seeds", "1")["goals"]
    assert goals["ndr"]["lower"] == 0.6 and goals["pdr"]["lower"] == 0.6  # 0.605 loses 0.83 %
    goals = searched(tmp_path, "--goals", "pdr", "--width", "0.001", "--seeds", "1")["goals"]
    assert goals["pdr"]["lower"] == 0.603 and goals["pdr"]["upper"] == 0.604
    assert goals["pdr"]["conditional_throughput"] == pytest.approx(0.6, abs=1e-4)


def test_seeds_that_differ(tmp_path, device):
    """RFC 2544 wants every trial without loss, NDR and PDR of CSIT half of them."""
    device("if rate > .2 + .1 * seed: delivered -= round(.5 * offered)")
    goals = searched(tmp_path, "--seed", "4", "--goals", "throughput,ndr", "--width", "0.1")["goals"]
    assert goals["throughput"]["lower"] == 0.6 and goals["ndr"]["lower"] == 0.7
    assert goals["throughput"]["exceeding"] == {"trials": 0, "of": 3, "share_below": pytest.approx(1 - 0.05 ** (1 / 3))}
    assert goals["ndr"]["exceeding"]["trials"] == 1 and goals["ndr"]["conditional_throughput"] == 0.7
    assert searched(tmp_path, "--seed", "4", "--seeds", "1", "--goals", "ndr", "--width", "0.1")["goals"]["ndr"]["lower"] == 0.6


def test_a_load_that_does_well_above_one_that_does_not(tmp_path, device):
    """Whoever tried it."""
    device("if .3 < rate < .52: delivered -= 1\nif rate > .55: delivered -= round(.002 * offered)\nif rate > .9: delivered = 0")
    goals = searched(tmp_path, "--goals", "pdr,throughput", "--width", "0.1")["goals"]
    assert goals["pdr"]["lower"] == 0.9
    assert goals["throughput"]["lower"] == 0.3 and goals["throughput"]["upper"] == 0.4


def test_what_is_held_back_counts_as_lost(tmp_path, device):
    """Nothing is dropped, but no more than 4 Mpps come out: queues grow, or whoever sends waits."""
    device("out = min(out, 4)")
    goals = searched(tmp_path, "--goals", "throughput,pdr", "--seeds", "1")["goals"]
    assert goals["throughput"]["lower"] == pytest.approx(0.4, abs=0.006)
    device("out = min(out, 4); offered = delivered = min(offered, round(4 * micro))")  # what is not taken is not offered
    goals = searched(tmp_path, "--goals", "throughput", "--seed", "2", "--seeds", "1")["goals"]
    assert goals["throughput"]["lower"] == pytest.approx(0.4, abs=0.006)


def test_delays_that_are_much_of_a_trial_are_said(tmp_path, device, capsys):
    """They may not have settled: more may hold."""
    device("out = min(out, 4); p99 = 130e3 if out == 4 else 9e5")
    trials = searched(tmp_path, "--goals", "throughput", "--width", "0.1", "--seeds", "1")["trials"]
    assert {x["p99_ns"] for x in trials} == {130e3, 9e5}
    assert "delays of 130 us are much of 1000 us: with a longer --duration more may hold" in capsys.readouterr().out
    device("out = min(out, 4); p99 = 120e3 if out == 4 else 9e5")
    searched(tmp_path, "--goals", "throughput", "--width", "0.1", "--seeds", "1", "--seed", "2")
    assert "delays of" not in capsys.readouterr().out


def test_nothing_holds(tmp_path, device, capsys):
    device("delivered -= 1")
    goals = searched(tmp_path, "--goals", "throughput", "--width", "0.1")["goals"]
    assert goals["throughput"]["lower"] is None and goals["throughput"]["upper"] == 0.1
    printed = capsys.readouterr().out
    assert "throughput" in printed and "10.0%" in printed


def test_back_to_back(tmp_path, device, capsys):
    """The longest burst, within 1 %, of each seed; of a device that loses nothing, the longest one tried."""
    device("if not micro and offered > 400 + 100 * seed: delivered -= 1")
    bursts = searched(tmp_path, "--goals", "back-to-back", "--seeds", "2")["back_to_back"]
    assert bursts["most_tried"] == 10_000
    assert all(0 <= 400 + 100 * seed - n <= 5 for seed, n in zip((1, 2), bursts["frames"], strict=True))
    assert bursts["mean"] == sum(bursts["frames"]) / 2
    device("pass")
    assert searched(tmp_path, "--goals", "back-to-back", "--seed", "9")["back_to_back"]["frames"] == [10_000] * 3
    assert "10,000+, 10,000+, 10,000+ frames" in capsys.readouterr().out


def test_runs_without_a_steady_window(tmp_path, device, capsys):
    """What is dropped decides alone; there are no rates, and the table says why."""
    device("if rate > .5: delivered -= 1\nout = None")
    goal = searched(tmp_path, "--goals", "throughput")["goals"]["throughput"]
    assert goal["lower"] == 0.5 and goal["mpps"] is None
    assert "never steady: a longer --duration" in capsys.readouterr().out


def test_a_search_goes_on_where_it_stopped(tmp_path, device):
    settings = device("if rate > .5: delivered -= 1")
    first = searched(tmp_path, "--goals", "throughput", "--width", "0.1")
    before = len((tmp_path / "runs.jsonl").read_text().splitlines())
    assert searched(tmp_path, "--goals", "throughput", "--width", "0.1") == first
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == before and settings(0)["rate"] == "0.2"


def test_a_table_over_sizes(tmp_path, device, capsys):
    """A search each, in one table; `rfc2544` is its seven sizes, not a mix of them."""
    device("if rate > .64 and int(settings['size'].partition(':')[0]) < 200: delivered -= 1")
    plot = tmp_path / "sizes.svg"
    command = ["search", "core-nic", "--duration", "1ms", "--out", str(tmp_path / "runs.jsonl"), "--goals", "throughput"]
    command += ["--width", "0.5", "--seeds", "1", "--json", str(tmp_path / "out.json")]
    assert main([*command, "--sizes", "rfc2544,64,64:7+594:4+1518", "--plot", str(plot)]) == 0
    found = json.loads((tmp_path / "out.json").read_text())["sizes"]
    sizes = ["64", "128", "256", "512", "1024", "1280", "1518", "64:7+594:4+1518"]
    assert [x["workload"]["size"] for x in found] == sizes
    assert [x["goals"]["throughput"]["lower"] for x in found] == [0.5, 0.5, *[1.0] * 5, 0.5]
    assert all(x["line_mpps"] == pytest.approx(10) and x["seeds"] == [1] for x in found)
    rows = [x.split() for x in capsys.readouterr().out.splitlines()]
    assert ["128", "10.000", "50.0%", "5.000", "3.36", "1,000", "1,500"] in rows
    text = plot.read_text()
    assert all(f">{x}</text>" in text for x in [*sizes, "throughput", "line rate"])


def test_confidence_is_exact():
    """1 - 0.05^(1/n) without one that exceeds; known values of Clopper and Pearson's bound with some."""
    assert confidence(0, 1) == pytest.approx(0.95)
    assert confidence(0, 59) == pytest.approx(0.0495, abs=1e-3)
    assert confidence(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert confidence(5, 10) == pytest.approx(0.7776, abs=1e-4)
    assert confidence(3, 3) == 1.0


def test_goals_of_trials():
    trials = [{"loss_ratio": x} for x in (0.0, 0.004, 0.006)]
    assert not Goal("", 0.0, 0.0).holds(trials) and not Goal("", 0.0, 0.5).holds(trials)
    assert Goal("", 0.005, 0.5).holds(trials) and not Goal("", 0.005, 0.3).holds(trials)
    assert Goal("", 0.006, 0.0).holds(trials)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rate", "0.5"], "without --rate"),
        (["--frames", "9"], "without --frames"),
        (["--goals", "throughputs"], "did you mean throughput"),
        (["--goals", ""], "there is no goal"),
        (["--seeds", "0"], "from 1 to 1000"),
        (["--width", "0.6"], "from 0.0001 to 0.5"),
        (["--width", "x"], "from 0.0001 to 0.5"),
        (["--json", "/nowhere/x"], "--json /nowhere/x"),
        (["--out", "/dev/full"], "/dev/full: not a file"),
        (["--size", "63"], "--size 63"),
        (["--sizes", "64,63"], "--size 63"),
        (["--sizes", "64,,65"], "--size "),
        (["--sizes", "64", "--size", "65"], "--sizes and --size: choose one"),
        (["--sizes", "64", "--pcap", "x.pcap"], "--sizes and --pcap: choose one"),
        (["--plot", "x.svg"], "--plot is for --sizes"),
        (["--sizes", "64", "--plot", "x.txt"], "--plot x.txt: name it"),
        (["--sizes", "64", "--plot", "/nowhere/x.svg"], "--plot /nowhere/x.svg"),
        (["--set", "core=1"], "no parameter core"),
    ],
)
def test_refuses(tmp_path, monkeypatch, capsys, device, words, says):
    device("raise SystemExit('nothing is run')")
    monkeypatch.chdir(tmp_path)
    assert main(["search", "core-nic", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and says in captured.err and captured.out == ""


def test_a_run_that_fails_ends_it(tmp_path, capsys, fake):
    fake(body({"rx": stream(9)}), status=1, last="integrity: 3 frames missing")
    assert main(["search", "core-nic", "--size", "64", "--out", str(tmp_path / "x.jsonl")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "3 frames missing" in said and "rate 0.25" in said
