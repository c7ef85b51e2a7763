# SPDX-License-Identifier: Apache-2.0
"""direct-router as a host: ARP, ICMP and class masks with real frames, judged by scapy and the RFCs, hostile ones too."""

from functools import partial

import conftest
import pytest
from conftest import slow
from router_host import (
    HOST,
    check_arp,
    check_echo,
    check_errors,
    check_silence,
    hostile,
    ping,
    player,
    silent_arp,
    to_router,
    well_formed_answers,
)
from routers import lost
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.packet import Raw

COMMAND = ("direct-router", "--assertions")
refused = partial(conftest.refused, COMMAND)
ROUTES = "10.0.0.0/16 0\n10.1.0.0/16 1\naddress 10.0.0.1 0\naddress 10.1.0.1 1\n"
MANY = {"cards": 2, "mac": "own", "icmp_rate": 1000000000, "icmp_burst": 1000}


# The cards' own rings, or the NIC beside each card.
on_both = pytest.mark.parametrize("host", [{}, {"bus": "pcie", "host_path": True}], ids=["pcix", "pcie"], indirect=True)


@pytest.fixture
def host(simulate, tmp_path, request):
    return player(COMMAND, simulate, tmp_path, MANY | getattr(request, "param", {}), "0.05", ROUTES)


def host_counts(result):
    return result["resources"]["host"]["answered"], result["resources"]["host"]["unanswered"]


@on_both
def test_arp_for_own_addresses_only(host):
    answered, unanswered = host_counts(check_arp(host))
    assert answered == {"arp": 3} and sum(unanswered.values()) == len(silent_arp())


@on_both
@pytest.mark.parametrize(
    ("port", "size"),
    [(0, 0), (1, 1), (0, 56), (1, 57), (0, 1472), *slow((1, 0), (0, 1), (1, 56), (0, 57), (1, 1472))],
)
def test_echo(host, size, port):
    """To any of its addresses, whatever the time to live; the reply has the request's data, from the address that was asked."""
    request = ping(port, size)
    result, (out, other) = host([request])
    assert other == [] and len(out) == 1
    check_echo(request, out[0])
    assert host_counts(result)[0] == {"echo": 1} and lost(result) == {"own_address": 1}


@on_both
def test_errors(host):
    """Each quotes the packet as it came, as much as 576 bytes hold, and comes from the address of its port."""
    check_errors(host)


@on_both
def test_silence(host):
    """What no error may be about (RFC 1812, 4.3.2.7), and what is not understood."""
    assert host_counts(check_silence(host))[0] == {}


def test_errors_are_limited(host):
    frames = [to_router(IP(src=HOST, dst="10.1.0.9", ttl=1, id=n) / UDP()) for n in range(40)]
    result, (out, _) = host(frames, icmp_rate=0, icmp_burst=5)
    assert len(out) == 5 and host_counts(result) == ({"time_exceeded": 5}, {"rate": 35})
    # 84 bytes at a twentieth of 1 Gb/s last 13.44 us: every fourth frame has one.
    result, (out, _) = host(frames, icmp_rate=19000, icmp_burst=1)
    assert len(out) == pytest.approx(10, abs=1)


@on_both
def test_own_addresses_of_every_card_reach_the_host(host):
    """Also where a prefix of another card holds them; other addresses of it go on without the host."""
    frames = [to_router(IP(src=HOST, dst=f"10.1.0.{n}") / UDP()) for n in (1, 2, 3)]
    result, (out, other) = host(frames)
    assert [x[IP].dst for x in other] == ["10.1.0.2", "10.1.0.3"] and len(out) == 1
    assert result["resources"]["host"]["received"] == 1


def test_default_addresses(host):
    routes = "10.0.0.0/16 0\n10.1.0.0/16 1\n"
    ping = to_router(IP(src=HOST, dst="10.1.0.1") / ICMP())
    _, (out, _) = host([ping], routes=routes, own_addresses=True)
    assert [x[IP].src for x in out] == ["10.1.0.1"]
    _, (out, other) = host([ping], routes=routes)
    assert out == [] and len(other) == 1  # just an address of port 1


