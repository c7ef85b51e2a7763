# SPDX-License-Identifier: Apache-2.0
"""The wire is all there is."""

from emery.physics import ethernet_fps

_LINE_GBPS = 1.0


def line(values: dict) -> float:
    """Gb/s of the wire."""
    return _LINE_GBPS


def mix(values: dict, workload) -> dict:
    """One stream."""
    return {"wire0": 1.0}


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """The line."""
    frame = sum(share / ethernet_fps(size, _LINE_GBPS) for size, share in sizes.items()) / sum(sizes.values())
    line = {"line": sum(rates.values()) * frame}
    return {"physics": line, "protocol": line}
