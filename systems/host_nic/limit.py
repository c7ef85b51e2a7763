# SPDX-License-Identifier: Apache-2.0
"""What a queue-managed NIC needs of its PCIe link for a frame, and how fast its wires are."""

from dataclasses import dataclass

from emery.physics import FCS, ethernet_fps, mean_size, pcie_gbps, pcie_requests, pcie_split, rates


@dataclass(frozen=True)
class Nic:
    """A link, wires, and what goes over the link besides frames.

    Up is device to host. Descriptors are read and completions written `block` at a time; the host rings one doorbell
    (a 4-byte write) a block and consumes an event, if there are any, every `event_every` frames. An ACK (8 bytes) goes
    against each `ack_every` TLPs; 0 leaves them out. `dllp_share` is a flat part of each way for ACK and flow control.
    """

    gen: int
    lanes: int
    mps: int
    mrrs: int
    ports: int
    line_gbps: float = 100.0
    descriptor: int = 16
    completion: int = 16
    block: int = 8
    event: int = 0
    event_every: int = 32
    ack_every: int = 8
    dllp_share: float = 0.0

    def capacity(self) -> float:
        """Bytes a second for TLPs, each way."""
        return pcie_gbps(self.gen, self.lanes) * 1e9 / 8 * (1 - self.dllp_share)

    def _records(self) -> list[tuple[str, float, float]]:
        """(way, TLPs a frame, bytes a frame) of completions, descriptor reads, doorbells, events and interrupts."""
        completions, descriptors = self.completion * self.block, self.descriptor * self.block
        parts = [
            ("up", *pcie_split(completions, self.mps, 24, 1 / self.block)),
            ("up", *pcie_requests(descriptors, self.mrrs, 1 / self.block)),
            ("down", *pcie_split(descriptors, self.mps, 20, 1 / self.block)),
            ("down", *pcie_split(4, self.mps, 24, 1 / self.block)),
        ]
        if self.event:
            parts.append(("up", *pcie_split(self.event, self.mps, 24, 1 / self.event_every)))
            parts.append(("up", *pcie_split(4, self.mps, 20, 1 / self.event_every)))
            parts.append(("down", *pcie_split(4, self.mps, 20, 1 / self.event_every)))
        return parts

    def _cost(self, parts) -> tuple[float, float]:
        tlps, nbytes = {"up": 0.0, "down": 0.0}, {"up": 0.0, "down": 0.0}
        for way, count, size in parts:
            tlps[way] += count
            nbytes[way] += size
        ack = 8 / self.ack_every if self.ack_every else 0
        return nbytes["up"] + ack * tlps["down"], nbytes["down"] + ack * tlps["up"]

    def tx_cost(self, size: float) -> tuple[float, float]:
        """(up, down) bytes on the link to send a frame."""
        frame = size - FCS
        parts = [("up", *pcie_requests(frame, self.mrrs)), ("down", *pcie_split(frame, self.mps, 20))]
        return self._cost(self._records() + parts)

    def rx_cost(self, size: float) -> tuple[float, float]:
        """(up, down) bytes on the link to receive a frame."""
        return self._cost(self._records() + [("up", *pcie_split(size - FCS, self.mps, 24))])

    def loads(self, sizes: dict, tx: float, rx: float) -> dict:
        """Seconds of each resource that `tx` frames sent and `rx` frames received a second take (1 is all of it)."""
        total = sum(sizes.values())
        up = down = wire = 0.0
        for size, share in sizes.items():
            t, r = self.tx_cost(size), self.rx_cost(size)
            up += share / total * (tx * t[0] + rx * r[0])
            down += share / total * (tx * t[1] + rx * r[1])
            wire += share / total / ethernet_fps(size, self.line_gbps * self.ports)
        return {
            "line": max(tx, rx) * wire,
            "pcie_up": up / self.capacity(),
            "pcie_down": down / self.capacity(),
        }

    def limit(self, sizes: dict, direction: str) -> dict:
        """The rate of all frames, both ways together when `direction` is both (equally)."""
        tx, rx = (direction in ("tx", "both")), (direction in ("rx", "both"))
        loads = self.loads(sizes, tx, rx)
        by = max(loads, key=loads.get)
        return {**rates((tx + rx) / loads[by], mean_size(sizes)), "by": by}


def limit(values: dict, workload) -> dict:
    """What physics allows this NIC for a workload."""
    link = {"gen": values["pcie_gen"], "lanes": values["pcie_lanes"], "mps": values["mps"], "mrrs": values["mrrs"]}
    return Nic(**link, ports=values["ports"] * values["interfaces"]).limit(workload.sizes(), workload.direction)
