# SPDX-License-Identifier: Apache-2.0
"""host-nic as a whole: RTL, PCIe, driver model and wire, through the command line; assertions in the RTL are on.

Few frames a run: what a block does at its edges is the business of the block tests.
"""

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from functools import partial

import conftest
import pytest
from conftest import FOUR_PORTS, padded, read_pcap, slow, whole, write_pcap

from emery import system
from emery.cli import main
from emery.common import ROOT

SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"
SHAPE = [x for setting in FOUR_PORTS for x in ("--set", setting)]
STREAM = ("--set", "rx_mode=stream", "--set")
refused = partial(conftest.refused, ("host-nic", "--assertions"))


@pytest.fixture
def nic(simulate):
    """Runs host-nic; gives its result."""
    return partial(simulate, "host-nic")


def test_the_front_page_shows_what_comes_out(capsys):
    """Its example to the letter, but for how fast this machine is."""
    assert main(["run", "host-nic", "--assertions"]) == 0
    text = (ROOT / "README.md").read_text()
    for line in capsys.readouterr().out.splitlines():
        assert line.startswith("speed") or line in text, line


def test_a_real_capture_both_ways_byte_for_byte(nic, tmp_path):
    result = nic("--pcap", SAMPLE, "--direction", "both", "--pcap-out", tmp_path / "out")
    whole(result)
    frames = padded(SAMPLE)
    assert read_pcap(tmp_path / "out" / "host.pcap") == frames  # in the order of the wire
    assert Counter(read_pcap(tmp_path / "out" / "wire0.pcap")) == Counter(frames)
    assert result["streams"]["tx"]["delivered"] == len(frames)
    assert 0 < result["limit"]["fraction"] <= 1.005


def test_the_same_run_twice_is_the_same_and_another_seed_is_not(nic):
    words = ("--size", "random", "--frames", "300", "--set", "read_jitter_ns=400")
    first, again, other = nic(*words), nic(*words), nic(*words, "--seed", "2")
    first.pop("wall_s"), again.pop("wall_s")
    assert first == again
    assert first["digest"] != other["digest"]


@pytest.mark.parametrize("end", ["minimum", "maximum"])
def test_an_mtu_at_the_end_of_its_range(nic, end):
    """Frames up to the longest that it allows, with a tag; one byte more is counted and dropped."""
    mtu = int(getattr(system.load("host-nic").parameters["mtu"], end))
    words = ("--set", f"mtu={mtu}")
    for size in (f"64-{mtu + 22}", f"{mtu + 22}"):
        whole(nic("--size", size, "--frames", "20", *words))
    result = nic("--size", f"{mtu + 22}", "--frames", "40", "--direction", "rx", *words, "--set", "oversize_every=4")
    dropped = result["totals"]["dropped"]
    assert dropped.keys() == {"oversize"} and result["totals"]["delivered"] + dropped["oversize"] == 40


def test_macs_have_clocks_of_their_own(nic):
    """Each way of each port at a frequency of its own: nothing lost, rates as with one clock (windows say 3 %)."""
    words = ("--size", "64-300", "--frames", "1500", "--rate", "0.15", *SHAPE)
    one, own = nic(*words), nic(*words, "--set", "mac_tx_ppm=-40", "--set", "mac_rx_ppm=100")
    whole(own)
    assert one["cycles"].keys() == {"core", "mac"}
    slow, line, fast = (own["cycles"][x] for x in ("mac_rx_odd", "mac", "mac_rx"))
    assert fast / line == pytest.approx(1 + 140e-6, abs=2e-5) and slow / line == pytest.approx(1 - 60e-6, abs=2e-5)
    for name, stream in own["streams"].items():
        assert stream["l1_gbps"] == pytest.approx(one["streams"][name]["l1_gbps"], rel=0.03)
    assert not any(x["tx_underruns"] or x["tx_protocol_errors"] for x in own["resources"]["macs"])


def test_stamps_are_those_of_the_mac(nic, tmp_path):
    """A frame's stamp is when it began on the line, to a clock of the MAC and what the crossing of the time leaves."""
    nic(
        "--size",
        "64-1518",
        "--frames",
        300,
        "--rate",
        "1.0",
        "--direction",
        "rx",
        "--pcap-out",
        tmp_path,
        "--set",
        "mac_rx_ppm=-70",
    )
    with open(tmp_path / "host.csv") as file:
        rows = sorted(csv.DictReader(file), key=lambda x: int(x["timestamp_ns"]))
    stamps, sizes = ([int(x[name]) for x in rows] for name in ("timestamp_ns", "bytes"))
    due, off = stamps[0], []
    for stamp, size in zip(stamps, sizes, strict=True):
        off.append(stamp - due)
        due += (size + 24) * 0.08
    assert max(off) - min(off) < 3.2 + 2 * 3 + 1, (min(off), max(off))


