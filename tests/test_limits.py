# SPDX-License-Identifier: Apache-2.0
"""The limits against the tables of the targets, and against sums done by hand."""

from dataclasses import replace

import pytest
from conftest import limit_of

from emery import physics, system

Nic = system.load("host-nic").module("limit").Nic

# Gen3 x16, MPS 256, MRRS 512, Mpps each way with 1 and with 8 descriptors and completions a transfer.
TABLE = {
    64: (107.8, 93.7, 57.2, 151.8, 125.3, 82.5),
    128: (74.8, 67.7, 46.3, 93.6, 82.8, 61.7),
    256: (46.4, 43.6, 33.6, 53.0, 49.3, 41.0),
    512: (25.5, 24.5, 21.0, 27.4, 26.2, 23.6),
    1024: (13.4, 13.0, 11.75, 13.9, 13.5, 12.5),
    1518: (9.18, 8.96, 8.23, 9.41, 9.18, 8.61),
    9000: (1.60, 1.57, 1.49, 1.60, 1.58, 1.51),
}
GEN4_BOTH_B1 = {64: 114.3, 128: 92.6, 256: 67.1, 512: 41.9, 1024: 23.5, 1518: 16.5, 9000: 2.99}
LINE_RATE = 128e9 * 128 / 130 * 372 / 373  # gen3 x16
LINE = {64: 148.8, 128: 84.5, 256: 45.3, 512: 23.5, 1024: 11.97, 1518: 8.13, 9000: 1.39}


def link(gen=3, lanes=16, **more):
    """The link of the table, unless told otherwise."""
    return physics.PcieSlot(gen, lanes, 256, 512, **more)


def most(nic, sizes, direction):
    """Mpps of all frames that a link carries, both ways alike when `direction` is both."""
    tx, rx = (direction in ("tx", "both")), (direction in ("rx", "both"))
    return (tx + rx) / max(nic.slot.loads(nic.use(sizes, tx, rx, True)).values()) / 1e6


def of_the_table(block, sizes, direction, **more):
    """That of the table's NIC: 32-byte completions, an event and an interrupt every 32 frames, and 0.73 % of the link for ACK
    and flow control (these three were found by fitting; with them every entry agrees within half a percent)."""
    nic = Nic(link(**more), block=block, completion=32, event=32, event_every=32)
    return most(nic, sizes, direction) * (1 - 0.0073)


@pytest.mark.parametrize("size", TABLE)
def test_table_of_the_targets(size):
    for column, value in enumerate(TABLE[size]):
        direction = ("tx", "rx", "both")[column % 3]
        found = of_the_table(1 if column < 3 else 8, {size: 1}, direction)
        assert found / (2 if direction == "both" else 1) == pytest.approx(value, rel=0.005)


@pytest.mark.parametrize("size", GEN4_BOTH_B1)
def test_gen4(size):
    found = of_the_table(1, {size: 1}, "both", gen=4) / 2
    assert found == pytest.approx(GEN4_BOTH_B1[size], rel=0.005)


@pytest.mark.parametrize("size", LINE)
def test_line(size):
    assert physics.ethernet_fps(size, 100) / 1e6 == pytest.approx(LINE[size], rel=0.005)


def test_pcie_payload():
    """Gb/s of writes as long as MPS allows."""
    for lanes, gbps in ((16, 114.9), (8, 57.5)):
        slot = link(lanes=lanes)
        assert slot.loads(slot.write(256, gbps * 1e9 / 8 / 256))["pcie_up"] == pytest.approx(1, abs=0.001)


def test_what_a_host_takes():
    """Credits come back after both ways over the link and 50 ns; a read takes the memory's time more; 512 bytes that come 64 at
    a time have 8 headers of 20 bytes."""
    slot = physics.PcieSlot(
        3, 16, 256, 512, link_latency_ns=175, credits_ph=64, credits_pd=320, credits_nph=72, completion_bytes=64
    )
    writes = slot.loads(slot.write(1000, 1e6))
    assert writes["credits_ph"] == pytest.approx(4e6 * 400e-9 / 64)
    assert writes["credits_pd"] == pytest.approx(63e6 * 400e-9 / 320)
    slot = replace(slot, read_latency_ns=1600, read_jitter_ns=1000, write_ns=58)
    reads = slot.loads(slot.read(1024, 1e6), tags=256)
    assert reads["credits_nph"] == pytest.approx(2e6 * 400e-9 / 72)
    assert reads["tags"] == pytest.approx(2e6 * 2.5e-6 / 256) and slot.round_trip == pytest.approx(2.5e-6)
    assert reads["pcie_down"] == pytest.approx(1e6 * (1024 + 16 * 20) * 8 / LINE_RATE)
    assert slot.loads(slot.write(1000, 1e6))["host_writes"] == pytest.approx(4e6 * 58e-9)


