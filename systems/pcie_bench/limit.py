# SPDX-License-Identifier: Apache-2.0
"""What the link carries of transfers, and how fast the device's engine is said to be.

A transfer has the bytes of the longest frame with FCS.
"""

from math import ceil

from emery.make import formats
from emery.physics import PcieSlot, pcie_gbps

_CLOCK_NS = 4
_BEAT = formats.load("probe_pkg").ProbeBeatBytes


def line(values: dict) -> float:
    """More than the link carries: transfers begin when the device is ready for them."""
    return 1.1 * pcie_gbps(values["pcie_gen"], values["pcie_lanes"])


def mix(values: dict, workload) -> dict:
    """Reads and writes; both ways at once they share nothing but the link."""
    return {"tx": {"read": 1.0}, "rx": {"write": 1.0}}.get(workload.direction, {"read": 0.5, "write": 0.5})


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The slot, transfers in flight over the round trip; as protocol the engine's."""
    size = max(sizes)
    slot = PcieSlot.of(values)
    read, write = rates.get("read", 0.0), rates.get("write", 0.0)
    physics = slot.loads(slot.read(size, read) + slot.write(size, write), tags=values["tags"])
    physics["round trip"] = read * slot.round_trip / values["in_flight"]
    engine = ceil(size / _BEAT) * max(values["engine_beat_ns"], _CLOCK_NS) + ceil(size / 256) * values["engine_piece_ns"]
    engine = (engine + values["engine_setup_ns"]) * 1e-9
    protocol = {"engine, reads": read * engine, "engine, writes": write * max(engine, values["engine_write_ns"] * 1e-9)}
    return {"physics": physics, "protocol": physics | protocol}
