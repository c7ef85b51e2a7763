# SPDX-License-Identifier: Apache-2.0
"""xgmii_mac with XGMII source and sink that no one here wrote (cocotbext-eth), on its line."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource

BEAT = 64


class Mac:
    """The device, its clock, the line, and frames by the beat at its other side."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk_i, 6400, unit="ps").start())
        self.source = XgmiiSource(dut.xgmii_rxd, dut.xgmii_rxc, dut.clk_i)
        self.sink = XgmiiSink(dut.xgmii_txd, dut.xgmii_txc, dut.clk_i)
        self.received = []  # frames and whether they are bad

    async def start(self):
        dut = self.dut
        for pin in (dut.s_tvalid, dut.s_tdata, dut.s_tkeep, dut.s_tlast, dut.s_tuser, dut.pause_i, dut.stop_i):
            pin.value = 0
        dut.max_frame_i.value = 16384
        dut.rst_i.value = 1
        await ClockCycles(dut.clk_i, 20)
        dut.rst_i.value = 0
        await ClockCycles(dut.clk_i, 10)
        cocotb.start_soon(self._receive())

    async def _receive(self):
        frame = b""
        while True:
            await RisingEdge(self.dut.clk_i)
            if not int(self.dut.m_tvalid.value):
                continue
            count = int(self.dut.m_tkeep.value).bit_length()
            frame += int(self.dut.m_tdata.value).to_bytes(BEAT, "little")[:count]
            if int(self.dut.m_tlast.value):
                self.received.append((frame, bool(int(self.dut.m_tuser.value))))
                frame = b""

    async def send(self, frame, bad=False):
        dut = self.dut
        for at in range(0, len(frame), BEAT):
            part = frame[at : at + BEAT]
            dut.s_tvalid.value = 1
            dut.s_tdata.value = int.from_bytes(part, "little")
            dut.s_tkeep.value = (1 << len(part)) - 1
            dut.s_tlast.value = int(at + BEAT >= len(frame))
            dut.s_tuser.value = int(bad and at + BEAT >= len(frame))
            await RisingEdge(dut.clk_i)
            while not int(dut.s_tready.value):
                await RisingEdge(dut.clk_i)
        dut.s_tvalid.value = 0


def frames(count, longest):
    sizes = [*range(60, 60 + count // 2), *(random.randint(60, longest) for _ in range(count - count // 2))]
    return [b"\x02" + random.randbytes(x - 1) for x in sizes]


@cocotb.test()
async def sent_frames(dut):
    random.seed(1)
    mac = Mac(dut)
    await mac.start()
    lanes = set()
    sent = frames(120, 2000) + [b"\x02" + bytes(16370)]
    for frame in sent:
        await mac.send(frame)
    for frame in sent:
        got = await mac.sink.recv()
        assert got.check_fcs() and bytes(got.get_payload()) == frame and bytes(got.get_preamble()) == b"\x55" * 7 + b"\xd5"
        lanes.add(got.start_lane)
    assert lanes == {0, 4}
    await mac.send(sent[0], bad=True)
    got = await mac.sink.recv()
    assert not got.check_fcs()


@cocotb.test()
async def received_frames(dut):
    random.seed(2)
    mac = Mac(dut)
    await mac.start()
    sent = frames(120, 2000) + [b"\x02" + bytes(16370)]
    for gap in (12, 8, 40):  # with deficit idle count 8 goes down to 5, the least that a receiver must take
        mac.source.ifg = gap
        mac.received.clear()
        for frame in sent:
            mac.source.send_nowait(XgmiiFrame.from_payload(frame))
        await mac.source.wait()
        await ClockCycles(dut.clk_i, 60)
        assert mac.received == [(x, False) for x in sent], gap
    # A byte of one is changed, of another an Error character is in the middle; the next is well.
    spoilt = [XgmiiFrame.from_payload(sent[5]) for _ in range(3)]
    spoilt[0].data[30] ^= 1
    spoilt[1].normalize()
    spoilt[1].data[40], spoilt[1].ctrl[40] = 0xFE, 1
    mac.received.clear()
    for x in spoilt:
        mac.source.send_nowait(x)
    await mac.source.wait()
    await ClockCycles(dut.clk_i, 60)
    assert [bad for _, bad in mac.received] == [True, True, False] and mac.received[2][0] == sent[5]


@cocotb.test()
async def pause(dut):
    """The far end's PAUSE holds frames back as long as it says; ours says what it is to."""
    mac = Mac(dut)
    dut.pause_i.value = 0
    await mac.start()
    dut.pause_i.value = 1
    quanta = 20
    control = bytes.fromhex("0180c2000001 020000000001 8808 0001") + quanta.to_bytes(2, "big") + bytes(42)
    mac.source.send_nowait(XgmiiFrame.from_payload(control))
    while not int(dut.paused_o.value) & 256:
        await RisingEdge(dut.clk_i)
    frame = b"\x02" + bytes(63)
    cocotb.start_soon(mac.send(frame))
    clocks = 0
    while mac.sink.empty():
        await RisingEdge(dut.clk_i)
        clocks += 1
    assert quanta * 8 < clocks < quanta * 8 + 50, clocks
    assert bytes((await mac.sink.recv()).get_payload()) == frame and not mac.received
    dut.stop_i.value = 0x104
    first = bytes((await mac.sink.recv()).get_payload())
    second = bytes((await mac.sink.recv()).get_payload())
    assert first[:18] == bytes.fromhex("0180c2000001 020203040506 8808 0001 0064"), first
    assert second[:34] == bytes.fromhex("0180c2000001 020203040506 8808 0101 0004 0000 0000 0064") + bytes(10), second


@cocotb.test()
async def faults(dut):
    """Ordered sets of the line: Local Fault is answered with Remote Fault; when it has gone, frames are sent again."""
    mac = Mac(dut)
    await mac.start()
    for code in (1, 2):
        mac.source.set_seq_os(code)
        await ClockCycles(dut.clk_i, 20)
        assert int(dut.fault_o.value) == code
        word = int(dut.xgmii_txd.value), int(dut.xgmii_txc.value)
        assert word == ((0x0200009C0200009C, 0x11) if code == 1 else (0x0707070707070707, 0xFF))
        frame = b"\x02" + bytes(80)
        cocotb.start_soon(mac.send(frame))
        await ClockCycles(dut.clk_i, 50)
        mac.source.set_seq_os()
        await ClockCycles(dut.clk_i, 120)
        assert int(dut.fault_o.value) == 0
        assert bytes((await mac.sink.recv()).get_payload()) == frame
