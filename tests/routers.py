# SPDX-License-Identifier: Apache-2.0
"""What the tests of the routers share: runs, routes, and what must be true of each packet that leaves."""

import ipaddress
import json
import struct

from conftest import read_pcap

from emery.cli import main

HARM = ("corrupted", "duplicated", "misdelivered", "reordered")


def runner(command, tmp_path, capsys):
    """What runs a router (its name and options) with `name=value` settings and gives its result: every frame accounted for."""

    def run(*words, **settings):
        out = tmp_path / "result.json"
        values = {name: str(x).lower() if isinstance(x, bool) else x for name, x in settings.items()}
        options = [x for name, value in values.items() for x in ("--set", f"{name}={value}")]
        ended = main(["run", *command, *map(str, words), *options, "--json", str(out)])
        assert ended == 0, capsys.readouterr().err
        result = json.loads(out.read_text())
        for stream in result["streams"].values():
            assert not any(stream[x] for x in HARM)
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
