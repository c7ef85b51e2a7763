# SPDX-License-Identifier: Apache-2.0
"""What wires and PCI-X bus, or links to a PCI Express switch, allow cards that hand each other packets, or have a host do it.

A packet crosses the bus once, with a header in bursts that never end; through the host it crosses twice, costs two reads in
series at its output card and the time of the one CPU. On PCI Express bursts are writes of `mps` bytes with 3DW headers; the
switch is no limit.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, mean_size, pcie_gbps, rates

from . import scenario

_LINE_GBPS = 1.0


def demand(values: dict) -> list[list[float]]:
    """The share of each input's line that wants to leave at each output."""
    outputs = scenario.outputs(values)
    return [[x.count(o) / len(x) if x else 0.0 for o in range(len(outputs))] for x in outputs]


def limit(values: dict, workload) -> dict:
    """For a workload offered at line rate: what all outputs together can send."""
    wanted = demand(values)
    pcie = values["bus"] == "pcie"
    slow = scenario.is_slow(values)
    bus_hz = scenario.bus_hz_times_3(values) / 3
    link_bytes = pcie_gbps(values["pcie_gen"], values["pcie_lanes"]) * values["pcie_speed"] * 1e9 / 8
    header = ceil(values["message_bytes"] / 8)
    lines = [sum(row[o] for row in wanted) for o in range(len(wanted))]
    open_share = sum(min(1.0, x) for x in lines)  # lines' worth of frames that outputs have room for
    sizes = workload.sizes()
    total = sum(sizes.values())
    wire = bus = link = 0.0  # seconds a frame
    for size, count in sizes.items():
        share = count / total
        wire += share / ethernet_fps(size, _LINE_GBPS)
        words = ceil((size - FCS) / 8)
        bus += share * (words * 2 if slow else words + header) / bus_hz
        link += share * 8 * (words + header) * (1 + 20 / values["mps"]) / link_bytes
    caps = {"line": open_share / wire}
    if pcie:
        sums = [sum(row) for row in wanted], lines
        caps["pcie"] = min(sum(min(x / wire, 1 / link) for x in way if x) for way in sums)
    else:
        caps["pcix"] = 1 / bus
    if slow:
        outputs = sum(x > 0 for x in lines)
        caps["reads"] = outputs / (2 * values["read_latency_ns"] * 1e-9 + bus)
        caps["cpu"] = 1e9 / values["cpu_ns"]
    by = min(caps, key=caps.get)
    return {**rates(caps[by], mean_size(sizes)), "by": by}
