# SPDX-License-Identifier: Apache-2.0
"""Cuts a small sample of whole flows out of a large capture.

The capture is a classic little-endian pcap with microseconds, of Ethernet.

    python3 cut_sample.py internet-mix.pcap internet-mix-small.pcap

A flow is both directions of a 5-tuple, or all frames of one type between two MAC
addresses where there is no IP. Flows are visited in an order drawn from a hash of their
key, so the same input gives the same sample; a flow is taken whole when it is not too
long, all its frames fit an Ethernet frame of 1518 bytes with FCS, and the sample stays
within its size: so many frames in so many bytes, which passes over some of the flows of
mostly full frames. Frames keep their order, bytes and stamps.
"""

import hashlib
import struct
import sys

MAX_FRAMES = 2000
MAX_BYTES = 590_000  # of the file
SLACK = 60_000  # bytes the sample may be ahead of its mean frame size while it grows
MAX_FLOW = 250  # frames: one flow should not be most of the sample
MAX_FRAME = 1514  # bytes without FCS


def records(data):
    """The packet records of a capture: (whole record, frame)."""
    if data[:4] != b"\xd4\xc3\xb2\xa1" or struct.unpack("<I", data[20:24])[0] != 1:
        sys.exit("not a little-endian microsecond Ethernet pcap")
    at = 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        end = at + 16 + size
        if end > len(data):
            sys.exit(f"truncated at offset {at}")
        yield data[at:end], data[at + 16 : end]
        at = end


def flow_key(frame):
    kind = frame[12:14]
    if kind == b"\x08\x00":
        protocol, src, dst = frame[23], frame[26:30], frame[30:34]
        ports = 14 + 4 * (frame[14] & 15)
        fragment = struct.unpack(">H", frame[20:22])[0] & 0x3FFF
    elif kind == b"\x86\xdd":
        protocol, src, dst = frame[20], frame[22:38], frame[38:54]
        ports, fragment = 54, 0
    else:
        return kind + min(frame[:6], frame[6:12]) + max(frame[:6], frame[6:12])
    if protocol in (6, 17, 132) and not fragment:
        src, dst = src + frame[ports : ports + 2], dst + frame[ports + 2 : ports + 4]
    return kind + bytes([protocol]) + min(src, dst) + max(src, dst)


def main(source, target):
    with open(source, "rb") as file:
        data = file.read()
    flows = {}
    for number, (record, frame) in enumerate(records(data)):
        flows.setdefault(flow_key(frame), []).append((number, record))

    taken, size = [], 24
    for key in sorted(flows, key=lambda k: hashlib.sha256(k).digest()):
        flow = flows[key]
        flow_bytes = sum(len(record) for _, record in flow)
        if len(flow) > MAX_FLOW or any(len(record) - 16 > MAX_FRAME for _, record in flow):
            continue
        frames = len(taken) + len(flow)
        room = min(MAX_BYTES, SLACK + frames * MAX_BYTES // MAX_FRAMES)
        if frames <= MAX_FRAMES and size + flow_bytes <= room:
            taken += flow
            size += flow_bytes
    with open(target, "wb") as file:
        file.write(data[:24] + b"".join(record for _, record in sorted(taken)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
