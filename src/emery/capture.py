# SPDX-License-Identifier: Apache-2.0
"""Captures: the one reader of pcap and pcapng files, plain or gzip-compressed.

Whatever a capture is, the bench is given the same form of it: a nanosecond pcap of whole Ethernet frames without FCS, as the
bench writes them itself. What had to be made up on the way is counted (`Capture`): packets that were cut short when captured
get zeros up to the length they had, those without an Ethernet header one. Made once for each content, kept in the cache.
"""

import gzip
import json
import mmap
import os
import stat
import struct
import tempfile
import zlib
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from emery.common import UserError
from emery.make import cache

_STAMPS = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}  # nanoseconds of the lower part of a stamp, by magic number
_SECTION, _BYTE_ORDER = 0x0A0D0D0A, 0x1A2B3C4D
_ETHERNET = 1  # a link type
_HEADER = 14  # its bytes
# Bytes before an IP packet: none of raw IP (12 and 14 in files of BSD systems), the family of BSD's loop-back.
_IP = {101: 0, 228: 0, 229: 0, 12: 0, 14: 0, 0: 4, 108: 4}
# Of what Linux captures from any interface (`tcpdump -i any`): the bytes of its header, and where in it the EtherType is.
_COOKED = {113: (16, 14), 276: (20, 0)}
_OF_802_3 = (b"\x00\x01", b"\x00\x04")  # in its place, of frames with a length: without 802.2 in them, and with
LONGEST = 16380  # bytes without FCS; the bench takes no more
_LARGEST = 4 << 30  # bytes of a file, unpacked
_MACS = bytes.fromhex("020000000002 020000000001")  # to and from, as generated frames have them


@dataclass(frozen=True)
class Capture:
    """A capture in the bench's form."""

    path: str  # as it is played
    sizes: Counter  # bytes with FCS, padded to the minimum as on the wire
    packets: int
    cut: int  # packets cut short when captured: zeros in place of the rest
    raw_ip: int  # packets that had no Ethernet header and got one
    short: int  # packets shorter than an Ethernet header: zeros in place of the rest
    first_ns: int | None  # earliest and latest stamp; None where a packet has none
    last_ns: int | None

    def describe(self) -> dict:
        """As the result states it: only what applies."""
        told = {name: getattr(self, name) for name in ("packets", "cut", "raw_ip", "short") if getattr(self, name)}
        return told | ({"lasts_s": (self.last_ns - self.first_ns) / 1e9} if self.last_ns is not None else {})


