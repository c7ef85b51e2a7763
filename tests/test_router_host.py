# SPDX-License-Identifier: Apache-2.0
"""direct-router as a host: ARP, ICMP and class masks with real frames, judged by scapy and the RFCs, hostile ones too."""

import random
from functools import partial

import conftest
import pytest
from conftest import read_pcap, write_pcap
from routers import lost, packet, runner
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from scapy.utils import checksum

COMMAND = ("direct-router", "--assertions")
refused = partial(conftest.refused, COMMAND)
OWN = ("02:00:00:00:01:00", "02:00:00:00:01:01")
NEXT = ("02:00:00:00:02:00", "02:00:00:00:02:01")
ADDRESS = ("10.0.0.1", "10.1.0.1")
HOST = "10.0.0.9"  # behind port 0, where all frames come in
ROUTES = "10.0.0.0/16 0\n10.1.0.0/16 1\naddress 10.0.0.1 0\naddress 10.1.0.1 1\n"
MANY = {"cards": 2, "mac": "own", "icmp_rate": 1000000000, "icmp_burst": 1000}


# The cards' own rings, or the NIC beside each card.
on_both = pytest.mark.parametrize("host", [{}, {"bus": "pcie", "host_path": True}], ids=["pcix", "pcie"], indirect=True)


@pytest.fixture
def host(simulate, tmp_path, request):
    """Plays frames at port 0; gives the result and what came out, by port, as scapy reads it."""
    machine = getattr(request, "param", {})

    def play(frames, *words, routes=ROUTES, rate="0.05", **settings):
        (tmp_path / "routes.txt").write_text(routes)
        capture = write_pcap(tmp_path / "in.pcap", [bytes(x).ljust(60, b"\0") for x in frames])
        options = ("--pcap", f"0={capture}", "--routes", tmp_path / "routes.txt", "--pcap-out", tmp_path / "out")
        result = runner(COMMAND, simulate)(*options, "--rate", rate, *words, **(MANY | machine | settings))
        return result, [[Ether(x) for x in read_pcap(tmp_path / "out" / f"wire{p}.pcap")] for p in range(2)]

    return play


def to_router(packet, mac=OWN[0]):
    return Ether(dst=mac, src="02:00:00:00:03:00") / packet


def arp(**fields):
    given = {"op": 1, "hwsrc": "02:00:00:00:03:07", "psrc": HOST, "pdst": ADDRESS[0]} | fields
    return Ether(dst="ff:ff:ff:ff:ff:ff", src=given["hwsrc"]) / ARP(**given)


def well_formed(frame, port):
    """An IP packet of the router: addresses, lengths, both checksums."""
    assert (frame.src, frame.dst) == (OWN[port], NEXT[port])
    ip = bytes(frame[IP])[: frame[IP].len]
    assert len(bytes(frame)) >= 60 and checksum(ip[:20]) == 0 and checksum(ip[20:]) == 0
    assert frame[IP].ttl == 64 and frame[IP].ihl == 5 and frame[IP].proto == 1 and frame[IP].src == ADDRESS[port]


def host_counts(result):
    return result["resources"]["host"]["answered"], result["resources"]["host"]["unanswered"]


@on_both
def test_arp_for_own_addresses_only(host):
    probe = arp(psrc="0.0.0.0")
    unicast = Ether(dst=OWN[0], src="02:00:00:00:03:07") / ARP(op=1, hwsrc="02:00:00:00:03:07", psrc=HOST, pdst=ADDRESS[0])
    silent = [
        arp(pdst=ADDRESS[1]),  # of the other port
        arp(pdst="10.0.0.2"),
        arp(op=2),
        arp(psrc=ADDRESS[0]),  # says it has our address
        arp(hwsrc="ff:ff:ff:ff:ff:ff"),
        arp(hwtype=6),
        arp(hwlen=8),
        arp(ptype=0x86DD),
    ]
    result, (out, other) = host([arp(), probe, unicast, *silent])
    assert len(out) == 3 and other == []
    for frame, asked in zip(out, (HOST, "0.0.0.0", HOST), strict=True):
        assert (frame.src, frame.dst) == (OWN[0], "02:00:00:00:03:07") and len(bytes(frame)) == 60
        said = frame[ARP]
        assert (said.op, said.hwsrc, said.psrc) == (2, OWN[0], ADDRESS[0])
        assert (said.hwdst, said.pdst) == ("02:00:00:00:03:07", asked)
    answered, unanswered = host_counts(result)
    assert answered == {"arp": 3} and sum(unanswered.values()) == len(silent)
    assert lost(result) == {"not_ip": 11}


