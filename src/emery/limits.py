# SPDX-License-Identifier: Apache-2.0
"""What physics allows: Ethernet, PCI Express under a NIC, PCI-X. All in frames (or bytes) a second, exact means.

Frame sizes are Ethernet frames with FCS. A workload's sizes are a distribution {size: share}; costs that are not linear
in the size (splitting at MPS and MRRS) are summed over it, not computed from its mean.
"""

from dataclasses import dataclass
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


def _split(payload: float, limit: int, header: int, share: float = 1.0) -> tuple[float, float]:
    """(TLPs, bytes on the link) that carry a payload; header: 24 for writes with 4DW, 20 for 3DW and completions."""
    tlps = ceil(payload / limit)
    return tlps * share, (payload + tlps * header) * share


def _requests(payload: float, mrrs: int, share: float = 1.0) -> tuple[float, float]:
    """(TLPs, bytes on the link) of the requests that read a payload."""
    tlps = ceil(payload / mrrs)
    return tlps * share, tlps * 24 * share


def pcie_write_gbps(gen: int, lanes: int, mps: int) -> float:
    """Payload of memory writes as long as MPS allows, 4DW headers."""
    return pcie_gbps(gen, lanes) * mps / (mps + 24)


@dataclass(frozen=True)
class NicModel:
    """What a queue-managed NIC needs from its PCIe link for a frame, and how fast its wires are.

    Up is device to host. Descriptors are read and completions written `block` at a time; the host rings one doorbell
    (a 4-byte write) a block and consumes an event, if there are any, every `event_every` frames. An ACK (8 bytes) goes
    against each `ack_every` TLPs; 0 leaves them out. `dllp_share` is a flat part of each way for ACK and flow control.
    """

    gen: int = 3
    lanes: int = 16
    mps: int = 256
    mrrs: int = 512
    line_gbps: float = 100.0
    ports: int = 1
    descriptor: int = 16
    completion: int = 16
    block: int = 8
    event: int = 0
    event_every: int = 32
    ack_every: int = 0
    dllp_share: float = 0.0

    def capacity(self) -> float:
        """Bytes a second for TLPs, each way."""
        return pcie_gbps(self.gen, self.lanes) * 1e9 / 8 * (1 - self.dllp_share)

    def _records(self) -> list[tuple[str, float, float]]:
        """(way, TLPs a frame, bytes a frame) of completions, descriptor reads, doorbells, events and interrupts."""
        completions, descriptors = self.completion * self.block, self.descriptor * self.block
        parts = [
            ("up", *_split(completions, self.mps, 24, 1 / self.block)),
            ("up", *_requests(descriptors, self.mrrs, 1 / self.block)),
            ("down", *_split(descriptors, self.mps, 20, 1 / self.block)),
            ("down", *_split(4, self.mps, 24, 1 / self.block)),
        ]
        if self.event:
            parts.append(("up", *_split(self.event, self.mps, 24, 1 / self.event_every)))
            parts.append(("up", *_split(4, self.mps, 20, 1 / self.event_every)))
            parts.append(("down", *_split(4, self.mps, 20, 1 / self.event_every)))
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
        parts = [("up", *_requests(frame, self.mrrs)), ("down", *_split(frame, self.mps, 20))]
        return self._cost(self._records() + parts)

    def rx_cost(self, size: float) -> tuple[float, float]:
        """(up, down) bytes on the link to receive a frame."""
        return self._cost(self._records() + [("up", *_split(size - FCS, self.mps, 24))])

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


def mean_size(sizes: dict) -> float:
    """Mean of a distribution of sizes."""
    return sum(size * share for size, share in sizes.items()) / sum(sizes.values())


def nic(model: NicModel, sizes: dict, direction: str) -> dict:
    """The limit for a workload: the rate of all frames, both ways together when `direction` is both (equally)."""
    tx, rx = (direction in ("tx", "both")), (direction in ("rx", "both"))
    loads = model.loads(sizes, tx, rx)
    by = max(loads, key=loads.get)
    return {**rates((tx + rx) / loads[by], mean_size(sizes)), "by": by}


@dataclass(frozen=True)
class CaptureModel:
    """What a capture device needs of its links for a packet, and how fast what lies around it is.

    Packets are records of a header and the packet, padded to 8 bytes, side by side in writes as long as MPS allows.
    """

    links: int = 2
    gen: int = 3
    lanes: int = 8
    mps: int = 256
    header: int = 8
    wire_gbps: float = 100.0  # 0: packets come from the generator
    clock_mhz: float = 250.0  # of the 64-byte datapath
    consumers: int = 1
    ns_per_packet: float = 0.0
    ns_per_byte: float = 0.0

    def payload_gbps(self) -> float:
        """What all links together carry of TLP payload."""
        return self.links * pcie_write_gbps(self.gen, self.lanes, self.mps)

    def record(self, size: float) -> int:
        """Bytes in host memory for a frame of `size` bytes with FCS."""
        return self.header + ceil((size - FCS) / 8) * 8


