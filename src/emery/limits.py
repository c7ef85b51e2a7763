# SPDX-License-Identifier: Apache-2.0
"""How close a run came to what physics allows: the load of each resource at the mix of streams that was measured.

A system's `limit.py` says what a frame costs (docs/systems.md). `limit` is of lines, links, buses, memories and round trips,
which any design on this hardware must pay; `limit.protocol` adds what the design's own descriptors, records and messages cost.
"""

from emery.physics import GAP, mean_size
from emery.physics import rates as in_units

_EDGE = 0.05  # what buffers that filled before the window may add to a rate within it, besides two frames a stream


def _headroom(loads: dict, total: dict) -> dict:
    """The rates at which the busiest of `loads` would be full, when all streams grow alike."""
    by = max(loads, key=loads.get)
    scale = 1 / loads[by] if loads[by] else 0.0
    rates = {name: total[name] * scale for name in ("mpps", "l1_gbps", "l2_gbps")}
    return {**rates, "by": by, "loads": loads}


def _measured(streams: dict, size: float, each: bool) -> dict:
    """Frames a second of each stream. Where the frames delivered were longer or shorter than those offered, as many of the
    offered kind as have the same bits on a line; not where `each` frame costs the same."""
    if each:
        return {name: stream["mpps"] * 1e6 for name, stream in streams.items() if stream["mpps"]}
    bits = 8 * (size + GAP)
    return {name: stream["l1_gbps"] * 1e9 / bits for name, stream in streams.items() if stream["mpps"]}


def limit(system, values: dict, work, result: dict | None = None) -> dict | None:
    """The `limit` of a result, or, without one, of the workload as it is offered (then no fraction is known)."""
    loads, mix = system.hook("loads"), system.hook("mix")
    if not loads:
        return None
    sizes = work.sizes(result["workload"].get("sent") if result else None)
    size = mean_size(sizes)
    steady = result is not None and result["window"]["steady"]
    if steady:
        total, rates = result["totals"], _measured(result["streams"], size, system.one_size)
    else:
        rates = mix(values, work)
        total = in_units(sum(rates.values()), size)
    found = loads(values | {"flows": work.flows}, sizes, rates)
    physics, protocol = (_headroom(x, total) for x in (found["physics"], found["protocol"]))
    for part in (physics, protocol):
        part["fraction"] = _fraction(part["loads"][part["by"]], result) if steady else None
    return {**physics, "protocol": protocol}


def _frames(result: dict) -> float:
    """How many came out within the window."""
    window = result["window"]
    return result["totals"]["mpps"] * (window["to_ns"] - window["from_ns"]) / 1e3


def _fraction(load: float, result: dict) -> float:
    """A load as a part of the limit. A line that is full ends n or n + 1 frames within a window, by where its edges lie: a
    stream's rate is known to within a frame, and what is above 1 by no more than that is 1."""
    return 1.0 if 1 < load <= 1 + len(result["streams"]) / _frames(result) else load


def excess(result: dict) -> str:
    """What is loaded beyond what it can carry, so that model or bench is wrong; empty when nothing is."""
    found = result.get("limit")
    if not found or found["fraction"] is None:
        return ""
    load = found["loads"][found["by"]]
    if load <= 1 + _EDGE + 2 * len(result["streams"]) / _frames(result):
        return ""
    return f"{found['by']} carries {100 * load:.1f} % of what it can: the limit or the bench is wrong"


def percent(share: float) -> str:
    """A share of what was lost, with two digits; the last hundredth with as many as it takes to tell it from all."""
    return f"{100 * share:{'.2g' if share < 0.99 else '.4g'}} %"


def lost(counts: dict) -> float:
    """The share of the offered frames that was dropped."""
    return sum(counts["dropped"].values()) / counts["offered"] if counts["offered"] else 0.0
