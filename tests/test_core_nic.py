# SPDX-License-Identifier: Apache-2.0
"""core-nic as a whole: RTL with its firmware, frame memory, PCIe, driver model and wire, through the command line.

Few frames a run, and assertions in the RTL are on: what a block does at its edges is the business of the block tests.
"""

import json
import re
import struct
from functools import partial

import pytest
from conftest import accounted_for, padded, read_pcap, refused, whole, write_pcap

from emery.cli import main
from emery.common import ROOT
from emery.make import formats, programs

ONE_CORE = ("--set", "cores=1")
SAMPLE = ROOT / "systems" / "samples" / "internet-mix-small.pcap"


@pytest.fixture
def nic(simulate):
    """Runs core-nic; gives its result."""
    return partial(simulate, "core-nic")


@pytest.mark.parametrize("slow", ["read_latency_ns=100000", "read_wake_ns=100000"])
def test_reads_of_the_slowest_host_are_waited_for(nic, slow):
    whole(nic("--size", "73", "--frames", "3", "--direction", "both", "--set", slow))


def test_both_ways_at_line_rate_nothing_lost(nic):
    # Order makes frames wait for a slow core: they arrive up to 20 us apart, which is 1 % of a run of 600.
    result = nic("--size", "1518", "--frames", "2000", "--direction", "both")
    whole(result)
    assert result["limit"]["by"] == "line"
    assert 0.99 <= result["limit"]["fraction"] <= 1.001
    resources = result["resources"]
    use = resources["clock_use"]
    assert sum(use.values()) == pytest.approx(1)
    assert resources["ipc"] == use["retire"]
    # Cores that find nothing sleep, and those that do not, work.
    assert use["sleep"] > 0.3 and use["halted"] == 0
    assert resources["ipc_awake"] == pytest.approx(use["retire"] / (1 - use["sleep"])) and resources["ipc_awake"] > 0.5
    names = {x["name"] for x in result["resources"]["functions"]}
    assert "(elsewhere)" not in names and len(names) > 5


def test_the_same_run_twice_is_the_same_and_another_seed_is_not(nic):
    words = ("--size", "random", "--frames", "200", "--rate", "0.5", "--set", "read_jitter_ns=400")
    first, again, other = nic(*words), nic(*words), nic(*words, "--seed", "2")
    first.pop("wall_s"), again.pop("wall_s")
    assert first == again
    assert first["digest"] != other["digest"]


@pytest.mark.parametrize("firmware", ["rmw", "locks", "tasks"])
@pytest.mark.parametrize("size", ["64", "random"])
def test_more_than_it_can_do_is_dropped_and_counted(nic, firmware, size):
    accounted_for(nic("--size", size, "--frames", "600", "--direction", "both", "--set", f"firmware={firmware}"))


@pytest.mark.parametrize("firmware", ["rmw", "locks", "tasks"])
def test_firmware(nic, firmware):
    whole(nic("--size", "1518", "--frames", "150", "--rate", "0.3", "--set", f"firmware={firmware}"))


@pytest.mark.parametrize("firmware", ["rmw", "locks", "tasks"])
def test_one_core(nic, firmware):
    result = nic("--size", "1518", "--frames", "200", "--set", "core_mhz=400", *ONE_CORE, "--set", f"firmware={firmware}")
    whole(result)
    assert len(result["resources"]["core_ipc"]) == 1


@pytest.mark.parametrize("size", ["64", "65", "127", "1517", "1518", "imix"])
@pytest.mark.parametrize("segments", [1, 2])
def test_sizes(nic, size, segments):
    settings = ("--set", f"segments={segments}", "--set", "payload_offset=13")
    whole(nic("--size", size, "--frames", "120", "--direction", "both", "--rate", "0.1", *settings))


def test_frames_further_apart_than_the_patience(nic):
    whole(nic("--size", "64", "--frames", "6", "--rate", "0.0005", "--set", "patience_us=100"))


def test_a_cpu_slower_than_the_patience(nic):
    whole(nic("--size", "64", "--frames", "4", "--set", "patience_us=100", "--set", "cpu_ns_per_frame=200000"))


def test_a_source_that_ends_early_leaves_nothing_to_measure(nic):
    result = nic("--size", "64", "--frames", "300", "--set", "cpu_ns_per_frame=2000")
    accounted_for(result)
    assert not {"measured", "ipc", "frame_memory", "rows"} & set(result["resources"])


@pytest.mark.parametrize("direction", ["tx", "rx"])
def test_one_direction(nic, direction):
    result = nic("--size", "1518", "--frames", "150", "--direction", direction)
    assert list(result["streams"]) == [direction]
    whole(result)