def capture(model: CaptureModel, sizes: dict) -> dict:
    """The limit for a workload: frames a second, and the TLP payload that goes with it."""
    total = sum(sizes.values())
    seconds = dict.fromkeys(("pcie", "wire" if model.wire_gbps else "datapath", "consumers"), 0.0)
    record = 0.0
    for size, count in sizes.items():
        share = count / total
        record += share * model.record(size)
        if model.wire_gbps:
            seconds["wire"] += share / ethernet_fps(size, model.wire_gbps)
        else:
            seconds["datapath"] += share * ceil((size - FCS) / 64) / (model.clock_mhz * 1e6)
        seconds["consumers"] += share * (model.ns_per_packet + model.ns_per_byte * (size - FCS)) * 1e-9 / model.consumers
    seconds["pcie"] = record * 8e-9 / model.payload_gbps()
    by = max(seconds, key=seconds.get)
    fps = 1 / seconds[by]
    return {**rates(fps, mean_size(sizes)), "tlp_payload_gbps": fps * record * 8e-9, "by": by}


@dataclass(frozen=True)
class DirectModel:
    """Cards on a shared PCI-X bus, or on PCI Express links to a switch, that hand each other packets, or have a host do it.

    `demand[i][o]` is the share of input i's line that wants to leave at output o. A packet crosses the bus once, with a
    header of `header` bytes in bursts that never end; through the host it crosses twice, costs two reads of
    `read_latency_ns` in series at its output card and `cpu_ns` of the one CPU. On PCI Express each card has a link of
    `link_gbps` each way, and bursts are writes of `mps` bytes with 3DW headers; the switch is no limit.
    """

    demand: tuple[tuple[float, ...], ...]
    bus_mhz: float = 200 / 3
    line_gbps: float = 1.0
    header: int = 8
    slow: bool = False
    read_latency_ns: float = 750.0
    cpu_ns: float = 1600.0
    link_gbps: float = 0.0  # 0: PCI-X
    mps: int = 256


def direct(model: DirectModel, sizes: dict) -> dict:
    """The limit for a workload offered at line rate: what all outputs together can send."""
    total = sum(sizes.values())
    lines = [sum(row[o] for row in model.demand) for o in range(len(model.demand))]
    open_share = sum(min(1.0, x) for x in lines)  # lines' worth of frames that outputs have room for
    wire = bus = link = 0.0  # seconds a frame
    for size, count in sizes.items():
        share = count / total
        wire += share / ethernet_fps(size, model.line_gbps)
        words = ceil((size - FCS) / 8)
        bus += share * (words * 2 if model.slow else words + ceil(model.header / 8)) / (model.bus_mhz * 1e6)
        if model.link_gbps:
            nbytes = 8 * (words + ceil(model.header / 8))
            link += share * nbytes * (1 + 20 / model.mps) / (model.link_gbps * 1e9 / 8)
    if model.link_gbps:
        sums = [sum(row) for row in model.demand], lines
        caps = {
            "line": open_share / wire,
            "pcie": min(sum(min(x / wire, 1 / link) for x in way if x) for way in sums),
        }
    else:
        caps = {"line": open_share / wire, "pcix": 1 / bus}
    if model.slow:
        outputs = sum(x > 0 for x in lines)
        caps["reads"] = outputs / (2 * model.read_latency_ns * 1e-9 + bus)
        caps["cpu"] = 1e9 / model.cpu_ns
    by = min(caps, key=caps.get)
    return {**rates(caps[by], mean_size(sizes)), "by": by}


