# SPDX-License-Identifier: Apache-2.0
"""TCP segmentation of host-nic from end to end: frames are joined to packets of up to 64 kB, the card makes them again.

What is wanted on the wire is cut here, in Python, before the card or the bench's driver has seen it.
"""

import json
import random

import pytest
from conftest import HARM, read_pcap, slow, write_pcap
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from emery.cli import main

FIN, PSH, ACK, ECE, CWR = 0x01, 0x08, 0x10, 0x40, 0x80
OPTIONS = {
    "none": [],
    "stamps": [("NOP", None), ("NOP", None), ("Timestamp", (7, 9))],
    "all": [("Timestamp", (1, 2)), ("SAck", (1, 2, 3, 4, 5, 6)), ("NOP", None), ("NOP", None), ("NOP", None), ("EOL", None)],
}


@pytest.fixture
def nic(simulate, tmp_path):
    """Runs host-nic with the card's segmentation; gives its result and what was on the wire."""

    def run(*words, vlan_tags=True, **settings):
        words = (*words, "--direction", "tx", "--pcap-out", tmp_path / "out")
        result = simulate("host-nic", *words, tso=True, vlan_tags=vlan_tags, **settings)
        return result, read_pcap(tmp_path / "out" / "wire0.pcap")

    return run


def segments(payload, mss, *, v6=False, options="none", tags=0, flags=ACK, seq=1, identification=0, port=5000, ip_options=b""):
    """Frames of one packet of TCP, cut to `mss` bytes."""
    ether = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    for tag in range(tags):
        ether /= Dot1Q(vlan=100 + tag, prio=tag)
    made = []
    for at in range(0, len(payload), mss):
        own = flags & ~(0 if at == 0 else CWR) & ~(0 if at + mss >= len(payload) else FIN | PSH)
        tcp = TCP(sport=port, dport=80, seq=(seq + at) % 2**32, ack=77, flags=own, window=500, options=OPTIONS[options])
        number = (identification + at // mss) % 65536
        ip = (
            IPv6(src="fd00::1", dst="fd00::2", tc=3, fl=5)
            if v6
            else IP(src="10.0.0.1", dst="10.0.0.2", id=number, flags="DF", tos=2)
        )
        if ip_options and not v6:
            ip.options = [Raw(ip_options)]
        made.append(bytes(ether / ip / tcp / Raw(payload[at : at + mss])).ljust(60, b"\0"))  # as the MAC does
    return made


def packets():
    """Each a list of frames: sizes about the borders of rows, odd MSS, last segments of one byte; all kinds of headers."""
    drawn = random.Random(1)
    made = []
    for number, (mss, payload) in enumerate([
        (1448, 20 * 1448), (1448, 65000), (1460, 2 * 1460 + 1), (1461, 3 * 1461 + 1), (536, 5000), (61, 61 * 9 + 1), (62, 1000),
        (100, 101), (128, 1280), (127, 127 * 5 + 126), (8850, 3 * 8850 + 1), (8800, 60000), (1448, 44 * 1448 + 1),
        (999, 31000), (63, 63 * 40),
    ]):  # fmt: skip
        for v6 in (False, True):
            flags = ACK | drawn.choice([0, PSH, FIN, PSH | FIN, CWR | ECE, CWR | PSH, ECE])
            made.append(segments(
                drawn.randbytes(payload), mss, v6=v6, tags=number % 3, flags=flags,
                options=drawn.choice([*OPTIONS]) if mss > 100 else "none", ip_options=b"\1" * 8 * (number % 4 == 1),
                seq=drawn.choice([5, 2**32 - 1000]), identification=drawn.choice([9, 65530]), port=1000 + 2 * number + v6,
            ))  # fmt: skip
    return made


PLAIN = {"vlan_tags": False}


@pytest.mark.parametrize("settings", [*slow(PLAIN), {"tx_checksum": True, "segments": 8}], ids=["plain", "tags"])
def test_the_wire_has_every_segment(nic, tmp_path, settings):
    """Between them frames that are none: the driver gives a packet for each list, the card makes its frames."""
    wanted = packets()
    other = bytes(Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / IP(dst="10.0.0.9") / UDP(dport=9) / Raw(bytes(64)))
    frames = [frame for packet in wanted for frame in [*packet, other]]
    capture = write_pcap(tmp_path / "tcp.pcap", frames)
    result, wire = nic("--pcap", capture, "--rate", "1.0", **settings)
    assert wire == frames
    told = result["resources"]["segmented"]
    assert told["packets"] == len(wanted) and told["frames"] == sum(map(len, wanted)) and told["longest"] > 65000
    if settings != PLAIN:
        driver = result["resources"]["driver"]
        assert driver["tags_left"] == sum(len(x) and x[0][12:14] == b"\x81\x00" for x in wanted) and driver["checksums"] == len(
            wanted
        )


def test_line_rate(nic):
    """64 kB at a time, cut to 1448 bytes, of 64 flows in turn; few doorbells and few descriptors."""
    result, _ = nic("--size", 1518, "--frames", 3000, "--set", "train=44", "--flows", 16)
    assert result["totals"]["delivered"] == 3000 and result["totals"]["l1_gbps"] > 99.5
    assert result["resources"]["segmented"]["frames"] == 3000 and result["resources"]["segmented"]["packets"] < 75
    assert result["resources"]["driver"]["doorbells"] <= result["resources"]["segmented"]["packets"]


def test_frames_of_other_queues_between(nic):
    """Short UDP frames of other flows and TCP of IPv6 with tags: all come out, in order, at the line's rate."""
    words = ["--size", "64-1518", "--frames", 4000, "--set", "train=3", "--ipv6", 0.4, "--vlan", 0.4, "--flows", 60]
    result, _ = nic(*words)
    told = result["resources"]["segmented"]
    assert 500 < told["frames"] < 3900 and told["packets"] > 200
    assert result["totals"]["delivered"] == 4000 and result["totals"]["l1_gbps"] > 95


@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        ("lost_completion", {"fault_frame": 20}),
        ("null_address", {"recover": True}),
        ("wild_address", {"restart_every": 10}),
        ("doorbell", {"fault_frame": 33}),
    ],
)
def test_a_packet_that_fails_is_told_in_frames(nic, fault, settings):
    """The frames of one packet and of those behind it in its queue, none of others."""
    words = ("--size", "1518", "--frames", "2000", "--flows", "20", "--set", "train=7")
    result, _ = nic(*words, fault=fault, vlan_tags=False, **settings)
    stream = result["streams"]["tx"]
    lost = stream["offered"] - stream["delivered"]
    assert result["resources"]["fault"]["struck"] and len(result["resources"]["device_errors"]) == 1
    assert lost == sum(stream["dropped"].values()) and 1 <= lost <= 2000 / 20 + 7
    assert not any(stream[x] for x in HARM)


