# SPDX-License-Identifier: Apache-2.0
"""What wire, frame memory (every frame crosses it twice) and PCIe link, if there is one, allow a NIC run by firmware.

What the firmware could do at most is not a matter of physics and not counted.
"""

from math import ceil

from emery.make import formats
from emery.physics import FCS, PcieSlot, PcieUse, ethernet_fps

from . import firmware

_LINE_GBPS = 10.0
_HOST_HZ = 125e6  # of the pins of the PCIe hard block
_MEMORY_BYTES = formats.load("dram_pkg").BusBytes  # a clock
_HEADERS = 42  # bytes of a frame's first segment, when it has two
_DESCRIPTOR = formats.load("mailbox_pkg", firmware.FOLDER).bd_t.bits // 8  # bytes; a returned one is a write of its own
_SEND_FETCH, _RECEIVE_FETCH = 32, 16  # descriptors read at a time


def _words(size: float) -> int:
    """Words of the frame memory that a frame takes at least, written and read."""
    return 2 * ceil((size - FCS) / _MEMORY_BYTES)


def _sent(slot: PcieSlot, segments: int, size: float, records: bool) -> PcieUse:
    """What it takes of the slot to send a frame, with its descriptors or without."""
    frame = size - FCS
    if not records:
        return slot.read(frame)
    data = slot.read(_HEADERS) + slot.read(frame - _HEADERS) if segments == 2 else slot.read(frame)
    return data + slot.read(_DESCRIPTOR * _SEND_FETCH, segments / _SEND_FETCH)


def _received(slot: PcieSlot, size: float, records: bool) -> PcieUse:
    """What it takes of the slot to receive a frame, with its descriptors or without."""
    frame = slot.write(size - FCS)
    if not records:
        return frame
    return frame + slot.write(_DESCRIPTOR) + slot.read(_DESCRIPTOR * _RECEIVE_FETCH, 1 / _RECEIVE_FETCH)


def line(values: dict) -> float:
    """Gb/s of the wire."""
    return _LINE_GBPS


def mix(values: dict, workload) -> dict:
    """Sent and received alike."""
    return {way: 1.0 for way in ("tx", "rx") if workload.direction in (way, "both")}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The line's two ways, the frame memory, and the slot, if there is one: its link's two ways, the host's credits, tags."""
    tx, rx = rates.get("tx", 0.0), rates.get("rx", 0.0)
    total = sum(sizes.values())
    frame = sum(share / ethernet_fps(size, _LINE_GBPS) for size, share in sizes.items()) / total
    words = sum(share * _words(size) for size, share in sizes.items()) / total
    always = {"line": max(tx, rx) * frame, "frame_memory": (tx + rx) * words / (values["mem_mhz"] * 1e6)}
    found = {"physics": dict(always), "protocol": dict(always)}
    slot = PcieSlot.of(values, pins_hz=_HOST_HZ)
    for records, part in ((False, found["physics"]), (True, found["protocol"])):
        use = PcieUse()
        for size, share in sizes.items():
            use += _sent(slot, values["segments"], size, records) * (tx * share / total)
            use += _received(slot, size, records) * (rx * share / total)
        held = slot.loads(use, tags=values["tags"])
        part |= held if values["interconnect"] == "pcie" else {name: held[name] for name in ("rq", "rc") if name in held}
    return found
