# SPDX-License-Identifier: Apache-2.0
"""A board from pin to pin: ARP and ICMP echo, with packets (scapy) and a PHY (cocotbext-eth) that no one here wrote."""

import cocotb
from cocotbext.eth import GmiiFrame
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw
from station import HERE, HERE_IP, OUR_IP, OURS, Board

SIZES = [0, 1, 2, 3, 17, 18, 19, 55, 56, 57, 100, 511, 999, 1471, 1472]  # of a ping's payload, up to a frame of 1514


def echoes(asked, got):
    """The answer is the echo, and all of it is as it has to be: sums as scapy works them out."""
    again = Ether(bytes(got))
    del again[IP].chksum, again[ICMP].chksum
    assert bytes(again) == bytes(got), got.show2(dump=True)
    assert (got.src, got.dst, got[IP].src, got[IP].dst) == (OURS, asked.src, OUR_IP, asked[IP].src)
    assert (got[IP].ttl, got[IP].len, got[ICMP].type, got[ICMP].code) == (64, IP(bytes(asked[IP])).len, 0, 0)
    assert (got[ICMP].id, got[ICMP].seq) == (asked[ICMP].id, asked[ICMP].seq)
    data = bytes(asked[Raw].load) if Raw in asked else b""
    assert bytes(got[ICMP].payload)[: len(data)] == data and len(bytes(got)) == max(60, 42 + len(data))


@cocotb.test()
async def arp_and_ping(dut):
    board = Board(dut)
    await board.start()
    for to in ("ff:ff:ff:ff:ff:ff", OURS):
        board.send(Ether(src=HERE, dst=to) / ARP(op=1, hwsrc=HERE, psrc=HERE_IP, pdst=OUR_IP))
        got = await board.answer()
        assert (got.src, got.dst, got[ARP].op) == (OURS, HERE, 2)
        assert (got[ARP].hwsrc, got[ARP].psrc, got[ARP].hwdst, got[ARP].pdst) == (OURS, OUR_IP, HERE, HERE_IP)
    for number, size in enumerate(SIZES):
        asked = board.ping(size, number, ttl=number + 1, tos=number, id=1000 * number)
        board.send(asked)
        echoes(asked, await board.answer())
    await board.quiet()
    assert not int(dut.trapped.value)


@cocotb.test()
async def back_to_back(dut):
    """Of mixed sizes, without a gap that is not the line's: each is answered once, whatever the order."""
    board = Board(dut)
    await board.start()
    for turn in range(3):
        asked = {x: board.ping(board.random.choice(SIZES), x) for x in range(24 * turn, 24 * turn + 24)}
        for x in asked.values():
            board.send(x)
        for _ in range(len(asked)):
            got = await board.answer()
            echoes(asked.pop(got[ICMP].seq), got)
        assert not asked
    await board.quiet()
    assert not int(dut.trapped.value)


@cocotb.test()
async def what_is_not_answered(dut):
    board = Board(dut)
    await board.start()
    request = Ether(src=HERE, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=HERE, psrc=HERE_IP, pdst=OUR_IP)
    ping = board.ping(56, 1)
    others = [request.copy() for _ in range(4)]
    others[0][ARP].pdst = "192.168.1.51"
    others[1][ARP].op = 2
    others[2][ARP].hwlen = 8
    others[3].dst = "02:00:00:00:00:02"
    pings = [ping.copy() for _ in range(6)]
    pings[0].dst = "02:00:00:00:00:02"
    pings[1].dst = "ff:ff:ff:ff:ff:ff"
    pings[2][IP].dst = "192.168.2.50"
    pings[3][IP].chksum = 0x1234
    pings[4][IP].flags = "MF"
    pings[5][ICMP].type = 0
    pings += [board.ping(56, 2, frag=3), board.ping(56, 3, len=200), board.ping(56, 4, len=27)]
    more = [
        Ether(src=HERE, dst=OURS) / IP(src=HERE_IP, dst=OUR_IP) / UDP(dport=7) / Raw(bytes(30)),
        Ether(src=HERE, dst=OURS) / Dot1Q(vlan=1) / ping[IP],
        Ether(src=HERE, dst=OURS) / IPv6(dst="fe80::1") / Raw(bytes(40)),
        ping.copy() / Raw(bytes(1417)),  # a frame of 1515 bytes
    ]
    for x in (*others, *pings, *more):
        board.send(x)
        await board.quiet()
    spoilt = GmiiFrame.from_payload(bytes(ping))
    spoilt.data[20] ^= 1
    board.phy.rx.send_nowait(spoilt)
    board.phy.rx.send_nowait(GmiiFrame.from_payload(bytes(request)[:42], min_len=0))  # a runt
    await board.quiet()
    for number in range(40):  # no slot is lost: more than there are
        asked = board.ping(20, number)
        board.send(asked)
        echoes(asked, await board.answer())
    assert not int(dut.trapped.value)
