# SPDX-License-Identifier: Apache-2.0
"""The shape of generated traffic, measured on what came over wires: arrivals, flows, IPv6 and VLAN tags, the closed loop."""

import json
import math
import statistics
import struct
from collections import Counter
from functools import partial

import conftest
import pytest
from conftest import body, read_pcap, stream, write_pcap
from routers import lost, runner
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import emery
from emery import limits, shapes, system
from emery.cli import main
from emery.common import ROOT, UserError
from emery.workload import workload

CARD = str(ROOT / "tests" / "loop_card")
FRAME_NS = 84 * 8  # of 64 bytes on a Gigabit line


@pytest.fixture
def card(simulate, tmp_path):
    """Runs the smallest card, which sends back what it gets; gives the result, and stamps and frames of its wire."""

    def run(*words):
        folder = tmp_path / "out"
        result = simulate(CARD, *words, "--pcap-out", folder, assertions=False)
        data, at, stamps = (folder / "wire0.pcap").read_bytes(), 24, []
        while at < len(data):
            seconds, ns, size, _ = struct.unpack_from("<IIII", data, at)
            stamps.append(seconds * 10**9 + ns)
            at += 16 + size
        assert result["totals"]["delivered"] == result["totals"]["offered"] == result["workload"]["sent"]["frames"]
        return result, stamps, read_pcap(folder / "wire0.pcap")

    return run


def flow(frame):
    return frame[26:38]


def between(stamps):
    return [b - a for a, b in zip(stamps, stamps[1:], strict=False)]


# ---------------------------------------------------------------- arrivals


def test_poisson(card):
    """Times between frames are exponential but for the length of a frame; their mean is the rate."""
    result, stamps, _ = card("--frames", 4000, "--rate", 0.02, "--arrivals", "poisson")
    gaps = between(stamps)
    mean = statistics.fmean(gaps)
    assert mean == pytest.approx(FRAME_NS / 0.02, rel=0.04)
    assert statistics.pstdev(gaps) / mean == pytest.approx(1, abs=0.06)
    for part in (0.5, 1, 2, 3):  # the tail of an exponential distribution
        assert sum(x > part * mean for x in gaps) / len(gaps) == pytest.approx(math.exp(-part), abs=0.025)
    halves = [statistics.fmean(gaps[n::2]) for n in (0, 1)]
    assert statistics.correlation(gaps[:-1], gaps[1:]) == pytest.approx(0, abs=0.05) and halves[0] == pytest.approx(
        halves[1], rel=0.08
    )
    assert result["workload"]["arrivals"] == "poisson" and result["window"]["steady"]


def test_frames_of_a_run_do_not_depend_on_when_they_start(card):
    found = [card("--frames", 200, "--size", "imix", "--rate", 0.2, *words)[2] for words in ([], ["--arrivals", "on-off:4"])]
    assert found[0] == found[1]


@pytest.mark.parametrize(("kind", "spread"), [("burst:8", 0), ("on-off:8", math.sqrt(8 * 7))])
def test_bursts(card, kind, spread):
    """So many back to back, all or in the mean; then nothing, so that the mean is the rate."""
    _, stamps, _ = card("--frames", 4000, "--rate", 0.2, "--arrivals", kind)
    gaps = between(stamps)
    lengths = [1]
    for gap in gaps:
        if gap < FRAME_NS + 16:
            lengths[-1] += 1
        else:
            lengths.append(1)
    assert statistics.fmean(lengths[:-1]) == pytest.approx(8, abs=1e-9 if not spread else 1)
    assert statistics.pstdev(lengths[:-1]) == pytest.approx(spread, abs=1e-9 if not spread else 1.2)
    assert statistics.fmean(gaps) == pytest.approx(FRAME_NS / 0.2, rel=0.01 if not spread else 0.1)


def test_a_capture_may_arrive_so_as_well(card, tmp_path):
    path = write_pcap(tmp_path / "a.pcap", [bytes([n] * 60) for n in range(100)])
    _, stamps, frames = card("--pcap", path, "--frames", 1000, "--rate", 0.05, "--arrivals", "poisson")
    gaps = between(stamps)
    assert frames[:100] == read_pcap(path) and statistics.fmean(gaps) == pytest.approx(FRAME_NS / 0.05, rel=0.1)
    assert statistics.pstdev(gaps) / statistics.fmean(gaps) == pytest.approx(1, abs=0.12)