@pytest.mark.parametrize("size", ["64", "65", "127", "128", "1518", "9018", "imix", "64-300"])
def test_sizes(nic, size):
    whole(nic("--size", size, "--frames", "200", "--direction", "both", "--rate", "0.4"))


@pytest.mark.parametrize("size", ["64-330", "9018", "random"])
def test_streams_of_every_size_around_their_rings(nic, size):
    result = nic(
        "--size", size, "--frames", "400", "--direction", "both", "--rate", "0.4", "--flows", "2", *STREAM, "rx_ring=2048"
    )
    whole(result)


def test_a_stream_takes_64_byte_frames_at_line_rate(nic):
    result = nic("--size", "64", "--frames", "6000", "--direction", "rx", *STREAM[:2])
    whole(result)
    assert result["totals"]["mpps"] > 0.99 * 148.8
    assert result["resources"]["driver"]["doorbells"] < 100


def test_small_frames_of_streams_share_writes_where_the_link_is_busy(nic):
    words = ("--frames", "6000", "--direction", "both", *STREAM, "pcie_interface=usplus", "--set", "tx_mode=stream")
    for size, least in ("64", 0.985 * 148.8), ("79", 0.97 * 126.3):
        result = nic("--size", size, *words)
        whole(result)
        assert result["streams"]["rx"]["mpps"] > least, size
        assert result["resources"]["root_complex"]["writes"] < 0.9 * 6000, size
    # Alone each goes at once.
    alone = nic("--size", "64", "--rate", "0.05", *words)
    whole(alone)
    assert alone["resources"]["root_complex"]["writes"] > 6000
    assert alone["streams"]["rx"]["latency_ns"]["p99"] < 500


def test_a_full_stream_drops_and_goes_on(nic):
    words = ("--size", "64-300", "--frames", "3000", "--direction", "rx", "--flows", "3", *STREAM, "rx_ring=1024")
    stream = nic(*words, "--set", "cpu_ns_per_packet=400")["streams"]["rx"]
    assert stream["dropped"].keys() == {"no_descriptor"} and stream["delivered"] > 300
    assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values())


def test_a_stream_s_ring_holds_the_longest_frame(capsys):
    refused(capsys, "granules", "--size", "64", "--frames", "10", *STREAM, "rx_ring=512")


@pytest.mark.parametrize(
    "settings",
    [
        ["segments=2"],
        ["segments=4"],
        ["segments=8", "read_jitter_ns=300"],
        ["interrupts=true"],
        ["interrupts=true", "cpus=4", "read_jitter_ns=300"],
        ["read_jitter_ns=300"],
        ["read_jitter_ns=2000"],
        ["mps=128", "mrrs=128"],
        ["mps=512", "mrrs=4096"],
        ["tx_ring=8", "rx_ring=256", "burst=1"],
        ["pcie_gen=5"],
        ["cpus=4"],
        ["cpus=4", "cpu_ns_per_packet=5"],
        ["cpu_ns_per_packet=20"],
    ],
    ids=",".join,
)
def test_settings(nic, settings):
    words = [x for setting in settings for x in ("--set", setting)]
    whole(nic("--size", "64-1000", "--frames", "300", "--rate", "0.3", *words))


@pytest.mark.parametrize("more", [[], *slow(["ptp=true", "ptp_settle_us=1500"])], ids=["", "ptp"])
def test_an_interrupt_that_is_held_for_longer_than_a_run_is_patient(nic, more):
    settings = ["interrupts=true", "interrupt_us=1000", *more]
    whole(nic("--size", "64", "--frames", "300", "--direction", "tx", *(x for one in settings for x in ("--set", one))))


@pytest.mark.parametrize(("push", "least", "most"), [("none", 2000, 2300), ("descriptor", 1000, 1400), ("frame", 300, 500)])
def test_a_push_spares_an_idle_device_the_reads(nic, push, least, most):
    words = ("--size", "64-220", "--direction", "tx", "--rate", "0.01", "--frames", "100")
    result = nic(*words, "--set", "read_latency_ns=400", "--set", f"tx_push={push}", "--set", "tx_checksum=true")
    whole(result)
    assert least < result["totals"]["latency_ns"]["p50"] <= most
    resources = result["resources"]
    assert (push != "none") * 90 <= resources["tx_push"]["taken"] <= resources["driver"]["pushes"] <= (push != "none") * 100
    assert resources["tx_push"]["taken"] + resources["tx_push"]["in_vain"] == resources["driver"]["pushes"]


