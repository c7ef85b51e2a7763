# SPDX-License-Identifier: Apache-2.0
"""What links carry: Ethernet, PCI Express, PCI-X. All in frames (or bytes) a second, exact means.

A system's own `limit.py` adds up what a frame costs it of each (docs/systems.md).

Frame sizes are Ethernet frames with FCS. A workload's sizes are a distribution {size: share}; costs that are not linear
in the size (splitting at MPS and MRRS) are summed over it, not computed from its mean.
"""

from dataclasses import dataclass, fields
from math import ceil

FCS = 4
GAP = 20  # preamble 8 + inter-frame gap 12
_ROOT_NS = 50  # until a request that has arrived is accepted (bench/pcie/root_complex.hpp)
# Completions that a hard block has room for (AMD PG213; Intel 683059: 1,444 entries of 32 bytes). Their credits are without
# limit, so no more are asked for, each cut at every `rcb` bytes (rtl/pcie/usplus_meter.sv).
_COMPLETIONS = {"usplus": 256, "usplus_plain": 256, "ptile": 722}
_GT = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0}


def mhz_times_3(mhz: int) -> int:
    """Three times a clock that is said in whole MHz, of which ...33 and ...66 stand for a third and two thirds more."""
    return 3 * mhz + {33: 1, 66: 2}.get(mhz % 100, 0)


def ethernet_fps(size: float, gbps: float) -> float:
    """Frames a second of `size` bytes with FCS on a line."""
    return gbps * 1e9 / (8 * (size + GAP))


def pcie_gbps(gen: int, lanes: int) -> float:
    """Data rate of a link, one way: symbol rate, line code, skip ordered sets."""
    if gen <= 2:
        return _GT[gen] * lanes * 8 / 10
    return _GT[gen] * lanes * 128 / 130 * (1 - 1 / 373)


def pcie_split(payload: float, limit: int, header: int) -> tuple[int, float]:
    """(TLPs, bytes on the link) that carry a payload; header: 24 for writes with 4DW, 20 for 3DW and completions."""
    tlps = ceil(payload / limit)
    return tlps, payload + tlps * header


@dataclass(frozen=True)
class PcieUse:
    """What something takes of a slot: bytes and TLPs each way over the link (up: to the host), TLPs and credits of 16 bytes
    of what is written to the host, requests to it, the bytes they ask for and the completions they may come in; TLPs of what
    it writes to the device; beats at the hard block's pins (RQ and RC, or both ways of P-tile)."""

    up: float = 0.0
    down: float = 0.0
    up_tlps: float = 0.0
    down_tlps: float = 0.0
    writes: float = 0.0
    write_credits: float = 0.0
    requests: float = 0.0
    asked: float = 0.0
    pieces: float = 0.0
    told: float = 0.0
    rq: float = 0.0
    rc: float = 0.0

    def __add__(self, other: "PcieUse") -> "PcieUse":
        return PcieUse(**{x.name: getattr(self, x.name) + getattr(other, x.name) for x in fields(self)})

    def __mul__(self, times: float) -> "PcieUse":
        return PcieUse(**{x.name: getattr(self, x.name) * times for x in fields(self)})