@dataclass(frozen=True)
class CoreModel:
    """A NIC run by firmware: its wire, its frame memory, which every frame crosses twice, and its PCIe link, if it has one.

    What the firmware could do at most is not a matter of physics and not counted. A sent frame has `segments` descriptors;
    `send_fetch` of them are read at a time, `receive_fetch` for receive; a returned descriptor is a write of its own.
    """

    line_gbps: float = 10.0
    mem_mhz: float = 500.0
    mem_bytes: int = 16  # a clock
    gen: int = 3
    lanes: int = 8
    mps: int = 256
    mrrs: int = 512
    segments: int = 2
    headers: int = 42
    descriptor: int = 16
    send_fetch: int = 32
    receive_fetch: int = 16
    ideal: bool = False  # the interconnect has no limits

    def words(self, size: float) -> int:
        """Words of the frame memory that a frame takes at least, written and read."""
        return 2 * ceil((size - FCS) / self.mem_bytes)

    def tx_cost(self, size: float) -> tuple[float, float]:
        """(up, down) bytes on the link to send a frame."""
        frame = size - FCS
        parts = [self.headers, frame - self.headers] if self.segments == 2 else [frame]
        descriptors = self.descriptor * self.send_fetch
        share = self.segments / self.send_fetch
        up = sum(_requests(x, self.mrrs)[1] for x in parts) + _requests(descriptors, self.mrrs, share)[1]
        down = sum(_split(x, self.mps, 20)[1] for x in parts) + _split(descriptors, self.mps, 20, share)[1]
        return up, down

    def rx_cost(self, size: float) -> tuple[float, float]:
        """(up, down) bytes on the link to receive a frame."""
        descriptors = self.descriptor * self.receive_fetch
        share = 1 / self.receive_fetch
        up = _split(size - FCS, self.mps, 24)[1] + self.descriptor + _requests(descriptors, self.mrrs, share)[1]
        return up, _split(descriptors, self.mps, 20, share)[1]


def core(model: CoreModel, sizes: dict, direction: str) -> dict:
    """The limit for a workload: the rate of all frames, both ways together when `direction` is both (equally)."""
    tx, rx = (direction in ("tx", "both")), (direction in ("rx", "both"))
    total = sum(sizes.values())
    seconds = dict.fromkeys(("line", "frame_memory", "pcie_up", "pcie_down"), 0.0)
    for size, count in sizes.items():
        share = count / total
        seconds["line"] += share / ethernet_fps(size, model.line_gbps)
        seconds["frame_memory"] += share * (tx + rx) * model.words(size) / (model.mem_mhz * 1e6)
        if model.ideal:
            continue
        capacity = pcie_gbps(model.gen, model.lanes) * 1e9 / 8
        sent, received = model.tx_cost(size), model.rx_cost(size)
        seconds["pcie_up"] += share * (tx * sent[0] + rx * received[0]) / capacity
        seconds["pcie_down"] += share * (tx * sent[1] + rx * received[1]) / capacity
    by = max(seconds, key=seconds.get)
    return {**rates((tx + rx) / seconds[by], mean_size(sizes)), "by": by}


@dataclass(frozen=True)
class TileModel:
    """Links of one word (32 bits) a clock, each way, between tiles, linecards and memories.

    A frame enters as its length and its words; the head of 16 words and two more leave as a message to the output linecard.
    What goes beyond the head comes to it in messages: of 31 words, over the network that carries the heads (`gdn`) or the
    other one (`mdn`), or of 8 words from a memory over the latter (`memory`), which the payload was written to before, as a
    stream or in lines.
    """

    mhz: float = 425.0
    ports: int = 4
    line_gbps: float = 20.0
    payload: str = "memory"
    banks: int = 4
    half_duplex: bool = False
    streams: bool = True
    early: bool = False  # payloads begin in the head, with word 8


_HEAD = 16  # words of a frame that go through the stages
_MESSAGE = _HEAD + 3  # words of a head on its way to the output linecard


def tile(model: TileModel, sizes: dict) -> dict:
    """The limit for a workload spread evenly over ports: what links and memories carry, whatever the programs do."""
    total = sum(sizes.values())
    clocks = dict.fromkeys(("link_in", "link_out", "memory"), 0.0)  # of one port (memory: of one bank), a frame
    line = 0.0  # seconds
    for size, count in sizes.items():
        share = count / total
        words = max(_HEAD, ceil((size - FCS + 2) / 4))
        payload = words - (8 if model.early else _HEAD)
        lines = ceil(payload / 8)
        line += share / ethernet_fps(size, model.line_gbps)
        clocks["link_in"] += share * (1 + _HEAD + payload)
        held = payload + ceil(payload / 31)
        if model.payload == "gdn":
            clocks["link_out"] += share * (_MESSAGE + held)
        elif model.payload == "mdn":
            clocks["link_out"] += share * max(_MESSAGE, held)
        else:
            clocks["link_out"] += share * max(_MESSAGE, lines * 9)
            written = payload if model.streams else lines * 8
            clocks["memory"] += share * ((written + lines * 8) if model.half_duplex else max(written, lines * 8))
    hz = model.mhz * 1e6
    caps = {"line": model.ports / line}
    for name, need in clocks.items():
        if need:
            caps[name] = hz / need * (model.banks if name == "memory" else model.ports)
    by = min(caps, key=caps.get)
    return {**rates(caps[by], mean_size(sizes)), "by": by}


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