# ---------------------------------------------------------------- flows


def test_zipf(card):
    """The slope of frames over rank, both as logarithms."""
    result, _, frames = card("--frames", 8000, "--flows", 50, "--flow-weights", "zipf:1.2")
    ranked = [n for _, n in Counter(map(flow, frames)).most_common(12)]
    slope = statistics.linear_regression([math.log(n) for n in range(1, 13)], [math.log(x) for x in ranked]).slope
    assert slope == pytest.approx(-1.2, abs=0.1)
    assert result["workload"]["flow_weights"] == "zipf:1.2"


def test_weights(card):
    _, _, frames = card("--frames", 4000, "--flows", 6, "--flow-weights", "6,0,1")
    shares = sorted(n / len(frames) for n in Counter(map(flow, frames)).values())
    assert shares == pytest.approx([0.1] * 4 + [0.6], abs=0.025)


def test_flows_that_end(card):
    """As many frames of each; the next has other addresses."""
    result, _, frames = card("--frames", 3000, "--flows", 4, "--flow-length", 20)
    lengths = Counter(map(flow, frames))
    assert sum(n == 20 for n in lengths.values()) >= len(lengths) - 4 and len({x[:4] for x in lengths}) == len(lengths)
    assert len(lengths) == result["workload"]["sent"]["flows"] == pytest.approx(150, abs=4)
    _, _, frames = card("--frames", 6000, "--flows", 4, "--flow-length", "zipf:2")
    ended = Counter(Counter(map(flow, frames)).values())
    assert ended[1] / sum(ended.values()) == pytest.approx(6 / math.pi**2, abs=0.06)


# ---------------------------------------------------------------- kinds of frames


def test_ipv6_and_vlan(card):
    """Shares of the frames; every one is as scapy would have made it, and as long as its headers need."""
    result, _, frames = card("--frames", 1500, "--flows", 200, "--ipv6", 0.4, "--vlan", 0.25, "--size", "64-128")
    seen, ids = Counter(), set()
    for frame in frames:
        packet = Ether(frame)
        ip = packet.getlayer(IPv6) or packet.getlayer(IP)
        tag = packet.getlayer(Dot1Q)
        seen[ip.version, bool(tag)] += 1
        ids |= {tag.vlan} if tag else set()
        again = packet.copy()
        for layer in (IP, UDP):
            if layer in again:
                again[layer].chksum = None
        assert bytes(again) == frame and (tag is None or tag.type in (0x0800, 0x86DD))
        assert 64 <= len(frame) + 4 <= 128 and (ip.version == 4 or len(frame) + 4 >= (78 if tag else 74))
        assert len(ip) == len(frame) - (18 if tag else 14)
    sent = result["workload"]["sent"]
    ipv6, vlan = seen[6, True] + seen[6, False], seen[4, True] + seen[6, True]
    assert (sent["ipv6"], sent["vlan"]) == (ipv6, vlan) and len(ids) > 30
    assert ipv6 / 1500 == pytest.approx(0.4, abs=0.04) and vlan / 1500 == pytest.approx(0.25, abs=0.04)


def test_the_limit_is_of_the_frames_that_were_sent(card):
    """Frames of 64 bytes that are longer where they are IPv6: the line is as full as it is."""
    result, _, frames = card("--frames", 3000, "--ipv6", 0.5, "--vlan", 0.5)
    mean = statistics.fmean(len(x) + 4 for x in frames)
    assert mean > 68 and result["limit"]["fraction"] == pytest.approx(1, abs=0.005)
    assert result["limit"]["mpps"] == pytest.approx(1e3 / (8 * (mean + 20)), rel=0.01)
    work = workload(system.load(CARD), {"size": "64", "ipv6": "0.5", "vlan": "0.5"})
    assert work.sizes() == {64: 0.5, 74: 0.25, 78: 0.25} and work.facts()["longest"] == 78
    assert work.sizes({"frames": 8, "ipv6": 1, "vlan": 8}) == {64: 7 / 8, 74: 0, 78: 1 / 8}
    plain = workload(system.load(CARD), {"size": "64-70", "ipv6": "1"})
    assert plain.sizes() == {**dict.fromkeys(range(64, 71), 0), 74: 7} and limits.limit(system.load(CARD), {}, plain)


