# SPDX-License-Identifier: Apache-2.0
"""A router as a host: frames that it must answer, those that it must not, what answers have to be, by scapy and RFCs."""

import random

from conftest import read_pcap, write_pcap
from routers import lost, packet, runner
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw
from scapy.utils import checksum

OWN = ("02:00:00:00:01:00", "02:00:00:00:01:01")
NEXT = ("02:00:00:00:02:00", "02:00:00:00:02:01")
ADDRESS = ("10.0.0.1", "10.1.0.1")
HOST = "10.0.0.9"  # behind port 0, where all frames come in


def player(command, simulate, folder, many, rate, table):
    """What plays frames at port 0 of a router (its name and options) with settings `many`; at `rate` and with the routes
    `table` where a call says nothing else. Gives the result and what came out at ports 0 and 1, as scapy reads it."""

    def play(frames, *words, routes=table, rate=rate, **settings):
        (folder / "routes.txt").write_text(routes)
        capture = write_pcap(folder / "in.pcap", [bytes(x).ljust(60, b"\0") for x in frames])
        options = ("--pcap", f"0={capture}", "--routes", folder / "routes.txt", "--pcap-out", folder / "out")
        result = runner(command, simulate)(*options, "--rate", rate, *words, **(many | settings))
        return result, [[Ether(x) for x in read_pcap(folder / "out" / f"wire{p}.pcap")] for p in range(2)]

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


def arp_requests():
    """Three for the address of port 0: of a host, of one without an address yet, to the router's Ethernet address."""
    unicast = Ether(dst=OWN[0], src="02:00:00:00:03:07") / ARP(op=1, hwsrc="02:00:00:00:03:07", psrc=HOST, pdst=ADDRESS[0])
    return [arp(), arp(psrc="0.0.0.0"), unicast]


def silent_arp():
    """What is not answered at port 0."""
    return [
        arp(pdst=ADDRESS[1]),  # of the other port
        arp(pdst="10.0.0.2"),
        arp(op=2),
        arp(psrc=ADDRESS[0]),  # says it has our address
        arp(hwsrc="ff:ff:ff:ff:ff:ff"),
        arp(hwtype=6),
        arp(hwlen=8),
        arp(ptype=0x86DD),
    ]


def check_arp(host):
    """What is to be answered is, at port 0, and what is not is not. Gives the result of the run."""
    result, (out, other) = host([*arp_requests(), *silent_arp()])
    assert other == [] and len(out) == 3 and lost(result) == {"not_ip": 11}
    for frame, asked in zip(out, (HOST, "0.0.0.0", HOST), strict=True):
        assert (frame.src, frame.dst) == (OWN[0], "02:00:00:00:03:07") and len(bytes(frame)) == 60
        said = frame[ARP]
        assert (said.op, said.hwsrc, said.psrc) == (2, OWN[0], ADDRESS[0])
        assert (said.hwdst, said.pdst) == ("02:00:00:00:03:07", asked)
    return result


def ping(port, size):
    """For an address of the router, with so many bytes."""
    data = bytes(i & 255 for i in range(size))
    return to_router(IP(src=HOST, dst=ADDRESS[port], ttl=1, tos=8) / ICMP(id=7, seq=9) / Raw(data))


def check_echo(request, answer):
    """It comes from the address that was asked, with the request's data."""
    ip, asked = answer[IP], Ether(bytes(request))[IP]
    assert checksum(bytes(ip)[:20]) == 0 and checksum(bytes(ip)[20 : ip.len]) == 0
    assert (ip.src, ip.dst, ip.ttl, ip.tos, ip.len) == (asked.dst, asked.src, 64, asked.tos, asked.len)
    assert (ip[ICMP].type, ip[ICMP].code, ip[ICMP].id, ip[ICMP].seq) == (0, 0, 7, 9)
    assert bytes(ip)[28 : ip.len] == bytes(asked)[28 : asked.len]


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


def error_frames():
    """The packets of ERRORS."""
    return [x if isinstance(x, bytes) else bytes(to_router(x)) for x, _ in ERRORS.values()]


def check_errors(host, **options):
    """Each quotes its packet of error_frames() as it came, up to 576 bytes in all, and comes from the address of its port."""
    frames, found = error_frames(), {}
    result, (out, other) = host(frames, **options)
    assert other == [] and len(out) == len(ERRORS)
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


def silent():
    """What no error may be about (RFC 1812, 4.3.2.7), and what is not understood."""
    inner = IP(src="10.1.0.9", dst=HOST) / UDP()
    nowhere = {"src": HOST, "dst": "172.16.0.1"}
    bad_sum = IP(src=HOST, dst=ADDRESS[0]) / ICMP(chksum=0x1234)
    return [
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


def check_silence(host):
    """Nothing comes of silent(), and all of it is counted. Gives the result of the run."""
    frames = silent()
    result, out = host(frames)
    assert out == [[], []] and sum(lost(result).values()) == len(frames)
    return result


def hostile(count):
    """Frames of every kind with bytes changed, cut or repeated."""
    rng = random.Random(11)
    good = [arp(), to_router(IP(src=HOST, dst=ADDRESS[1]) / ICMP() / Raw(b"data" * 8))]
    good += error_frames()
    frames = []
    for n in range(count):
        frame = bytearray(bytes(rng.choice(good)).ljust(60, b"\0"))
        for _ in range(rng.randrange(4)):
            frame[rng.randrange(12, min(len(frame), 64))] = rng.choice((0, 1, 4, 255, rng.randrange(256)))
        if frame[12:14] == b"\x08\x00" and rng.random() < 0.8:  # so that it comes past the checksum
            length = 4 * (frame[14] & 15)
            frame[24:26] = b"\0\0"
            frame[24:26] = checksum(bytes(frame[14 : 14 + length])).to_bytes(2, "big")
        frames.append(bytes(frame) + n.to_bytes(2, "big"))
    return frames


def well_formed_answers(out):
    """Checks those among what came out at the ports; gives their number."""
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
    return seen
