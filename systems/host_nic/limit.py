# SPDX-License-Identifier: Apache-2.0
"""What a queue-managed NIC needs of its PCIe link for a frame, and how fast its wires are."""

from dataclasses import dataclass

from emery.physics import FCS, ethernet_fps, pcie_gbps, pcie_requests, pcie_split

_LINE_GBPS = 100.0
_TAGS = 256  # of 8 bits


@dataclass(frozen=True)
class Nic:
    """A link, and what goes over it besides frames.

    Up is device to host. Descriptors are read and completions written `block` at a time; the host rings one doorbell
    (a 4-byte write) a block and consumes an event, if there are any, every `event_every` frames. An ACK (8 bytes) goes
    against each `ack_every` TLPs; 0 leaves them out. `dllp_share` is a flat part of each way for ACK and flow control.
    """

    gen: int
    lanes: int
    mps: int
    mrrs: int
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

    def tx_cost(self, size: float, records: bool = True) -> tuple[float, float]:
        """(up, down) bytes on the link to send a frame, with its records or without."""
        frame = size - FCS
        parts = [("up", *pcie_requests(frame, self.mrrs)), ("down", *pcie_split(frame, self.mps, 20))]
        return self._cost((self._records() if records else []) + parts)

    def rx_cost(self, size: float, records: bool = True) -> tuple[float, float]:
        """(up, down) bytes on the link to receive a frame, with its records or without."""
        return self._cost((self._records() if records else []) + [("up", *pcie_split(size - FCS, self.mps, 24))])

    def payload(self, sizes: dict, tx: float, rx: float, records: bool) -> dict:
        """Loads of the link's two ways for `tx` frames sent and `rx` frames received a second; with the records or without."""
        total = sum(sizes.values())
        up = down = 0.0
        for size, share in sizes.items():
            t, r = self.tx_cost(size, records), self.rx_cost(size, records)
            up += share / total * (tx * t[0] + rx * r[0])
            down += share / total * (tx * t[1] + rx * r[1])
        return {"pcie_up": up / self.capacity(), "pcie_down": down / self.capacity()}

    def requests(self, sizes: dict) -> float:
        """Read requests a sent frame takes."""
        return sum(share * pcie_requests(size - FCS, self.mrrs)[0] for size, share in sizes.items()) / sum(sizes.values())


def mix(values: dict, workload) -> dict:
    """All ports sent to and received from alike."""
    ports = values["ports"] * values["interfaces"]
    ways = [way for way in ("tx", "rx") if workload.direction in (way, "both")]
    return {way if ports == 1 else f"{way}{port}": 1.0 for way in ways for port in range(ports)}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """Lines, one each way a port; the link's two ways; and the tags that reads of the host's memory hold for its latency."""
    nic = Nic(values["pcie_gen"], values["pcie_lanes"], values["mps"], values["mrrs"])
    tx, rx = (sum(fps for name, fps in rates.items() if name.startswith(way)) for way in ("tx", "rx"))
    frame = sum(share / ethernet_fps(size, _LINE_GBPS) for size, share in sizes.items()) / sum(sizes.values())
    waiting = tx * nic.requests(sizes) * values["read_latency_ns"] * 1e-9
    always = {"line": max(rates.values()) * frame, "tags": waiting / _TAGS}
    return {
        name: {**always, **nic.payload(sizes, tx, rx, records)} for name, records in (("physics", False), ("protocol", True))
    }
