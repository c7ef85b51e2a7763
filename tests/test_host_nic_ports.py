# SPDX-License-Identifier: Apache-2.0
"""Counters of the ports of host-nic, 64 bits each: by size, kind of address and fate, beside what is in the capture, or what
the wire made. Each run compares them with the wire too: a difference fails it.
"""

from collections import Counter

from conftest import accounted_for, whole, write_pcap

EDGES = {  # with FCS: the smallest and the largest of each counter
    "size_64": (64, 64),
    "size_65": (65, 127),
    "size_128": (128, 255),
    "size_256": (256, 511),
    "size_512": (512, 1023),
    "size_1024": (1024, 1518),
    "size_1519": (1519, 9018),
}
STATION, OTHER = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
CONTROL = bytes.fromhex("0180c2000001")
# Counter, head of the frame behind the source address; nearly control frames are only what their address says.
KINDS = {
    "unicast": (STATION, b"\x08\x00\x45\x00"),
    "multicast": (bytes.fromhex("01005e000009"), b"\x08\x00\x45\x00"),
    "broadcast": (b"\xff" * 6, b"\x08\x06\x00\x01"),
    "pause": (CONTROL, b"\x88\x08\x00\x01"),
    "pfc": (CONTROL, b"\x88\x08\x01\x01"),
    "multicast, another opcode": (CONTROL, b"\x88\x08\x00\x02"),
    "multicast, another type": (CONTROL, b"\x88\x09\x00\x01"),
    "unicast, not to all": (b"\xfe" + b"\xff" * 5, b"\x88\x08\x01\x01"),
}


def frame(kind, size):
    to, head = KINDS[kind]
    return (to + OTHER + head).ljust(size - 4, b"\x5a")


def expected(kinds, sizes):
    """Of frames that are all good."""
    counts = Counter()
    for kind in kinds:
        counts[kind.split(",")[0]] += len(sizes)
    for size in sizes:
        counts[next(x for x, (least, most) in EDGES.items() if least <= size <= most)] += len(kinds)
    return counts | Counter(packets=len(kinds) * len(sizes), bytes=len(kinds) * sum(sizes))


def seen(counters):
    return Counter({x: n for x, n in counters.items() if n})


def check_good(result, ways, kinds, sizes):
    (port,) = result["resources"]["port_counters"]
    want = expected(kinds, sizes)
    del want["unicast"]  # which the card does not tell
    for way in ways:
        assert seen(port[way]) == want, way


def test_sizes_at_each_edge(simulate, tmp_path):
    """Both ways, of each kind of address, control frames among them: at 100G the MAC hands them on."""
    sizes = sorted({size for edges in EDGES.values() for size in edges})
    made = [frame(kind, size) for size in sizes for kind in KINDS]
    words = ("--pcap", write_pcap(tmp_path / "edges.pcap", made), "--rate", "0.5")
    result = simulate("host-nic", *words, "--direction", "both")
    whole(result)
    check_good(result, ("rx", "tx"), list(KINDS), sizes)


def test_bad_frames(simulate):
    words = ("--size", "64-9018", "--frames", "1500", "--rate", "0.5", "--direction", "rx")
    result = simulate("host-nic", *words, bad_fcs_every=12, runt_every=12, oversize_every=12)
    accounted_for(result)
    ((rx,), (mac,)) = ([x["rx"] for x in result["resources"]["port_counters"]], result["resources"]["macs"])
    assert rx["crc_errors"] == mac["rx_bad_fcs"] > 20 and rx["oversize"] == mac["rx_oversize"] > 20
    assert rx["undersize"] == mac["rx_runts"] > 20 and rx["fragments"] == 0
    assert rx["packets"] == result["streams"]["rx"]["delivered"]
    assert sum(rx[x] for x in EDGES) == rx["packets"] + rx["crc_errors"]
    # All but what was cut off the oversize ones.
    assert rx["bytes"] + rx["bad_bytes"] <= mac["rx_bytes"] < rx["bytes"] + rx["bad_bytes"] + 300 * rx["oversize"]


def test_bytes_of_bad_frames(simulate):
    """Those of short ones too, though nothing of them leaves the MAC side."""
    words = ("--size", "64", "--frames", "1500", "--rate", "0.5", "--direction", "rx")
    result = simulate("host-nic", *words, bad_fcs_every=12, runt_every=12)
    ((rx,), (mac,)) = ([x["rx"] for x in result["resources"]["port_counters"]], result["resources"]["macs"])
    assert rx["bytes"] + rx["bad_bytes"] == mac["rx_bytes"]
    assert 64 * rx["crc_errors"] < rx["bad_bytes"] < 64 * (rx["crc_errors"] + rx["undersize"])


def test_frames_that_find_no_room(simulate):
    """The host takes nothing for a while: they are counted as come, and as lost."""
    words = ("--size", "1518", "--frames", "3000", "--rate", "1", "--direction", "rx")
    result = simulate("host-nic", *words, fault="slow_host")
    accounted_for(result)
    (rx,) = (x["rx"] for x in result["resources"]["port_counters"])
    dropped = result["streams"]["rx"]["dropped"]
    assert rx["packets"] == rx["size_1024"] == 3000 - dropped.get("fifo_full", 0)
    assert rx["lost_buffer"] == dropped["buffer_full"] > 50


def test_a_mac_inside(simulate, tmp_path):
    """Of 10G: MAC control frames end in it, and at the far end what has only their type."""
    sizes = sorted({size for edges in EDGES.values() for size in edges})
    kinds = [x for x in KINDS if not KINDS[x][1].startswith(b"\x88\x08")]
    made = [frame(kind, size) for size in sizes for kind in kinds]
    words = ("--pcap", write_pcap(tmp_path / "edges.pcap", made), "--rate", "0.5")
    result = simulate("host-nic", *words, "--direction", "both", port_gbps=10)
    whole(result)
    check_good(result, ("rx", "tx"), kinds, sizes)
    result = simulate(
        "host-nic", "--size", "64-1518", "--frames", "600", "--direction", "rx", port_gbps=10, bad_fcs_every=9, runt_every=9
    )
    (rx,) = (x["rx"] for x in result["resources"]["port_counters"])
    assert rx["crc_errors"] > 20 and rx["undersize"] + rx["fragments"] == result["resources"]["macs"][0]["rx_runts"] > 20
