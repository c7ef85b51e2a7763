# SPDX-License-Identifier: Apache-2.0
"""pcie_bench, its reads written back, for test_cocotb.py: enumeration, registers, transfers of many sizes, reset."""

import random

import cocotb
from cocotb.triggers import Timer
from cocotbext.pcie.core.caps import PciCapId
from cocotbext.pcie.core.tlp import TlpType
from slot import PINS, Slot

READ, WRITE = "device.way[0].", "device.way[1]."
PLACES, REGION = 6, 1 << 15


class Bench(Slot):
    """The instrument."""

    def __init__(self, dut):
        self.prepared = 0
        dut.prepared.value = 0
        super().__init__(dut, "pcie-bench", 4096)

    async def start(self):
        await super().start()
        await self.check_magic("device.magic")
        self.regions = [x.alloc_region(REGION) for x in self.pools]

    async def begin(self, source, target, size, place, times):
        """The device reads `times` transfers from one address and writes them to another, `place` bytes apart."""
        window = place * PLACES
        for way, base in ((READ, source), (WRITE, target)):
            await self.write(way + "control", enable=0)
            settings = {"length": size, "base_lo": base & 0xFFFFFFFF, "base_hi": base >> 32, "window": window, "step": place}
            for register, value in {**settings, "in_flight": 6, "beat": 16}.items():
                await self.write(way + register, value)
            await self.write(way + "control", enable=1)
        await self.read("device.magic")
        self.prepared += times
        self.dut.prepared.value = self.prepared

    async def transfer(self, rng, size, offset, times):
        """What was read comes to where it is written, and nothing beside it."""
        place = -(-(size + offset) // 64) * 64
        source, target = rng.sample(self.regions, 2)
        content = rng.randbytes(place * PLACES)
        source[offset : offset + len(content)] = content
        target[0:REGION] = bytes(REGION)
        await self.begin(source.get_absolute_address(offset), target.get_absolute_address(offset), size, place, times)
        expected = b"".join(content[place * n : place * n + size].ljust(place, b"\0") for n in range(min(times, PLACES)))
        for _ in range(400):
            await Timer(100, "ns")
            if target[offset : offset + len(expected)] == expected:
                break
        assert target[offset : offset + len(expected)] == expected, f"{size} bytes at {offset}"
        assert target[0:offset] == bytes(offset) and target[offset + len(expected) : REGION].strip(b"\0") == b""

    async def fail(self, rng, source, size, more):
        """All transfers fail, or as many as that: told as failed, no tag kept."""
        expected = await self.read("device.failed") + more
        target = rng.choice(self.regions)
        await self.begin(source, target.get_absolute_address(0), size, -(-size // 64) * 64, PLACES)
        for _ in range(100):
            await Timer(100, "ns")
            if await self.read("device.failed") == expected:
                break
        await Timer(1, "us")
        assert await self.read("device.failed") == expected, size
        assert self.reads_open() == 0

    async def counters(self):
        return [await self.read(f"device.{x}") for x in ("failed", "amiss", "foreign")]


@cocotb.test()
async def enumeration_and_registers(dut):
    bench = Bench(dut)
    await bench.start()
    if PINS != "ptile":
        assert int(dut.cfg_max_payload.value) == 2
    assert await bench.device.capability_read_dword(PciCapId.EXP, 0) & 0xFF == PciCapId.EXP
    rng = random.Random(1)
    for register in map(bench.at, (READ + "length", WRITE + "base_lo", READ + "step")):
        value = rng.getrandbits(32)
        await bench.write(register, value)
        assert await bench.read(register) == value
        await bench.bar.write_byte(register + 1, 0x5A)
        assert await bench.read(register) == value & 0xFFFF00FF | 0x5A00
        assert await bench.bar.read_word(register + 2) == value >> 16
        assert await bench.bar.read(register + 1, 1) == b"\x5a"
    # Sixteen Dwords at once, and more than the registers answer.
    assert (await bench.bar.read(0, 64))[:4] == await bench.bar.read(bench.at("device.magic"), 4)
    before = await bench.counters()
    try:
        await bench.bar.read(0, 128)
        raise AssertionError("a read that is too long was answered")
    except Exception as error:
        assert "uccessful completion" in str(error), error
    assert (await bench.counters())[2] == before[2] + 1


@cocotb.test()
async def transfers(dut):
    bench = Bench(dut)
    await bench.start()
    rng = random.Random(2)
    sizes = [1, *range(3, 6), *range(15, 18), *range(47, 50), 60, 64, 65, *range(111, 114), *range(127, 130)]
    for size in (*sizes, *range(255, 258), 511, 512, 1024, 1500, 4096):
        await bench.transfer(rng, size, rng.choice((0, 1, 2, 3, 4, 60, 63)), PLACES)
    assert await bench.counters() == [0, 0, 0]
    assert bench.reads_open() == 0


@cocotb.test()
async def reset_under_traffic(dut):
    """Of reads from before a reset each completion that comes after it is dropped and counted, and the next are whole."""
    bench = Bench(dut)
    await bench.start()
    rng = random.Random(3)
    await bench.transfer(rng, 256, 0, PLACES)
    # Answers come when the reset is over: what the models would do with them meanwhile is theirs to say.
    send, kept = bench.rc.send, []

    async def keep(tlp):
        if tlp.fmt_type == TlpType.CPL_DATA:
            kept.append(tlp)
        else:
            await send(tlp)

    bench.rc.send = keep
    # Reads only: the model does not forget half a TLP that the reset has cut off.
    await bench.write(WRITE + "control", enable=0)
    bench.prepared += 50
    dut.prepared.value = bench.prepared
    await Timer(600, "ns")
    assert len(kept) == 6 and (bench.reads_open() == 6 or PINS == "ptile")
    dut.sys_reset.value = 0
    dut.prepared.value = bench.prepared = 0
    await Timer(1, "us")
    dut.sys_reset.value = 1
    await bench.out_of_reset()
    bench.rc.send = send
    assert await bench.counters() == [0, 0, 0]
    for tlp in kept:
        await send(tlp)
    await Timer(1, "us")
    assert await bench.counters() == [0, 6, 0] and bench.reads_open() == 0
    await bench.transfer(rng, 300, 5, PLACES)
    assert await bench.counters() == [0, 6, 0]


@cocotb.test()
async def function_reset_under_traffic(dut):
    """The host resets the function in the middle of reads, whose answers come when others have been asked for: each is counted
    and taken for none of theirs (nor has any of them a tag that is still open, which the model of the block looks after)."""
    bench = Bench(dut)
    await bench.start()
    rng = random.Random(5)
    await bench.transfer(rng, 256, 0, PLACES)
    send, kept, keeps = bench.rc.send, [], True

    async def keep(tlp):
        if keeps and tlp.fmt_type == TlpType.CPL_DATA:
            kept.append(tlp)
        else:
            await send(tlp)

    bench.rc.send = keep
    bench.prepared += 50
    dut.prepared.value = bench.prepared
    await Timer(600, "ns")
    assert len(kept) == 6
    dut.prepared.value = bench.prepared = 0
    await bench.reset_function()
    keeps = False
    assert await bench.counters() == [0, 0, 0]
    await bench.transfer(rng, 300, 5, PLACES)
    for tlp in kept:
        await send(tlp)
    await Timer(1, "us")
    assert await bench.counters() == [0, 6, 0] and bench.reads_open() == 0
    await bench.transfer(rng, 1500, 5, PLACES)
    assert await bench.counters() == [0, 6, 0]


@cocotb.test()
async def faults(dut):
    """Reads of memory that is not there, and completions that are poisoned: told, given back, and the next are whole."""
    bench = Bench(dut)
    await bench.start()
    rng = random.Random(4)
    for size in (1, 64, 500, 1500):
        await bench.fail(rng, 0x34_0000_0000, size, PLACES)
        await bench.transfer(rng, size, 3, PLACES)
    send, due = bench.rc.send, 0

    async def poison(tlp):
        nonlocal due
        if due and tlp.fmt_type == TlpType.CPL_DATA:
            tlp.ep = True
            due -= 1
        await send(tlp)

    bench.rc.send = poison
    source = bench.regions[0].get_absolute_address(0)
    for size in (4, 64, 500):  # each is one completion
        for due in (1, PLACES):
            await bench.fail(rng, source, size, due)
            assert due == 0
        await bench.transfer(rng, size, 0, PLACES)
    failed, amiss, foreign = await bench.counters()
    assert (failed, amiss, foreign) == (4 * PLACES + 3 * (PLACES + 1), 0, 0)
