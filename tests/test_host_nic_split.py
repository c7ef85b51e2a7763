# SPDX-License-Identifier: Apache-2.0
"""host-nic's header split: where frames are cut, against scapy; beside the other receive offloads, under faults, with TCP.

Every run compares each frame byte by byte, and where it was cut with the bench's own reading of it
(systems/host_nic/offloads.cpp).
"""

import csv

import pytest
from conftest import read_pcap, slow, write_pcap
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from emery.cli import main

ETHER = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
V4, V6 = IP(dst="10.0.0.2", src="10.0.0.1"), IPv6(dst="fe80::2", src="fe80::1")
SPLIT = {"header_split": True, "rx_queues": 16, "tx_queues": 16}
MIX = ["--size", "68-1000", "--ipv6", "0.3", "--flows", "60"]


@pytest.fixture
def nic(simulate, tmp_path):
    """Runs host-nic with header split; gives its result, the records of what it received and its captures' folder."""

    def run(*words, **settings):
        result = simulate("host-nic", *words, "--pcap-out", tmp_path / "out", **SPLIT | settings)
        rows = csv.DictReader((tmp_path / "out" / "host.csv").read_text().splitlines())
        records = [{name: int(value) for name, value in row.items()} for row in rows]
        return result, sorted(records, key=lambda x: x["timestamp_ns"]), tmp_path / "out"

    return run


def frames():
    """Frames, each with the bytes of its headers; 0: the device is not to split it."""
    made = []

    def add(frame, headers):
        made.append((bytes(frame).ljust(60, b"\0"), headers))

    for size in (0, 1, 6, 100, 1400):
        data = Raw(bytes(x % 251 for x in range(size)))
        for ip, length in ((V4, 20), (V6, 40)):
            add(ETHER / ip / UDP() / data, 14 + length + 8)
            add(ETHER / Dot1Q(vlan=5) / ip / UDP() / data, 18 + length + 8)
            for options in ([], [("Timestamp", (1, 2))], [("NOP", None)] * 40):
                tcp = TCP(options=options)
                add(ETHER / ip / tcp / data, 14 + length + len(bytes(tcp)))
                add(Ether(dst=ETHER.dst, src=ETHER.src, type=0x88A8) / Dot1Q() / ip / tcp / data, 18 + length + len(bytes(tcp)))
        add(ETHER / Dot1Q() / Dot1Q() / V4 / TCP(options=[("NOP", None)] * 40) / data, 22 + 20 + 60)
        # What it does not look through, or what has no such headers.
        add(ETHER / Dot1Q() / Dot1Q() / V6 / UDP() / data, 0)
        add(ETHER / Dot1Q() / Dot1Q() / Dot1Q() / V4 / UDP() / data, 0)
        add(ETHER / IP(dst="10.0.0.2", src="10.0.0.1", options=[b"\x01" * 4]) / TCP() / data, 0)
        add(ETHER / IP(dst="10.0.0.2", src="10.0.0.1", flags="MF") / UDP() / data, 0)
        add(ETHER / IP(dst="10.0.0.2", src="10.0.0.1", frag=7, proto=6) / data, 0)
        add(ETHER / V6 / IPv6ExtHdrHopByHop() / UDP() / data, 0)
        add(ETHER / V4 / ICMP() / data, 0)
        add(ETHER / ARP() / data, 0)
        add(Ether(dst=ETHER.dst, src=ETHER.src, type=0x88B5) / data, 0)
        # Wrong ones: TCP that begins before it ends, and ends behind the frame; lengths of IP and UDP that are none.
        add(ETHER / V4 / TCP(dataofs=4) / data, 0)
        add(ETHER / V6 / TCP(dataofs=0) / data, 0)
        add(ETHER / V4 / TCP(dataofs=15) / data, 0 if size < 40 else 94)
        add(ETHER / V6 / TCP(dataofs=15) / data, 0 if size < 40 else 114)
        add(ETHER / IP(dst="10.0.0.2", src="10.0.0.1", len=20) / TCP() / data, 54)
        add(ETHER / IP(dst="10.0.0.2", src="10.0.0.1", ihl=4) / UDP() / data, 0)
        add(ETHER / V4 / UDP(len=0) / data, 42)
        add(bytes(ETHER / V6 / TCP())[:60], 0)
    return made


