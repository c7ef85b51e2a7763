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


def _by_group(frames: Iterable[Frame], by: str) -> dict[tuple, list[Frame]]:
    found: dict[tuple, list[Frame]] = defaultdict(list)
    for frame in frames:
        found[tuple(getattr(frame, x) for x in _keys(by))].append(frame)
    return {key: found[key] for key in sorted(found, key=_order)}


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
        found[tuple(getattr(frame, x) for x in _keys(by))].take(frame)
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
    return (x for x in frames if tuple(getattr(x, y) for y in _keys(by)) in keys)


def series(frames: Iterable[Frame], window_ns: float, by: str) -> list[Row]:
    """A row a group and window: what was offered, came out, was seen last (and dropped) within it; latency of what came out."""
    known = _by_group(frames, by)
    number_of = lambda time: int(time // window_ns)  # noqa: E731
    start = min((number_of(x.first) for part in known.values() for x in part), default=0)
    count = max((number_of(x.last) for part in known.values() for x in part), default=0) - start + 1
    if count * len(known) > _MOST_ROWS:
        raise UserError(f"--series: {count:,} windows of {len(known):,} groups are more than {_MOST_ROWS:,} rows")
    rows = []
    for key, part in known.items():
        offered, dropped, size = Counter(), Counter(), Counter()
        took: dict[int, list[float]] = defaultdict(list)
        for frame in part:
            offered[number_of(frame.first)] += 1
            at = number_of(frame.last)
            if frame.outcome == "delivered":
                took[at].append(frame.took)
                size[at] += frame.bytes
            elif frame.outcome == "dropped":
                dropped[at] += 1
        for n in range(start, start + count):
            latency = _latency(took[n])
            rows.append(
                dict(zip(_keys(by), key, strict=True))
                | {"from_ns": n * window_ns, "offered": offered[n], "delivered": len(took[n]), "dropped": dropped[n]}
                | {"l2_gbps": 8 * size[n] / window_ns}
                | {x: latency[x] for x in ("latency_ns.p50", "latency_ns.p99")}
            )
    return rows


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
    took = {key: [x.took for x in part if x.outcome == "delivered"] for key, part in _by_group(frames, by).items()}
    every = [x for part in took.values() for x in part]
    if not every:
        return []
    edges = _edges(min(every), max(every))
    rows = []
    for key, part in took.items():
        counts = Counter(bisect_right(edges, x) - 1 for x in part)
        below = 0
        for n, (low, high) in enumerate(zip(edges, edges[1:], strict=False)):
            below += counts[n]
            shares = {"share": counts[n] / len(part), "below": below / len(part)} if part else {"share": None, "below": None}
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
    most = max(x["share"] or 0 for x in rows) or 1
    lines = table(cells, left=left).splitlines()
    drawn = ["", "", *("#" * round(40 * (x["share"] or 0) / most) for x in rows)]
    return "\n".join(f"{line}  {bar}".rstrip() for line, bar in zip(lines, drawn, strict=True))


def _plain(value) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def fairness_text(found: dict[str, float | None], by: str) -> str:
    """A line: how alike the rates are."""
    told = ", ".join(f"{stream} {number(x, '.4f')}" for stream, x in found.items())
    return f"fairness of {by}s (Jain's index of Gb/s): {told}"