@pytest.mark.parametrize(("name", "pattern"), [("direct-router", "uniform"), ("tile-router", "random")])
def test_ipv4_routers_drop_the_rest(name, pattern, simulate):
    """RFC 1812 is about IPv4: what has another type is not forwarded and counted, the rest is."""
    result = runner((name,), simulate)("--frames", 150, "--ipv6", 0.3, "--vlan", 0.2, "--rate", 0.2, pattern=pattern)
    sent = result["workload"]["sent"]
    assert sent["ipv6"] / sent["frames"] == pytest.approx(0.3, abs=0.1)
    assert max(sent["ipv6"], sent["vlan"]) < lost(result)["not_ip"] < sent["ipv6"] + sent["vlan"] and lost(result).keys() == {
        "not_ip"
    }
    only = runner((name,), simulate)("--frames", 150, "--ipv6", 0.3, "--rate", 0.2, pattern=pattern)
    assert lost(only) == {"not_ip": only["workload"]["sent"]["ipv6"]}
    assert only["totals"]["delivered"] == 0.7 * only["totals"]["offered"] or only["totals"]["delivered"] > 0


WIRE = {"capture": ["--set", "source=wire"]}


@pytest.mark.parametrize("name", system.names())
def test_every_system_takes_every_shape(name, tmp_path, capsys):
    """Mixes, flows that end, and arrivals; and nothing of it is lost sight of."""
    shape = ["--ipv6", "0.3", "--vlan", "0.3", "--flow-weights", "zipf:1.1", "--flow-length", "geometric:9"]
    sizes = ["--size", "64-300", "--frames", "120", "--rate", "0.2"]
    out = tmp_path / "result.json"
    for more in (["--arrivals", "poisson"], ["--arrivals", "on-off:9"], ["--closed-loop", "3"]):
        words = ["run", name, *sizes, *shape, *more, *WIRE.get(name, []), "--json", str(out)]
        assert main(words) == 0, capsys.readouterr().err
        result = json.loads(out.read_text())
        assert result["totals"]["offered"] == result["workload"]["sent"]["frames"] >= 120
        assert result["workload"]["sent"]["ipv6"] and result["workload"]["sent"]["vlan"]
        assert not result["limit"]["fraction"] or result["limit"]["fraction"] < 1.05


# ---------------------------------------------------------------- closed loop


@pytest.mark.parametrize("most", [1, 4])
def test_a_closed_loop(card, most):
    """No more are inside than were asked for: by Little's law rate times latency is that number at the most."""
    result, _, _ = card("--frames", 500, "--closed-loop", most, "--size", 1518)
    inside = result["totals"]["mpps"] * result["totals"]["latency_ns"]["p50"] / 1e3
    assert inside <= most + 0.05 and "written_off" not in result["workload"]["sent"]


def test_a_closed_loop_of_reads(tmp_path, capsys):
    """One at a time: the rate is one over the round trip; each frame follows the one before it."""
    rates = []
    for most in (1, 2):
        out = tmp_path / "result.json"
        words = ["run", "pcie-bench", "--direction", "tx", "--frames", "300", "--closed-loop", str(most), "--json", str(out)]
        assert main(words) == 0, capsys.readouterr().err
        total = json.loads(out.read_text())["totals"]
        rates.append(total["mpps"])
        assert total["mpps"] * total["latency_ns"]["p50"] / 1e3 == pytest.approx(most, rel=0.15)
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.1)


def test_a_closed_loop_does_not_wait_for_what_is_dropped(simulate):
    run = runner(("direct-router",), simulate)
    result = run("--frames", 100, "--closed-loop", 1, "--ipv6", 0.5)
    assert lost(result)["not_ip"] == result["workload"]["sent"]["ipv6"] > 0 and "written_off" not in result["workload"]["sent"]
    core = runner(("core-nic",), simulate)("--direction", "rx", "--frames", 60, "--closed-loop", 2, bad_fcs_every=10)
    assert sum(lost(core).values()) > 0 and "written_off" not in core["workload"]["sent"]