@pytest.mark.parametrize("header_bytes", [128, 64])
@pytest.mark.parametrize("strip", [*slow(False), True])
def test_where_frames_are_cut(nic, tmp_path, header_bytes, strip):
    """Behind the headers and nowhere else; of frames whose tag was taken out there are fewer of them."""
    wanted = frames()
    capture = write_pcap(tmp_path / "kinds.pcap", [frame for frame, _ in wanted])
    words = ("--pcap", capture, "--direction", "rx", "--rate", "0.3")
    result, records, out = nic(*words, header_bytes=header_bytes, vlan_tags=strip)
    assert read_pcap(out / "host.pcap") == [frame for frame, _ in wanted]
    driver = result["resources"]["driver"]
    told = [x["headers"] for x in records]
    assert driver["headers_split"] == sum(x != 0 for x in told) and driver["headers_not_split"] == sum(x == 0 for x in told)
    for (frame, headers), record in zip(wanted, records, strict=True):
        assert (record["tag"] != 0) == (strip and frame[12:14] in (b"\x81\x00", b"\x88\xa8"))
        if record["tag"]:
            headers = without_one_tag(frame, headers)
        assert record["headers"] == (headers if headers <= header_bytes else 0), frame.hex()


def without_one_tag(frame, headers):
    """What is read of a frame when its outer tag is gone: one more of those below it."""
    if headers:
        return headers - 4
    if frame[16:18] == b"\x81\x00" and frame[20:22] == b"\x86\xdd":
        return 18 + 40 + 8
    return 22 + 20 + 8 if frame[16:18] == frame[20:22] == b"\x81\x00" else 0


@pytest.mark.parametrize(
    "others",
    [
        {"steered_flows": 40},
        {"interrupts": True, "cpus": 4},
        {"restart_every": 60},
        {"reset_at_us": 15, "reset_kind": "function"},
        {"fault": "hostile_registers", "fault_frame": 50},
        {"tx_mode": "stream", "rx_ring": 8, "doorbell": 1, "tx_checksum": True},
    ],
    ids=lambda x: "-".join(x),
)
def test_beside_the_others(nic, others):
    """Both ways, tags taken out and put in: hash, sum, queue, stamp and cut of each record are checked by the run."""
    words = [*MIX, "--frames", "400", "--rate", "0.4", "--vlan", "0.5"]
    result, records, _ = nic(*words, vlan_tags=True, **others)
    driver = result["resources"]["driver"]
    assert driver["headers_split"] > 100 and driver["tags_taken"] > 50
    assert {x["headers"] for x in records} == {42, 62}
    if not {"reset_at_us", "restart_every"} & set(others):
        assert all(x["offered"] == x["delivered"] for x in result["streams"].values())


def test_with_tcp(nic):
    """Headers of 54 bytes and up; segments alone in their buffers."""
    result, records, _ = nic(
        "--traffic", "tcp", "--size", "1518", "--flows", "4", "--frames", "400", "--direction", "both", vlan_tags=True
    )
    assert result["resources"]["driver"]["headers_split"] == len(records) > 100
    assert {x["headers"] for x in records} <= set(range(54, 95, 4))


@pytest.mark.parametrize("fault", ["rx_null_address", "lost_rx_descriptor"])
def test_a_bad_slot_stops_its_queue_alone(nic, fault):
    words = ("--size", "300", "--flows", "200", "--direction", "rx", "--frames", "3000", "--rate", "0.3")
    result, records, _ = nic(*words, fault=fault, fault_frame=100, rx_ring=64, vlan_tags=True)
    (error,) = result["resources"]["device_errors"]
    assert error["kind"] == "rx_queue" and error["queue"] == result["resources"]["fault"]["queue"] and error["queue_stopped"]
    dropped = result["streams"]["rx"]["dropped"]
    assert result["resources"]["fault"]["struck"] and set(dropped) == {"descriptor_error", "queue_stopped"}
    assert {x["queue"] for x in records} == set(range(16)) and sum(dropped.values()) < 700
    assert result["streams"]["rx"]["delivered"] + sum(dropped.values()) == 3000


def test_it_costs_a_write_a_frame(nic):
    """64 bytes: what the pins take of two writes each, and the limit says so; 1518: the line."""
    words = ("--direction", "rx", "--duration", "50us", "--flows", "16")
    small, _, _ = nic("--size", "64", *words, vlan_tags=True)
    assert 0.98 < small["totals"]["mpps"] / small["limit"]["protocol"]["mpps"] < 1 and small["totals"]["mpps"] > 100
    large, _, _ = nic("--size", "1518", *words, vlan_tags=True)
    assert large["totals"]["dropped"] == {} and large["totals"]["l1_gbps"] > 98


def test_it_is_refused_with_streams(capsys):
    assert main(["run", "host-nic", "--set", "header_split=true", "--set", "rx_mode=stream"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