@on_both
@pytest.mark.parametrize("size", [0, 1, 56, 57, 1472])
@pytest.mark.parametrize("port", [0, 1])
def test_echo(host, size, port):
    """To any of its addresses, whatever the time to live; the reply has the request's data, from the address that was asked."""
    data = bytes(i & 255 for i in range(size))
    result, (out, other) = host([to_router(IP(src=HOST, dst=ADDRESS[port], ttl=1, tos=8) / ICMP(id=7, seq=9) / Raw(data))])
    assert other == [] and len(out) == 1
    ip = out[0][IP]
    assert checksum(bytes(ip)[:20]) == 0 and checksum(bytes(ip)[20 : ip.len]) == 0
    assert (ip.src, ip.dst, ip.ttl, ip.tos) == (ADDRESS[port], HOST, 64, 8)
    assert (ip[ICMP].type, ip[ICMP].code, ip[ICMP].id, ip[ICMP].seq) == (0, 0, 7, 9)
    assert bytes(ip)[28 : ip.len] == data
    assert host_counts(result)[0] == {"echo": 1} and lost(result) == {"own_address": 1}


def optioned(*options, dst=ADDRESS[0], ttl=64):
    """A UDP packet with these bytes of options."""
    return packet(src=HOST, dst=dst, ttl=ttl, first=0x45 + len(options) // 4, options=bytes(options))


ERRORS = {  # what is sent, and type and code of what comes back
    "expired on the fast path": (IP(src=HOST, dst="10.1.0.9", ttl=1) / UDP(), (11, 0)),
    "no time left at all": (IP(src=HOST, dst="10.1.0.9", ttl=0) / UDP(), (11, 0)),
    "expired on the slow path": (IP(src=HOST, dst="10.0.0.8", ttl=1) / UDP(), (11, 0)),
    "expired with options": (optioned(1, 1, 1, 0, dst="10.1.0.9", ttl=1), (11, 0)),
    "no route": (IP(src=HOST, dst="172.16.0.1") / UDP(), (3, 0)),
    "no such protocol": (IP(src=HOST, dst=ADDRESS[1], proto=132) / Raw(b"x" * 40), (3, 2)),
    "no TCP": (IP(src=HOST, dst=ADDRESS[0]) / TCP(), (3, 2)),
    "no such port": (IP(src=HOST, dst=ADDRESS[0], ttl=1) / UDP(dport=33434), (3, 3)),
    "first fragment": (IP(src=HOST, dst="172.16.0.1", flags="MF") / UDP(), (3, 0)),
    "a query": (IP(src=HOST, dst="172.16.0.1") / ICMP(), (3, 0)),
    "a source route through here": (optioned(131, 7, 4, 10, 1, 0, 9, 0), (3, 5)),
    "a source route that has ended": (optioned(131, 7, 8, 10, 1, 0, 9, 0), (3, 3)),
    "an option of no length": (optioned(0x44, 0, 0, 0), (12, 0)),
    "an option beyond the header": (optioned(0x44, 40, 5, 0), (12, 0)),
    "long": (IP(src=HOST, dst="172.16.0.1") / UDP() / Raw(b"y" * 1400), (3, 0)),
}


def error_frame(n):
    sent, _ = list(ERRORS.values())[n]
    return sent if isinstance(sent, bytes) else bytes(to_router(sent))


@on_both
def test_errors(host):
    """Each quotes the packet as it came, as much as 576 bytes hold, and comes from the address of its port."""
    frames = [error_frame(n) for n in range(len(ERRORS))]
    result, (out, other) = host(frames)
    assert other == [] and len(out) == len(ERRORS)
    found = {}
    for frame in out:
        well_formed(frame, 0)
        ip = bytes(frame[IP])[: frame[IP].len]
        assert frame[IP].dst == HOST and frame[IP].tos == 0xC0
        quoted = next(n for n, x in enumerate(frames) if x[14:][: len(ip) - 28] == ip[28:])
        whole = frames[quoted][14 : 14 + int.from_bytes(frames[quoted][16:18], "big")]
        assert len(ip) == min(576, 28 + len(whole))
        found[quoted] = (ip[20], ip[21], ip[24])
    wanted = [kind for _, kind in ERRORS.values()]
    assert [found[n][:2] for n in range(len(frames))] == wanted
    assert [found[n][2] for n in range(len(frames)) if wanted[n][0] == 12] == [21, 21]  # where the length stands
    assert lost(result) == {"ttl": 4, "no_route": 4, "own_address": 7}


@on_both
def test_silence(host):
    """What no error may be about (RFC 1812, 4.3.2.7), and what is not understood."""
    inner = IP(src="10.1.0.9", dst=HOST) / UDP()
    nowhere = {"src": HOST, "dst": "172.16.0.1"}
    bad_sum = IP(src=HOST, dst=ADDRESS[0]) / ICMP(chksum=0x1234)
    silent = [
        *(to_router(IP(**nowhere) / ICMP(type=x) / inner) for x in (3, 4, 5, 11, 12)),
        to_router(IP(**nowhere) / ICMP(type=200)),
        to_router(IP(**nowhere, proto=1)),  # no byte of a message
        to_router(IP(**nowhere, frag=3) / Raw(b"z" * 24)),
        to_router(IP(**nowhere) / UDP(), mac="ff:ff:ff:ff:ff:ff"),
        to_router(IP(src="192.0.2.1", dst="172.16.0.1") / UDP()),  # no way back
        to_router(IP(src=ADDRESS[1], dst="10.1.0.9", ttl=1) / UDP()),
        to_router(IP(src=ADDRESS[0], dst=ADDRESS[0]) / ICMP()),
        to_router(IP(src="127.0.0.1", dst="10.1.0.9", ttl=1) / UDP()),
        to_router(IP(src=HOST, dst="224.0.0.1", ttl=1) / UDP()),
        to_router(IP(src=HOST, dst=ADDRESS[0]) / ICMP(type=0)),
        to_router(IP(src=HOST, dst=ADDRESS[0]) / ICMP(type=13)),
        to_router(IP(src=HOST, dst=ADDRESS[0], flags="MF") / ICMP()),
        to_router(IP(src=HOST, dst=ADDRESS[0], len=24, proto=1) / Raw(b"\x08\x00\xf7\xff")),
        to_router(bad_sum),
    ]
    result, out = host(silent)
    assert out == [[], []] and host_counts(result)[0] == {}
    assert sum(lost(result).values()) == len(silent)


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
    rng = random.Random(11)
    good = [arp(), to_router(IP(src=HOST, dst=ADDRESS[1]) / ICMP() / Raw(b"data" * 8))]
    good += [error_frame(n) for n in range(len(ERRORS))]
    frames = []
    for n in range(500):
        frame = bytearray(bytes(rng.choice(good)).ljust(60, b"\0"))
        for _ in range(rng.randrange(4)):
            frame[rng.randrange(12, min(len(frame), 64))] = rng.choice((0, 1, 4, 255, rng.randrange(256)))
        if frame[12:14] == b"\x08\x00" and rng.random() < 0.8:  # so that it comes past the checksum
            length = 4 * (frame[14] & 15)
            frame[24:26] = b"\0\0"
            frame[24:26] = checksum(bytes(frame[14 : 14 + length])).to_bytes(2, "big")
        frames.append(bytes(frame) + n.to_bytes(2, "big"))
    result, out = host(frames, rate="0.2")
    answered, unanswered = host_counts(result)
    assert len(answered) >= 6 and len(unanswered) >= 5
    seen = 0
    for port, frame in ((p, x) for p in range(2) for x in out[p]):
        if ARP in frame:
            assert frame[ARP].op == 2 and frame[ARP].psrc == ADDRESS[port]
        elif frame[IP].src in ADDRESS and frame[IP].proto == 1 and frame[IP].ttl == 64:
            ip = bytes(frame[IP])[: frame[IP].len]
            assert checksum(ip[:20]) == 0 and checksum(ip[20:]) == 0
            if ip[20] != 0:
                assert ip[28 + 9] != 1 or ip[28 + 4 * (ip[28] & 15)] not in (3, 4, 5, 11, 12)
        else:
            continue
        seen += 1
    assert seen >= sum(answered.values())


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