def test_a_closed_loop_goes_on_after_a_loss(simulate, tmp_path):
    """What a filter of the firmware's takes away is written off after a while, and other frames go in."""
    run = runner(("core-nic", "--direction", "rx", "--flows", "2", "--size", "64"), simulate)
    run("--frames", 10, "--pcap-out", tmp_path / "out")
    port = int.from_bytes(read_pcap(tmp_path / "out" / "host.pcap")[0][36:38])
    result = run("--frames", 40, "--closed-loop", 8, firmware="filter", drop_udp_port=port)
    assert result["totals"]["offered"] == 40 and 0 < sum(lost(result).values()) < 40
    assert 0 < result["workload"]["sent"]["written_off"] <= sum(lost(result).values())


# ---------------------------------------------------------------- words

refused = partial(conftest.refused, ("host-nic",))


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("arrivals", ["", "even", "constant:3", "poisson:2", "burst:0", "burst:", "on-off:-1", "burst:1e3", "burst:1000001"]),
        ("flow-weights", ["zipf:", "zipf:0", "zipf:10.1", "zipf:x", "1,", "1,-2", "0", "0,0", "1.5,2", "1000001", "½"]),
        ("flow-length", ["0", "-1", "geometric:0", "geometric:", "zipf:11", "pareto:1", "1000001", "³"]),
        ("ipv6", ["-0.1", "1.1", "2", "nan", "1e-3", "30%"]),
        ("vlan", ["-0", "1.000000001", "x"]),
        ("closed-loop", ["0", "-1", "1.5", "1000001"]),
    ],
)
def test_values_that_are_refused(option, wrong, capsys):
    for value in wrong:
        line = refused(capsys, "--size", 64, f"--{option}={value}")
        assert line.startswith((f"emery: --{option} {value}: ", f"emery: argument --{option}: ")), line


def test_options_that_do_not_go_together(capsys, tmp_path):
    path = write_pcap(tmp_path / "a.pcap", [bytes(60)])
    for option in shapes.GENERATED:
        assert f"{shapes.flag(option)}: it is for generated frames" in refused(
            capsys, "--pcap", path, f"{shapes.flag(option)}=1"
        )
    assert "--arrivals and --timed: choose one" in refused(capsys, "--pcap", path, "--timed", "--arrivals", "poisson")
    assert "--arrivals and --closed-loop: choose one" in refused(
        capsys, "--size", 64, "--closed-loop", 1, "--arrivals", "burst"
    )
    assert "3 weights for 2 flows" in refused(capsys, "--size", 64, "--flows", 2, "--flow-weights", "1,2,3")


def test_what_is_as_by_default_is_not_said(tmp_path, fake):
    """Neither to the bench nor in the result: a run is the same run however it is asked for."""
    settings, digests, out = fake(body({"tx": stream(100), "rx": stream(100)})), [], tmp_path / "out.json"
    plain = ["--arrivals", "constant", "--flow-weights", "equal", "--ipv6", "0", "--vlan", "0.0"]
    for n, words in enumerate(
        ([], plain, ["--arrivals", "burst"], ["--arrivals", "burst:32"], ["--ipv6", ".5"], ["--closed-loop", "7"])
    ):
        assert main(["run", "host-nic", "--size", "64", *words, "--json", str(out)]) == 0
        result = json.loads(out.read_text())
        digests.append(result["identity"]["digest"])
        told = {x: settings(n)[x] for x in shapes.OPTIONS if x in settings(n)}
        assert told == {x: str(result["workload"][x]) for x in shapes.OPTIONS if x in result["workload"]}
        assert bool(told) == (n > 1)
    assert digests[0] == digests[1] and digests[2] == digests[3] and len(set(digests)) == 4


def test_from_python(fake):
    settings = fake(body({"tx": stream(100), "rx": stream(100)}))
    result = emery.run("host-nic", size=64, flow_weights=[9, 1], closed_loop=3, vlan=0.5)
    assert (settings(0)["flow_weights"], settings(0)["closed_loop"], settings(0)["vlan"]) == ("9,1", "3", "0.5")
    assert result.data["workload"]["vlan"] == 0.5


def test_what_sweeps_may_vary():
    target = system.load("core-nic")
    work = workload(target, {"size": "64", "ipv6": "0.25", "arrivals": "on-off", "flow_length": "geometric:07"})
    assert work.shape == {"arrivals": "on-off:32", "flow_length": "geometric:7", "ipv6": 0.25}
    assert "on-off:32 arrivals" in work.title() and "25 % IPv6" in work.title()
    with pytest.raises(UserError, match="--flow-length 0"):
        workload(target, {"flow_length": "0"})
