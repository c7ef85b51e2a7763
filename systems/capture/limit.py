# SPDX-License-Identifier: Apache-2.0
"""What the device's links allow, and how fast what lies around it is.

Packets are records of a header and the packet, padded to 8 bytes, side by side in writes as long as MPS allows.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, mean_size, pcie_write_gbps, rates

_WIRE_GBPS = 100.0
_DATAPATH_BYTES, _DATAPATH_HZ = 64, 250e6


def _record(values: dict, size: float) -> int:
    """Bytes in host memory for a frame of `size` bytes with FCS."""
    return (16 if values["timestamps"] else 8) + ceil((size - FCS) / 8) * 8


def limit(values: dict, workload) -> dict:
    """Frames a second, and the TLP payload that goes with it."""
    sizes = workload.sizes()
    total = sum(sizes.values())
    wire = values["source"] == "wire"
    seconds = dict.fromkeys(("pcie", "wire" if wire else "datapath", "consumers"), 0.0)
    record = 0.0
    for size, count in sizes.items():
        share = count / total
        record += share * _record(values, size)
        if wire:
            seconds["wire"] += share / ethernet_fps(size, _WIRE_GBPS)
        else:
            seconds["datapath"] += share * ceil((size - FCS) / _DATAPATH_BYTES) / _DATAPATH_HZ
        consumed = values["ns_per_packet"] + values["ns_per_byte"] * (size - FCS)
        seconds["consumers"] += share * consumed * 1e-9 / values["consumers"]
    payload_gbps = values["links"] * pcie_write_gbps(values["pcie_gen"], values["pcie_lanes"], values["mps"])
    seconds["pcie"] = record * 8e-9 / payload_gbps
    by = max(seconds, key=seconds.get)
    fps = 1 / seconds[by]
    return {**rates(fps, mean_size(sizes)), "tlp_payload_gbps": fps * record * 8e-9, "by": by}