@pytest.mark.parametrize(
    ("interface", "direction", "by", "mpps"),
    [
        # RQ has 500 million places of 32 bytes a second: three for a frame, 5/8 for its share of records, 1/8 for requests.
        ("usplus", "rx", "rq", 500 / 3.75),
        ("usplus", "both", "rq", 2 * 500 / 5.5),
        # Without straddle 250 million beats of 64: two, 3/8 and 1/8. RC then takes two for a frame, 3/8 for descriptors.
        ("usplus_plain", "rx", "rq", 250 / 2.5),
        ("usplus_plain", "tx", "rc", 250 / 2.375),
    ],
)
def test_pins_of_an_ultrascale_plus_block(interface, direction, by, mpps):
    found = limit_of("host-nic", f"pcie_interface={interface}", size="64", direction=direction)
    assert (found["by"], found["mpps"]) == (by, pytest.approx(mpps))


def test_packet_buffers_of_a_grid_that_some_linecards_share():
    """Version I has two, the northern half of its rows one: two linecards have no more than one of them has, and of five rows
    three share the southern one. A buffer moves 46 lines of 8 words twice for 1500 bytes."""
    most = 425 / (46 * 8 * 2)
    for linecards, rows, mpps in ((1, 4, most), (2, 4, most), (4, 4, 2 * most), (5, 5, most * 5 / 3)):
        words = [f"linecards={linecards}", f"rows={rows}", "columns=8"]
        found = limit_of("tile-router", "version=I", *words, size="1500")
        assert (found["by"], found["mpps"]) == ("memory", pytest.approx(mpps))


def test_room_for_completions():
    """An UltraScale+ block has room for 256 of 64 bytes, 16 kB, or 48.5 Gb/s over 2.7 us; P-tile for 722."""
    slot = physics.PcieSlot(3, 16, 256, 512, link_latency_ns=175, read_latency_ns=2300, pcie_interface="usplus")
    for pins, room in (("usplus", 256), ("usplus_plain", 256), ("ptile", 722)):
        found = replace(slot, pcie_interface=pins)
        assert found.loads(found.read(512, 1e6))["completion_room"] == pytest.approx(8e6 * 2.7e-6 / room)
    with_more = replace(slot, rcb=128)
    assert with_more.loads(with_more.read(512, 1e6))["completion_room"] == pytest.approx(4e6 * 2.7e-6 / 256)
    assert "completion_room" not in (ideal := replace(slot, pcie_interface="ideal")).loads(ideal.read(512, 1e6))


def test_pins_of_p_tile():
    """500 million segments of 32 bytes a second each way, a TLP at least one: a frame of 60 bytes and its share of a record
    take 2 + 4/8, its descriptor's request 1/8; 256 + 4 bytes of a write at MPS 256 take 9, 512 read 16 and one."""
    assert limit_of("host-nic", "pcie_interface=ptile", size="64", direction="rx")["by"] == "pcie_up"
    slot = physics.PcieSlot(3, 16, 256, 512, completion_bytes=256, pcie_interface="ptile")
    found = slot.loads(slot.write(260, 1e6) + slot.read(512, 1e6) + slot.told(4, 1e6))
    assert found["tx_st"] == pytest.approx((9 + 1) / 500) and found["rx_st"] == pytest.approx((16 + 1) / 500)
    nic = Nic(link(lanes=16, pcie_interface="ptile"))
    assert nic.slot.loads(nic.use({64: 1}, 0, 1e6, records=True))["tx_st"] == pytest.approx((2 + 5 / 8) / 500)


@pytest.mark.parametrize(
    ("size", "by", "mpps"),
    [
        ("64", "line", 148.81),  # three places a frame, 76 + 24 bytes of the link
        ("69", "line", 140.45),  # two go together in seven places; 84 bytes and the descriptor alone are four, 125 M
        ("101", "line", 103.31),
        ("1518", "line", 8.127),
    ],
)
def test_frames_with_their_records_in_one_write(size, by, mpps):
    values = ("rx_mode=stream", "pcie_interface=usplus")
    found = limit_of("host-nic", *values, size=size, direction="rx")
    assert (found["by"], found["mpps"]) == (by, pytest.approx(mpps, rel=1e-3))


