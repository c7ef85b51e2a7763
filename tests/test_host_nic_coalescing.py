# SPDX-License-Identifier: Apache-2.0
"""host-nic's receive coalescing: which TCP segments share a record, against scapy; beside the other offloads, under faults.

Every run takes aggregates apart again (systems/host_nic/aggregates.cpp) and compares each frame byte by byte.
"""

import csv
import itertools

import pytest
from conftest import read_pcap, slow, whole, write_pcap
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from emery.cli import main

QUEUES = {"receive_coalescing": True, "rx_queues": 16, "tx_queues": 16}
EVERYTHING = QUEUES | {"header_split": True, "vlan_tags": True}
LARGE = {"coalesce_bytes": 16383}


@pytest.fixture
def nic(simulate, tmp_path):
    """Runs host-nic with what it is to receive; gives its result, the frames that came, and how many shared each record."""

    def run(frames, *words, rate="0.5", **settings):
        capture = write_pcap(tmp_path / "in.pcap", frames)
        words = ("--pcap", capture, "--direction", "rx", "--rate", rate, *words, "--pcap-out", tmp_path / "out")
        result = simulate("host-nic", *words, **QUEUES | settings)
        rows = csv.DictReader((tmp_path / "out" / "host.csv").read_text().splitlines())
        stamps = sorted(int(row["timestamp_ns"]) for row in rows)
        # Frames behind the first of a record have its stamp and a nanosecond more each.
        begins = [n for n, stamp in enumerate(stamps) if n == 0 or stamp != stamps[n - 1] + 1]
        groups = [b - a for a, b in itertools.pairwise([*begins, len(stamps)])]
        driver = result["resources"]["driver"]
        assert driver["aggregates"] == sum(n > 1 for n in groups)
        assert driver["aggregate_frames"] == sum(n for n in groups if n > 1)
        return result, read_pcap(tmp_path / "out" / "host.pcap"), groups

    return run


def segment(flow, number, size=1000, version=4, tags=0, flags="A", before=0, **fields):
    """The segment of this number of a flow whose others have `size` bytes; `before`: bytes more that came before it."""
    tcp = {"seq": (0xFFFFE000 + flow * 77 + number * 1000 + before) & 0xFFFFFFFF, "ack": 99, "window": 500, "flags": flags}
    tcp |= {name: fields.pop(name) for name in list(fields) if name in ("seq", "ack", "window", "options", "chksum", "urgptr")}
    ip = {"id": (0xFFFC + number) & 0xFFFF, "flags": "DF", "ttl": 60, "tos": 0} if version == 4 else {}
    ip |= fields
    address = ("10.0.0.1", "10.0.0.2") if version == 4 else ("fe80::1", "fe80::2")
    l3 = (IP if version == 4 else IPv6)(src=address[0], dst=address[1], **ip)
    frame = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    for tag in range(tags):
        frame /= Dot1Q(vlan=5 + tag)
    return bytes(
        frame / l3 / TCP(sport=1000 + flow, dport=80, **tcp) / Raw(bytes((flow + number + x) % 251 for x in range(size)))
    )


def spoiled(frame, at):
    return frame[:at] + bytes([frame[at] ^ 0x10]) + frame[at + 1 :]


def trains():
    """Frames of one flow after another, and how many of each are to share a record."""
    made, flow = [], itertools.count()

    def train(wanted, frames):
        made.append((frames, wanted))

    def plain(count=9, changed=(), **fields):
        """Segments of which some, and those behind `...`, have other fields."""
        f = next(flow)
        behind = [
            n for n in range(count) if n in changed or (Ellipsis in changed and n >= min(x for x in changed if x is not ...))
        ]
        return [segment(f, n, **(fields if n in behind else {})) for n in range(count)]

    for kind in ({}, {"tags": 1}, {"tags": 2}, {"version": 6}, {"version": 6, "tags": 1}, {"options": [("Timestamp", (1, 2))]}):
        f = next(flow)
        train([9], [segment(f, n, **kind) for n in range(9)])
    # A gap, and two the wrong way around.
    frames = plain()
    train([4, 4], frames[:4] + frames[5:])
    frames = plain()
    train([3, 1, 1, 4], [*frames[:3], frames[4], frames[3], *frames[5:]])
    train([4, 5], plain(changed=(4, ...), ack=100))
    train([4, 5], plain(changed=(4, ...), window=501))
    train([4, 5], plain(changed=(4, ...), ttl=61))
    train([4, 5], plain(changed=(4, ...), tos=8))
    train([4, 5], plain(changed=(4, ...), options=[("Timestamp", (1, 3))]))
    train([2, 1, 6], plain(changed=(2,), tags=1))
    train([4, 1, 4], plain(changed=(4,), id=9))
    train([1] * 9, plain(changed=(0, ...), flags="A", id=0))
    # Flags: PSH ends one, others stand alone.
    train([5, 4], plain(changed=(4,), flags="PA"))
    train([1, 8], plain(changed=(0,), flags="PA"))
    train([8, 1], plain(changed=(8,), flags="FA"))
    train([4, 1, 4], plain(changed=(4,), flags="ACE"))
    train([4, 1, 4], plain(changed=(4,), flags="UA", urgptr=7))
    # A smaller one is the last; too small to begin one; none of data; longer than the first.
    f = next(flow)
    train([4], [segment(f, n) for n in range(3)] + [segment(f, 3, size=10)])
    f = next(flow)
    train([1] * 3, [segment(f, 0, size=200), segment(f, 0, size=200, before=200), segment(f, 0, size=200, before=400)])
    f = next(flow)
    train([3, 1], [segment(f, n) for n in range(3)] + [segment(f, 3, size=0).ljust(60, b"\0")])
    f = next(flow)
    train([1, 2], [segment(f, 0, size=900, before=100), segment(f, 1), segment(f, 2)])
    # Wrong checksums, of IP and of TCP; a frame that is longer than IP says; fragments allowed; options of IP.
    for at in (24, 50):
        frames = plain()
        train([4, 1, 4], [*frames[:4], spoiled(frames[4], at), *frames[5:]])
    frames = plain()
    train([4, 1, 4], [*frames[:4], frames[4] + b"\0", *frames[5:]])
    f = next(flow)
    train([1] * 4, [segment(f, n).replace(b"\x40\x00\x3c\x06", b"\x00\x00\x3c\x06") for n in range(4)])
    udp = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / IP(dst="10.0.0.2", src="10.0.0.1") / UDP() / Raw(bytes(900))
    train([1] * 5, [bytes(udp)] * 5)
    return made


