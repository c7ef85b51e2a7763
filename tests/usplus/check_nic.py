# SPDX-License-Identifier: Apache-2.0
"""host_nic, its wire looped back, for test_cocotb.py: frames out of host memory and into it, records, events, MSI-X."""

import os
import random

import cocotb
from cocotb.triggers import Timer
from slot import Slot

from emery.make import formats

queue_pkg = formats.load("queue_pkg")
MAGIC, INTERFACE_OFFSET, MODERATION, DMA_READS, TLP_FOREIGN, TLP_REFUSED = 0x00, 0x0C, 0x4000, 0x60, 0x50, 0x54
REGS, TXQ, RXQ, TXCQ, RXCQ, EQ, SCHED, RSS = 0x580000, 0, 0x100000, 0x200000, 0x300000, 0x400000, 0x500000, 0x5A0000
RX_SLOTS = 0x9C
BASE, CONTROL, LINK, POINTER = 0x00, 0x08, 0x0C, 0x10  # of a queue; LINK: completion queue, event queue, vector
ENABLE, ARM = 1, 1 << 31
LOG_RING, BUFFER, VECTOR = 6, 2048, 5


class Nic(Slot):
    """With a queue each way, both completion queues telling event queue 0, whose vector is VECTOR."""

    def __init__(self, dut):
        msix = {"pf0_msix_enable": True, "pf0_msix_table_size": 31, "pf0_msix_table_bir": 0, "pf0_msix_pba_bir": 0}
        offsets = {"pf0_msix_table_offset": 0x10000, "pf0_msix_pba_offset": 0x18000}
        super().__init__(dut, 1 << 26, **msix, **offsets)

    async def set_up(self, at, ring, link):
        address = ring.get_absolute_address(0)
        for register, value in {BASE: address & 0xFFFFFFFF, BASE + 4: address >> 32, LINK: link}.items():
            await self.write(at + register, value)
        await self.write(at + CONTROL, ENABLE | LOG_RING << 4)

    async def start(self):
        await super().start()
        assert await self.read(MAGIC) == 0x454D5259
        await self.device.alloc_irq_vectors(32, 32)
        self.interrupt = self.device.msi_vectors[VECTOR].event
        base = self.base = await self.read(INTERFACE_OFFSET)
        names = ("tx", "rx", "txcq", "rxcq", "eq")
        self.ring = {x: self.pools[n % 2].alloc_region(4096) for n, x in enumerate(names)}
        self.buffers = {x: self.pools[n].alloc_region(BUFFER << LOG_RING) for n, x in enumerate(("tx", "rx"))}
        for region in self.ring.values():
            region[0 : 16 << LOG_RING] = bytes(16 << LOG_RING)
        await self.set_up(base + EQ, self.ring["eq"], VECTOR)
        await self.write(base + EQ + POINTER, ARM)
        await self.write(MODERATION + 4 * VECTOR, 0)
        for way in ("tx", "rx"):
            queues = base + (TXCQ if way == "tx" else RXCQ)
            await self.set_up(queues, self.ring[way + "cq"], 0)
            await self.write(queues + POINTER, ARM)
            await self.set_up(base + (TXQ if way == "tx" else RXQ), self.ring[way], 0)
        for entry in range(128):
            await self.write(base + RSS + 4 * entry, 0)
        await self.write(base + SCHED, 1)
        for slot in range(1 << LOG_RING):
            self.describe("rx", slot, BUFFER)
        await self.write(base + RXQ + POINTER, 1 << LOG_RING)

    def describe(self, way, slot, length, offset=0):
        address = self.buffers[way].get_absolute_address(0) + BUFFER * slot + offset
        self.ring[way][16 * slot : 16 * slot + 16] = queue_pkg.desc_t.pack(addr=address, len=length).to_bytes(16, "little")

    def records(self, name, count):
        """What the device wrote first into a ring of records."""
        ring = self.ring[name]
        kind = queue_pkg.event_t if name == "eq" else queue_pkg.cpl_t
        return [kind.unpack(int.from_bytes(ring[16 * n : 16 * n + 16], "little")) for n in range(count)]


@cocotb.test()
async def frames_out_and_back(dut):
    nic = Nic(dut)
    await nic.start()
    rng = random.Random(os.environ["USPLUS_STRADDLE"])
    sizes = [
        60,
        61,
        63,
        64,
        65,
        79,
        80,
        81,
        111,
        112,
        113,
        127,
        128,
        129,
        240,
        241,
        256,
        257,
        500,
        511,
        512,
        513,
        1000,
        1499,
        1514,
    ]
    frames = [b"\x02" + rng.randbytes(size - 1) for size in sizes]
    for slot, frame in enumerate(frames):
        offset = rng.choice((0, 1, 2, 3, 60))
        at = BUFFER * slot + offset
        nic.buffers["tx"][at : at + len(frame)] = frame
        nic.describe("tx", slot, len(frame), offset)
    await nic.write(nic.base + TXQ + POINTER, len(frames))
    for _ in range(300):
        await Timer(100, "ns")
        if nic.records("rxcq", len(frames))[-1]["phase"]:
            break
    await Timer(1, "us")
    for name in ("txcq", "rxcq"):
        found = nic.records(name, len(frames))
        assert [(x["phase"], x["error"], x["len"], x["queue"]) for x in found] == [(1, 0, size, 0) for size in sizes], name
    for slot, frame in enumerate(frames):
        assert nic.buffers["rx"][BUFFER * slot : BUFFER * slot + len(frame)] == frame, len(frame)
    events = nic.records("eq", 3)
    assert {x["kind"] for x in events[:2]} == {queue_pkg.EvtTxCpl, queue_pkg.EvtRxCpl}, events
    assert [x["phase"] for x in events] == [1, 1, 0]  # armed once, told once
    assert nic.interrupt.is_set()
    for register in (TLP_FOREIGN, TLP_REFUSED, DMA_READS):
        assert await nic.read(register) == 0
    assert all(x is None for x in nic.block.active_request)