def test_segments_are_read_as_one_packet():
    """16 kB of segments of 1,514 bytes have the headers once, 11 at the most; 15,714 bytes are four requests of 4,096."""
    nic = Nic(replace(link(), mrrs=4096), segmented=16384)
    found = nic.use({1518: 1}, 1e6, 0, records=False)
    assert (found.requests, found.asked) == pytest.approx((4e6 / 11, 15714e6 / 11))
    alone = replace(nic, segmented=0)
    assert nic.use({58: 1}, 1e6, 0, records=True) == alone.use({58: 1}, 1e6, 0, records=True)  # no payload of TCP
    few = ("credits_nph=2", "mrrs=4096")
    assert limit_of("host-nic", *few, size="1518", direction="tx")["by"] == "credits_nph"
    assert limit_of("host-nic", *few, "tso=true", "tso_kb=16", size="1518", direction="tx")["by"] == "line"


def test_what_sets_the_limit():
    assert limit_of("host-nic", size="1518", direction="both")["by"] == "line"
    assert limit_of("host-nic", "pcie_interface=ideal", size="64", direction="both")["by"] == "pcie_up"
    assert limit_of("host-nic", size="64", direction="both")["by"] == "rq"
    assert limit_of("host-nic", "pcie_lanes=4", size="1518", direction="tx")["by"] == "pcie_down"
    for pins, small, large in (("ideal", "tags", "read_bytes"), ("usplus", "completion_room", "completion_room")):
        late = ("read_latency_ns=2300", f"pcie_interface={pins}")
        assert limit_of("host-nic", *late, size="64", direction="tx")["by"] == small
        assert limit_of("host-nic", *late, size="1518", direction="tx")["by"] == large
    sized = ("read_latency_ns=2300", "read_kb=64", "tags=512", "pcie_interface=ideal")
    assert limit_of("host-nic", *sized, size="64", direction="tx")["by"] == "line"
    assert limit_of("host-nic", size="1518", direction="both")["l1_gbps"] == pytest.approx(200)
    assert limit_of("host-nic", "credits_ph=40", size="64", direction="rx")["by"] == "credits_ph"
    assert limit_of("host-nic", "completion_bytes=64", size="1518", direction="tx")["by"] == "pcie_down"
    assert limit_of("core-nic", "credits_pd=64", "link_latency_ns=1000", size="1518", direction="rx")["by"] == "credits_pd"
    assert limit_of("capture", "credits_ph=8")["by"] == "credits_ph"
    assert limit_of("capture", "host_profile=hsw-e3-1226v3")["by"] == "host_writes"
    for pins, by in (("ideal", "pcie_up"), ("usplus", "rq")):
        assert limit_of("host-nic", "ports=2", f"pcie_interface={pins}", size="9018", direction="rx")["by"] == by


def test_a_mix_costs_the_sum_of_its_frames():
    mixed = most(Nic(link(lanes=4)), {64: 1, 1518: 1}, "rx")
    small, large = (most(Nic(link(lanes=4)), {x: 1}, "rx") for x in (64, 1518))
    assert 1 / mixed == pytest.approx((1 / small + 1 / large) / 2)


def test_more_acks_leave_less():
    rates = [most(Nic(link(ack_every=x)), {64: 1}, "both") for x in (1, 8, 0)]
    assert rates == sorted(rates) and rates[0] < rates[2]


def test_pcix():
    assert physics.pcix_gbps(66.67, 64) == pytest.approx(4.98, abs=0.005)
    assert physics.pcix_write_clocks(4096) == 516
    assert physics.pcix_write_clocks(4097) == 513 + 8
    assert physics.pcix_read_clocks(128) == 16 + 9


def test_a_nic_run_by_firmware():
    line = limit_of("core-nic", size="1518", direction="both")
    assert line["by"] == "line" and line["mpps"] == pytest.approx(2 * 0.812744, rel=1e-5)
    # Line rate both ways takes 39.5 Gb/s of the frame memory: at 300 MHz it has 38.4.
    memory = limit_of("core-nic", "mem_mhz=300", size="1518", direction="both")
    assert memory["by"] == "frame_memory" and memory["l1_gbps"] < 20
    assert limit_of("core-nic", "mem_mhz=310", size="1518", direction="both")["by"] == "line"
    narrow = ("core-nic", "pcie_gen=1", "pcie_lanes=4")
    down = limit_of(*narrow, size="1518", direction="tx")
    assert down["by"] == "pcie_down" and down["l1_gbps"] < 8.5
    one = ("core-nic", "credits_nph=1")
    assert limit_of(*one, size="1518", direction="tx")["by"] == "credits_nph"
    assert limit_of(*one, "interconnect=ideal", size="1518", direction="tx")["by"] == "line"
