# SPDX-License-Identifier: Apache-2.0
"""What wire, frame memory (every frame crosses it twice) and PCIe link, if there is one, allow a NIC run by firmware.

What the firmware could do at most is not a matter of physics and not counted.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, mean_size, pcie_gbps, pcie_requests, pcie_split, rates

_LINE_GBPS = 10.0
_MEMORY_BYTES = 16  # a clock
_HEADERS = 42  # bytes of a frame's first segment, when it has two
_DESCRIPTOR = 16  # bytes; a returned one is a write of its own
_SEND_FETCH, _RECEIVE_FETCH = 32, 16  # descriptors read at a time


def _words(size: float) -> int:
    """Words of the frame memory that a frame takes at least, written and read."""
    return 2 * ceil((size - FCS) / _MEMORY_BYTES)


def _tx_cost(values: dict, size: float) -> tuple[float, float]:
    """(up, down) bytes on the link to send a frame."""
    frame = size - FCS
    parts = [_HEADERS, frame - _HEADERS] if values["segments"] == 2 else [frame]
    descriptors, share = _DESCRIPTOR * _SEND_FETCH, values["segments"] / _SEND_FETCH
    up = sum(pcie_requests(x, values["mrrs"])[1] for x in parts) + pcie_requests(descriptors, values["mrrs"], share)[1]
    down = sum(pcie_split(x, values["mps"], 20)[1] for x in parts) + pcie_split(descriptors, values["mps"], 20, share)[1]
    return up, down


def _rx_cost(values: dict, size: float) -> tuple[float, float]:
    """(up, down) bytes on the link to receive a frame."""
    descriptors, share = _DESCRIPTOR * _RECEIVE_FETCH, 1 / _RECEIVE_FETCH
    up = pcie_split(size - FCS, values["mps"], 24)[1] + _DESCRIPTOR + pcie_requests(descriptors, values["mrrs"], share)[1]
    return up, pcie_split(descriptors, values["mps"], 20, share)[1]


def limit(values: dict, workload) -> dict:
    """The rate of all frames, both ways together when the workload goes both ways (equally)."""
    tx, rx = (workload.direction in ("tx", "both")), (workload.direction in ("rx", "both"))
    sizes = workload.sizes()
    total = sum(sizes.values())
    seconds = dict.fromkeys(("line", "frame_memory", "pcie_up", "pcie_down"), 0.0)
    for size, count in sizes.items():
        share = count / total
        seconds["line"] += share / ethernet_fps(size, _LINE_GBPS)
        seconds["frame_memory"] += share * (tx + rx) * _words(size) / (values["mem_mhz"] * 1e6)
        if values["interconnect"] == "ideal":
            continue
        capacity = pcie_gbps(values["pcie_gen"], values["pcie_lanes"]) * 1e9 / 8
        sent, received = _tx_cost(values, size), _rx_cost(values, size)
        seconds["pcie_up"] += share * (tx * sent[0] + rx * received[0]) / capacity
        seconds["pcie_down"] += share * (tx * sent[1] + rx * received[1]) / capacity
    by = max(seconds, key=seconds.get)
    return {**rates((tx + rx) / seconds[by], mean_size(sizes)), "by": by}
