# SPDX-License-Identifier: Apache-2.0
"""Traces: a record for each offered frame, with when it was at which stage of its way (docs/trace.md).

A trace is read once for each question, a record at a time: it may be larger than memory.
"""

from __future__ import annotations

import heapq
import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from emery import data, pcapng, trace_page, trace_tables, trace_words
from emery.common import UserError, nearest, whole
from emery.trace_records import Drop, Frame, Stage, check_name, records

if TYPE_CHECKING:
    from pandas import DataFrame

_COLUMNS = ("frame", "stream", "bytes", "flow", "queue", "outcome", "reason", "sure")
_FCS = 4  # bytes, which a trace counts and a capture does not hold
_STREAMS = 8  # in more of them the table of all says where time goes


class Trace:
    """A trace in a file (.jsonl or .parquet)."""

    def __init__(self, path: str | Path):
        self.path = str(path)
        check_name("trace", self.path)
        if not Path(self.path).is_file():
            raise UserError(f"{self.path}: {'is not a file' if Path(self.path).exists() else 'no such file'}")
        next(iter(self))  # a file that is no trace is refused at once

    def __iter__(self) -> Iterator[Frame]:
        """The frames, in the order in which they were offered."""
        some = False
        for frame in records(self.path):
            some = True
            yield frame
        if not some:
            raise UserError(f"{self.path}: not a trace: it has no frames")

    def frame(self, number: int) -> Frame:
        """The frame of that number."""
        last = 0
        for frame in self:
            if frame.frame == number:
                return frame
            last = frame.frame
        raise UserError(f"{self.path}: there is no frame {number}, the last one is {last}")

    def worst(self, count: int) -> list[Frame]:
        """The delivered frames that took longest, the slowest first."""
        delivered = (x for x in self if x.outcome == "delivered")
        return heapq.nsmallest(count, delivered, key=lambda x: (-x.took, x.frame))

    def stages(self, stream: str | None = None, together: str = "") -> list[Stage]:
        """Where the time of the delivered frames went, by stream and stage, and in all (stage `all`).

        `together`: of all streams, which are called that.
        """
        spent: dict[str, dict[str, array]] = defaultdict(lambda: defaultdict(lambda: array("d")))
        order: dict[str, list[str]] = {}
        for frame in self:
            if frame.outcome != "delivered" or stream not in (None, frame.stream):
                continue
            name = together or frame.stream
            if len(frame.at) > len(order.get(name, ())):
                order[name] = list(frame.at)
            for stage, time in frame.spent.items():
                spent[name][stage].append(time)
            spent[name]["all"].append(frame.took)
        rows = []
        for name in sorted(spent):
            whole = sum(spent[name]["all"]) or 1
            known = [x for x in order[name] if x in spent[name]]
            for stage in [*known, *sorted(spent[name].keys() - {*known, "all"}), "all"]:
                times = array("d", sorted(spent[name][stage]))
                share = sum(times) / whole
                p50, p99 = (trace_tables.percentile(times, x) for x in (0.5, 0.99))
                rows.append(Stage(name, stage, len(times), p50, p99, times[-1], share))
        return rows

    def drops(self) -> list[Drop]:
        """What was dropped, by stream, reason and the last stage that was reached."""
        count: Counter = Counter()
        sure: Counter = Counter()
        for frame in self:
            if frame.outcome != "delivered":
                what = (frame.stream, frame.reason or frame.outcome, frame.place)
                count[what] += 1
                sure[what] += frame.sure
        return [Drop(*what, frames=n, sure=sure[what]) for what, n in sorted(count.items())]

    def table(self) -> DataFrame:
        """A DataFrame: a row a frame, a column `at.STAGE` each stage (needs pandas)."""
        names = _COLUMNS
        rows = [{**{x: getattr(f, x) for x in names}, **{f"at.{x}": t for x, t in f.at.items()}} for f in self]
        return data.pandas().DataFrame(rows)

    def by(self, what: str = "queue") -> DataFrame:
        """A row a `stream`, a `queue` or a `flow` of it: rates, loss, latency (needs pandas)."""
        return data.pandas().DataFrame(trace_tables.groups(self, _known(what)))

    def fairness(self, what: str = "queue") -> dict[str, float | None]:
        """Jain's index of the rates of queues or flows, by stream."""
        return trace_tables.fairness(trace_tables.groups(self, _known(what)))

    def series(self, window_ns: float, by: str = "stream") -> DataFrame:
        """A row a group and window of so many nanoseconds: offered, delivered, dropped, rate, latency (needs pandas)."""
        if not window_ns > 0:
            raise UserError(f"series: {window_ns} ns is no window")
        return data.pandas().DataFrame(trace_tables.series(self, window_ns, _known(by)))

    def histogram(self, by: str = "stream") -> DataFrame:
        """A row a group and range of latencies: how many frames, which share (needs pandas)."""
        return data.pandas().DataFrame(trace_tables.histogram(self, _known(by)))

    def pcapng(self, path: str | Path) -> None:
        """Writes the frames for Wireshark: an interface a stream, stamps of the offers, what became of each as its comment."""
        places: dict[str, int] = {}
        with whole(path), open(path, "wb") as out:
            out.write(pcapng.section())
            for frame in self:
                if frame.data is None:
                    raise UserError(f"{self.path}: it has no bytes of the frames: run with --trace-bytes")
                if frame.stream not in places:
                    places[frame.stream] = len(places)
                    out.write(pcapng.interface(frame.stream))
                told = {"comment": _comment(frame), "number": frame.frame, "queue": frame.queue}
                place, length = places[frame.stream], max(frame.bytes - _FCS, len(frame.data))
                out.write(pcapng.packet(frame.data, round(frame.first), place=place, length=length, **told))

    def perfetto(self, path: str | Path) -> None:
        """Writes it for ui.perfetto.dev and chrome://tracing: a process a stream; a frame with its stages on a free track."""
        with whole(path), open(path, "w", encoding="utf-8") as handle:
            handle.write('{"displayTimeUnit":"ns","traceEvents":[\n')
            handle.write(",\n".join(json.dumps(x, separators=(",", ":")) for x in self._events()))
            handle.write("\n]}\n")

    def html(self, path: str | Path, frames: Iterable[Frame] | None = None) -> None:
        """Writes a timeline to zoom into, as a page that needs nothing else: of all frames, or of these."""
        streams: dict[str, list] = defaultdict(list)
        for count, (track, frame) in enumerate(_on_tracks(self if frames is None else frames)):
            if count == trace_page.MOST:
                raise UserError(f"{path}: a page has room for {count:,} frames: --worst names some, --perfetto takes all")
            streams[frame.stream].append((track, frame))
        text = trace_page.page(Path(self.path).name, dict(sorted(streams.items())))
        with whole(path):
            Path(path).write_text(text, encoding="utf-8")

    def _events(self) -> Iterator[dict]:
        processes: dict[str, int] = {}
        for track, frame in _on_tracks(self):
            if frame.stream not in processes:
                processes[frame.stream] = len(processes) + 1
                named = {"ph": "M", "name": "process_name", "pid": processes[frame.stream]}
                yield {**named, "args": {"name": frame.stream}}
            place = {"ph": "X", "cat": frame.stream, "pid": processes[frame.stream], "tid": track}
            facts = {"frame": frame.frame, "bytes": frame.bytes, "flow": frame.flow, "queue": frame.queue}
            what = f"{frame.frame} {frame.outcome}" + (f": {frame.reason}" if frame.reason else "")
            yield {**place, "name": f"frame {what}", "ts": _us(frame.first), "dur": _us(frame.took), "args": facts}
            for stage, time in frame.spent.items():
                yield {**place, "name": stage, "ts": _us(frame.at[stage]), "dur": _us(time)}

    def __str__(self) -> str:
        frames: Counter = Counter()
        out: Counter = Counter()
        for frame in self:
            frames[frame.stream] += 1
            out[frame.stream] += frame.outcome == "delivered"
        together = f"({len(out)} streams)" if len(out) > _STREAMS else ""
        stages = trace_words.stages_table(self.stages(together=together))
        return "\n\n".join([trace_words.overview(frames, out), stages, trace_words.drops_table(self.drops())])


