# SPDX-License-Identifier: Apache-2.0
"""What the device's links allow, and how fast what lies around it is.

Packets are records of a header and the packet, padded to 8 bytes, side by side in writes as long as MPS allows.
"""

from math import ceil

from emery.make import formats
from emery.physics import FCS, PcieSlot, ethernet_fps

_WIRE_GBPS = 100.0
_DATAPATH_HZ = 250e6
_CAP = formats.load("cap_pkg")


def _record(values: dict, size: float) -> int:
    """Bytes in host memory for a frame of `size` bytes with FCS."""
    head = _CAP.cap_record_t.bits // 8 + (_CAP.StampBytes if values["timestamps"] else 0)
    return head + ceil((size - FCS) / 8) * 8


def line(values: dict) -> float:
    """Gb/s of the wire; the generator gives as much at the most."""
    return _WIRE_GBPS


def mix(values: dict, workload) -> dict:
    """There is one stream."""
    return {"rx": 1.0}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The wire, if packets come from one, and the links, whose writes are as long as MPS allows. Records add headers and
    padding; the generator's datapath is the design's own, and consumers take whole blocks, so in a short run they may have
    done more than their time allows."""
    total, fps = sum(sizes.values()), sum(rates.values())
    wire = packet = record = beats = consumed = 0.0
    for size, count in sizes.items():
        share = count / total
        wire += share / ethernet_fps(size, _WIRE_GBPS)
        packet += share * (size - FCS)
        record += share * _record(values, size)
        beats += share * ceil(_record(values, size) / _CAP.BeatBytes)
        consumed += share * (values["ns_per_packet"] + values["ns_per_byte"] * (size - FCS))
    slot = PcieSlot.of(values)
    line = {"line": fps * wire} if values["source"] == "wire" else {}

    def links(nbytes: float) -> dict:
        return slot.loads(slot.write(slot.mps, fps * nbytes / slot.mps / values["links"]))

    physics, protocol = ({**line, **links(nbytes)} for nbytes in (packet, record))
    if values["source"] != "wire":
        protocol["datapath"] = fps * beats / _DATAPATH_HZ
    protocol["consumers"] = fps * consumed * 1e-9 / values["consumers"]
    return {"physics": physics, "protocol": protocol}