@pytest.mark.parametrize("settings", [QUEUES, EVERYTHING], ids=["alone", "with-the-others"])
def test_what_is_joined(nic, settings):
    """As long as nothing differs but what goes on, and nothing else of its queue comes between."""
    made = trains()
    sent = [frame for frames, _ in made for frame in frames]
    result, came, groups = nic(sent, **settings | LARGE)
    assert came == sent
    assert groups == [n for _, wanted in made for n in wanted]
    assert result["resources"]["segments_joined"] == sum(n - 1 for n in groups)
    assert result["resources"]["settings_refused"] == 0


def test_how_far(nic):
    """As many as fit; none with 0; the last are handed on when their time is over."""
    sent = [segment(0, n) for n in range(40)]
    for limit, most in ((16383, 16), (8192, 8), (2054, 2), (2053, 1), (0, 1)):
        _, came, groups = nic(sent, coalesce_bytes=limit)
        assert came == sent and groups == [most] * (40 // most) + [40 % most] * (40 % most != 0)
    _, came, groups = nic(sent, rate="0.002", coalesce_us=0)
    assert came == sent and groups == [1] * 40


def interleaved(flows, rounds, train):
    """Trains of some segments each, of flows by turns."""
    places = ((r, f, n) for r in range(rounds) for f in range(flows) for n in range(train))
    return [segment(f, r * train + n) for r, f, n in places]


@pytest.mark.parametrize(
    "others",
    [
        {"steered_flows": 40},
        {"interrupts": True, "cpus": 4},
        {"restart_every": 60},
        {"reset_at_us": 15, "reset_kind": "function"},
        {"rx_ring": 8, "doorbell": 1},
    ],
    ids=lambda x: "-".join(x),
)
def test_beside_the_others(nic, others):
    """Order, bytes, queue, hash and stamp of each frame are checked by the run."""
    result, _, groups = nic(interleaved(20, 5, 6), **others)
    assert result["resources"]["driver"]["aggregates"] > 20 and max(groups) >= 6
    if not {"reset_at_us", "restart_every"} & set(others):
        assert all(x["offered"] == x["delivered"] for x in result["streams"].values())


@pytest.mark.parametrize("settings", [QUEUES, EVERYTHING], ids=["alone", "with-the-others"])
def test_with_tcp(simulate, settings):
    """Connections as a host and a peer make them, both ways, with acknowledgements between."""
    words = ("--traffic", "tcp", "--size", "1518", "--flows", "4", "--frames", "600", "--direction", "both")
    result = simulate("host-nic", *words, **settings)
    driver = result["resources"]["driver"]
    assert driver["aggregates"] > 20 and driver["aggregate_frames"] > 2 * driver["aggregates"]
    assert result["resources"]["segments_joined"] == driver["aggregate_frames"] - driver["aggregates"]


@pytest.mark.parametrize("fault", ["rx_null_address", "lost_rx_descriptor"])
def test_a_bad_slot_stops_its_queue_alone(nic, fault):
    """Frames that would have gone on in it are lost with it, and counted."""
    result, _, groups = nic(interleaved(30, 40, 3), fault=fault, fault_frame=100, rx_ring=64)
    (error,) = result["resources"]["device_errors"]
    assert error["kind"] == "rx_queue" and error["queue"] == result["resources"]["fault"]["queue"] and error["queue_stopped"]
    dropped = result["streams"]["rx"]["dropped"]
    assert set(dropped) == {"descriptor_error", "queue_stopped"} and sum(dropped.values()) < 800
    assert result["streams"]["rx"]["delivered"] + sum(dropped.values()) == 3600 and sum(groups) == 3600 - sum(dropped.values())


def test_what_it_saves(nic):
    """A CPU of 300 ns a record takes at line rate what it loses most of without."""
    sent = [segment(f, n, size=1000) for n in range(0, 400, 20) for f in range(8) for n in range(n, n + 20)]
    settings = LARGE | {"cpus": 1, "cpu_ns_per_packet": 300, "rx_ring": 8}
    with_it, _, groups = nic(sent, rate="1.0", **settings)
    without, _, alone = nic(sent, rate="1.0", **settings | {"coalesce_bytes": 0})
    assert with_it["streams"]["rx"]["dropped"] == {} and len(groups) < len(sent) / 8
    assert without["streams"]["rx"]["dropped"]["no_descriptor"] > 1000 and max(alone) == 1


SHARED_OUT = {"receive_coalescing": True, "function_filter": True, "interrupts": True, "tx_queues": 32, "rx_queues": 32}
TRAINS = ("--size", "1000", "--direction", "both", "--duration", "80us", "--flows", "64")


def lost(result):
    return result["resources"]["function_reset"]["lost"]


def joined(result):
    """Segments that were joined, by function: those that the card has counted, but for what was lost."""
    functions, counted = result["resources"]["functions"], result["resources"]["segments_joined"]
    drivers = [function.get("driver", {}) for function in functions]
    of_each = [driver.get("aggregate_frames", 0) - driver.get("aggregates", 0) for driver in drivers]
    some_lost = lost(result) > 0 or any(function["hostile"] for function in functions)
    assert sum(of_each) < counted if some_lost else sum(of_each) == counted
    return of_each


@pytest.mark.parametrize("functions", [2, *slow(8)])
def test_segments_of_functions_are_joined(simulate, functions):
    """Each function's where its entry of the filter says so: a driver that does not know has buffers of one frame."""
    result = simulate("host-nic", *TRAINS, functions=functions, train=6, **SHARED_OUT)
    whole(result)
    assert all(n > 20 for n in joined(result))
    result = simulate("host-nic", *TRAINS, functions=functions, train=6, coalescing_functions="0,0,1,1", **SHARED_OUT)
    whole(result)
    assert [n > 20 for n in joined(result)] == [n == 0 or n % 4 >= 2 for n in range(functions)]


@pytest.mark.parametrize("functions", [2, *slow(8)])
def test_a_hostile_function_ends_no_aggregate_of_another(simulate, functions):
    """Nor do resets of it, in the middle of its own: what it held comes back, and the others' segments are joined as ever."""
    settings = SHARED_OUT | {"functions": functions, "train": 6, "coalesce_us": 200}
    friendly = simulate("host-nic", *TRAINS, **settings)
    result = simulate("host-nic", *TRAINS, hostile_function=True, hostile_reset_us=20, **settings)
    whole(friendly)
    whole(result)
    assert joined(result)[:-1] == joined(friendly)[:-1]
    assert result["resources"]["function_resets"] >= 2 and result["resources"]["hostile"]["frames_to"] > 50
    for n in range(functions - 1):
        assert result["streams"][f"rx{n}"]["delivered"] == friendly["streams"][f"rx{n}"]["delivered"]


@pytest.mark.parametrize("at", [100, 140, 180, 220])
@pytest.mark.parametrize("functions", [2, *slow(8)])
def test_a_function_is_reset_in_the_middle_of_its_aggregates(simulate, functions, at):
    """They close with it: nothing is written into memory that its driver has given back, and nothing is lost when it
    is open again."""
    words = ("--size", "1000", "--direction", "both", "--duration", "600us", "--flows", "64", "--seed", str(at))
    settings = SHARED_OUT | {"functions": functions, "train": 6, "coalesce_us": 200, "function_reset_at_us": at}
    result = simulate("host-nic", *words, "--rate", str(0.01 * functions), **settings)
    last = str(functions - 1)
    for name, stream in result["streams"].items():
        # Frames for a queue that is not set up again yet are told as such.
        assert stream["dropped"].keys() <= ({"reset", "queue_stopped"} if name[2:] == last else set())
        assert sum(stream["dropped"].values()) == stream["offered"] - stream["delivered"]
    assert result["streams"]["rx" + last]["delivered"] > 5 and lost(result) > 5
    assert result["resources"]["function_reset"]["struck"] and "never" not in result
    assert result["resources"]["function_resets"] == 1 and joined(result)[-1] > 0


@pytest.mark.parametrize(
    "words",
    [
        "rx_mode=stream",
        "shared_queues=true ports=2",
        "functions=2",
        "functions=2 coalescing_functions=1,2 function_filter=true",
    ],
)
def test_it_is_refused(capsys, words):
    assert main(["run", "host-nic", "--set", "receive_coalescing=true", *(f"--set={x}" for x in words.split())]) == 2
    assert capsys.readouterr().err.count("\n") == 1
