# SPDX-License-Identifier: Apache-2.0
"""What the tests of the routers share: runs, routes, and what must be true of each packet that leaves."""

import ipaddress
import struct

from conftest import HARM, read_pcap, write_pcap


def runner(command, simulate):
    """What runs a router (its name and options) with `name=value` settings and gives its result: every frame accounted for."""

    def run(*words, **settings):
        result = simulate(*command, *words, assertions=False, **settings)
        dealt = settings.get("version") == "V"  # tile-router: order is kept within each of two pipelines
        for stream in result["streams"].values():
            assert not any(stream[x] for x in HARM if not (dealt and x == "reordered"))
            assert stream["offered"] == stream["delivered"] + sum(stream["dropped"].values())
        return result

    return run


def lost(result):
    """Frames dropped by reason, all streams."""
    sums = {}
    for stream in result["streams"].values():
        for reason, frames in stream["dropped"].items():
            sums[reason] = sums.get(reason, 0) + frames
    return sums


def random_routes(first, lengths, ports, rng):
    """Overlapping prefixes of those lengths, after a first line: the text of a routes file, and what is in it."""
    lines = [first]
    for _ in range(400):
        length = rng.choice(lengths)
        network = ipaddress.ip_network((rng.getrandbits(32), length), strict=False)
        lines.append(f"{network} {rng.randrange(ports)}")
    lines = list({x.split()[0]: x for x in lines}.values())
    table = [(ipaddress.ip_network(x.split()[0]), int(x.split()[1])) for x in lines]
    return "\n".join(["# made up", *lines]) + "\n", table


def forwarded(folder, ports, table):
    """Checks the captures of all ports: the longest prefix leads to this port, the checksum is right. Gives their number."""
    seen = 0
    for port in range(ports):
        for frame in read_pcap(folder / f"wire{port}.pcap"):
            header = frame[14 : 14 + 4 * (frame[14] & 15)]
            total = sum(struct.unpack(f">{len(header) // 2}H", header))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            assert total == 0xFFFF
            address = ipaddress.ip_address(frame[30:34])
            best = max((net.prefixlen, out) for net, out in table if address in net)
            assert best[1] == port
            seen += 1
    return seen


OWN = 0x020000000100  # the router's address at port 0
BROADCAST, GROUP, OTHER = (1 << 48) - 1, 0x01005E000001, 0x020000000999
CLAUSES_ROUTES = "0.0.0.0/2 0\n64.0.0.0/2 1\n128.0.0.0/2 0\n224.0.0.0/3 1\n"  # 192 ... 223 lead nowhere


def header_sum(header):
    """The checksum that a header should have, by RFC 791: its own field counts as zero."""
    total = sum(struct.unpack(f">{len(header) // 2}H", header[:10] + b"\0\0" + header[12:]))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def packet(
    to=OWN, src="10.0.0.1", dst="100.0.0.1", ttl=64, first=0x45, total=46, options=b"", spoil=0, kind=0x0800, size=60, ident=0
):
    """An Ethernet frame with an IPv4 header as it should be, but for what is asked; `spoil` is added to its checksum."""
    header = struct.pack(">BBHHHBBH", first, 0, total, ident, 0, ttl, 17, 0)
    header += ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed + options
    checksum = (header_sum(header) + spoil) & 0xFFFF
    frame = to.to_bytes(6, "big") + bytes([2, 0, 0, 0, 3, 0]) + struct.pack(">H", kind)
    frame += header[:10] + struct.pack(">H", checksum) + header[12:]
    return frame.ljust(size, b"\xa5")


