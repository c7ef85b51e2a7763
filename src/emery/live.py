# SPDX-License-Identifier: Apache-2.0
"""A run as it goes: of what the simulator says of itself, what a page shows of it, for as many as look on.

Rates are between a snapshot and one a few before it. Loads are what lines, links and memories carry at the rates of now, as
`limit.protocol` of a result has them.
"""

import threading
import time
from collections import deque

from emery import limits
from emery.physics import GAP

_BACK = 4  # snapshots that a rate is over
_KEPT = 2000  # points of curves; from twice as many on every second one goes
_LOADS_APART = 0.1  # seconds
_CURVES = 8  # streams with curves of their own; more are one
ALL = "all streams"


class Live:
    """What is known of a run. The thread that runs it tells (`hear`, `end`), others ask (`since`)."""

    def __init__(self, system, values: dict, work):
        self._system, self._values, self._work = system, values, work
        self._back: deque[dict] = deque(maxlen=_BACK + 1)
        self._loads: dict = {}
        self._next_loads = 0.0
        self._changed = threading.Condition()
        self._points: list[dict] = []
        self._count = 0
        self._now: dict = {}
        self.ended: dict | None = None
        self.looking = 0  # how many are told

    # ---------------------------------------------------------------- the run

    def hear(self, snapshot: dict):
        """Takes in a snapshot (bench/run/watch.hpp)."""
        self._back.append(snapshot)
        rates = self._rates()
        point = {
            "t_us": snapshot["t_ns"] / 1e3,
            "part": snapshot["part"],
            "phase": snapshot["phase"],
            "streams": _curves(snapshot["streams"], rates),
        }
        loads = self._load(rates)
        now = {name: snapshot[name] for name in ("streams", "queues", "queues_seen", "resources", "ways")} | {"loads": loads}
        with self._changed:
            self._count += 1
            self._points.append({"n": self._count, **point})
            if len(self._points) > 2 * _KEPT:
                self._points = self._points[::2]
            self._now = now
            self._changed.notify_all()

    def end(self, said: dict):
        """The run is over: what there is to say of it."""
        with self._changed:
            self.ended = said
            self._changed.notify_all()

    def _rates(self) -> dict[str, dict]:
        first, last = self._back[0], self._back[-1]
        seconds = (last["t_ns"] - first["t_ns"]) * 1e-9
        found = {}
        for name, stream in last["streams"].items():
            before = first["streams"].get(name, {"delivered": 0, "bytes": 0})
            frames, size = stream["delivered"] - before["delivered"], stream["bytes"] - before["bytes"]
            l2 = 8e-9 * size / seconds if seconds else 0.0
            mpps = 1e-6 * frames / seconds if seconds else 0.0
            found[name] = {"mpps": mpps, "l1_gbps": l2 + 8e-3 * GAP * mpps, "l2_gbps": l2}
        return found

    def _load(self, rates: dict) -> dict:
        """Computed now and then only, since the simulator waits for it."""
        if time.monotonic() >= self._next_loads and any(x["mpps"] for x in rates.values()):
            total = {name: sum(x[name] for x in rates.values()) for name in ("mpps", "l1_gbps", "l2_gbps")}
            window = {"steady": True, "from_ns": self._back[0]["t_ns"], "to_ns": self._back[-1]["t_ns"]}
            result = {"workload": {}, "window": window, "streams": rates, "totals": total}
            found = limits.limit(self._system, self._values, self._work, result)
            self._loads = found["protocol"]["loads"] if found else {}
            self._next_loads = time.monotonic() + _LOADS_APART
        return self._loads

    # ---------------------------------------------------------------- those who look on

    def since(self, seen: int, seconds: float) -> tuple[int, list[dict], dict]:
        """Points after number `seen`, and how all stands now; waits so long for something new."""
        with self._changed:
            self._changed.wait_for(lambda: self._count > seen or self.ended is not None, seconds)
            return self._count, [x for x in self._points if x["n"] > seen], self._now

    def look(self, more: int):
        """One more looks on, or one less."""
        with self._changed:
            self.looking += more
            self._changed.notify_all()

    def alone(self, seconds: float):
        """Waits until nobody looks on any more, but not for longer."""
        with self._changed:
            self._changed.wait_for(lambda: self.looking == 0, seconds)


def _curves(streams: dict, rates: dict) -> dict:
    """What is drawn of each stream, or of all of them together where they are many."""
    counts = ("offered", "delivered", "under_way", "overtaken")
    if len(streams) > _CURVES:
        latencies = [x["latency_ns"] for x in streams.values() if x["latency_ns"]["max"] is not None]
        one = {name: sum(x[name] for x in streams.values()) for name in counts}
        one |= {"latency_ns": {x: max((y[x] for y in latencies), default=None) for x in ("p50", "p99", "max")}}
        one |= {"dropped": {"": sum(sum(x["dropped"].values()) for x in streams.values())}}
        streams = {ALL: one}
        rates = {ALL: {x: sum(y[x] for y in rates.values()) for x in ("mpps", "l1_gbps", "l2_gbps")}}
    return {
        name: {
            **rates[name],
            **{x: stream[x] for x in counts},
            "p50": stream["latency_ns"]["p50"],
            "p99": stream["latency_ns"]["p99"],
            "lost": max(stream["overtaken"], sum(stream["dropped"].values())),
        }
        for name, stream in streams.items()
    }
