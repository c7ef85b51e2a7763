# SPDX-License-Identifier: Apache-2.0
"""host_nic, its wire looped back, for test_cocotb.py: frames out of host memory and into it, records, events, MSI-X."""

import random

import cocotb
from cocotb.triggers import Timer
from slot import PINS, Slot

from emery.make import formats

queue_pkg = formats.load("queue_pkg")
MAGIC, INTERFACE_OFFSET, MODERATION, DMA_READS, TLP_FOREIGN, TLP_REFUSED = 0x00, 0x0C, 0x4000, 0x60, 0x50, 0x54
TXQ, RXQ, TXCQ, RXCQ, EQ, REGS, QUEUE_STRIDE = 0, 0x100000, 0x200000, 0x300000, 0x400000, 0x580000, 0x20
SCHED, RSS = 0x2C, 0x3C  # of REGS: where port 0's scheduler and RSS table are, and behind it how far the next port's
BASE, CONTROL, LINK, POINTER = 0x00, 0x08, 0x0C, 0x10  # of a queue; LINK: completion queue, event queue, vector
MSIX, PENDING = 0x10000, 0x18000
ENABLE, ARM = 1, 1 << 31
LOG_RING, BUFFER, VECTORS = 6, 2048, (5, 31)  # a vector a port


class Lane:
    """A port: a queue each way, both completion queues telling its own event queue, with its own vector."""

    def __init__(self, nic, number):
        self.nic, self.number, self.vector = nic, number, VECTORS[number]
        self.sent = 0
        names = ("tx", "rx", "txcq", "rxcq", "eq")
        self.ring = {x: nic.pools[n % 2].alloc_region(4096) for n, x in enumerate(names)}
        self.buffers = {x: nic.pools[n].alloc_region(BUFFER << LOG_RING) for n, x in enumerate(("tx", "rx"))}
        self.interrupt = nic.device.msi_vectors[self.vector].event

    async def queue(self, at, register, value):
        await self.nic.write(self.nic.base + at + QUEUE_STRIDE * self.number + register, value)

    async def set_up_queue(self, at, ring, link):
        address = ring.get_absolute_address(0)
        for register, value in {BASE: address & 0xFFFFFFFF, BASE + 4: address >> 32, LINK: link}.items():
            await self.queue(at, register, value)
        await self.queue(at, CONTROL, ENABLE | LOG_RING << 4)

    async def set_up(self):
        for region in self.ring.values():
            region[0 : 16 << LOG_RING] = bytes(16 << LOG_RING)
        await self.set_up_queue(EQ, self.ring["eq"], self.vector)
        await self.nic.write(MODERATION + 4 * self.vector, 0)
        for way, cq, q in (("tx", TXCQ, TXQ), ("rx", RXCQ, RXQ)):
            await self.set_up_queue(cq, self.ring[way + "cq"], self.number)
            await self.set_up_queue(q, self.ring[way], self.number)
        rss = await self.nic.of_port(RSS, self.number)
        for entry in range(128):
            await self.nic.write(rss + 4 * entry, self.number)
        await self.nic.write(await self.nic.of_port(SCHED, self.number) + 4 * self.number, 1)
        for slot in range(1 << LOG_RING):
            self.describe("rx", slot, BUFFER)
        await self.queue(RXQ, POINTER, 1 << LOG_RING)
        await self.arm(0)

    async def arm(self, events):
        """For one more event of each way, and an interrupt for the first."""
        for at, consumed in ((EQ, events), (TXCQ, self.sent), (RXCQ, self.sent)):
            await self.queue(at, POINTER, ARM | consumed)
        self.interrupt.clear()

    def describe(self, way, slot, length, offset=0):
        address = self.buffers[way].get_absolute_address(0) + BUFFER * slot + offset
        self.ring[way][16 * slot : 16 * slot + 16] = queue_pkg.desc_t.pack(addr=address, len=length).to_bytes(16, "little")

    def records(self, name, first, count):
        """What the device wrote into a ring of records."""
        ring = self.ring[name]
        kind = queue_pkg.event_t if name == "eq" else queue_pkg.cpl_t
        return [kind.unpack(int.from_bytes(ring[16 * n : 16 * n + 16], "little")) for n in range(first, first + count)]

    async def send(self, rng, sizes):
        """Puts frames into the ring; `check` says whether they came back."""
        self.frames = [b"\x02" + rng.randbytes(size - 1) for size in sizes]
        for slot, frame in enumerate(self.frames, self.sent):
            offset = rng.choice((0, 1, 2, 3, 60))
            at = BUFFER * slot + offset
            self.buffers["tx"][at : at + len(frame)] = frame
            self.describe("tx", slot, len(frame), offset)
        await self.queue(TXQ, POINTER, self.sent + len(self.frames))

    async def check(self):
        count = len(self.frames)
        for _ in range(300):
            await Timer(100, "ns")
            if self.records("rxcq", self.sent, count)[-1]["phase"]:
                break
        await Timer(1, "us")
        expected = [(1, 0, len(x), self.number) for x in self.frames]
        for name in ("txcq", "rxcq"):
            found = self.records(name, self.sent, count)
            assert [(x["phase"], x["error"], x["len"], x["queue"]) for x in found] == expected, name
        for slot, frame in enumerate(self.frames, self.sent):
            assert self.buffers["rx"][BUFFER * slot : BUFFER * slot + len(frame)] == frame, len(frame)
        self.sent += count


