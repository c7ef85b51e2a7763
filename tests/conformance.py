# SPDX-License-Identifier: Apache-2.0
"""What every driver of host-nic is held to: the checks, the frames they are made with, the table of the docs."""

import itertools
import random
from collections import Counter

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

DRIVERS = {"bench": "the bench's driver model", "linux": "the kernel module", "dpdk": "the poll-mode driver"}
CHECKS = {
    "link": "the link is up once the driver has started",
    "bytes": "frames of 60 to 9,014 bytes, odd, even and prime, each way, every byte compared",
    "addresses": "frames for other stations are received too: the card has no filter of addresses",
    "placement": "each received frame is in the queue of a Toeplitz hash made by software",
    "tx_checksum": "TCP and UDP checksums that the card makes",
    "rx_checksum": "right and wrong checksums of received frames are told apart",
    "vlan": "VLAN tags that the card takes out and puts in",
    "too_long": "frames longer than the MTU are dropped and counted",
    "runts": "frames of less than 64 bytes with FCS are dropped and counted",
    "tx_full": "more frames at once than a ring has room for: all are sent, in order",
    "rx_full": "frames that find no buffer are counted, and no other is missing",
    "statistics": "frames and bytes of the statistics are those that were sent",
    "queue_counters": "the card's own counters of each queue, of 64 bits, say what the driver has sent and received",
    "port_counters": "the card's own counters of its port, of 64 bits, say what was on the wire, by size",
    "restart": "queues are set up anew in the middle of traffic",
    "lost_completion": "a read that is never answered: traffic goes on after the card or its queue was set up anew",
    "removal": "a card that has gone: the driver says so and ends",
}

QUEUES = 4
SIZES = [60, 61, 63, 64, 65, 67, 127, 128, 129, 251, 257, 509, 1021, 1024, 1514, 1518, 2039, 4093, 4096, 8191, 9013, 9014]
MARK = 0x5A5A  # of frames that guests send back
CARD, OTHER, STRANGER = "02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:77:77"
_KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")


def flow_hash(fields: bytes) -> int:
    """Toeplitz, with the key of Microsoft's specification."""
    key, value = int.from_bytes(_KEY), 0
    for bit in range(8 * len(fields)):
        if fields[bit // 8] >> (7 - bit % 8) & 1:
            value ^= key >> (8 * len(_KEY) - 32 - bit) & 0xFFFFFFFF
    return value


def queue_of(frame: bytes, queues: int = QUEUES) -> int:
    """Of a frame of TCP or UDP over IPv4, where the table deals queues by turns."""
    return flow_hash(frame[26:38]) % queues


def by_size(made) -> list[int]:
    """How many of these frames each of the card's counters by size is to have."""
    edges = [0, 64, 127, 255, 511, 1023, 1518, 9018]  # with FCS
    return [sum(least < len(x) + 4 <= most for x in made) for least, most in itertools.pairwise(edges)]


def _packet(size: int, number: int, body, to: str = CARD):
    rng = random.Random(number)
    ip = IP(src=f"10.9.{number % 251}.2", dst=f"10.9.1.{1 + number % 200}", id=MARK)
    head = Ether(dst=to, src=OTHER) / ip / body(sport=1000 + 7 * number, dport=9)
    return bytes(head / Raw(rng.randbytes(size - len(head))))


def frames() -> list[bytes]:
    """Of all sizes, several flows of each; every third is for another station."""
    plan = [(size, UDP if (n + size) % 2 else TCP) for n in range(4) for size in SIZES]
    return [_packet(size, n, body, STRANGER if n % 3 == 0 else CARD) for n, (size, body) in enumerate(plan)]


def stream(count: int) -> list[bytes]:
    """Short frames, no two of them alike."""
    return [_packet(60 + n % 900, n, UDP) for n in range(count)]


def checksummed(to: str = "10.0.0.1") -> tuple[list[bytes], int]:
    """Datagrams of which every third has a wrong checksum, and how many do."""
    made = []
    for n in range(30):
        packet = (
            Ether(dst=CARD, src=OTHER) / IP(src="10.0.0.2", dst=to, id=n) / UDP(sport=2000 + n, dport=9) / Raw(bytes(20 + n))
        )
        frame = bytearray(bytes(packet))
        frame[40] ^= n % 3 == 0  # the checksum's first byte
        made.append(bytes(frame))
    return made, len(range(0, 30, 3))


def recomputed(frame: bytes) -> bytes:
    """The frame with the checksums that software makes."""
    packet = Ether(frame)
    for layer in (TCP, UDP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


def same(some, others) -> bool:
    """The same frames, in whatever order."""
    return Counter(some) == Counter(others)


def table(drivers: dict) -> str:
    """For the docs: checks by drivers, and why where a driver has none. `drivers`: an adapter of each."""
    rows = ["| check | " + " | ".join(DRIVERS[x] for x in drivers) + " |", "|---" * (1 + len(drivers)) + "|"]
    for name, what in CHECKS.items():
        cells = [adapter.LACKS.get(name, "yes") for adapter in drivers.values()]
        rows.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
