# SPDX-License-Identifier: Apache-2.0
"""Numbers of a trace's frames by stream, queue or flow: rates, loss and latency in all, over time, and as histograms.

Rows are flat, as those of sweeps: a dict each, first what the group is, then its numbers.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from emery import charts
from emery.common import UserError
from emery.report import number, table

if TYPE_CHECKING:
    from emery.trace_records import Frame

BY = ("stream", "queue", "flow")
_PARTS = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
_LINE_OVERHEAD = 20  # preamble and gap
_STEPS = (1, 1.5, 2, 3, 5, 7)  # of the edges in a decade
_BINS = 20  # of a histogram that spans no decades
_MOST_ROWS = 200_000

Row = dict[str, Any]


def percentile(values: array, part: float) -> float:
    """Of sorted values: the nearest rank."""
    return values[max(0, -int(-part * len(values) // 1) - 1)]


def _keys(by: str) -> tuple[str, ...]:
    return ("stream",) if by == "stream" else ("stream", by)


def _order(key: tuple) -> tuple:
    return tuple((x is None, x or 0) if i else x for i, x in enumerate(key))


def _key(frame: Frame, by: str) -> tuple:
    return (frame.stream,) if by == "stream" else (frame.stream, getattr(frame, by))


def _latency(took: Iterable[float]) -> Row:
    values = array("d", sorted(took))
    names = ("min", *_PARTS, "max")
    if not values:
        return {f"latency_ns.{x}": None for x in names}
    found = {"min": values[0], **{x: percentile(values, part) for x, part in _PARTS.items()}, "max": values[-1]}
    return {f"latency_ns.{x}": found[x] for x in names}


@dataclass
class _Group:
    """What is kept of the frames of a group."""

    offered: int = 0
    reasons: Counter = field(default_factory=Counter)
    took: array = field(default_factory=lambda: array("d"))
    end: array = field(default_factory=lambda: array("d"))
    bytes: array = field(default_factory=lambda: array("q"))

    def take(self, frame: Frame):
        self.offered += 1
        if frame.outcome == "delivered":
            self.took.append(frame.took)
            self.end.append(frame.last)
            self.bytes.append(frame.bytes)
        elif frame.outcome == "dropped":
            self.reasons[frame.reason] += 1

    def row(self, start: float, stop: float) -> Row:
        """Its numbers; rates are of what came out after `start`, until `stop`."""
        sizes = [n for n, time in zip(self.bytes, self.end, strict=True) if start < time <= stop]
        span, size = stop - start, sum(sizes)
        rates = (len(sizes) * 1e3, 8 * (size + _LINE_OVERHEAD * len(sizes)), 8 * size)
        steady = span > 0
        return {
            "offered": self.offered,
            "delivered": len(self.took),
            "dropped": self.reasons.total(),
            "lost": self.reasons.total() / self.offered,
            **{x: y / span if steady else None for x, y in zip(("mpps", "l1_gbps", "l2_gbps"), rates, strict=True)},
            **_latency(self.took),
        }


def groups(frames: Iterable[Frame], by: str) -> list[Row]:
    """A row a stream, a queue or a flow of it. Rates are of the time from a stream's first delivery to its last offer."""
    found: dict[tuple, _Group] = defaultdict(_Group)
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for frame in frames:
        found[_key(frame, by)].take(frame)
        last[frame.stream] = frame.first
        if frame.outcome == "delivered":
            first[frame.stream] = min(first.get(frame.stream, frame.last), frame.last)
    return [
        dict(zip(_keys(by), key, strict=True))
        | found[key].row(first.get(key[0], 0.0), last[key[0]] if key[0] in first else 0.0)
        for key in sorted(found, key=_order)
    ]


def fairness(rows: list[Row]) -> dict[str, float | None]:
    """Jain's index of the rates of a stream's groups, by stream: 1 when all are alike, 1/n when one has all."""
    found = {}
    for stream in dict.fromkeys(x["stream"] for x in rows):
        rates = [x["l2_gbps"] for x in rows if x["stream"] == stream]
        squares = sum(x * x for x in rates if x is not None)
        found[stream] = sum(rates) ** 2 / (len(rates) * squares) if squares and None not in rates else None
    return found


def worst(rows: list[Row], count: int) -> list[Row]:
    """The groups that lost most; of those that lost alike the ones with the highest p99."""
    return sorted(rows, key=lambda x: (-x["lost"], -(x["latency_ns.p99"] or 0)))[:count]


def only(frames: Iterable[Frame], rows: list[Row], by: str) -> Iterable[Frame]:
    """The frames of the groups of those rows."""
    keys = {tuple(x[y] for y in _keys(by)) for x in rows}
    return (x for x in frames if _key(x, by) in keys)


@dataclass
class _Window:
    """What is kept of the frames of a group in a window."""

    offered: int = 0
    dropped: int = 0
    bytes: int = 0
    took: array = field(default_factory=lambda: array("d"))


