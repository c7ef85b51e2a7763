# SPDX-License-Identifier: Apache-2.0
"""What wires and PCI-X bus, or links to a PCI Express switch, allow cards that hand each other packets, or have a host do it.

A packet crosses the bus once, with a header in bursts that never end; through the host it crosses twice, costs two reads in
series at its output card and the time of the one CPU. On PCI Express bursts are writes of `mps` bytes with 3DW headers, and
through the host a packet crosses one link up and one down, by writes and completions of that size; the switch is no limit.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, pcie_gbps

from . import scenario

_LINE_GBPS = 1.0


def line(values: dict) -> float:
    """Gb/s of each card."""
    return _LINE_GBPS


def demand(values: dict) -> list[list[float]]:
    """The share of each input's line that wants to leave at each output."""
    outputs = scenario.outputs(values)
    return [[x.count(o) / len(x) if x else 0.0 for o in range(len(outputs))] for x in outputs]


def mix(values: dict, workload) -> dict:
    """What outputs have room for of what every input offers at line rate."""
    wanted = demand(values)
    asked = [sum(row[o] for row in wanted) for o in range(len(wanted))]
    return {f"{i}->{o}": x / max(1.0, asked[o]) for i, row in enumerate(wanted) for o, x in enumerate(row) if x}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The lines in and out, and the bus (with the host's reads and time where it forwards) or the links to the switch."""
    slow = scenario.is_slow(values)
    total, fps = sum(sizes.values()), sum(rates.values())
    frame = sum(share / ethernet_fps(size, _LINE_GBPS) for size, share in sizes.items()) / total
    words = sum(share * ceil((size - FCS) / 8) for size, share in sizes.items()) / total
    sums: dict[tuple, float] = {}
    for name, rate in rates.items():
        for place in zip(("in", "out"), name.partition("/")[0].split("->"), strict=True):
            sums[place] = sums.get(place, 0.0) + rate
    port = max(sums.values())
    physics, protocol = {"line": port * frame}, {"line": port * frame}
    header = ceil(values["message_bytes"] / 8)
    if values["bus"] == "pcie":
        second = pcie_gbps(values["pcie_gen"], values["pcie_lanes"]) * values["pcie_speed"] * 1e9 / 8
        for part, more in ((physics, 0), (protocol, 0 if slow else header)):
            part["pcie"] = port * 8 * (words + more) * (1 + 20 / values["mps"]) / second
            if slow:
                part["cpu"] = fps * values["cpu_ns"] * 1e-9
        return {"physics": physics, "protocol": protocol}
    bus_hz = scenario.bus_hz_times_3(values) / 3
    crossings = 2 if slow else 1
    physics["pcix"] = fps * words * crossings / bus_hz
    protocol["pcix"] = fps * (words * crossings if slow else words + header) / bus_hz
    if slow:
        busiest = max(rate for (way, _), rate in sums.items() if way == "out")
        reads = busiest * (1 + 1 / values["tx_prefetch"]) * values["read_latency_ns"] * 1e-9 + fps * 2 * words / bus_hz
        for part in (physics, protocol):
            part["reads"], part["cpu"] = reads, fps * values["cpu_ns"] * 1e-9
    return {"physics": physics, "protocol": protocol}
