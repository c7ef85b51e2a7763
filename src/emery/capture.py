# SPDX-License-Identifier: Apache-2.0
"""How long the frames of a capture are (pcap, pcapng): what the limits need. The bench reads the frames themselves."""

import os
import stat
import struct
from collections import Counter
from pathlib import Path

from emery.common import UserError

_PCAP = {0xA1B2C3D4: "micro", 0xA1B23C4D: "nano"}
_SECTION = 0x0A0D0D0A


def frame_sizes(path: Path) -> Counter:
    """How often each size (with FCS, padded to the minimum as on the wire) occurs in the capture."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be read to its end twice, a device for ever
            raise UserError(f"{path}: not a file")
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    if len(data) < 24:
        raise UserError(f"{path}: not a capture, or cut off: {len(data)} bytes")
    sizes = Counter()
    for length in _pcapng(data, path) if data[:4] == struct.pack("<I", _SECTION) else _pcap(data, path):
        sizes[max(length, 60) + 4] += 1
    if not sizes:
        raise UserError(f"{path}: no packet in it")
    return sizes


def _pcap(data: bytes, path):
    for order in "<>":
        if struct.unpack(order + "I", data[:4])[0] in _PCAP:
            break
    else:
        raise UserError(f"{path}: not a pcap or pcapng file")
    header = struct.Struct(order + "IIII")
    at = 24
    while at + 16 <= len(data):
        _, _, kept, length = header.unpack_from(data, at)
        at += 16 + kept
        yield length


def _pcapng(data: bytes, path):
    at = 0
    order = "<"
    while at + 12 <= len(data):
        if data[at : at + 4] == struct.pack("<I", _SECTION):
            order = "<" if data[at + 8 : at + 12] == struct.pack("<I", 0x1A2B3C4D) else ">"
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < 12:
            raise UserError(f"{path}: damaged block at byte {at}")
        if kind == 6 and at + 28 <= len(data):
            yield struct.unpack_from(order + "I", data, at + 24)[0]
        elif kind == 3 and at + 12 <= len(data):
            yield struct.unpack_from(order + "I", data, at + 8)[0]
        at += size