def series(frames: Iterable[Frame], window_ns: float, by: str) -> list[Row]:
    """A row a group and window: what was offered, came out, was seen last (and dropped) within it; latency of what came out."""
    found: dict[tuple, dict[int, _Window]] = defaultdict(lambda: defaultdict(_Window))
    for frame in frames:
        windows = found[_key(frame, by)]
        windows[int(frame.first // window_ns)].offered += 1
        last = windows[int(frame.last // window_ns)]
        if frame.outcome == "delivered":
            last.took.append(frame.took)
            last.bytes += frame.bytes
        elif frame.outcome == "dropped":
            last.dropped += 1
    numbers = [n for windows in found.values() for n in windows]
    every = range(min(numbers, default=0), max(numbers, default=-1) + 1)
    if len(every) * len(found) > _MOST_ROWS:
        raise UserError(f"--series: {len(every):,} windows of {len(found):,} groups: more than {_MOST_ROWS:,} rows")
    return [
        dict(zip(_keys(by), key, strict=True)) | _of_window(found[key].get(n, _NOTHING), n, window_ns)
        for key in sorted(found, key=_order)
        for n in every
    ]


_NOTHING = _Window()


def _of_window(window: _Window, number: int, window_ns: float) -> Row:
    counts = {"offered": window.offered, "delivered": len(window.took), "dropped": window.dropped}
    latency = _latency(window.took)
    some = {x: latency[x] for x in ("latency_ns.p50", "latency_ns.p99")}
    return {"from_ns": number * window_ns, **counts, "l2_gbps": 8 * window.bytes / window_ns, **some}


def _edges(low: float, high: float) -> list[float]:
    """Round numbers, the first not above `low`, the last above `high`; close together for all sizes where they span decades."""
    if charts.spans_decades([low, high]):
        found = [m * 10.0**d for d in range(-3, 15) for m in _STEPS]
    else:
        step = charts.step(low, high, _BINS)
        first = int(low // step)
        found = [round(n * step, 9) for n in range(first, first + 3 * _BINS)]
    first = max(bisect_right(found, low) - 1, 0)
    return found[first : bisect_right(found, high) + 1]


def histogram(frames: Iterable[Frame], by: str) -> list[Row]:
    """A row a group and range of latencies (the same for all), of the frames that came out."""
    took: dict[tuple, array] = defaultdict(lambda: array("d"))
    for frame in frames:
        if frame.outcome == "delivered":
            took[_key(frame, by)].append(frame.took)
    if not took:
        return []
    edges = _edges(min(map(min, took.values())), max(map(max, took.values())))
    rows = []
    for key in sorted(took, key=_order):
        counts = Counter(bisect_right(edges, x) - 1 for x in took[key])
        below = list(accumulate(counts[n] for n in range(len(edges) - 1)))
        for n, (low, high) in enumerate(pairwise(edges)):
            shares = {"share": counts[n] / below[-1], "below": below[n] / below[-1]}
            rows.append(dict(zip(_keys(by), key, strict=True)) | {"from_ns": low, "to_ns": high, "frames": counts[n], **shares})
    return rows


_SHOWN = {
    "lost": ("lost", ".2%"),
    "mpps": ("Mpps", ".3f"),
    "l1_gbps": ("Gb/s L1", ".2f"),
    "l2_gbps": ("Gb/s L2", ".2f"),
    "share": ("share", ".2%"),
    "below": ("below", ".2%"),
    "from_ns": ("ns from", ",.6g"),
    "to_ns": ("to", ",.6g"),
    **{f"latency_ns.{x}": (f"ns {x}", ",.0f") for x in ("min", *_PARTS, "max")},
}


def text(rows: list[Row], bars: bool = False) -> str:
    """The rows as a table; `bars`: with their shares drawn."""
    if not rows:
        return "no frame was delivered"
    names = list(rows[0])
    left = sum(x == "stream" for x in names)
    cells = [[_SHOWN[x][0] if x in _SHOWN else x for x in names]]
    for row in rows:
        cells.append(
            [number(row[x], _SHOWN[x][1]) if x in _SHOWN else "-" if row[x] is None else _plain(row[x]) for x in names]
        )
    if not bars:
        return table(cells, left=left)
    most = max(x["share"] for x in rows)
    lines = table(cells, left=left).splitlines()
    drawn = ["", "", *("#" * round(40 * x["share"] / most) for x in rows)]
    return "\n".join(f"{line}  {bar}".rstrip() for line, bar in zip(lines, drawn, strict=True))


def _plain(value) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def fairness_text(found: dict[str, float | None], by: str) -> str:
    """A line: how alike the rates are."""
    told = ", ".join(f"{stream} {number(x, '.4f')}" for stream, x in found.items())
    return f"fairness of {by}s (Jain's index of Gb/s): {told}"