class Nic(Slot):
    """With a lane for each port."""

    def __init__(self, dut):
        msix = {"pf0_msix_enable": True, "pf0_msix_table_size": 31, "pf0_msix_table_bir": 0, "pf0_msix_pba_bir": 0}
        offsets = {"pf0_msix_table_offset": MSIX, "pf0_msix_pba_offset": PENDING}
        super().__init__(dut, 1 << 26, **msix, **offsets)

    async def start(self):
        await super().start()
        assert await self.read(MAGIC) == 0x454D5259
        await self.device.alloc_irq_vectors(32, 32)
        self.base = await self.read(INTERFACE_OFFSET)
        self.lanes = [Lane(self, n) for n in range(len(VECTORS))]
        for lane in self.lanes:
            await lane.set_up()

    async def set_up_again(self):
        """After a function-level reset, in other memory."""
        assert await self.read(MAGIC) == 0x454D5259
        vectors = self.device.msi_vectors
        for number, vector in enumerate(vectors):
            at = MSIX + 16 * number
            for offset, value in ((0, vector.addr & 0xFFFFFFFF), (4, vector.addr >> 32), (8, vector.data), (12, 0)):
                await self.write(at + offset, value)
        self.lanes = [Lane(self, n) for n in range(len(VECTORS))]
        for lane in self.lanes:
            await lane.set_up()

    async def of_port(self, which, number):
        """Where a port's registers of a kind are, as the device says."""
        regs = self.base + REGS + which
        return self.base + await self.read(regs) + number * await self.read(regs + 4)

    async def at_rest(self):
        for register in (TLP_FOREIGN, TLP_REFUSED, DMA_READS):
            assert await self.read(register) == 0
        assert self.reads_open() == 0


@cocotb.test()
async def frames_out_and_back(dut):
    nic = Nic(dut)
    await nic.start()
    rng = random.Random(PINS)
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
    lane = nic.lanes[0]
    await lane.send(rng, sizes)
    await lane.check()
    events = lane.records("eq", 0, 3)
    assert {x["kind"] for x in events[:2]} == {queue_pkg.EvtTxCpl, queue_pkg.EvtRxCpl}, events
    assert [x["phase"] for x in events] == [1, 1, 0]  # armed once, told once
    assert lane.interrupt.is_set()
    await nic.at_rest()


@cocotb.test()
async def function_reset_under_traffic(dut):
    """Frames are under way both ways when the host resets the function; set up anew it sends, receives and interrupts."""
    nic = Nic(dut)
    await nic.start()
    rng = random.Random(9)
    for wait in (1, 2, 3):
        await nic.lanes[0].send(rng, [rng.randrange(60, 1515) for _ in range(30)])
        await Timer(wait * 700, "ns")
        await nic.reset_function()
        await nic.set_up_again()
        lane = nic.lanes[0]
        await lane.send(rng, [60, 500, 1514])
        await lane.check()
        assert lane.interrupt.is_set()
        await nic.at_rest()


@cocotb.test()
async def ports_and_vectors(dut):
    """Each port with frames, records, events and a vector of its own: alone, both at once, and with a vector that is masked."""
    nic = Nic(dut)
    await nic.start()
    rng = random.Random(7)
    for lane, other in (nic.lanes, nic.lanes[::-1]):
        await lane.send(rng, [60, 500, 1514])
        await lane.check()
        assert lane.interrupt.is_set() and not other.interrupt.is_set()
        await lane.arm(2)
    # A vector that is masked is kept, and sent when it is unmasked; the other's is not held up.
    held, free = nic.lanes
    mask = MSIX + 16 * held.vector + 12
    await nic.write(mask, 1)
    for lane in nic.lanes:
        await lane.send(rng, [rng.randrange(60, 1515) for _ in range(20)])
    for lane in nic.lanes:
        await lane.check()
    assert free.interrupt.is_set() and not held.interrupt.is_set()
    assert await nic.read(PENDING + held.vector // 32 * 4) == 1 << held.vector % 32
    await nic.write(mask, 0)
    await nic.read(MAGIC)
    await Timer(1, "us")
    assert held.interrupt.is_set() and await nic.read(PENDING) == 0
    for lane in nic.lanes:
        assert [x["phase"] for x in lane.records("eq", 0, 5)] == [1, 1, 1, 1, 0]
    await nic.at_rest()