def read(path: str) -> Capture:
    """The capture in a file; UserError with its name, packet and place for what is none, or is damaged."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be read to its end twice, a device for ever
            raise UserError(f"{path}: not a file")
        if os.path.getsize(path) > _LARGEST:
            raise UserError(f"{path}: more than {_LARGEST >> 30} GiB")
        key = cache.digest(cache.file_digest(Path(path)), cache.file_digest(Path(__file__)))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    made = cache.entry("captures", key, lambda out: _convert(path, out))
    about = json.loads((made / "about.json").read_text())
    about["sizes"] = Counter({int(size): n for size, n in about["sizes"].items()})
    return Capture(path=str(made / "frames.pcap"), **about)


class _Damaged(Exception):
    """What is wrong, at a byte of the file or with all of it."""

    def __init__(self, at: int | None, what: str):
        super().__init__(what)
        self.at = at


@contextmanager
def _content(path: str, work: Path):
    """What is in the file; of a compressed one, what that is unpacked, which is not held in memory."""
    data = Path(path).read_bytes()
    if data[:2] != b"\x1f\x8b":
        yield data
        return
    with tempfile.TemporaryFile(dir=work) as plain:
        try:
            with gzip.open(path) as packed:
                while piece := packed.read(1 << 20):
                    plain.write(piece)
                    if plain.tell() > _LARGEST:
                        raise UserError(f"{path}: more than {_LARGEST >> 30} GiB when unpacked")
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise UserError(f"{path}: cannot be unpacked: {error}") from error
        plain.flush()
        if not plain.tell():
            yield b""
            return
        with mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            yield mapped


def _convert(path: str, out: Path):
    with _content(path, out) as data:
        _play(path, data, out)


def _play(path: str, data, out: Path):
    sizes, counts, stamps, number = Counter(), Counter(), [], 0
    with open(out / "frames.pcap", "wb") as played:
        played.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, _ETHERNET))
        try:
            if len(data) < 24:
                raise _Damaged(None, f"not a capture, or cut off: {len(data)} bytes")
            ng = data[:4] == struct.pack("<I", _SECTION)
            for at, start, kept, length, ns, link in (_pcapng if ng else _pcap)(data):
                frame = data[start : start + kept]
                if link != _ETHERNET:
                    whole = _ethernet(frame, length, link, at)
                    counts["raw_ip"] += 1
                    frame, length = whole, length + len(whole) - len(frame)
                if length > LONGEST:
                    raise _Damaged(at, f"a frame of {length + 4} bytes with FCS; the bench takes up to {LONGEST + 4}")
                if len(frame) > length:
                    raise _Damaged(at, f"{len(frame)} bytes captured of {length}")
                if len(frame) < length:
                    counts["cut"] += 1
                    frame += bytes(length - len(frame))
                if not 0 <= (ns or 0) < 10**9 << 32:
                    raise _Damaged(at, "its time stamp is out of range")
                number += 1
                counts["short"] += length < _HEADER
                sizes[max(length, 60) + 4] += 1
                stamps.append(ns)
                played.write(struct.pack("<IIII", *divmod(ns or 0, 10**9), length, length) + frame)
        except _Damaged as error:
            place = "" if error.at is None else f"packet {number + 1} at byte {error.at}: "
            raise UserError(f"{path}: {place}{error}") from None
    if not number:
        raise UserError(f"{path}: no packet in it")
    timed = None not in stamps
    about = {"sizes": sizes, "packets": number, **{name: counts[name] for name in ("cut", "raw_ip", "short")}}
    about |= {"first_ns": min(stamps) if timed else None, "last_ns": max(stamps) if timed else None}
    (out / "about.json").write_text(json.dumps(about))


def framed(packet: bytes) -> bytes:
    """A raw IP packet with an Ethernet header before it; nothing where it is of neither IP."""
    kind = {4: b"\x08\x00", 6: b"\x86\xdd"}.get(packet[0] >> 4 if packet else 0)
    return _MACS + kind + packet if kind else b""


def _ethernet(packet: bytes, length: int, link: int, at: int) -> bytes:
    """A packet of another link, `length` bytes before it was cut, with an Ethernet header in place of its own."""
    if link in _IP:
        if frame := framed(packet[_IP[link] :]):
            return frame
        raise _Damaged(at, "neither an IPv4 nor an IPv6 packet")
    if link not in _COOKED:
        raise _Damaged(at, f"link type {link} is neither Ethernet (1), raw IP (101), loop-back (0) nor cooked (113, 276)")
    size, place = _COOKED[link]
    if len(packet) < size:
        raise _Damaged(at, "cut off inside its cooked header")
    kind = packet[place : place + 2]
    if kind in _OF_802_3 and size <= length <= size + 1500:
        kind = struct.pack(">H", length - size)
    elif kind < b"\x06\x00":
        raise _Damaged(at, "cooked, and of no kind that Ethernet carries")
    return _MACS + kind + packet[size:]


def _without_fcs(kept: int, length: int, fcs: int) -> tuple[int, int]:
    length = max(length - fcs, 0)
    return min(kept, length), length


def _pcap(data: bytes):
    """(place, first byte, bytes kept, bytes there were, stamp, link type) of each packet."""
    order = next((x for x in "<>" if struct.unpack(x + "I", data[:4])[0] in _STAMPS), None)
    if not order:
        raise _Damaged(None, "not a pcap or pcapng file")
    unit = _STAMPS[struct.unpack(order + "I", data[:4])[0]]
    link = struct.unpack_from(order + "I", data, 20)[0]
    fcs = 2 * (link >> 28) if link >> 26 & 1 else 0  # in words of 16 bits, where the bit says that it is known
    header, begin, at = struct.Struct(order + "IIII"), data[:16], 24
    while at < len(data):
        if at + 16 > len(data):
            raise _Damaged(at, "truncated: the file ends inside a packet header")
        seconds, part, kept, length = header.unpack_from(data, at)
        if data[at : at + 16] == begin:
            raise _Damaged(at, "another capture begins here, with a header of its own")
        if at + 16 + kept > len(data):
            raise _Damaged(at, "truncated: the file ends inside a packet")
        if kept > length:
            raise _Damaged(at, f"{kept} bytes captured of {length}")
        yield at, at + 16, *_without_fcs(kept, length, fcs), seconds * 10**9 + part * unit, link & 0xFFFF
        at += 16 + kept


@dataclass
class _Interface:
    """What a block of pcapng says of the packets of an interface."""

    link: int
    snap: int
    resolution: int = 6
    offset_s: int = 0
    fcs: int = 0

    def ns(self, ticks: int) -> int:
        unit = 2 ** (self.resolution & 0x7F) if self.resolution & 0x80 else 10**self.resolution
        return ticks * 10**9 // unit + self.offset_s * 10**9


def _interface(data: bytes, order: str, at: int, end: int) -> _Interface:
    link, _, snap = struct.unpack_from(order + "HHI", data, at + 8)
    found = _Interface(link, snap)
    for code, value in _options(data, order, at + 16, end):
        if code == 9 and len(value) == 1:
            found.resolution = value[0]
        elif code == 13 and len(value) == 1:
            found.fcs = value[0]
        elif code == 14 and len(value) == 8:
            found.offset_s = struct.unpack(order + "q", value)[0]
    return found


def _options(data: bytes, order: str, at: int, end: int):
    """(code, value) of the options from there on."""
    while at + 4 <= end:
        code, size = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            break
        if at + 4 + size > end:
            raise _Damaged(at, "an option is longer than its block")
        yield code, data[at + 4 : at + 4 + size]
        at += 4 + (size + 3) // 4 * 4


def _pcapng(data: bytes):
    """As `_pcap`; packets of a block that has no stamp have None for one."""
    order, interfaces, at = "<", [], 0
    least = {_SECTION: 28, 1: 20, 2: 32, 3: 16, 6: 32}
    while at < len(data):
        if at + 12 > len(data):
            raise _Damaged(at, "truncated: the file ends inside a block header")
        if struct.unpack_from(order + "I", data, at)[0] == _SECTION:  # reads the same in both orders
            marks = {x: struct.unpack_from(x + "I", data, at + 8)[0] for x in "<>"}
            order = next((x for x, mark in marks.items() if mark == _BYTE_ORDER), "")
            if not order:
                raise _Damaged(at + 8, "bad byte-order mark")
            interfaces = []
        kind, size = struct.unpack_from(order + "II", data, at)
        if size < least.get(kind, 12) or size % 4:
            raise _Damaged(at, f"bad block length {size}")
        if at + size > len(data):
            raise _Damaged(at, "truncated: the file ends inside a block")
        end = at + size - 4
        if struct.unpack_from(order + "I", data, end)[0] != size:
            raise _Damaged(end, "the block's lengths before and after it differ")
        if kind == 1:
            interfaces.append(_interface(data, order, at, end))
        elif kind in (2, 3, 6):
            yield at, *_block_packet(data, order, at, end, kind, interfaces)
        at += size


def _block_packet(data: bytes, order: str, at: int, end: int, kind: int, interfaces: list[_Interface]):
    """The packet in a block: enhanced (6), simple (3), or of the obsolete kind (2)."""
    index, ticks = 0, None
    if kind == 3:
        (length,), start = struct.unpack_from(order + "I", data, at + 8), at + 12
    else:
        index, high, low, kept, length = struct.unpack_from(order + "IIIII" if kind == 6 else order + "HxxIIII", data, at + 8)
        ticks, start = high << 32 | low, at + 28
    if index >= len(interfaces):
        raise _Damaged(at, f"interface {index} was not described")
    come = interfaces[index]
    if kind == 3:
        kept = min(length, come.snap or length)
    if start + kept > end:
        raise _Damaged(at, "the packet is longer than its block")
    if kept > length:
        raise _Damaged(at, f"{kept} bytes captured of {length}")
    fcs = come.fcs
    for code, value in _options(data, order, start + (kept + 3) // 4 * 4, end) if kind != 3 else ():
        if code == 2 and len(value) == 4:  # flags of the packet, which may say how long its FCS is
            fcs = struct.unpack(order + "I", value)[0] >> 5 & 15 or fcs
    return start, *_without_fcs(kept, length, fcs), None if ticks is None else come.ns(ticks), come.link
