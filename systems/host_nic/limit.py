# SPDX-License-Identifier: Apache-2.0
"""What a queue-managed NIC needs of its PCIe link for a frame, and how fast its wires are."""

from dataclasses import dataclass, replace
from math import ceil

from emery.make import formats
from emery.physics import FCS, PcieSlot, PcieUse, ethernet_fps

_QUEUE = formats.load("queue_pkg")
_GRANULE = _QUEUE.GranuleBytes
_PAGE = _QUEUE.PageGranules * _GRANULE
_ROW = formats.load("dma_pkg").RowBytes  # of the packet RAM: a frame that fits one with its record shares a write
_LINE = 2 * _ROW  # the longest such write
_HEADERS = 14 + 20 + 8  # of Ethernet, IPv4, UDP
_HEADERS_LEAST, _HEADERS_MOST = 14 + 20 + 20, 94  # of TCP segments
_PAYLOAD_LEAST = 256  # of segments that can share a record
_IN_THE_CARD = 2048  # more frames than ever wait for their descriptors


@dataclass(frozen=True)
class Nic:
    """A slot, and what goes over its link besides frames.

    Descriptors are read `fetch` (of those to send, of those to receive into) and completions written `block` at a time; the
    host rings one doorbell (a 4-byte write) for `doorbell` frames and consumes an event, if there are any, every `event_every`.
    """

    slot: PcieSlot
    descriptor: int = _QUEUE.desc_t.bits // 8
    completion: int = _QUEUE.cpl_t.bits // 8
    block: int = _QUEUE.BlockSlots
    fetch: tuple[float, float] = (0, 0)  # 0: `block`
    doorbell: int = 0
    event: int = 0
    event_every: int = 32
    rx_stream: bool = False  # what is received goes with its record, small frames together, without anything else
    header: int = 0  # shortest headers that are written by themselves, with a descriptor of their own; 0: none are
    coalesce: int = 0  # most bytes of segments under one record, their headers once; taken as if all joined
    segmented: int = 0  # most bytes that the card cuts into segments, read with one header and records; as if all were such
    tx_stream: bool = False  # frames sent lie in the ring, each with a head like a descriptor, and are read by the page

    def _records(self, fetch: float, descriptors: int = 1) -> PcieUse:
        """Completions, reads of descriptors, of which a frame has so many, doorbells, events and interrupts of a frame."""
        slot, doorbell = self.slot, self.doorbell or self.block
        fetch = fetch or self.block / descriptors
        found = slot.write(self.completion * self.block, 1 / self.block)
        found += slot.read(self.descriptor * descriptors * fetch, 1 / fetch) + slot.told(4, 1 / doorbell)
        if self.event:
            share = 1 / self.event_every
            found += slot.write(self.event, share) + slot.write(4, share, 20) + slot.told(4, share, 20)
        return found

    def use(self, sizes: dict, tx: float, rx: float, records: bool) -> PcieUse:
        """What `tx` frames sent and `rx` frames received a second take of the slot; with the records or without."""
        total = sum(sizes.values())
        found = PcieUse()
        if records and self.tx_stream:
            found += self.slot.told(4, tx / (self.doorbell or self.block))
        elif records:
            slots = sum(share / total / self._segments(size - FCS) for size, share in sizes.items())
            found += self._records(self.fetch[0]) * (tx * slots)
        if records and not self.rx_stream:
            slots = sum(share / total / self._together(size - FCS) for size, share in sizes.items())
            found += self._records(self.fetch[1], 2 if self.header else 1) * (rx * slots)
        for size, share in sizes.items():
            frame = size - FCS
            found += self._sent(frame, tx * share / total, records) + self._received(frame, rx * share / total, records)
        return found

    def _together(self, frame: int) -> int:
        """As many such frames share a slot, at the most."""
        if frame - _HEADERS_LEAST < _PAYLOAD_LEAST:
            return 1
        return max(1, (self.coalesce - _HEADERS_LEAST) // (frame - _HEADERS_MOST))

    def _segments(self, frame: int) -> int:
        """As many such frames leave as one long packet, at the most."""
        if not self.segmented or frame <= _HEADERS_LEAST:
            return 1
        return max(1, (self.segmented - _HEADERS_LEAST) // max(frame - _HEADERS_MOST, 1))

    def _received(self, frame: int, fps: float, records: bool) -> PcieUse:
        """Frames written, each by itself; of a stream as many together as are whole in one write."""
        many = self._together(frame)
        if many > 1:  # of all but the first no headers
            behind = self.slot.write(frame - _HEADERS_MOST, fps * (many - 1) / many)
            return replace(self, coalesce=0)._received(frame, fps / many, records) + behind
        if not self.rx_stream:
            if records and self.header:
                return self.slot.write(self.header, fps) + self.slot.write(frame - self.header, fps)
            return self.slot.write(frame, fps)
        own = 4 * ceil(frame / 4) + self.completion if records else frame
        place = _GRANULE * ceil(own / _GRANULE) if records else frame
        many = _LINE // place if place <= _ROW else 1
        return self.slot.write((many - 1) * place + own, fps / many)

    def _sent(self, frame: int, fps: float, records: bool) -> PcieUse:
        """Frames read; from a stream a page at a time, whole granules and a head, with a record a page."""
        many = self._segments(frame)
        if many > 1:
            return self.slot.read(frame + (many - 1) * max(frame - _HEADERS_MOST, 0), fps / many)
        if not self.tx_stream:
            return self.slot.read(frame, fps)
        pages = fps * (frame + (self.descriptor + -frame % _GRANULE) * records) / _PAGE
        return self.slot.read(_PAGE, pages) + self.slot.write(self.completion, pages * records)


def line(values: dict) -> float:
    """Gb/s of each port."""
    return min(values["line_gbps"], values["port_gbps"])


def mix(values: dict, workload) -> dict:
    """All ports sent to and received from alike; what ports send out of shared queues is one stream."""
    ports = values["ports"] * values["interfaces"]
    ways = {way: ports for way in ("tx", "rx") if workload.direction in (way, "both")}
    if values["shared_queues"] and "tx" in ways:
        ways["tx"] = values["interfaces"]
    return {way if n == 1 else f"{way}{x}": ports / n for way, n in ways.items() for x in range(n)}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """Lines, one each way a port; and the slot: its link's two ways, the host's credits, and over the round trip of a read tags
    and the bytes that ports may have asked for."""
    # Where each frame rings its own doorbell, descriptors are read as they come: more at a time only where frames of
    # one queue meet in the card.
    each, flows = values["doorbell"], values.get("flows", 1)
    busy = (min(flows, values["tx_queues"]), min(flows, values["rx_queues"]))
    slots = (_QUEUE.BlockSlots, _QUEUE.BlockSlots / (2 if values["header_split"] else 1))
    fetch = tuple(min(float(n), 1 + _IN_THE_CARD / x) if each == 1 else 0.0 for n, x in zip(slots, busy, strict=True))
    nic = Nic(
        PcieSlot.of(values, ack_every=8),
        fetch=fetch,
        doorbell=each,
        tx_stream=values["tx_mode"] == "stream",
        rx_stream=values["rx_mode"] == "stream",
        header=_HEADERS if values["header_split"] else 0,
        segmented=1024 * values["tso_kb"] if values["tso"] else 0,
        coalesce=values["coalesce_bytes"] if values["receive_coalescing"] else 0,
    )
    tx, rx = (sum(fps for name, fps in rates.items() if name.startswith(way)) for way in ("tx", "rx"))
    frame = sum(share / ethernet_fps(size, line(values)) for size, share in sizes.items()) / sum(sizes.values())
    bare = nic.use(sizes, tx, rx, records=False)
    read_bytes = 1024 * values["read_kb"] * values["ports"] * values["interfaces"]
    lines = {"tx": values["ports"] if values["shared_queues"] else 1}  # that carry a stream
    busiest = max(fps / lines.get(name[:2], 1) for name, fps in rates.items())
    if values["functions"] > 1:  # each a stream, over all ports
        busiest = max(tx, rx) / values["ports"]
    always = {"line": busiest * frame, "read_bytes": bare.asked * nic.slot.round_trip / read_bytes}
    return {
        name: always | nic.slot.loads(use, tags=values["tags"])
        for name, use in (("physics", bare), ("protocol", nic.use(sizes, tx, rx, records=True)))
    }
