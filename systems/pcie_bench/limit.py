# SPDX-License-Identifier: Apache-2.0
"""What the link carries of transfers, and how fast the device's engine is said to be.

A transfer has the bytes of the longest frame with FCS.
"""

from math import ceil

from emery.physics import pcie_gbps, pcie_requests, pcie_split

_CLOCK_NS = 4


def mix(values: dict, workload) -> dict:
    """Reads and writes; both ways at once they share nothing but the link."""
    return {"tx": {"read": 1.0}, "rx": {"write": 1.0}}.get(workload.direction, {"read": 0.5, "write": 0.5})


def _completions(values: dict, size: float) -> float:
    """Bytes on the link that bring a transfer: each request answered in pieces."""
    whole, rest = divmod(size, values["mrrs"])
    total = 0.0
    for request, times in ((values["mrrs"], whole), (rest, 1)):
        most = min(values["completion_bytes"], values["mps"]) if request >= values["completion_from"] else 64
        total += pcie_split(request, most, 20)[1] * times if request else 0.0
    return total


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The link's two directions, transfers in flight over the round trip, the host's own pace; as protocol the engine's."""
    size = max(sizes)
    second = pcie_gbps(values["pcie_gen"], values["pcie_lanes"]) * 1e9 / 8
    read, write = rates.get("read", 0.0), rates.get("write", 0.0)
    round_trip = (2 * values["link_latency_ns"] + values["read_latency_ns"] + 50) * 1e-9
    tlps, nbytes = pcie_split(size, values["mps"], 24)
    up = write * nbytes + read * pcie_requests(size, values["mrrs"])[1]
    down = read * _completions(values, size)
    engine = ceil(size / 64) * max(values["engine_beat_ns"], _CLOCK_NS) + ceil(size / 256) * values["engine_piece_ns"]
    engine = (engine + values["engine_setup_ns"]) * 1e-9
    physics = {
        "link, to the device": down / second,
        "link, to the host": up / second,
        "round trip": read * round_trip / values["in_flight"],
        "host, writes": write * tlps * values["write_ns"] * 1e-9,
    }
    protocol = {"engine, reads": read * engine, "engine, writes": write * max(engine, values["engine_write_ns"] * 1e-9)}
    return {"physics": physics, "protocol": physics | protocol}