def test_pushes_while_much_is_under_way(nic):
    """Queues that are idle though the device is not, frames too long for a push, few entries for many queues."""
    words = ("--size", "64-400", "--rate", "0.02", "--frames", "1000", "--flows", "200", "--set", "tx_push=frame")
    result = nic(*words, "--set", "read_jitter_ns=400")
    whole(result)
    assert result["resources"]["tx_push"]["taken"] > 200


@pytest.mark.parametrize(
    "words",
    [
        "--size 64 --flows 1 --frames 1500 --direction tx",
        "--size 64-300 --flows 500 --frames 1500 --direction tx",
        "--size 64-1500 --frames 400 --rate 0.4 --set tx_checksum=true --set interrupts=true",
        "--size 4100 --frames 100 --direction tx --flows 3",
        "--size 64-2000 --frames 300 --rate 0.5 --set read_jitter_ns=2000",
        " ".join(["--size 64-1000 --frames 300 --rate 0.4", *SHAPE]),
    ],
)
def test_frames_that_lie_in_the_ring(nic, words):
    result = nic(*words.split(), "--set", "tx_mode=stream")
    whole(result)
    assert result["resources"]["driver"]["tx_errors"] == 0


def test_what_a_stream_queue_cannot_do_is_refused(capsys):
    for words in (("--size", "9018"), ("--size", "64", "--set", "segments=2"), ("--size", "64", "--set", "tx_push=frame")):
        assert main(["run", "host-nic", "--frames", "10", *words, "--set", "tx_mode=stream"]) == 2
        assert "stream queue" in capsys.readouterr().err


def test_polling_and_interrupts_deliver_the_same(nic, tmp_path):
    delivered = []
    for interrupts in ("false", "true"):
        out = tmp_path / interrupts
        words = ("--size", "64-1000", "--frames", "300", "--rate", "0.3", "--set", f"interrupts={interrupts}")
        result = nic(*words, "--pcap-out", out)
        whole(result)
        assert (result["resources"]["driver"]["interrupts"] > 0) == (interrupts == "true")
        delivered.append([Counter(read_pcap(out / name)) for name in ("host.pcap", "wire0.pcap")])
    assert delivered[0] == delivered[1]


def test_a_doorbell_a_frame(tmp_path, capsys):
    """A thousand queues, each frame with a doorbell of its own: the device takes them as fast as its pins carry them."""
    out = tmp_path / "result.json"
    words = ["--size", "64", "--frames", "40000", "--flows", "1024", "--direction", "tx", "--set", "doorbell=1"]
    words += ["--set", "tx_queues=1024", "--set", "rx_queues=1024", "--json", str(out)]  # the model of the soak
    assert main(["run", "host-nic", *words]) == 0, capsys.readouterr().err
    result = json.loads(out.read_text())
    whole(result)
    resources = result["resources"]
    assert resources["driver"]["doorbells"] == 40_000 and not any(resources["dma_read"].values())
    assert result["totals"]["mpps"] > 93


