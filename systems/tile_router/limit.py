# SPDX-License-Identifier: Apache-2.0
"""What links of one word (32 bits) a clock, each way, between tiles, linecards and memories carry.

A frame enters as its length and its words; the head of 16 words and two more leave as a message to the output linecard.
What goes beyond the head comes to it in messages: of 31 words, over the network that carries the heads (`gdn`) or the
other one (`mdn`), or of 8 words from a memory over the latter (`memory`), which the payload was written to before, as a
stream or in lines.

The networks of this design route along x, then y; heads have one of them, payloads that or the other: the busiest link
between tiles then is the load `mesh`, which the limit of the protocol has and the physical one has not.
"""

from math import ceil

from emery.make import formats
from emery.physics import FCS, ethernet_fps

from . import boot, layout

_MESH = formats.load("mesh_pkg")
_LINE, _HEAD = _MESH.LineWords, _MESH.HeadWords  # words of a memory's message; of a frame that go through the stages
_MESSAGE = _HEAD + 3  # words of a head on its way to the output linecard


def line(values: dict) -> float:
    """Gb/s of each linecard."""
    return values["line_gbps"]


def mix(values: dict, workload) -> dict:
    """Every input to the next output."""
    ports = len(boot.ports(values))
    return {f"{i}->{(i + 1) % ports}": 1.0 for i in range(ports)}


def _clocks(values: dict, size: float) -> dict:
    """Clocks of links and memories that a frame takes at least."""
    version = values["version"]
    held_over = values["held_over"] if version in ("IV", "null") else "memory"
    words = max(_HEAD, ceil((size - FCS + 2) / 4))
    payload = words - (_MESH.EarlyWords if version in ("I", "II") else _HEAD)  # in I and II it begins in the head, with word 8
    lines, held = ceil(payload / _LINE), payload + ceil(payload / 31)
    clocks = {"link_in": 1 + _HEAD + payload, "memory": 0, "payload": held if held_over != "memory" else lines * (1 + _LINE)}
    if held_over == "gdn":
        clocks["link_out"] = _MESSAGE + held
    elif held_over == "mdn":
        clocks["link_out"] = max(_MESSAGE, held)
    else:
        clocks["link_out"] = max(_MESSAGE, lines * (1 + _LINE))
        written = payload if version in ("III", "V") else lines * _LINE
        clocks["memory"] = written + lines * _LINE if version == "I" else max(written, lines * _LINE)
    return clocks


def _mesh_load(values: dict, rates: dict, heads: float, payloads: float) -> float:
    """The load of the busiest link between tiles; heads and payloads are the time on a link that those of a frame take."""
    ports = boot.ports(values)
    gdn, mdn = {}, {}
    payload_net = gdn if values["version"] in ("IV", "null") and values["held_over"] == "gdn" else mdn
    for name, rate in rates.items():
        came, goes = name.split("->")
        if not (came.isdigit() and goes.isdigit()):  # by or for the router itself
            continue
        source, sink = ports[int(came)], ports[int(goes)]
        share = rate / len(source.thirds)
        for third, payload in zip(source.thirds, source.payloads, strict=True):
            ways = [(gdn, third, sink.output, heads), (payload_net, payload, sink.leave, payloads)]
            if sink.output != sink.leave:
                ways.append((gdn, sink.output, sink.leave, heads))
            for net, start, end, words in ways:
                for tile, _, out in layout.route(start, end):
                    if not (tile.x == end.x and tile.y == end.y):
                        net[tile, out] = net.get((tile, out), 0.0) + share * words
    return max([*gdn.values(), *mdn.values()], default=0.0)


def _bank_load(values: dict, entering: dict) -> float:
    """Frames a second of the busiest packet buffer, of those that enter at each port."""
    found: dict[layout.Place, float] = {}
    for port, rate in entering.items():
        banks = boot.ports(values)[int(port)].payloads
        for bank in banks:
            found[bank] = found.get(bank, 0.0) + rate / len(banks)
    return max(found.values(), default=0.0)


def loads(values: dict, sizes: dict, rates: dict) -> dict:
    """Wires, links of linecards, memories: what they carry, whatever the programs do. The messages are the machine's."""
    total, hz = sum(sizes.values()), values["tile_mhz"] * 1e6
    sums: dict[tuple, float] = {}
    for name, rate in rates.items():
        for place in zip(("in", "out"), name.split("->"), strict=True):
            sums[place] = sums.get(place, 0.0) + rate
    most = {way: max(rate for (x, _), rate in sums.items() if x == way) for way in ("in", "out")}
    frame = sum(share / ethernet_fps(size, line(values)) for size, share in sizes.items()) / total
    need = {
        name: sum(share * _clocks(values, size)[name] for size, share in sizes.items()) / total / hz
        for name in ("link_in", "link_out", "memory", "payload")
    }
    entering = {port: rate for (way, port), rate in sums.items() if way == "in" and port.isdigit()}
    found = {
        "line": max(most.values()) * frame,
        "link_in": most["in"] * need["link_in"],
        "link_out": most["out"] * need["link_out"],
        "memory": _bank_load(values, entering) * need["memory"],
    }
    mesh = _mesh_load(values, rates, _MESSAGE / hz, need["payload"])
    return {"physics": found, "protocol": {**found, "mesh": mesh}}