@dataclass(frozen=True)
class PcieSlot:
    """A slot and the host it is in: parameters of bench/pcie/parameters.toml. Credits of 0 are without limit.

    An ACK (8 bytes) goes against each `ack_every` TLPs; 0 leaves them out.
    """

    pcie_gen: int
    pcie_lanes: int
    mps: int
    mrrs: int = 512
    link_latency_ns: float = 0
    credits_ph: int = 0
    credits_pd: int = 0
    credits_nph: int = 0
    card_credits_ph: int = 0
    write_ns: float = 0
    read_latency_ns: float = 0
    read_jitter_ns: float = 0
    read_tail_ns: float = 0
    read_tail_ppm: float = 0
    rcb: int = 64
    completion_bytes: int = 4096
    completion_from: int = 0
    ack_every: int = 0
    pcie_interface: str = "ideal"
    pins_hz: float = 250e6  # clock of the hard block's pins

    @classmethod
    def of(cls, values: dict, **more) -> "PcieSlot":
        """The slot that the parameters of a system describe."""
        return cls(**{x.name: values[x.name] for x in fields(cls) if x.name in values}, **more)

    @property
    def hop(self) -> float:
        """Least seconds from a packet's way up to word of it: the link twice, and the root complex."""
        return (2 * self.link_latency_ns + _ROOT_NS) * 1e-9

    @property
    def round_trip(self) -> float:
        """Seconds that a read takes on an idle link, in the mean."""
        late = self.read_jitter_ns / 2 + self.read_tail_ns * self.read_tail_ppm / 1e6
        return self.hop + (self.read_latency_ns + late) * 1e-9

    def _beats(self, payload: float, limit: int, descriptor: int, place: int) -> float:
        """Of 64 bytes at the pins of a hard block, for TLPs that carry a payload. An UltraScale+ one has a descriptor in band,
        and places of so many bytes, or whole beats where none begins behind another; P-tile headers beside segments of 32.
        A payload of 0 is one TLP."""
        if self.pcie_interface == "ideal":
            return 0.0
        if self.pcie_interface == "ptile":
            descriptor, place = 0, 32
        elif self.pcie_interface != "usplus":
            place = 64
        whole, rest = divmod(payload, limit)
        last = 1 if rest or not payload else 0
        return sum(max(ceil((descriptor + x) / place), 1) * place / 64 * times for x, times in ((limit, whole), (rest, last)))

    def write(self, payload: float, share: float = 1.0, header: int = 24) -> PcieUse:
        """A payload written to the host."""
        tlps, nbytes = pcie_split(payload, self.mps, header)
        data = payload // self.mps * (self.mps / 16) + ceil(payload % self.mps / 16)
        beats = self._beats(payload, self.mps, 16, 32)
        return PcieUse(up=nbytes, up_tlps=tlps, writes=tlps, write_credits=data, rq=beats) * share

    def told(self, payload: float, share: float = 1.0, header: int = 24) -> PcieUse:
        """A payload that the host writes to the device."""
        tlps, nbytes = pcie_split(payload, self.mps, header)
        beats = self._beats(payload, self.mps, 0, 32) if self.pcie_interface == "ptile" else 0.0  # else CQ's
        return PcieUse(down=nbytes, down_tlps=tlps, told=tlps, rc=beats) * share

    def read(self, payload: float, share: float = 1.0) -> PcieUse:
        """A payload read from the host: each request is answered in pieces."""
        whole, rest = divmod(payload, self.mrrs)
        tlps = nbytes = beats = 0.0
        for request, times in ((self.mrrs, whole), (rest, 1 if rest else 0)):
            longest = min(self.completion_bytes, self.mps) if request >= self.completion_from else 64
            pieces = pcie_split(request, longest, 20)
            tlps, nbytes = tlps + pieces[0] * times, nbytes + pieces[1] * times
            beats += self._beats(request, longest, 12, 16) * times if times else 0.0
        requests = ceil(payload / self.mrrs)
        pieces = ceil(payload / (64 if self.pcie_interface == "ptile" else self.rcb))  # P-tile's data has no more room
        asking = PcieUse(up=24 * requests, up_tlps=requests, requests=requests, asked=payload, pieces=pieces)
        asking += PcieUse(rq=requests * self._beats(0, 1, 16, 32), rc=beats)
        return (asking + PcieUse(down=nbytes, down_tlps=tlps)) * share

    def loads(self, use: PcieUse, tags: int = 0) -> dict:
        """How much of the link's two ways, of the hard block's pins and its room for completions, of the host's credits and its
        pace a use a second takes; and of a device's tags, where they are given."""
        second = pcie_gbps(self.pcie_gen, self.pcie_lanes) * 1e9 / 8
        ack = 8 / self.ack_every if self.ack_every else 0
        found = {
            "pcie_up": (use.up + ack * use.down_tlps) / second,
            "pcie_down": (use.down + ack * use.up_tlps) / second,
        }
        held = {"credits_ph": use.writes, "credits_pd": use.write_credits, "credits_nph": use.requests}
        held["card_credits_ph"] = use.told
        found |= {name: x * self.hop / getattr(self, name) for name, x in held.items() if getattr(self, name)}
        if self.pcie_interface != "ideal":
            pins = ("tx_st", "rx_st") if self.pcie_interface == "ptile" else ("rq", "rc")
            found |= {pins[0]: use.rq / self.pins_hz, pins[1]: use.rc / self.pins_hz}
        if self.write_ns:
            found["host_writes"] = use.writes * self.write_ns * 1e-9
        if self.pcie_interface in _COMPLETIONS:
            found["completion_room"] = use.pieces * self.round_trip / _COMPLETIONS[self.pcie_interface]
        if tags:
            found["tags"] = use.requests * self.round_trip / tags
        return found


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