def test_a_real_capture_both_ways_byte_for_byte(nic, tmp_path):
    result = nic("--pcap", SAMPLE, "--rate", "0.1", "--direction", "both", "--frames", "400", "--pcap-out", tmp_path / "out")
    whole(result)
    frames = padded(SAMPLE)[:400]
    assert read_pcap(tmp_path / "out" / "host.pcap") == frames
    assert read_pcap(tmp_path / "out" / "wire0.pcap") == frames


@pytest.mark.parametrize("firmware", ["rmw", "locks", "tasks"])
def test_small_rings_run_dry_and_full(nic, firmware):
    sizes = {"send_ring": 64, "receive_ring": 32, "receive_slots": 32, "read_latency_ns": 3000, "firmware": firmware}
    result = nic("--size", "random", "--frames", "300", *(y for x in sizes.items() for y in ("--set", "=".join(map(str, x)))))
    accounted_for(result)
    assert result["streams"]["tx"]["delivered"] == 300
    assert result["streams"]["rx"]["dropped"].keys() <= {"no_buffer", "fifo_full"}


def test_slow_cores(nic):
    whole(nic("--size", "1518", "--frames", "200", "--rate", "0.5", "--set", "core_mhz=50"))


@pytest.mark.parametrize("firmware", ["rmw", "locks", "tasks"])
def test_slow_cores_give_signs_of_life(nic, firmware):
    """A core may do all of a ring at a time; it works, and is not ended."""
    settings = [x for y in ("core_mhz=50", "watchdog_us=400", f"firmware={firmware}") for x in ("--set", y)]
    accounted_for(nic("--size", "64", "--frames", "400", "--direction", "both", *settings))


@pytest.mark.slow
def test_every_retired_instruction_is_as_the_model_has_it(nic):
    result = nic("--size", "1518", "--frames", "150", "--set", "cosim=true", "--set", "cores=2")
    whole(result)
    assert result["resources"]["instructions_checked"] > 50_000


def test_a_slow_host_loses_frames_on_the_receive_side_only(nic):
    rings = ("--set", "receive_ring=64", "--set", "receive_slots=64")
    result = nic("--size", "1518", "--frames", "600", "--set", "cpu_ns_per_frame=1500", *rings)
    accounted_for(result)
    assert {"no_buffer"} <= result["streams"]["rx"]["dropped"].keys() <= {"no_buffer", "fifo_full"}
    assert not result["streams"]["tx"]["dropped"]


def test_a_host_slower_than_either_way_serves_both_alike(nic):
    """Small frames at line rate, 30 times what its CPU can do: it takes as many as it gives while both are there."""
    rings = ("--set", "receive_ring=64", "--set", "receive_slots=64")
    result = nic("--size", "64", "--frames", "1000", "--set", "cpu_ns_per_frame=2000", *rings)
    accounted_for(result)
    received, sent = result["streams"]["rx"], result["streams"]["tx"]
    assert sent["delivered"] == 1000 and 64 < received["delivered"] < 400
    assert {"no_buffer"} <= received["dropped"].keys() <= {"no_buffer", "fifo_full"}
    # A frame received waits for those before it, with a frame sent between each two.
    assert received["latency_ns"]["max"] < received["delivered"] * 2 * 2000


def test_a_host_that_stands_still_for_a_while(nic):
    result = nic("--size", "1518", "--frames", "500", "--set", "stall_us=100", "--set", "stall_after_us=50")
    accounted_for(result)
    assert result["streams"]["tx"]["delivered"] == 500
    assert result["streams"]["rx"]["delivered"] > 350


def test_bad_frames_are_counted_by_reason(nic):
    faults = [f"{x}_every=20" for x in ("bad_fcs", "runt", "oversize")]
    result = nic(
        "--size", "256", "--frames", "300", "--direction", "rx", "--rate", "0.1", *(y for x in faults for y in ("--set", x))
    )
    accounted_for(result)
    assert set(result["streams"]["rx"]["dropped"]) == {"bad_fcs", "runt", "oversize"}


def test_the_driver_is_woken_by_interrupts(nic):
    """One, at least, for frames that come one by one; several together make one."""
    result = nic("--size", "64", "--frames", "40", "--rate", "0.005", "--direction", "rx")
    whole(result)
    assert 40 <= result["resources"]["driver"]["interrupts"] <= 41
    assert result["resources"]["clock_use"]["sleep"] > 0.8