def test_receive_reaches_every_queue(tmp_path, capsys):
    """Of a thousand queues each gets the flows whose hash says so."""
    words = ["--size", "64", "--frames", "8000", "--flows", "8192", "--direction", "rx", "--rate", "0.3"]
    words += ["--set", "tx_queues=1024", "--set", "rx_queues=1024", "--pcap-out", str(tmp_path)]
    assert main(["run", "host-nic", *words, "--json", str(tmp_path / "result.json")]) == 0, capsys.readouterr().err
    whole(json.loads((tmp_path / "result.json").read_text()))
    with (tmp_path / "host.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(int(row["queue"]) == int(row["hash"]) % 1024 for row in rows)
    assert len({row["queue"] for row in rows}) > 950


def test_bad_fcs_is_dropped_and_counted(nic):
    result = nic("--size", "64-600", "--frames", "500", "--direction", "rx", "--rate", "0.5", "--set", "bad_fcs_every=10")
    stream = result["streams"]["rx"]
    assert 20 <= stream["dropped"]["bad_fcs"] <= 100 and set(stream["dropped"]) == {"bad_fcs"}
    assert stream["delivered"] == 500 - stream["dropped"]["bad_fcs"] and not stream["corrupted"]


def test_a_slow_host_costs_counted_drops_and_nothing_else(nic):
    slow = ("--set", "cpu_ns_per_packet=400", "--set", "rx_ring=64")
    stream = nic("--size", "64", "--frames", "12000", "--direction", "rx", *slow)["streams"]["rx"]
    assert sum(stream["dropped"].values()) > 1000
    assert set(stream["dropped"]) <= {"no_descriptor", "buffer_full", "fifo_full"}
    assert not any(stream[x] for x in ("corrupted", "duplicated", "misdelivered", "reordered"))


def test_a_run_ends_when_cpus_are_through(nic):
    whole(nic("--size", "64-300", "--frames", "49", "--flows", "1", "--rate", "0.7", "--set", "cpu_ns_per_packet=20000"))


def test_frames_further_apart_than_a_read_may_take(nic):
    whole(nic("--size", "64", "--frames", "4", "--rate", "0.00001", "--set", "dma_timeout_us=20"))


def test_a_narrow_link_costs_counted_drops_and_nothing_else(nic):
    result = nic("--size", "512", "--frames", "2500", "--set", "pcie_gen=1", "--set", "pcie_lanes=4")
    assert not sum(result["streams"]["tx"]["dropped"].values())
    assert sum(result["streams"]["rx"]["dropped"].values()) > 100
    assert result["limit"]["by"].startswith("pcie")


def test_what_the_link_carries_is_of_traffic_alone(nic):
    """One frame received: towards the card go the next descriptors of its ring, and nothing of what sets the card up."""
    result = nic("--size", "9018", "--direction", "rx", "--frames", "1")
    used, ns = result["resources"], result["streams"]["rx"]["latency_ns"]["max"]
    assert used["tlp_payload_down_gbps"] * ns / 8 < 8192 and used["tlp_payload_up_gbps"] * ns / 8 > 9000


def test_two_ports_and_two_interfaces(nic, tmp_path):
    result = nic("--pcap", SAMPLE, "--rate", "0.4", "--pcap-out", tmp_path / "out", *SHAPE)
    whole(result)
    assert set(result["streams"]) == {f"{way}{port}" for way in ("tx", "rx") for port in range(4)}
    wires = [read_pcap(tmp_path / "out" / f"wire{port}.pcap") for port in range(4)]
    assert Counter(x for wire in wires for x in wire) == Counter(padded(SAMPLE))
    assert Counter(read_pcap(tmp_path / "out" / "host.pcap")) == Counter(padded(SAMPLE))


def test_two_runs_at_once(tmp_path):
    """Side by side they give what each gives alone."""
    command = [sys.executable, "-m", "emery", "run", "host-nic", "--size", "imix", "--frames", "200", "--assertions"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = []
    for number in range(2):
        words = [*command, "--json", str(tmp_path / f"{number}.json")]
        runs.append(subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for process in runs:
        _, said = process.communicate(timeout=600)
        assert process.returncode == 0 and said == ""
    digests = {json.loads((tmp_path / f"{number}.json").read_text())["digest"] for number in range(2)}
    assert len(digests) == 1


def test_damaged_captures(capsys, tmp_path):
    frame = bytes(range(60))
    cut = write_pcap(tmp_path / "cut.pcap", [frame] * 3)
    cut.write_bytes(cut.read_bytes()[:-5])
    assert "cut.pcap" in (line := refused(capsys, "--pcap", cut)) and "3" in line
    foreign = write_pcap(tmp_path / "foreign.pcap", [frame], link=105)
    assert "foreign.pcap" in refused(capsys, "--pcap", foreign)
    long = write_pcap(tmp_path / "long.pcap", [frame, bytes(2000)])
    assert "longest frame 2004 bytes" in (line := refused(capsys, "--pcap", long, "--set", "mtu=1500")) and "mtu=1500" in line


def test_frames_longer_than_the_mtu(capsys):
    assert "MTU" in refused(capsys, "--size", "1600", "--set", "mtu=1500")


@pytest.mark.parametrize(
    "size, direction, least",
    [
        ("1518", "tx", 0.97),
        ("1518", "rx", 0.97),
        ("1518", "both", 0.95),
        ("64", "tx", 0.5),
        ("64", "rx", 0.5),
        ("64", "both", 0.38),
    ],
)
def test_throughput(nic, size, direction, least):
    """The least this design is to reach, as a part of the limit; `emery reproduce` shows what it does reach."""
    frames = 20000 if size == "64" else 3000
    result = nic("--size", size, "--frames", frames, "--direction", direction)
    assert result["limit"]["fraction"] >= least
