# SPDX-License-Identifier: Apache-2.0
"""What links of one word (32 bits) a clock, each way, between tiles, linecards and memories carry.

A frame enters as its length and its words; the head of 16 words and two more leave as a message to the output linecard.
What goes beyond the head comes to it in messages: of 31 words, over the network that carries the heads (`gdn`) or the
other one (`mdn`), or of 8 words from a memory over the latter (`memory`), which the payload was written to before, as a
stream or in lines.
"""

from math import ceil

from emery.physics import FCS, ethernet_fps, mean_size, rates

_HEAD = 16  # words of a frame that go through the stages
_MESSAGE = _HEAD + 3  # words of a head on its way to the output linecard


def limit(values: dict, workload) -> dict:
    """For a workload spread evenly over ports: what links and memories carry, whatever the programs do."""
    version = values["version"]
    ports = values["linecards"] or (2 if version == "V" else 4)
    held_over = values["held_over"] if version in ("IV", "null") else "memory"
    half_duplex, streams = version == "I", version in ("III", "V")
    early = version in ("I", "II")  # payloads begin in the head, with word 8
    sizes = workload.sizes()
    total = sum(sizes.values())
    clocks = dict.fromkeys(("link_in", "link_out", "memory"), 0.0)  # of one port (memory: of one bank), a frame
    line = 0.0  # seconds
    for size, count in sizes.items():
        share = count / total
        words = max(_HEAD, ceil((size - FCS + 2) / 4))
        payload = words - (8 if early else _HEAD)
        lines = ceil(payload / 8)
        line += share / ethernet_fps(size, values["line_gbps"])
        clocks["link_in"] += share * (1 + _HEAD + payload)
        held = payload + ceil(payload / 31)
        if held_over == "gdn":
            clocks["link_out"] += share * (_MESSAGE + held)
        elif held_over == "mdn":
            clocks["link_out"] += share * max(_MESSAGE, held)
        else:
            clocks["link_out"] += share * max(_MESSAGE, lines * 9)
            written = payload if streams else lines * 8
            clocks["memory"] += share * ((written + lines * 8) if half_duplex else max(written, lines * 8))
    hz = values["tile_mhz"] * 1e6
    caps = {"line": ports / line}
    for name, need in clocks.items():
        if need:
            banks = 2 if version == "I" else 4
            caps[name] = hz / need * (banks if name == "memory" else ports)
    by = min(caps, key=caps.get)
    return {**rates(caps[by], mean_size(sizes)), "by": by}