def clauses():
    """Frames for the clauses of RFC 1812 that a router must keep, and what is to become of each: a port, or why not."""
    nop, room = b"\x01", 46
    cases = [
        # The link: frames for others (handed over by no link layer), broadcasts and multicasts (5.3.4).
        (packet(), 1),
        (packet(to=OTHER), "not_ours"),
        (packet(to=OWN + 1), "not_ours"),
        (packet(to=OWN ^ 1 << 47), "not_ours"),
        (packet(to=OTHER, ttl=0), "not_ours"),
        (packet(to=BROADCAST), "group_mac"),
        (packet(to=GROUP), "group_mac"),
        (packet(to=BROADCAST, dst="255.255.255.255"), "group_mac"),
        (packet(to=BROADCAST, src="127.0.0.1"), "group_mac"),
        (packet(to=BROADCAST, spoil=1), "checksum"),
        (packet(to=BROADCAST, kind=0x0806), "not_ip"),
        (packet(to=GROUP, dst="224.0.0.1", ttl=1), "destination"),
        (packet(to=BROADCAST, dst="239.255.255.255"), "destination"),
        # Not IPv4.
        *((packet(kind=x), "not_ip") for x in (0x0806, 0x8100, 0x86DD, 0x0801, 0x0008, 46)),
        # Header validation (5.2.2).
        *((packet(first=x << 4 | 5), "version") for x in (0, 3, 5, 6, 15)),
        *((packet(first=0x40 | x), "header") for x in (0, 1, 4)),
        (packet(first=0x4F, total=60), "header"),
        *((packet(total=x), "length") for x in (0, 19, room + 1, 65535)),
        (packet(first=0x46, options=nop * 4, total=23), "length"),
        (packet(first=0x46, options=nop * 4, total=room + 1), "length"),
        *((packet(total=x), 1) for x in (20, 21, room)),
        *((packet(spoil=x), "checksum") for x in (1, 0x100, 0x8000, 0xFFFE)),
        (packet(spoil=1, ttl=1, src="127.0.0.1"), "checksum"),
        (packet(first=0x46, options=nop * 4, spoil=1), "checksum"),
        (packet(first=0x47, options=nop * 8, spoil=0x100, src="0.0.0.0"), "checksum"),
        (packet(first=0x46, options=nop * 4, total=24), 1),
        (packet(first=0x46, options=nop * 4, src="127.0.0.1"), "source"),
        (packet(first=0x46, options=nop * 4, ttl=1), "ttl"),
        (packet(first=0x46, options=nop * 4, ttl=1, dst="200.0.0.1"), "no_route"),
        (packet(first=0x4B, options=nop * 24, total=46), 1),
        (packet(first=0x4C, options=nop * 28, total=50, size=64), 1),
        (packet(first=0x4C, options=nop * 28, total=50, size=64, spoil=4), "checksum"),
        # Addresses that nobody may have (5.3.7, 4.2.2.11), and their neighbours.
        *((packet(src=x), "source") for x in ("0.0.0.0", "0.255.255.255", "127.0.0.0", "127.255.255.255", "224.0.0.0")),
        *((packet(src=x), "source") for x in ("239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255")),
        *((packet(src=x), 1) for x in ("1.0.0.0", "126.255.255.255", "128.0.0.0", "223.255.255.255")),
        *((packet(dst=x), "destination") for x in ("0.0.0.0", "0.255.255.255", "127.0.0.0", "127.255.255.255")),
        *((packet(dst=x), "destination") for x in ("224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255")),
        (packet(src="127.0.0.1", dst="127.0.0.1"), "source"),
        (packet(src="224.0.0.1", ttl=1), "source"),
        (packet(dst="224.0.0.5", ttl=1), "destination"),
        *(
            (packet(dst=x), port)
            for x, port in (("1.0.0.0", 0), ("126.255.255.255", 1), ("128.0.0.0", 0), ("191.255.255.255", 0))
        ),
        # Routes, then time to live (5.2.1, 5.3.1).
        *((packet(dst=x), "no_route") for x in ("192.0.0.0", "223.255.255.255")),
        (packet(dst="200.0.0.1", ttl=0), "no_route"),
        *((packet(ttl=x), "ttl") for x in (0, 1)),
        *((packet(ttl=x), 1) for x in (2, 255)),
        # The checksum that comes out wraps around, and zero has two forms (RFC 1624).
        *((packet(ident=x), 1) for x in range(0x1C00, 0x1C00 + 0x300, 0x33)),
    ]
    zero = next(x for x in range(1 << 16) if header_sum(packet(ident=x)[14:34]) == 0)
    cases += [(packet(ident=zero), 1), (packet(ident=zero, spoil=0xFFFF), 1)]
    # Each one different behind its header, so that it can be told from others.
    return [(frame[:-2] + struct.pack(">H", number), outcome) for number, (frame, outcome) in enumerate(cases)]


def check_clauses(router, tmp_path, named, **settings):
    """Plays the clauses at port 0; what comes out, and what is counted for the rest, must be as written above.

    `named`: what the router's counters call reasons, where that is another name.
    """
    cases = [(frame, outcome if isinstance(outcome, int) else named.get(outcome, outcome)) for frame, outcome in clauses()]
    (tmp_path / "routes.txt").write_text(CLAUSES_ROUTES)
    capture = write_pcap(tmp_path / "clauses.pcap", [frame for frame, _ in cases])
    out = tmp_path / "out"
    words = ("--pcap", f"0={capture}", "--routes", tmp_path / "routes.txt", "--pcap-out", out)
    result = router(*words, "--rate", "0.05", mac="own", **settings)
    reasons = {}
    for _, outcome in cases:
        if isinstance(outcome, str):
            reasons[outcome] = reasons.get(outcome, 0) + 1
    assert lost(result) == reasons
    for port in range(2):
        wanted = []
        for frame, outcome in cases:
            if outcome != port:
                continue
            ip = bytearray(frame[14:])
            ip[8] -= 1
            words = 4 * (ip[0] & 15)
            ip[10:12] = struct.pack(">H", header_sum(bytes(ip[:words])))
            wanted.append(bytes(ip))
        got = [frame[14:] for frame in read_pcap(out / f"wire{port}.pcap")]
        assert sorted(got) == sorted(wanted)


def check_stations(router, tmp_path, mac, forwarded_too):
    """Whether a captured frame for another station is forwarded with that setting; broadcasts never are."""
    capture = write_pcap(tmp_path / "stations.pcap", [packet(), packet(to=OTHER), packet(to=BROADCAST), packet(to=GROUP)])
    (tmp_path / "routes.txt").write_text(CLAUSES_ROUTES)
    result = router("--pcap", f"0={capture}", "--routes", tmp_path / "routes.txt", mac=mac)
    assert result["totals"]["delivered"] == (2 if forwarded_too else 1)
    assert lost(result) == ({"group_mac": 2} if forwarded_too else {"group_mac": 2, "not_ours": 1})
