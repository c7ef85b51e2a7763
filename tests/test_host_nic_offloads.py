# SPDX-License-Identifier: Apache-2.0
"""host-nic's offloads from end to end, against scapy and published vectors: flow hash, queue, steering, checksums, time stamps.

Every run compares each record with software of the bench as well (systems/host_nic/offloads.cpp).
"""

import csv

import pytest
from conftest import read_pcap, write_pcap
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import checksum

from emery.cli import main

QUEUES = 16
# "Verifying the RSS Hash Calculation", Microsoft: destination, source, their ports, hash without and with ports.
VECTORS = [
    ("161.142.100.80", "66.9.149.187", 1766, 2794, 0x323E8FC2, 0x51CCC178),
    ("65.69.140.83", "199.92.111.2", 4739, 14230, 0xD718262A, 0xC626B0EA),
    ("12.22.207.184", "24.19.198.95", 38024, 12898, 0xD2D0A5DE, 0x5C2B394A),
    ("209.142.163.6", "38.27.205.30", 2217, 48228, 0x82989176, 0xAFC7327F),
    ("202.188.127.2", "153.39.163.191", 1303, 44251, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:3::1", "3ffe:2501:200:1fff::7", 1766, 2794, 0x2CC18CD5, 0x40207D3D),
    ("ff02::1", "3ffe:501:8::260:97ff:fe40:efab", 4739, 14230, 0x0F0C461C, 0xDDE51BBF),
    ("fe80::200:f8ff:fe21:67cf", "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 38024, 44251, 0x4B61E985, 0x02D1FEEF),
]
V4, V6, WITH_TCP, WITH_UDP = 1, 2, 4, 8


@pytest.fixture
def nic(simulate, tmp_path):
    """Runs host-nic; gives its result, the records of what it received and its captures' folder."""

    def run(*words, rx_queues=QUEUES, tx_checksum=False):
        settings = {"rx_queues": rx_queues, "tx_queues": rx_queues, "tx_checksum": tx_checksum}
        result = simulate("host-nic", *words, "--pcap-out", tmp_path / "out", **settings)
        seen = tmp_path / "out" / "host.csv"
        rows = csv.DictReader(seen.read_text().splitlines() if "tx" not in words else [])
        records = [{name: int(value) for name, value in row.items()} for row in rows]
        return result, sorted(records, key=lambda x: x["timestamp_ns"]), tmp_path / "out"

    return run


def frames():
    """Frames of the vectors, each with its hash and the hash's type."""
    made = []
    for number, (to, source, to_port, from_port, plain, with_ports) in enumerate(VECTORS):
        v6 = ":" in to
        ip = IPv6(dst=to, src=source) if v6 else IP(dst=to, src=source)
        version = V6 if v6 else V4
        data = Raw(bytes(x % 256 for x in range(20 + 37 * number)))
        ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
        made.append((ether / ip / TCP(dport=to_port, sport=from_port) / data, with_ports, version | WITH_TCP))
        made.append((ether / ip / UDP(dport=to_port, sport=from_port) / data, with_ports, version | WITH_UDP))
        made.append((ether / Dot1Q(vlan=7) / ip / UDP(dport=to_port, sport=from_port) / data, with_ports, version | WITH_UDP))
        if not v6:
            made.append((ether / ip / ICMP() / data, plain, V4))
            fragment = IP(dst=to, src=source, flags="MF") / UDP(dport=to_port, sport=from_port) / data
            made.append((ether / fragment, plain, V4))
    made.append((Ether(type=0x88B5) / Raw(bytes(range(64))), 0, 0))
    return [(bytes(packet).ljust(60, b"\0"), value, kind) for packet, value, kind in made]


def test_records_of_published_vectors(nic, tmp_path):
    wanted = frames()
    capture = write_pcap(tmp_path / "vectors.pcap", [frame for frame, _, _ in wanted])
    _, records, out = nic("--pcap", capture, "--direction", "rx", "--rate", "0.2")
    assert read_pcap(out / "host.pcap") == [frame for frame, _, _ in wanted]
    assert [(x["hash"], x["hash_type"]) for x in records] == [(value, kind) for _, value, kind in wanted]
    assert [x["queue"] for x in records] == [value % 128 % QUEUES for _, value, _ in wanted]
    for (frame, _, _), record in zip(wanted, records, strict=True):
        assert record["bytes"] == len(frame)
        assert record["csum"] % 0xFFFF == (0xFFFF - checksum(frame[14:])) % 0xFFFF


def test_checksums_left_to_the_device(nic, tmp_path):
    """What is on the wire is what scapy makes, and the device has made it."""
    wanted = [frame for frame, _, _ in frames()]
    capture = write_pcap(tmp_path / "vectors.pcap", wanted)
    result, _, out = nic("--pcap", capture, "--direction", "both", "--rate", "0.2", tx_checksum=True)
    assert sorted(read_pcap(out / "wire0.pcap")) == sorted(wanted)
    assert result["resources"]["driver"]["checksums"] == 2 * len(VECTORS)  # TCP and UDP without a tag
    for sizes in ("64", "65-1518"):
        result, _, out = nic("--size", sizes, "--frames", "300", "--rate", "0.3", tx_checksum=True)
        assert result["resources"]["driver"]["checksums"] == 300
        for frame in read_pcap(out / "wire0.pcap"):
            remade = Ether(frame)
            del remade[UDP].chksum
            assert bytes(remade) == frame


def test_stamps_are_the_time_on_the_wire(nic):
    """Frames as far apart as they are on a line of half the rate, to a clock of the MAC's and a nanosecond."""
    _, records, _ = nic("--size", "500", "--frames", "200", "--direction", "rx", "--rate", "0.5")
    stamps = [x["timestamp_ns"] for x in records]
    apart = (500 + 20) * 8 / 50
    assert all(abs((stamp - stamps[0]) - number * apart) < 5 for number, stamp in enumerate(stamps))


# ---------------------------------------------------------------- exact-match steering

STEERED = ("--direction", "rx", "--flows", "1000")


def flows_of(out):
    """Addresses and ports of each frame of generated traffic, in the order of the wire."""
    return [frame[26:38] for frame in read_pcap(out / "host.pcap")]


def steered(flows, count, queues):
    """What the driver is to do (systems/host_nic/steered_flows.hpp) where all find a place: flow to queue."""
    found, left_out = {}, 0
    for flow in dict.fromkeys(flows):
        if len(found) // 8 > left_out:
            left_out += 1  # and taken out again
        elif len(found) < count:
            found[flow] = len(found) % queues
    return found


def test_each_steered_flow_reaches_its_queue_and_the_others_go_by_hash(nic):
    """To all 256 queues, while another tenth of the flows is steered and taken out again, and half of them moved."""
    words = ("--size", "64-300", "--frames", "6000", "--rate", "0.4", *STEERED, "--set", "steered_flows=400")
    result, records, out = nic(*words, rx_queues=256)
    flows = flows_of(out)
    wanted = steered(flows, 400, 256)
    assert len(flows) == 6000 and len(wanted) == 400
    for flow, record in zip(flows, records, strict=True):
        assert record["queue"] == wanted.get(flow, record["hash"] % 256)
    by_flow = [record for flow, record in zip(flows, records, strict=True) if flow in wanted]
    assert {x["queue"] for x in by_flow} == set(range(256))
    assert sum(x["queue"] == x["hash"] % 256 for x in by_flow) < 0.05 * len(by_flow)
    steering = result["resources"]["steering"]
    assert steering == {"flows": 400, "moved": steering["moved"], "changed": 200, "removed": 49, "no_room": 0}
    assert steering["moved"] > 5 and result["resources"]["settings_refused"] == 0


def test_a_table_without_room_says_so(nic):
    """As full as two places a flow make it: flows that find none go by their hash, as the run itself checks."""
    words = ("--size", "64", "--frames", "6000", "--rate", "0.4", "--direction", "rx", "--flows", "800")
    result, records, out = nic(*words, "--set", "steered_flows=800", rx_queues=256)
    steering = result["resources"]["steering"]
    assert steering["flows"] + steering["removed"] + steering["no_room"] == len(set(flows_of(out)))
    assert steering["flows"] > 512 and steering["no_room"] > 5 and result["resources"]["settings_refused"] == 0
    assert result["totals"]["delivered"] == len(records) == 6000


def test_every_frame_of_64_bytes_is_looked_up(nic):
    """At line rate, into streams: the hash's queue or the flow's, none is lost."""
    words = ("--size", "64", "--frames", "6000", *STEERED, "--set", "steered_flows=500")
    words += ("--set", "rx_mode=stream", "--set", "pcie_interface=usplus")
    result, _, _ = nic(*words, rx_queues=256)
    assert result["totals"]["delivered"] == 6000 and result["totals"]["mpps"] > 0.99 * 148.8


def test_ports_have_tables_of_their_own(nic):
    """Their queues are as many, however odd the number of flows is."""
    words = ("--size", "64-1000", "--frames", "300", "--rate", "0.4", "--flows", "251", "--set", "steered_flows=60")
    result, _, _ = nic(*words, "--set", "ports=2", "--set", "interfaces=2", rx_queues=16)
    assert result["resources"]["steering"]["flows"] == 4 * 60
    assert all(x["offered"] == x["delivered"] for x in result["streams"].values())


def test_steering_beyond_the_table_is_refused(capsys):
    for words in (["steered_flows=1025"], ["flow_entries=0", "steered_flows=1"], ["flow_entries=1000"]):
        settings = [x for word in words for x in ("--set", word)]
        assert main(["run", "host-nic", "--size", "64", "--frames", "10", *settings]) == 2
        assert "flow" in capsys.readouterr().err


# ---------------------------------------------------------------- VLAN tags

C_TAG, S_TAG = 1, 2
TAGS = ("--set", "vlan_tags=true")


def tagged_frames():
    """Of scapy: each kind of tag with every priority, two of them, none; short ones, and lengths about a beat's border."""
    made = []
    for number, size in enumerate([0, 1, 26, *range(70, 90), 200, *range(320, 346), 1400]):
        ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
        tag = Dot1Q(vlan=number * 37 % 4096, prio=number % 8, dei=number // 8 % 2)
        ip = IPv6(dst="fe80::2", src=f"fe80::{number + 1:x}") if number % 3 == 0 else IP(dst="10.0.0.2", src=f"10.1.{number}.1")
        rest = ip / (UDP if number % 2 else TCP)(dport=7, sport=1000 + number) / Raw(bytes(x % 251 for x in range(size)))
        made.append((ether / tag / rest, C_TAG, tag))
        made.append((Ether(dst=ether.dst, src=ether.src, type=0x88A8) / tag / rest, S_TAG, tag))
        made.append((ether / tag / Dot1Q(vlan=5) / rest, C_TAG, tag))
        made.append((ether / rest, 0, None))
    return [(bytes(frame).ljust(60, b"\0"), kind, int.from_bytes(bytes(tag)[:2]) if tag else 0) for frame, kind, tag in made]


@pytest.mark.parametrize("rx_mode", ["classic", "stream"])
def test_tags_are_in_the_records(nic, tmp_path, rx_mode):
    """The frame in memory has none, its sum and hash are without it; put back, it is the frame that was sent."""
    wanted = tagged_frames()
    capture = write_pcap(tmp_path / "tags.pcap", [frame for frame, _, _ in wanted])
    words = ("--pcap", capture, "--direction", "rx", "--rate", "0.3", "--set", f"rx_mode={rx_mode}")
    result, records, out = nic(*words, *TAGS, rx_queues=256)
    assert read_pcap(out / "host.pcap") == [frame for frame, _, _ in wanted]
    assert [(x["tag"], x["tci"]) for x in records] == [(kind, tci) for _, kind, tci in wanted]
    assert result["resources"]["driver"]["tags_taken"] == sum(kind != 0 for _, kind, _ in wanted)
    for (frame, kind, _), record in zip(wanted, records, strict=True):
        bare = frame[:12] + frame[16:] if kind else frame
        assert record["bytes"] == len(bare) and record["hash_type"] != 0
        assert record["csum"] % 0xFFFF == (0xFFFF - checksum(bare[14:])) % 0xFFFF
        assert record["hash"] < 1 << 16 or kind == 0


@pytest.mark.parametrize("tx_checksum", [False, True])
@pytest.mark.parametrize("settings", ["tx_mode=stream", "tx_push=frame", "segments=4"])
def test_tags_left_to_the_device(nic, tmp_path, settings, tx_checksum):
    """On the wire is what scapy made; with a checksum to be made behind the tag, of rings and streams, pushed and in pieces."""
    wanted = tagged_frames()
    capture = write_pcap(tmp_path / "tags.pcap", [frame for frame, _, _ in wanted])
    words = ("--pcap", capture, "--direction", "tx", "--rate", "0.05" if "push" in settings else "0.5")
    result, _, out = nic(*words, *TAGS, "--set", settings, rx_queues=256, tx_checksum=tx_checksum)
    assert read_pcap(out / "wire0.pcap") == [frame for frame, _, _ in wanted]
    driver = result["resources"]["driver"]
    assert driver["tags_left"] == sum(kind != 0 for _, kind, _ in wanted)
    # Behind a second tag the driver makes none.
    assert driver["checksums"] == (3 * len(wanted) // 4 if tx_checksum else 0)


@pytest.mark.parametrize(
    "others",
    [
        ["steered_flows=40"],
        ["tx_mode=stream", "rx_mode=stream"],
        ["interrupts=true", "cpus=4"],
    ],
)
def test_tags_beside_the_other_offloads(nic, others):
    """Both ways at once, two frames of three tagged: hash, sum, queue and stamp of each record are checked by the run."""
    words = ["--size", "68-1000", "--frames", "400", "--rate", "0.6", "--vlan", "0.66", "--ipv6", "0.3", "--flows", "60"]
    result, _, _ = nic(*words, *TAGS, *(x for setting in others for x in ("--set", setting)), rx_queues=256, tx_checksum=True)
    driver = result["resources"]["driver"]
    assert driver["tags_left"] > 200 and driver["tags_taken"] > 200
    assert all(x["offered"] == x["delivered"] for x in result["streams"].values())


def test_tags_cost_no_rate(nic):
    """64 bytes with their tag: into streams at the line's rate, out of them as many as without tags."""
    words = ["--size", "64", "--frames", "6000", "--flows", "1000", "--set", "pcie_interface=usplus", *TAGS]
    result, _, _ = nic(*words, "--vlan", "1", "--direction", "rx", "--set", "rx_mode=stream", rx_queues=256)
    assert result["totals"]["delivered"] == 6000 and result["totals"]["mpps"] > 0.99 * 148.8
    words += ["--direction", "tx", "--set", "tx_mode=stream"]
    tagged, plain = (nic(*words, *more, rx_queues=256)[0] for more in (["--vlan", "1"], []))
    assert tagged["resources"]["driver"]["tags_left"] == tagged["totals"]["delivered"] == 6000
    assert tagged["totals"]["mpps"] > 0.995 * plain["totals"]["mpps"] > 140
