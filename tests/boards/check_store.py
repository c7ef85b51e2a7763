# SPDX-License-Identifier: Apache-2.0
"""Firmware `store` on the board, from pin to pin: memcached's text protocol over UDP, held against a dictionary."""

import cocotb
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from station import HERE, HERE_IP, OUR_IP, OURS, Board

PORT, SPORT = 11211, 40000
SETS, WAYS, KEY, VALUE = 16, 4, 32, 128


def request(text, number=0, **udp):
    """A datagram of the protocol: its number, the first of one, and the text."""
    head = number.to_bytes(2, "big") + bytes([0, 0, 0, 1, 0, 0])
    return (
        Ether(src=HERE, dst=OURS)
        / IP(src=HERE_IP, dst=OUR_IP)
        / UDP(**{"sport": SPORT, "dport": PORT, **udp})
        / Raw(head + text)
    )


def text_of(got, number):
    """What an answer says, all around it being as it has to be: sums as scapy works them out."""
    again = Ether(bytes(got))
    del again[IP].chksum, again[IP].len, again[UDP].len
    assert bytes(again) == bytes(got), got.show2(dump=True)
    assert (got.src, got.dst, got[IP].src, got[IP].dst, got[IP].ttl) == (OURS, HERE, OUR_IP, HERE_IP, 64)
    assert (got[UDP].sport, got[UDP].dport, got[UDP].chksum) == (PORT, SPORT, 0)
    payload = bytes(got[UDP].payload)[: got[UDP].len - 8]
    assert payload[:8] == number.to_bytes(2, "big") + bytes([0, 0, 0, 1, 0, 0])
    assert not any(bytes(got)[14 + got[IP].len :])
    return payload[8:]


async def ask(board, text, number=0):
    board.send(request(text, number))
    return text_of(await board.answer(500), number)


def fnv(key):
    value = 2166136261
    for byte in key:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return (value ^ value >> 16) % SETS


class Model:
    """What the store has: by set the items, the one stored longest ago first."""

    def __init__(self):
        self.sets = [{} for _ in range(SETS)]

    def set(self, key, flags, value):
        own = self.sets[fnv(key)]
        if key not in own and len(own) == WAYS:
            own.pop(next(iter(own)))
        own.pop(key, None)
        own[key] = (flags, value)
        return b"STORED\r\n"

    def get(self, key):
        own = self.sets[fnv(key)]
        if key not in own:
            return b"END\r\n"
        flags, value = own[key]
        return b"VALUE %s %d %d\r\n%s\r\nEND\r\n" % (key, flags, len(value), value)

    def delete(self, key):
        return b"DELETED\r\n" if self.sets[fnv(key)].pop(key, None) else b"NOT_FOUND\r\n"


@cocotb.test()
async def every_answer_is_the_dictionarys(dut):
    """Keys and values of all lengths, some of them many times, more than there is room for."""
    board, model = Board(dut), Model()
    await board.start(20_000)
    draw = board.random
    keys = [bytes(draw.choices(range(0x21, 0x7F), k=n)) for n in [*range(1, KEY + 1, 3), KEY, *[5] * 90]]
    for number in range(150):
        key = draw.choice(keys if number % 3 else keys[:8])
        kind = draw.choice(["set", "set", "set", "get", "get", "delete"])
        if kind == "set":
            value = draw.randbytes(draw.choice([0, 1, 2, 3, VALUE - 1, VALUE, draw.randrange(VALUE)]))
            flags = draw.choice([0, 7, 0xFFFFFFFF])
            wanted = model.set(key, flags, value)
            got = await ask(board, b"set %s %d 0 %d\r\n%s\r\n" % (key, flags, len(value), value), number)
        else:
            wanted = model.get(key) if kind == "get" else model.delete(key)
            got = await ask(board, b"%s %s\r\n" % (kind.encode(), key), number)
        assert got == wanted, (number, kind, key, got, wanted)
    assert not int(dut.trapped.value)


@cocotb.test()
async def requests_one_behind_the_other(dut):
    """As fast as the line is: both cores answer, each request once; then ping goes on."""
    board = Board(dut)
    await board.start(20_000)
    stored = {n: b"value %d" % n for n in range(20)}
    for n, value in stored.items():
        assert await ask(board, b"set k%d 0 0 %d\r\n%s\r\n" % (n, len(value), value), n) == b"STORED\r\n"
    there = [n for n in stored if await ask(board, b"get k%d\r\n" % n) != b"END\r\n"]
    assert len(there) > 14
    for turn in range(2):
        asked = {n: f"get k{n}\r\n".encode() for n in there}
        for n, text in asked.items():
            board.send(request(text, n + 256 * turn))
        for _ in range(len(there)):
            got = await board.answer(500)
            number = int.from_bytes(bytes(got[UDP].payload)[:2], "big")
            value = stored[number % 256]
            asked.pop(number % 256)
            assert text_of(got, number) == b"VALUE k%d 0 %d\r\n%s\r\nEND\r\n" % (number % 256, len(value), value)
        assert not asked
    board.send(board.ping(56, 1))
    assert (await board.answer(500))[IP].proto == 1
    await board.quiet()
    assert not int(dut.trapped.value)


@cocotb.test()
async def what_is_no_request(dut):
    """Errors in words where the protocol has them, no answer where there is no request; nothing stored by either."""
    board = Board(dut)
    await board.start(20_000)
    words = {
        b"": b"ERROR",
        b"hello\r\n": b"ERROR",
        b"get \r\n": b"ERROR",
        b"get k": b"ERROR",
        b"get k\r\nget k\r\n": b"ERROR",
        b"get " + b"k" * (KEY + 1) + b"\r\n": b"ERROR",
        b"set k 0 0\r\n\r\n": b"ERROR",
        b"set k 4294967296 0 1\r\nx\r\n": b"ERROR",
        b"set k 0 0 -1\r\nx\r\n": b"ERROR",
        b"set k 0 60 1\r\nx\r\n": b"SERVER_ERROR items do not expire",
        b"set k 0 0 129\r\n" + bytes(129) + b"\r\n": b"SERVER_ERROR object too large for cache",
        b"set k 0 0 2\r\nx\r\n": b"CLIENT_ERROR bad data chunk",
        b"set k 0 0 1\r\nxy\r\n": b"CLIENT_ERROR bad data chunk",
        b"set k 0 0 128\r\nx": b"CLIENT_ERROR bad data chunk",
        b"set k 0 0 1\r\nx\r\n ": b"CLIENT_ERROR bad data chunk",
        b"delete k\r\n": b"NOT_FOUND",
        b"delete \r\n": b"ERROR",
    }
    for number, (text, wanted) in enumerate(words.items()):
        assert await ask(board, text, number) == wanted + b"\r\n", text
    good = b"set k 0 0 1\r\nx\r\n"
    wrong = [request(good, dport=PORT + 1), request(good, chksum=0x1234), request(good, len=15), request(good, len=200)]
    pieces = request(good)
    pieces[Raw].load = bytes([0, 0, 0, 0, 0, 2, 0, 0]) + good
    later = request(good)
    later[Raw].load = bytes([0, 0, 0, 1, 0, 1, 0, 0]) + good
    for x in (*wrong, pieces, later):
        board.send(x)
        await board.quiet()
    assert await ask(board, b"get k\r\n") == b"END\r\n"
    # A sender need not make a checksum.
    board.send(request(good, 77, chksum=0))
    assert text_of(await board.answer(500), 77) == b"STORED\r\n"
    assert await ask(board, b"get k\r\n") == b"VALUE k 0 1\r\nx\r\nEND\r\n"
    assert not int(dut.trapped.value)
