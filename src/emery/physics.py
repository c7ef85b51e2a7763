# SPDX-License-Identifier: Apache-2.0
"""What links carry: Ethernet, PCI Express, PCI-X. All in frames (or bytes) a second, exact means.

A system's own `limit.py` adds up what a frame costs it of each (docs/systems.md).

Frame sizes are Ethernet frames with FCS. A workload's sizes are a distribution {size: share}; costs that are not linear
in the size (splitting at MPS and MRRS) are summed over it, not computed from its mean.
"""

from math import ceil

FCS = 4
GAP = 20  # preamble 8 + inter-frame gap 12
_GT = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0}


def ethernet_fps(size: float, gbps: float) -> float:
    """Frames a second of `size` bytes with FCS on a line."""
    return gbps * 1e9 / (8 * (size + GAP))


def pcie_gbps(gen: int, lanes: int) -> float:
    """Data rate of a link, one way: symbol rate, line code, skip ordered sets."""
    if gen <= 2:
        return _GT[gen] * lanes * 8 / 10
    return _GT[gen] * lanes * 128 / 130 * (1 - 1 / 373)


def pcie_split(payload: float, limit: int, header: int, share: float = 1.0) -> tuple[float, float]:
    """(TLPs, bytes on the link) that carry a payload; header: 24 for writes with 4DW, 20 for 3DW and completions."""
    tlps = ceil(payload / limit)
    return tlps * share, (payload + tlps * header) * share


def pcie_requests(payload: float, mrrs: int, share: float = 1.0) -> tuple[float, float]:
    """(TLPs, bytes on the link) of the requests that read a payload."""
    tlps = ceil(payload / mrrs)
    return tlps * share, tlps * 24 * share


def pcie_write_gbps(gen: int, lanes: int, mps: int) -> float:
    """Payload of memory writes as long as MPS allows, 4DW headers."""
    return pcie_gbps(gen, lanes) * mps / (mps + 24)


def mean_size(sizes: dict) -> float:
    """Mean of a distribution of sizes."""
    return sum(size * share for size, share in sizes.items()) / sum(sizes.values())


def rates(fps: float, size: float) -> dict:
    """A frame rate in the three units of a result."""
    return {"mpps": fps / 1e6, "l1_gbps": fps * (size + GAP) * 8e-9, "l2_gbps": fps * size * 8e-9}


def pcix_write_clocks(nbytes: int, width: int = 8, burst: int = 4096) -> int:
    """Clocks of PCI-X burst writes: address, attribute, response, data, turnaround for each burst."""
    return ceil(nbytes / width) + 4 * ceil(nbytes / burst)


def pcix_read_clocks(nbytes: int, width: int = 8, burst: int = 4096) -> int:
    """Bus clocks of PCI-X split reads, latency of the target not counted: request, then completion, for each burst."""
    return ceil(nbytes / width) + 9 * ceil(nbytes / burst)


def pcix_gbps(mhz: float, packet: int, header: int = 8, width: int = 8) -> float:
    """Packet bits a second over a PCI-X bus that carries nothing but packets, each with a header, in endless bursts."""
    clocks = ceil(packet / width) + ceil(header / width)
    return mhz * 1e6 / clocks * (packet + GAP) * 8e-9
