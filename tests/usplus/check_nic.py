# SPDX-License-Identifier: Apache-2.0
"""host_nic, its wire looped back, for test_cocotb.py: frames out of host memory and into it, records, events, MSI-X."""

import random

import cocotb
from cocotb.triggers import Timer
from slot import PINS, Slot

from emery.make import formats

queue_pkg = formats.load("queue_pkg")
INTERFACE = "interface[0]"
OF_PORT = {"rss": "rss[{}].entry[{}]", "sched": "sched[{}][{}].queue"}
LOG_RING, BUFFER, VECTORS = 6, 2048, (5, 31)  # a vector a port


class Lane:
    """A port: a queue each way, both completion queues telling its own event queue, with its own vector."""

    def __init__(self, nic, number):
        self.nic, self.number, self.vector = nic, number, VECTORS[number]
        self.sent = 0
        names = ("txq", "rxq", "txcq", "rxcq", "eq")
        self.ring = {x: nic.pools[n % 2].alloc_region(4096) for n, x in enumerate(names)}
        self.buffers = {x: nic.pools[n].alloc_region(BUFFER << LOG_RING) for n, x in enumerate(("tx", "rx"))}
        self.interrupt = nic.device.msi_vectors[self.vector].event

    async def queue(self, kind, register, value=0, **fields):
        await self.nic.write(f"{INTERFACE}.{kind}[{self.number}].{register}", value, **fields)

    async def set_up_queue(self, kind, link, to):
        address = self.ring[kind].get_absolute_address(0)
        for register, value in {"base_lo": address & 0xFFFFFFFF, "base_hi": address >> 32, link: to}.items():
            await self.queue(kind, register, value)
        await self.queue(kind, "control", enable=1, log_size=LOG_RING)

    async def set_up(self):
        for region in self.ring.values():
            region[0 : 16 << LOG_RING] = bytes(16 << LOG_RING)
        await self.set_up_queue("eq", "target", self.vector)
        await self.nic.write(f"moderation.interval[{self.vector}]", 0)
        for way in ("tx", "rx"):
            await self.set_up_queue(way + "cq", "target", self.number)
            await self.set_up_queue(way + "q", "cq", self.number)
        for entry in range(128):
            await self.nic.write(f"{INTERFACE}.{OF_PORT['rss'].format(self.number, entry)}", self.number)
        await self.nic.write(f"{INTERFACE}.{OF_PORT['sched'].format(self.number, self.number)}", enable=1)
        for slot in range(1 << LOG_RING):
            self.describe("rx", slot, BUFFER)
        await self.queue("rxq", "producer", 1 << LOG_RING)
        await self.arm(0)

    async def arm(self, events):
        """For one more event of each way, and an interrupt for the first."""
        for kind, consumed in (("eq", events), ("txcq", self.sent), ("rxcq", self.sent)):
            await self.queue(kind, "consumer", value=consumed, arm=1)
        self.interrupt.clear()

    def describe(self, way, slot, length, offset=0):
        address = self.buffers[way].get_absolute_address(0) + BUFFER * slot + offset
        descriptor = queue_pkg.desc_t.pack(addr=address, len=length)
        self.ring[way + "q"][16 * slot : 16 * slot + 16] = descriptor.to_bytes(16, "little")

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
        await self.queue("txq", "producer", self.sent + len(self.frames))

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
        super().__init__(dut, "host-nic", 1 << 26, vectors=32)

    async def start(self):
        await super().start()
        await self.check_magic("device.magic")
        await self.device.alloc_irq_vectors(32, 32)
        await self.check_offsets()
        self.lanes = [Lane(self, n) for n in range(len(VECTORS))]
        for lane in self.lanes:
            await lane.set_up()

    async def set_up_again(self):
        """After a function-level reset, in other memory."""
        await self.check_magic("device.magic")
        vectors = self.device.msi_vectors
        for number, vector in enumerate(vectors):
            entry = {"addr_lo": vector.addr & 0xFFFFFFFF, "addr_hi": vector.addr >> 32, "data": vector.data, "control": 0}
            for register, value in entry.items():
                await self.write(f"msix.entry[{number}].{register}", value)
        self.lanes = [Lane(self, n) for n in range(len(VECTORS))]
        for lane in self.lanes:
            await lane.set_up()

    async def check_offsets(self):
        """What the device says of where things are, to drivers, is what the description says."""
        base = await self.read("device.interface_offset")
        assert base == self.at(INTERFACE)
        for kind in ("rss", "sched"):
            first = await self.read(f"{INTERFACE}.regs.{kind}_offset")
            stride = await self.read(f"{INTERFACE}.regs.{kind}_stride")
            for port in range(len(VECTORS)):
                assert base + first + port * stride == self.at(f"{INTERFACE}.{OF_PORT[kind].format(port, 0)}")

    async def at_rest(self):
        for register in ("tlp_foreign", "tlp_refused", "dma_reads"):
            assert await self.read(f"device.{register}") == 0
        assert self.reads_open() == 0


@cocotb.test()
async def frames_out_and_back(dut):
    nic = Nic(dut)
    await nic.start()
    rng = random.Random(PINS)
    sizes = [60, 61, *range(63, 66), *range(79, 82), *range(111, 114), *range(127, 130), 240, 241, 256, 257, 500]
    sizes += [*range(511, 514), 1000, 1499, 1514]
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
    control = f"msix.entry[{held.vector}].control"
    await nic.write(control, mask=1)
    for lane in nic.lanes:
        await lane.send(rng, [rng.randrange(60, 1515) for _ in range(20)])
    for lane in nic.lanes:
        await lane.check()
    assert free.interrupt.is_set() and not held.interrupt.is_set()
    assert await nic.read(f"msix.pending[{held.vector // 32}]") == 1 << held.vector % 32
    await nic.write(control, mask=0)
    await nic.read("device.magic")
    await Timer(1, "us")
    assert held.interrupt.is_set() and await nic.read("msix.pending[0]") == 0
    for lane in nic.lanes:
        assert [x["phase"] for x in lane.records("eq", 0, 5)] == [1, 1, 1, 1, 0]
    await nic.at_rest()
