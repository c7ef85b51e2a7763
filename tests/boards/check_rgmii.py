# SPDX-License-Identifier: Apache-2.0
"""rgmii at 1 Gb/s, pins and all, with source and sink that no one here wrote (cocotbext-eth)."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.eth import GmiiFrame
from line import phy, well

SIZES = [60, 61, 62, 63, 64, 65, 67, 127, 128, 129, 511, 999, 1000, 1513, 1514]


def frames(seed, sizes=SIZES):
    of = random.Random(seed)
    return [of.randbytes(x) for x in sizes]


class Mac:
    """The device, the line, and frames by the byte at its other side."""

    def __init__(self, dut):
        self.dut = dut
        self.phy = phy(dut)
        self.frame = None  # that is coming in
        self.received = []  # frames and whether they are bad

    async def start(self):
        dut = self.dut
        for pin in (dut.tx_valid, dut.tx_data, dut.tx_sop, dut.tx_eop, dut.tx_err):
            pin.value = 0
        dut.rst_i.value = 1
        await ClockCycles(dut.rgmii_rx_clk, 10)
        dut.rst_i.value = 0
        await ClockCycles(dut.rgmii_rx_clk, 10)
        cocotb.start_soon(self._receive())

    async def _receive(self):
        dut, edge = self.dut, RisingEdge(self.dut.rgmii_rx_clk)
        while True:
            await edge
            if not int(dut.rx_valid.value):
                continue
            first = bool(int(dut.rx_sop.value))
            assert first == (self.frame is None), "a frame begins in another, or without a start"
            self.frame = (b"" if first else self.frame) + bytes([int(dut.rx_data.value)])
            if int(dut.rx_eop.value):
                self.received.append((self.frame, bool(int(dut.rx_err.value))))
                self.frame = None

    async def send(self, frame, bad=False):
        dut, edge = self.dut, RisingEdge(self.dut.rgmii_rx_clk)
        for at, byte in enumerate(frame):
            last = at == len(frame) - 1
            dut.tx_valid.value = 1
            dut.tx_data.value = byte
            dut.tx_sop.value = int(at == 0)
            dut.tx_eop.value = int(last)
            dut.tx_err.value = int(last and bad)
            await edge
            while not int(dut.tx_ready.value):
                await edge
        dut.tx_valid.value = 0

    async def arrived(self, sources):
        """Sends these on the line; gives what comes out at the other side."""
        self.received.clear()
        for x in sources:
            self.phy.rx.send_nowait(x)
        await self.phy.rx.wait()
        await ClockCycles(self.dut.rgmii_rx_clk, 30)
        return self.received


@cocotb.test()
async def received_frames(dut):
    mac = Mac(dut)
    await mac.start()
    for gap in (12, 1, 40):  # 1: back to back, closer than a line may have it
        mac.phy.rx.ifg = gap
        sent = frames(gap)
        assert await mac.arrived(map(GmiiFrame.from_payload, sent)) == [(x, False) for x in sent], gap
    # As much of the preamble as is left, down to the delimiter alone.
    (payload,) = frames(4, [77])
    cut = [GmiiFrame(GmiiFrame.from_payload(payload).data[x:]) for x in (1, 5, 7)]
    assert await mac.arrived(cut) == [(payload, False)] * 3


@cocotb.test()
async def spoilt_frames(dut):
    mac = Mac(dut)
    await mac.start()
    (payload,) = frames(5, [100])
    for at in (8, 50, 107, 108, 111):  # the first and last byte of the frame and of the FCS, one in the middle
        one = GmiiFrame.from_payload(payload)
        one.data[at] ^= 0x10
        found = await mac.arrived([one, GmiiFrame.from_payload(payload)])
        assert [bad for _, bad in found] == [True, False] and found[1][0] == payload, at
    for at in (8, 60, 111):  # RX_ER at a byte that is as it was
        one = GmiiFrame.from_payload(payload)
        one.error = [int(i == at) for i in range(len(one.data))]
        found = await mac.arrived([one, GmiiFrame.from_payload(payload)])
        assert [bad for _, bad in found] == [True, False] and found[1][0] == payload, at
    # Runts: with an FCS they are as they are (mac_rx counts them); what is no more than an FCS is a bad byte, once.
    runts = frames(6, [1, 2, 5, 17, 59])
    assert await mac.arrived(GmiiFrame.from_payload(x, min_len=0) for x in runts) == [(x, False) for x in runts]
    for nothing in (*(payload[:x] for x in range(5)), bytes(4)):  # the last one is the FCS of no byte
        found = await mac.arrived([GmiiFrame.from_raw_payload(nothing), GmiiFrame.from_payload(payload)])
        assert [(len(x), bad) for x, bad in found] == [(1, True), (100, False)], nothing
    # A carrier without a delimiter, and one that begins with something else, are no frames.
    false = [GmiiFrame(b"\x55" * 40), GmiiFrame(b"\x0e" + bytes(GmiiFrame.from_payload(payload).data))]
    assert await mac.arrived([*false, GmiiFrame.from_payload(payload)]) == [(payload, False)]


@cocotb.test()
async def sent_frames(dut):
    mac = Mac(dut)
    await mac.start()
    sent = frames(7)
    began = []
    for frame in sent:
        await mac.send(frame)
    for frame in sent:
        got = await mac.phy.tx.recv()
        assert well(got) == frame
        began.append(got.sim_time_start)
    # Back to back: preamble 8, FCS 4, gap 12 bytes of 8 ns between the starts of two.
    taken = [(after - before) / 8000 for before, after in zip(began, began[1:], strict=False)]
    assert taken == [len(x) + 24 for x in sent[:-1]], taken
    await mac.send(sent[0], bad=True)
    got = await mac.phy.tx.recv()
    assert not got.check_fcs() and any(got.error)
    await mac.send(sent[1])
    assert well(await mac.phy.tx.recv()) == sent[1]


@cocotb.test()
async def reset_in_a_frame(dut):
    """Of what a reset cuts nothing more comes, either way; the next frame is well."""
    mac = Mac(dut)
    await mac.start()
    first, second = frames(8, [300, 301])
    mac.phy.rx.send_nowait(GmiiFrame.from_payload(first))
    sending = cocotb.start_soon(mac.send(first))
    await ClockCycles(dut.rgmii_rx_clk, 100)
    assert mac.frame and not mac.received
    sending.cancel()
    dut.tx_valid.value = 0
    dut.rst_i.value = 1
    await ClockCycles(dut.rgmii_rx_clk, 4)
    dut.rst_i.value = 0
    mac.frame = None  # as what is behind it, which is reset too
    await mac.phy.rx.wait()
    await ClockCycles(dut.rgmii_rx_clk, 30)
    assert mac.frame is None and not mac.received
    assert not (await mac.phy.tx.recv()).check_fcs()
    assert await mac.arrived([GmiiFrame.from_payload(second)]) == [(second, False)]
    await mac.send(second)
    assert well(await mac.phy.tx.recv()) == second