@on_both
def test_hostile_frames(host):
    """Frames of every kind with bytes changed, cut or repeated: all are accounted for, all answers well formed."""
    result, out = host(hostile(500), rate="0.2")
    answered, unanswered = host_counts(result)
    assert len(answered) >= 6 and len(unanswered) >= 5
    assert well_formed_answers(out) >= sum(answered.values())


def test_class_masks_from_a_file(host):
    """All 80 bits: type of service, protocol, source, destination; of a port before those of any."""
    rules = (
        "class 0 tos 0xb8/0xfc protocol 17 src 10.0.0.0/28 dst 10.1.2.0/24\nclass 1 to 1 protocol 6\nclass 1 src 10.0.0.64/26\n"
    )
    match = {"src": HOST, "dst": "10.1.2.3", "tos": 0xB9}
    high = [IP(**match) / UDP()]
    middle = [IP(src="10.0.0.200", dst="10.1.0.9") / TCP()]
    low = [
        IP(**(match | {"tos": 0xBC})) / UDP(),
        IP(**(match | {"src": "10.0.0.16"})) / UDP(),
        IP(**(match | {"dst": "10.1.3.3"})) / UDP(),
        IP(**match, proto=18) / Raw(b"u" * 8),
        IP(src="10.0.0.65", dst="10.1.0.9") / UDP(),  # the rule of port 1 stands in for the one of any
    ]
    frames = [to_router(x) for x in (*high, *middle, *low)]
    (result, (_, out)) = host(frames, routes=ROUTES + rules, classes=3)
    assert len(out) == len(frames)
    counts = result["resources"]["cards"][0]["queue_max"]
    assert [x > 0 for x in counts[:3]] == [True, True, True]
    (result, _) = host([to_router(x) for x in low], routes=ROUTES + rules, classes=3)
    assert [x > 0 for x in result["resources"]["cards"][0]["queue_max"][:3]] == [False, False, True]
    (result, _) = host([to_router(x) for x in high], routes=ROUTES + rules, classes=3)
    assert [x > 0 for x in result["resources"]["cards"][0]["queue_max"][:3]] == [True, False, False]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("address 10.0.0.1", "not a line like 'address"),
        ("address 10.0.0 1", "not a line like 'address"),
        ("address 10.0.0.1 0 0", "not a line like 'address"),
        ("address 10.0.0.1 9", "port 9: there are 2"),
        ("address 127.0.0.1 0", "no host has"),
        ("address 10.0.0.1 0\naddress 10.0.0.1 1", "already"),
        ("address 10.0.0.1 0\naddress 10.0.0.2 0", "already"),
        ("addresses 10.0.0.1 0", "not a line like '10.1.0.0/16 3', 'address"),
        ("fe80::/10 1", "IPv6"),
        ("class", "not a line like 'class"),
        ("class 1 tos 1", "class 1: there are 2"),
        ("class 0 tos 256", "tos 256: not a value"),
        ("class 0 tos 0xff/0x0f", "tos 0xff/0x0f: not a value"),
        ("class 0 src 10.0.0.1/8", "src 10.0.0.1/8: not a value"),
        ("class 0 dst 10.0.0.0/33", "dst 10.0.0.0/33: not a value"),
        ("class 0 protocol", "protocol : not a value"),
        ("class 0 to 2", "port 2: there are 2"),
        ("class 0 ports 80", "none of to, tos"),
        ("class 0 tos 1\nclass 0 tos 2", "one mask"),
    ],
)
def test_bad_lines(capsys, tmp_path, line, says):
    (tmp_path / "routes.txt").write_text("10.0.0.0/8 1\n" + line + "\n")
    message = refused(capsys, "--routes", tmp_path / "routes.txt", "--frames", "10", "--set", "cards=2")
    assert f"routes.txt:{2 + line.count(chr(10))}: " in message and says in message


def test_no_addresses_over_pcie_without_a_way_through_the_host(capsys, tmp_path):
    (tmp_path / "routes.txt").write_text(ROUTES)
    words = ("--routes", tmp_path / "routes.txt", "--frames", "10", "--set", "bus=pcie", "--set", "cards=2")
    assert "no slow path" in refused(capsys, *words)
    assert "host_path=true" in refused(capsys, "--set", "bus=pcie", "--set", "own_addresses=true")
