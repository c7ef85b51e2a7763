# SPDX-License-Identifier: Apache-2.0
"""Blocks of pcapng (draft-ietf-opsawg-pcapng): Ethernet frames with stamps in nanoseconds and what is known about them."""

import struct

_SECTION, _INTERFACE, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 3, 6
_COMMENT, _NAME, _RESOLUTION, _PACKET_ID, _QUEUE = 1, 2, 9, 5, 6
_ETHERNET = 1
_LONGEST = 65532  # bytes of an option


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _options(*given: tuple[int, bytes]) -> bytes:
    """Options that are not empty, and the end of them; nothing at all where there are none."""
    known = [(code, value[:_LONGEST]) for code, value in given if value]
    found = b"".join(struct.pack("<HH", code, len(value)) + _padded(value) for code, value in known)
    return found and found + bytes(4)


def section() -> bytes:
    """What a file begins with."""
    return _block(_SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(name: str = "") -> bytes:
    """The next place that frames were seen at; the first one is number 0."""
    told = _options((_NAME, name.encode()), (_RESOLUTION, b"\x09"))
    return _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + told)


def packet(
    frame: bytes,
    ns: int | None,
    *,
    place: int = 0,
    length: int | None = None,
    comment: str = "",
    number: int | None = None,
    queue: int | None = None,
) -> bytes:
    """A frame, of which `frame` may be the first bytes of `length`; without a time a block of the kind that has none."""
    whole = len(frame) if length is None else length
    if ns is None:
        return _block(_SIMPLE, struct.pack("<I", whole) + _padded(frame))
    about = _options(
        (_COMMENT, comment.encode()),
        (_PACKET_ID, b"" if number is None else struct.pack("<Q", number)),
        (_QUEUE, b"" if queue is None else struct.pack("<I", queue)),
    )
    head = struct.pack("<IIIII", place, ns >> 32, ns & 0xFFFFFFFF, len(frame), whole)
    return _block(_ENHANCED, head + _padded(frame) + about)