def _known(by: str) -> str:
    if by not in trace_tables.BY:
        raise UserError(f"there is no {by}{nearest(by, trace_tables.BY)}")
    return by


def _comment(frame: Frame) -> str:
    """A frame in a line: what became of it, and when it came to each stage, in nanoseconds after its offer."""
    why = f": {frame.reason}" if frame.reason else ""
    sure = "" if frame.sure else " (or another in its place)"
    way = ", ".join(f"{stage} +{time - frame.first:,.0f}" for stage, time in list(frame.at.items())[1:])
    where = f"{frame.stream}, flow {frame.flow}; ns from {next(iter(frame.at))}"
    return f"frame {frame.frame} {frame.outcome}{why}{sure}; {where}: {way}"


def _us(ns: float) -> float:
    return round(ns / 1000, 6)


def _on_tracks(frames: Iterable[Frame]) -> Iterator[tuple[int, Frame]]:
    """Frames with a track each, from 1 on in each stream, that no other has at the same time."""
    tracks: dict[str, list[tuple[float, int]]] = defaultdict(list)  # until when each is taken
    for frame in frames:
        taken = tracks[frame.stream]
        if taken and taken[0][0] <= frame.first:
            track = heapq.heappushpop(taken, (frame.last, taken[0][1]))[1]
        else:
            track = len(taken) + 1
            heapq.heappush(taken, (frame.last, track))
        yield track, frame