# ---------------------------------------------------------------- firmware that drops frames


def udp_port(frame):
    """Where an Ethernet frame's UDP datagram goes, in the first or only fragment; else None."""
    if frame[12:14] != b"\x08\0" or frame[14] >> 4 != 4 or frame[23] != 17 or struct.unpack_from(">H", frame, 20)[0] & 0x1FFF:
        return None
    return struct.unpack_from(">H", frame, 16 + 4 * (frame[14] & 15))[0]


def commonest_port(frames):
    ports = [x for x in map(udp_port, frames) if x]
    return max(set(ports), key=ports.count)


def test_a_filter_drops_what_it_is_to_and_counts_it(nic, tmp_path):
    frames = padded(SAMPLE)[:1000]
    port = commonest_port(frames)
    dropped = sum(udp_port(x) == port for x in frames)
    assert 20 < dropped < 500
    settings = ("--set", "firmware=filter", "--set", f"drop_udp_port={port}")
    result = nic("--pcap", SAMPLE, "--frames", "1000", "--rate", "0.05", *settings, "--pcap-out", tmp_path / "out")
    accounted_for(result)
    assert result["streams"]["rx"]["dropped"] == {"firmware": dropped}
    assert result["streams"]["tx"]["delivered"] == 1000
    assert read_pcap(tmp_path / "out" / "host.pcap") == [x for x in frames if udp_port(x) != port]


def test_a_filter_that_drops_everything_is_no_standstill(nic, tmp_path):
    frames = padded(SAMPLE)
    port = commonest_port(frames)
    capture = write_pcap(tmp_path / "one-port.pcap", [x for x in frames if udp_port(x) == port][:20])
    settings = ("--set", "firmware=filter", "--set", f"drop_udp_port={port}", "--set", "patience_us=300")
    result = nic("--pcap", capture, "--rate", "0.01", "--direction", "rx", *settings)
    accounted_for(result)
    assert result["streams"]["rx"]["dropped"] == {"firmware": result["streams"]["rx"]["offered"]}


def patched(path, variant, name, change):
    """A variant of the firmware whose function of this name has the instructions that `change` makes of its own."""
    program = programs.build(ROOT / "systems" / "core_nic" / "firmware", variant)
    (segment,) = (x for x in programs.segments(program) if x.address == 0)
    (function,) = (x for x in programs.symbols(program) if x.name == name)
    first, last = function.address // 4, (function.address + function.size) // 4
    changed = change(segment.words[first:last])
    assert len(changed) == last - first
    before = struct.pack(f"<{len(segment.words)}I", *segment.words)
    after = struct.pack(f"<{len(segment.words)}I", *segment.words[:first], *changed, *segment.words[last:])
    path.write_bytes(program.read_bytes().replace(before, after))
    return path


def test_a_filter_that_does_not_count_is_found(tmp_path, capsys):
    image = patched(tmp_path / "silent.elf", "filter", "count_dropped", lambda words: [RETURN, *words[1:]])
    port = commonest_port(padded(SAMPLE)[:300])
    settings = ("--set", f"firmware_image={image}", "--set", f"drop_udp_port={port}")
    words = ("--pcap", SAMPLE, "--frames", "300", "--rate", "0.05", "--direction", "rx", *settings)
    assert main(["run", "core-nic", *map(str, words), "--assertions"]) == 1
    error = capsys.readouterr().err
    dropped = sum(udp_port(x) == port for x in padded(SAMPLE)[:300])
    assert f"{dropped} frames of rx have not come out, 0 are counted as dropped" in error


def test_a_frame_returned_with_a_length_it_cannot_have_is_a_drop(nic, tmp_path):
    """The bit that says "last" is loaded by itself: with four more below it, every frame is longer than 0xf000 bytes."""

    def longer(words):
        (place,) = (i for i, x in enumerate(words) if x & 0x7F == 0x37 and x >> 12 == 0x10)
        return [*words[:place], words[place] | 0xF << 12, *words[place + 1 :]]

    image = patched(tmp_path / "longer.elf", "rmw", "receive_frames", longer)
    result = nic("--size", "64", "--frames", "100", "--rate", "0.1", "--set", f"firmware_image={image}")
    assert result["streams"]["rx"]["dropped"] == {"bad_length": 100}
    assert result["streams"]["tx"]["delivered"] == 100
    accounted_for(result)


def test_only_the_filter_takes_a_port(capsys):
    assert main(["run", "core-nic", "--set", "drop_udp_port=53"]) == 2
    assert capsys.readouterr().err.strip().endswith("only firmware=filter looks at the port")