def test_a_reset_loses_what_waits_to_be_joined(nic):
    result, _ = nic("--size", "1518", "--frames", "2000", "--flows", "20", "--set", "train=7", vlan_tags=False, reset_at_us=30)
    stream = result["streams"]["tx"]
    assert 0 < stream["dropped"]["reset"] == 2000 - stream["delivered"] and not any(stream[x] for x in HARM)


def test_without_it_nothing_is_joined(capsys, tmp_path):
    out = tmp_path / "result.json"
    assert main(["run", "host-nic", "--size", "1518", "--frames", "200", "--direction", "tx", "--json", str(out)]) == 0
    assert json.loads(out.read_text())["resources"]["segmented"] == {"frames": 0, "packets": 0, "longest": 0}


def test_frames_that_are_not_cut_are_as_fast_as_ever(simulate, tmp_path):
    """64 bytes of UDP, which nobody joins, through a card that can cut and tag."""
    flows = (Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01") / IP() / UDP(sport=x) / Raw(bytes(18)) for x in range(64))
    capture = write_pcap(tmp_path / "udp.pcap", [bytes(x) for x in flows])
    words = ("--pcap", capture, "--rate", "1.0", "--duration", "150us", "--direction", "both")
    plain, built = simulate("host-nic", *words), simulate("host-nic", *words, tso=True, vlan_tags=True)
    for way in ("rx", "tx"):
        rate = plain["streams"][way]["mpps"]
        assert rate > 85 and built["streams"][way]["mpps"] == pytest.approx(rate, rel=0.01)
