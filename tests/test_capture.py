# SPDX-License-Identifier: Apache-2.0
"""capture as a whole: RTL, links, capture library and consumers, through the command line; assertions in the RTL are on."""

import subprocess
from functools import partial

import conftest
import pytest
from conftest import HARM, limit_of, padded, read_pcap, writable

from emery.common import ROOT
from emery.make import build, formats, registers

SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"
refused = partial(conftest.refused, ("capture", "--assertions"))


@pytest.fixture
def capture(simulate):
    """Runs capture with `name=value` settings; gives its result."""
    return partial(simulate, "capture")


def whole(result, *reasons):
    """Nothing harmed, and nothing lost but for these reasons, each of which occurred."""
    stream = result["streams"]["rx"]
    assert not any(stream[x] for x in HARM)
    assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values()) and stream["delivered"] > 0
    assert set(stream["dropped"]) == set(reasons)
    return stream


def test_library(tmp_path):
    """The capture library as C11, against a device in C whose links bring writes in their own time, die and come back."""
    folder = registers.generate(ROOT / "systems" / "capture" / "capture.rdl", ["cap_regs"], "capture")
    program = tmp_path / "emcap_test"
    words = ["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{folder}"]
    words.append(f"-I{formats.generate(('cap_pkg',))}")
    sources = [str(ROOT / "sw" / "capture" / x) for x in ("emcap.c", "emcap_test.c")]
    subprocess.run([*words, *sources, "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "PASS\n", done.stdout


def test_a_link_that_is_lost_when_nothing_comes_any_more(capture):
    """Looking after 32 rings takes longer than the time between two looks: what went with the link is counted all the same."""
    result = capture(
        "--size", "64", "--frames", "2000", source="wire", rings=32, consumers=4, link_rate=0.3, link_lost_at_us=20
    )
    assert result["totals"]["dropped"]["link_lost"] > 500


@pytest.mark.parametrize(
    ("much", "lost_at"), [(("--frames", 900), 20), (("--duration", "30us"), 29.2), (("--duration", "30us"), 30)]
)
def test_a_link_lost_while_the_generator_is_looked_after(capture, much, lost_at):
    """Until the loss is known its registers read as ones and take no writes: neither ends the run too soon, or never."""
    faults = {"fault_link": 0, "link_lost_at_us": lost_at, "link_back_at_us": 60}
    result = capture("--size", "64-1518", "--rate", "0.9", "--seed", 7, *much, service_us=5, **faults)
    assert whole(result, "link_lost")["offered"] >= 700


@pytest.mark.parametrize("rings", [1, 8])
def test_a_real_capture_in_the_order_of_the_wire(capture, tmp_path, rings):
    consumers = {"rings": rings, "consumers": rings, "timestamps": True}
    result = capture("--pcap", SAMPLE, "--pcap-out", tmp_path / "out", source="wire", **consumers)
    whole(result)
    assert read_pcap(tmp_path / "out" / "host.pcap") == padded(SAMPLE)
    assert all(link["blocks"] > 0 for link in result["resources"]["links"])


@pytest.mark.parametrize("size", ["64", "65", "72", "127-129", "64-1518", "9000-16388"])
def test_generated_sizes(capture, size):
    whole(capture("--size", size, "--frames", "1500"))


@pytest.mark.parametrize(
    "settings",
    [
        {"links": 1},
        {"links": 1, "pcie_lanes": 16},
        {"mps": 128, "pcie_gen": 2},
        {"mps": 512, "pcie_gen": 4},
        # A ring that holds less than the links' staging memory is full before they have written it.
        {"rings": 32, "consumers": 32, "block_kb": 4, "blocks": 16},
        {"rings": 1, "consumers": 8, "block_kb": 4, "blocks": 256, "ns_per_packet": 20},
        {"rings": 16, "consumers": 3, "flush_us": 0.5, "timestamps": True},
    ],
    ids=str,
)
def test_settings(capture, settings):
    whole(capture("--size", "64-700", "--frames", "4000", **settings))


@pytest.mark.parametrize("size", ["64", "1518", "9018", "16384", "imix"])
def test_frames_from_the_wire(capture, size):
    whole(capture("--size", size, "--frames", "1000", source="wire"))


def test_the_same_run_twice_is_the_same(capture):
    words = {"link_lost_at_us": 15, "link_back_at_us": 30}
    first, again = (capture("--duration", "60us", "--size", "64-200", **words) for _ in range(2))
    first.pop("wall_s"), again.pop("wall_s")
    assert first == again


@pytest.mark.parametrize("fault_link", [0, 1])
@pytest.mark.parametrize("source, rate", [("generator", "1.0"), ("wire", "0.5")])
def test_a_link_is_lost_and_comes_back(capture, fault_link, source, rate):
    words = ("--duration", "150us", "--size", "64-400", "--rate", rate)
    faults = {"fault_link": fault_link, "link_lost_at_us": 40.3, "link_back_at_us": 90}
    result = capture(*words, source=source, **faults)
    stream = whole(result, "link_lost")
    resources = result["resources"]
    assert resources["link_losses"] == 1 and resources["lost_packets"] == stream["dropped"]["link_lost"]
    assert stream["dropped"]["link_lost"] < 0.15 * stream["offered"]
    gone = capture(*words, source=source, **{**faults, "link_back_at_us": 0})
    whole(gone, "link_lost")
    key = f"link{fault_link}_payload_gbps"
    assert resources[key] > 1.3 * gone["resources"][key]  # it carries its share again


def test_a_slow_link_gets_less_and_a_late_one_holds_nothing_up_for_good(capture):
    result = capture("--duration", "120us", link_rate=0.5)
    whole(result)
    fast, slow = (result["resources"][f"link{x}_payload_gbps"] for x in (0, 1))
    assert 0.45 * fast < slow < 0.55 * fast and fast > 56
    for stall in (30, 90):  # 90 us is longer than a register read waits: the library gives the link up
        whole_or_lost = capture("--duration", "150us", link_stall_us=stall)["streams"]["rx"]
        assert not any(whole_or_lost[x] for x in HARM) and set(whole_or_lost["dropped"]) <= {"link_lost"}


def test_slow_consumers_cost_whole_packets_that_are_counted(capture):
    slow = {"consumers": 2, "rings": 2, "ns_per_packet": 50, "block_kb": 4, "blocks": 4}
    stream = whole(capture("--duration", "100us", **slow), "ring_full")
    assert stream["dropped"]["ring_full"] > 1000


def test_consumers_are_busy_no_longer_than_packets_come(capture):
    """What they do with those that wait then is not of that time."""
    work = {"source": "wire", "consumers": 1, "ns_per_packet": 60}
    found = capture("--size", "64", "--frames", "3000", **work)["resources"]
    assert 0.8 < found["consumer_busy"] == found["consumer_busiest"] <= 1


@pytest.mark.slow
def test_a_run_ends_when_consumers_are_through(capture):
    slow = {"ns_per_packet": 10000, "ns_per_byte": 96.3, "flush_us": 1000}
    whole(capture("--size", "1518", "--frames", "160", "--flows", "4", "--rate", "0.05", **slow))


def test_frames_behind_a_link_that_stands_still_are_not_thrown_away(capture):
    stall = {"links": 1, "fault_link": 0, "link_stall_at_us": 2, "link_stall_us": 60}
    whole(capture("--size", "64", "--frames", "3000", source="wire", **stall), "buffer_full")


def test_consumers_that_misbehave(capture):
    assert capture("--frames", "3000", consumer_fault="wrong_put")["resources"]["bad_puts"] > 10
    result = capture("--frames", "3000", consumer_fault="past_frontier")
    whole(result)
    assert result["resources"]["bad_returns"] == 3
    hoarded = capture("--frames", "20000", consumer_fault="no_put", blocks=2, block_kb=16)
    assert whole(hoarded, "ring_full")["dropped"]["ring_full"] > 1000
    # A consumer holds four blocks of a ring at the most; what lies in the others is counted as well.
    hoarded = capture("--frames", "20000", consumer_fault="no_put", blocks=8, block_kb=16)
    assert whole(hoarded, "ring_full", "not_taken")["dropped"]["not_taken"] > 1000


@pytest.mark.parametrize("source", ["generator", "wire"])
def test_any_value_in_any_register(capture, source):
    """Settings stay what they are while they are used; filters, which may change, drop what they say and nothing else."""
    result = capture("--size", "64-700", "--frames", "6000", "--rate", "0.5", source=source, consumer_fault="hostile_registers")
    stream = result["streams"]["rx"]
    assert not any(stream[x] for x in HARM) and set(stream["dropped"]) <= {"filtered"} and stream["delivered"] > 1000
    resources = result["resources"]
    assert resources["settings_refused"] > 50 and resources["hostile"]["writes"] > 100
    assert resources["hostile"]["switch_margin"] == 16383  # of all ones
    # Every register a host can write to got some, but for those that turn capture on and off.
    names = writable("capture", "capture")
    assert set(resources["hostile"]["registers"]) == names - {"device.control", "device.link.control", "device.gen_control"}


def test_bad_fcs_is_dropped_and_counted(capture):
    stream = whole(capture("--size", "64-600", "--frames", "500", source="wire", bad_fcs_every=10), "bad_fcs")
    assert 20 <= stream["dropped"]["bad_fcs"] <= 100


def test_the_flush_bounds_the_delay(capture):
    longest = {}
    for flush in (1, 4):
        result = capture("--frames", "100", "--rate", "0.5G", source="wire", flush_us=flush)
        longest[flush] = whole(result)["latency_ns"]["max"]
    assert longest[1] < 1900 and 3000 < longest[4] < 4900


def test_what_the_generator_cannot(capsys):
    assert "source=wire" in refused(capsys, "--pcap", SAMPLE)
    assert "imix" in refused(capsys, "--size", "imix")
    assert "power of two" in refused(capsys, "--flows", "10")
    assert "block" in refused(capsys, "--size", "9018", "--set", "block_kb=8")
    assert "fault_link" in refused(capsys, "--set", "links=1", "--set", "link_stall_us=5")


def test_limits():
    assert limit_of("capture")["mpps"] == pytest.approx(199.5, abs=0.1)
    assert limit_of("capture", "source=wire")["by"] == "line"
    assert limit_of("capture", "source=wire", "timestamps=true")["by"] == "line"  # a stamp still fits
    slow = limit_of("capture", "source=wire", "consumers=4", "ns_per_packet=60")
    assert slow["by"] == "consumers" and slow["mpps"] == pytest.approx(4e3 / 60)


@pytest.mark.parametrize("size", ["64", "1518", "16388"])
def test_throughput(capture, size):
    """The paper's graph: the same, whatever the length."""
    result = capture("--size", size, "--duration", "150us")
    assert result["resources"]["tlp_payload_gbps"] >= 113.5
    whole(result)


def test_line_rate_without_loss(capture):
    result = capture("--duration", "400us", source="wire", timestamps=True)
    assert whole(result)["mpps"] > 148


@pytest.mark.slow
def test_waves(capture, tmp_path):
    """Of the smallest model there is: waves need one of their own."""
    capture("--frames", "50", "--waves", tmp_path / "x.fst", assertions=False, links=1)
    written = tmp_path / f"x.{build.trace_format()}"
    assert written.stat().st_size > 10_000