# ---------------------------------------------------------------- programs of a few instructions

ZERO, T0, T1, T2, T3 = 0, 5, 6, 7, 28
CORE, DEVICE = formats.load("core_pkg"), formats.load("device_pkg")


def lui(rd, value):
    """Its upper 20 bits; the others are 0."""
    return value & 0xFFFFF000 | rd << 7 | 0x37


def addi(rd, rs, value):
    return (value & 0xFFF) << 20 | rs << 15 | rd << 7 | 0x13


def store(rs, offset, base):
    return (offset >> 5) << 25 | rs << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x23


def load(rd, offset, base):
    return (offset & 0xFFF) << 20 | base << 15 | 2 << 12 | rd << 7 | 0x03


def back(offset):
    """jal zero, offset"""
    bits = offset & 0x1FFFFF
    return (bits >> 20) << 31 | (bits >> 1 & 0x3FF) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xFF) << 12 | 0x6F


HERE = back(0)
RETURN = 0x00008067  # jalr zero, 0(ra)
SUB_T3_T1_T2 = 0x40730E33  # sub t3, t1, t2
READY = [lui(T0, CORE.DeviceBase), addi(T1, ZERO, ord("R")), store(T1, DEVICE.Print, T0)]


def elf(path, functions):
    """A program of these functions, one behind the other: {name: instructions}."""
    code = b"".join(struct.pack("<I", x) for body in functions.values() for x in body)
    names, symbols, at = b"\0", bytes(16), 0
    for name, body in functions.items():
        symbols += struct.pack("<IIIBBH", len(names), at, 4 * len(body), 0x12, 0, 1)
        names += name.encode() + b"\0"
        at += 4 * len(body)
    start = 52 + 32
    tables = start + len(code)
    header = b"\x7fELF\1\1\1" + bytes(9)
    header += struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, 0, 52, tables + len(symbols) + len(names), 0, 52, 32, 1, 40, 3, 0)
    program = struct.pack("<8I", 1, start, 0, 0, len(code), len(code), 5, 4)
    sections = bytes(40)
    sections += struct.pack("<10I", 0, 2, 0, 0, tables, len(symbols), 2, 1, 4, 16)
    sections += struct.pack("<10I", 0, 3, 0, 0, tables + len(symbols), len(names), 0, 0, 1, 0)
    path.write_bytes(header + program + code + symbols + names + sections)
    return path


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ([lui(T0, 0x3000_0000), store(T0, 0, T0)], "store to nowhere"),
        ([lui(T0, CORE.ScratchBase), store(T0, 2, T0)], "misaligned store"),
        ([0xFFFFFFFF], "illegal instruction"),
        ([0], "illegal instruction"),
        # The watchdog is on, and nobody gives a sign of life.
        ([lui(T0, CORE.DeviceBase), addi(T1, ZERO, 2000), store(T1, DEVICE.WatchdogLimit, T0), HERE], "watchdog"),
    ],
)
def test_bad_firmware_is_named_with_core_pc_and_function(tmp_path, capsys, wrong, what):
    image = elf(tmp_path / "bad.elf", {"_start": READY, "broken": [*wrong, HERE]})
    assert main(["run", "core-nic", "--set", f"firmware_image={image}", *ONE_CORE, "--frames", "50", "--assertions"]) == 1
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"trapped: {what} at pc 0x0000" in line and " in broken+" in line and "core " in line


def test_a_program_that_drops_all_it_is_to_send(tmp_path, nic):
    """In four instructions: what is new in the mailbox it counts as dropped."""
    loop = [load(T1, DEVICE.SendProducer, T0), SUB_T3_T1_T2, store(T3, DEVICE.TxDropped, T0), addi(T2, T1, 0), back(-16)]
    image = elf(tmp_path / "drop.elf", {"_start": [*READY, addi(T2, ZERO, 0), *loop]})
    settings = ("--set", f"firmware_image={image}", "--set", "segments=1", "--set", "watchdog_us=0")
    result = nic("--size", "64", "--frames", "50", "--direction", "tx", *settings, *ONE_CORE)
    assert result["streams"]["tx"]["dropped"] == {"firmware": 50}
    accounted_for(result)


