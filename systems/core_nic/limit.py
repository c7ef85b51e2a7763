# SPDX-License-Identifier: Apache-2.0
"""What wire, frame memory (every frame crosses it twice) and PCIe link, if there is one, allow a NIC run by firmware.

What the firmware could do at most is not a matter of physics and not counted.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, pcie_gbps, pcie_requests, pcie_split

_LINE_GBPS = 10.0
_MEMORY_BYTES = 16  # a clock
_HEADERS = 42  # bytes of a frame's first segment, when it has two
_DESCRIPTOR = 16  # bytes; a returned one is a write of its own
_SEND_FETCH, _RECEIVE_FETCH = 32, 16  # descriptors read at a time


def _words(size: float) -> int:
    """Words of the frame memory that a frame takes at least, written and read."""
    return 2 * ceil((size - FCS) / _MEMORY_BYTES)


def _tx_cost(values: dict, size: float, records: bool) -> tuple[float, float]:
    """(up, down) bytes on the link to send a frame, with its descriptors or without."""
    frame = size - FCS
    parts = [_HEADERS, frame - _HEADERS] if values["segments"] == 2 and records else [frame]
    up = sum(pcie_requests(x, values["mrrs"])[1] for x in parts)
    down = sum(pcie_split(x, values["mps"], 20)[1] for x in parts)
    if records:
        descriptors, share = _DESCRIPTOR * _SEND_FETCH, values["segments"] / _SEND_FETCH
        up += pcie_requests(descriptors, values["mrrs"], share)[1]
        down += pcie_split(descriptors, values["mps"], 20, share)[1]
    return up, down


def _rx_cost(values: dict, size: float, records: bool) -> tuple[float, float]:
    """(up, down) bytes on the link to receive a frame, with its descriptors or without."""
    up = pcie_split(size - FCS, values["mps"], 24)[1]
    if not records:
        return up, 0.0
    descriptors, share = _DESCRIPTOR * _RECEIVE_FETCH, 1 / _RECEIVE_FETCH
    up += _DESCRIPTOR + pcie_requests(descriptors, values["mrrs"], share)[1]
    return up, pcie_split(descriptors, values["mps"], 20, share)[1]


def mix(values: dict, workload) -> dict:
    """Sent and received alike."""
    return {way: 1.0 for way in ("tx", "rx") if workload.direction in (way, "both")}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The line's two ways, the frame memory, and the link's two ways, if there is a link."""
    tx, rx = rates.get("tx", 0.0), rates.get("rx", 0.0)
    total = sum(sizes.values())
    frame = sum(share / ethernet_fps(size, _LINE_GBPS) for size, share in sizes.items()) / total
    words = sum(share * _words(size) for size, share in sizes.items()) / total
    always = {"line": max(tx, rx) * frame, "frame_memory": (tx + rx) * words / (values["mem_mhz"] * 1e6)}
    found = {"physics": dict(always), "protocol": dict(always)}
    if values["interconnect"] == "ideal":
        return found
    second = pcie_gbps(values["pcie_gen"], values["pcie_lanes"]) * 1e9 / 8
    for records, part in ((False, found["physics"]), (True, found["protocol"])):
        for number, way in enumerate(("pcie_up", "pcie_down")):
            sent = sum(share * _tx_cost(values, size, records)[number] for size, share in sizes.items()) / total
            received = sum(share * _rx_cost(values, size, records)[number] for size, share in sizes.items()) / total
            part[way] = (tx * sent + rx * received) / second
    return found