@pytest.mark.parametrize("length", [0, 1515, 0xFFFF])
def test_a_frame_of_a_length_that_cannot_be_sent_is_a_drop(tmp_path, nic, length):
    """The MAC's ring has one command, for any number of frames, with this length; none is what a failed read leaves."""
    command = [
        lui(T3, CORE.ScratchBase),
        lui(T1, CORE.FrameBase),
        store(T1, 0, T3),
        lui(T1, length + 0x800),
        addi(T1, T1, length),
        store(T1, 4, T3),
    ]
    ring = [store(T3, DEVICE.MacTx + DEVICE.RingBase, T0), store(ZERO, DEVICE.MacTx + DEVICE.RingLog, T0)]
    loop = [load(T1, DEVICE.SendProducer, T0), store(T1, DEVICE.MacTx + DEVICE.Producer, T0), back(-8)]
    image = elf(tmp_path / "long.elf", {"_start": [*READY, *command, *ring, *loop]})
    settings = ("--set", f"firmware_image={image}", "--set", "segments=1", "--set", "watchdog_us=0")
    result = nic("--size", "64", "--frames", "50", "--direction", "tx", *settings, *ONE_CORE)
    assert result["streams"]["tx"]["dropped"] == {"bad_command" if length else "tx_error": 50}
    accounted_for(result)


def test_firmware_that_does_nothing_does_not_hang(tmp_path, capsys):
    image = elf(tmp_path / "idle.elf", {"_start": [*READY, HERE]})
    assert main(["run", "core-nic", "--set", f"firmware_image={image}", *ONE_CORE, "--frames", "50", "--assertions"]) == 1
    error = capsys.readouterr().err
    assert (
        "no frame has moved for 2000 us: " in error and "50 frames of tx have not come out, 0 are counted as dropped" in error
    )


def test_firmware_that_never_gets_ready(tmp_path, capsys):
    image = elf(tmp_path / "dumb.elf", {"_start": [HERE]})
    assert main(["run", "core-nic", "--set", f"firmware_image={image}", *ONE_CORE, "--frames", "50", "--assertions"]) == 1
    assert "has not got ready" in capsys.readouterr().err


def test_images_that_are_none(tmp_path, capsys):
    bad = tmp_path / "bad.elf"
    for content in (b"", b"\x7fELF", b"no program at all" * 10):
        bad.write_bytes(content)
        assert main(["run", "core-nic", "--set", f"firmware_image={bad}", *ONE_CORE, "--frames", "50", "--assertions"]) == 2
        assert "firmware_image: " in capsys.readouterr().err
    missing = ("--set", f"firmware_image={tmp_path / 'none'}")
    assert main(["run", "core-nic", *missing, *ONE_CORE, "--frames", "50", "--assertions"]) == 2


def test_frames_too_long_for_it_are_refused(capsys):
    assert main(["run", "core-nic", "--size", "1519", "--frames", "5"]) == 2
    assert "1518" in capsys.readouterr().err


# ---------------------------------------------------------------- firmware that deals frames to queues, and prints


def test_a_balancer_keeps_flows_together_and_queues_alike(nic, tmp_path):
    log, trace = tmp_path / "log", tmp_path / "trace.jsonl"
    settings = ("--set", "firmware=balance", "--set", "receive_queues=4")
    traffic = ("--direction", "rx", "--size", "64", "--frames", "1000", "--rate", "0.1", "--trace", trace)
    result = nic(*traffic, *settings, "--firmware-log", log)
    whole(result)
    queues = result["resources"]["driver"]["queues"]
    assert sum(queues) == 1000 and len(queues) == 4 and max(queues) < 1.5 * min(queues)
    of_flow = {}
    for record in map(json.loads, trace.read_text().splitlines()):
        of_flow.setdefault(record["flow"], set()).add(record["queue"])
    assert len(of_flow) == 64 and all(len(x) == 1 for x in of_flow.values())
    # It says of each bucket where it goes: once, and not while another core says something.
    found = [
        re.fullmatch(r"\[(\d+\.\d{3}) us core ([0-5])\] bucket (\d+) to queue ([0-3])", x) for x in log.read_text().splitlines()
    ]
    assert all(found) and len({x[3] for x in found}) == len(found) > 20 and len({x[2] for x in found}) > 1
    # The same again, to the clock; and without its log.
    again = nic(*traffic, *settings)
    assert {**again, "wall_s": 0} == {**result, "wall_s": 0}


def test_only_the_balancer_has_queues(capsys):
    assert "only firmware=balance" in refused(("core-nic",), capsys, "--set", "receive_queues=4")


@pytest.mark.parametrize(("name", "where", "says"), [("host-nic", "x", "no firmware"), ("core-nic", "/no/x", "no directory")])
def test_bad_places_of_a_firmware_log(name, where, says, capsys):
    assert says in refused((name,), capsys, "--firmware-log", where)
