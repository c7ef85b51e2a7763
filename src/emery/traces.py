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
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from emery import data, trace_page
from emery.common import UserError
from emery.report import table

if TYPE_CHECKING:
    from pandas import DataFrame

FORMATS = (".jsonl", ".parquet")
_FIELDS = {"frame": int, "stream": str, "bytes": int, "flow": int, "queue": int | None, "outcome": str, "reason": str | None}
_STREAMS = 8  # in more of them the table of all says where time goes
_ROWS = 1 << 16  # of a Parquet file that are in memory at a time


@dataclass(frozen=True)
class Frame:
    """A record: where an offered frame was, and what became of it. Times in nanoseconds."""

    frame: int
    stream: str
    bytes: int
    flow: int
    queue: int | None
    outcome: str
    reason: str | None
    at: dict[str, float]  # by stage, in the order of time
    sure: bool = True  # that it was this frame that was dropped for that reason

    @property
    def took(self) -> float:
        """From the first stage to the last one."""
        times = list(self.at.values())
        return times[-1] - times[0]

    @property
    def spent(self) -> dict[str, float]:
        """Time from each stage to the next one; the last stage has none."""
        return {stage: then - time for (stage, time), (_, then) in pairwise(self.at.items())}

    @property
    def place(self) -> str:
        """The last stage that it was seen at."""
        return next(reversed(self.at))


@dataclass(frozen=True)
class Stage:
    """What the delivered frames of a stream spent at a stage: all of it as a part of all of their time, and by percentile."""

    stream: str
    stage: str
    frames: int
    p50: float
    p99: float
    max: float
    share: float


@dataclass(frozen=True)
class Drop:
    """Frames of a stream that were dropped for one reason behind one stage; `sure`: of how many of them that is known."""

    stream: str
    reason: str | None
    place: str
    frames: int
    sure: int


def _frame(record) -> Frame:
    """A record of a file; ValueError when it is none."""
    if not isinstance(record, dict):
        raise ValueError("no record")
    for name, kind in _FIELDS.items():
        if not isinstance(record.get(name), kind) or isinstance(record.get(name), bool):
            raise ValueError(f"no record with a {name}")
    at = record.get("at")
    if not at or not isinstance(at, dict) or not all(isinstance(x, int | float) for x in at.values()):
        raise ValueError("no record with times")
    return Frame(**{name: record[name] for name in _FIELDS}, at=at, sure=record.get("sure", True) is True)


def _jsonl(path: str) -> Iterator[Frame]:
    with open(path, encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            try:
                yield _frame(json.loads(line))
            except ValueError as error:
                what = "not JSON" if isinstance(error, json.JSONDecodeError) else error
                raise UserError(f"{path}:{number}: not a trace: {what}") from error


def _parquet(path: str) -> Iterator[Frame]:
    import pyarrow
    from pyarrow import parquet

    try:
        for batch in parquet.ParquetFile(path).iter_batches(_ROWS):
            for record in batch.to_pylist():
                there = [x for x in (record.get("at") or {}).items() if x[1] is not None]
                sure = record.get("sure") is not False
                yield _frame({**record, "at": dict(sorted(there, key=lambda x: x[1])), "sure": sure})
    except (pyarrow.ArrowException, ValueError) as error:
        raise UserError(f"{path}: not a trace: {str(error).splitlines()[0]}") from error


def pack(source: Path, path: str):
    """A trace of lines of JSON as Parquet. `at` has a field for each stage, null where a frame was not there."""
    import pyarrow
    from pyarrow import parquet

    stages: dict[str, None] = {}
    for frame in _jsonl(str(source)):
        stages.update(dict.fromkeys(frame.at))
    kinds = {"frame": "int64", "stream": "string", "bytes": "int32", "flow": "int32", "queue": "int32"}
    kinds |= {"outcome": "string", "reason": "string", "sure": "bool"}
    names = [(name, pyarrow.type_for_alias(kind)) for name, kind in kinds.items()]
    schema = pyarrow.schema([*names, ("at", pyarrow.struct([(x, pyarrow.float64()) for x in stages]))])
    with parquet.ParquetWriter(path, schema) as writer:
        rows: list[dict] = []

        def flush():
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
            rows.clear()

        for frame in _jsonl(str(source)):
            rows.append({**{name: getattr(frame, name) for name in kinds}, "at": frame.at})
            if len(rows) == _ROWS:
                flush()
        flush()


def _at(values: array, part: float) -> float:
    """A percentile of sorted values: the nearest rank."""
    return values[max(0, -int(-part * len(values) // 1) - 1)]


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
        for frame in (_parquet if self.path.endswith(".parquet") else _jsonl)(self.path):
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
                rows.append(Stage(name, stage, len(times), _at(times, 0.5), _at(times, 0.99), times[-1], share))
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
        names = [*_FIELDS, "sure"]
        rows = [{**{x: getattr(f, x) for x in names}, **{f"at.{x}": t for x, t in f.at.items()}} for f in self]
        return data.pandas().DataFrame(rows)

    def perfetto(self, path: str | Path) -> None:
        """Writes it for ui.perfetto.dev and chrome://tracing: a process a stream; a frame with its stages on a free track."""
        with open(path, "w", encoding="utf-8") as handle:
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
            first = next(iter(frame.at.values()))
            yield {**place, "name": f"frame {what}", "ts": _us(first), "dur": _us(frame.took), "args": facts}
            for stage, time in frame.spent.items():
                yield {**place, "name": stage, "ts": _us(frame.at[stage]), "dur": _us(time)}

    def __str__(self) -> str:
        frames: Counter = Counter()
        out: Counter = Counter()
        for frame in self:
            frames[frame.stream] += 1
            out[frame.stream] += frame.outcome == "delivered"
        together = f"({len(out)} streams)" if len(out) > _STREAMS else ""
        stages = stages_table(self.stages(together=together))
        return "\n\n".join([_overview(frames, out), stages, drops_table(self.drops())])


def _us(ns: float) -> float:
    return round(ns / 1000, 6)


def _on_tracks(frames: Iterable[Frame]) -> Iterator[tuple[int, Frame]]:
    """Frames with a track each, from 1 on in each stream, that no other has at the same time."""
    tracks: dict[str, list[tuple[float, int]]] = defaultdict(list)  # until when each is taken
    for frame in frames:
        first, last = next(iter(frame.at.values())), next(reversed(frame.at.values()))
        taken = tracks[frame.stream]
        if taken and taken[0][0] <= first:
            track = heapq.heappushpop(taken, (last, taken[0][1]))[1]
        else:
            track = len(taken) + 1
            heapq.heappush(taken, (last, track))
        yield track, frame


def _overview(frames: Counter, out: Counter) -> str:
    rows = [["stream", "frames", "delivered", "not delivered"]]
    rows += [[x, f"{n:,}", f"{out[x]:,}", f"{n - out[x]:,}"] for x, n in sorted(frames.items())]
    return table(rows)


def check_name(option: str, path: str):
    """Refuses a file whose name does not say what it is to be."""
    if not path.endswith(FORMATS):
        raise UserError(f"{option} {path}: name it {' or '.join('*' + x for x in FORMATS)}")


def stages_table(stages: list[Stage]) -> str:
    """Where time goes."""
    if not stages:
        return "no frame was delivered"
    rows = [["stream", "stage", "frames", "ns p50", "p99", "max", "share"]]
    rows += [
        [x.stream, x.stage, f"{x.frames:,}", *(f"{y:,.0f}" for y in (x.p50, x.p99, x.max)), f"{100 * x.share:.1f} %"]
        for x in stages
    ]
    return table(rows, left=2)


def drops_table(drops: list[Drop]) -> str:
    """What was dropped, and where."""
    if not drops:
        return "dropped: nothing"
    rows = [["stream", "dropped for", "last seen at", "frames", "sure"]]
    rows += [[x.stream, x.reason, x.place, f"{x.frames:,}", f"{x.sure:,}"] for x in drops]
    return table(rows, left=3)


def worst_table(frames: list[Frame]) -> str:
    """The slowest frames, and at which stage each was longest."""
    if not frames:
        return "no frame was delivered"
    rows = [["frame", "stream", "longest at", "ns there", "ns in all", "bytes", "flow", "queue"]]
    for x in frames:
        stage, time = max(x.spent.items(), key=lambda y: y[1], default=("", 0.0))
        queue = "-" if x.queue is None else x.queue
        rows.append([x.frame, x.stream, stage, f"{time:,.1f}", f"{x.took:,.1f}", f"{x.bytes:,}", x.flow, queue])
    return table(rows, left=3)


def in_words(frame: Frame, others: list[Stage]) -> str:
    """One frame: what it was, its way, and where it was slower than the median of its stream (`others`)."""
    queue = "" if frame.queue is None else f", queue {frame.queue}"
    lines = [f"frame {frame.frame}: {frame.bytes:,} bytes of stream {frame.stream}, flow {frame.flow}{queue}"]
    first = next(iter(frame.at.values()))
    if frame.outcome == "delivered":
        lines.append(f"offered at {first:,.1f} ns, delivered {frame.took:,.1f} ns later")
    else:
        why = f" for {frame.reason}" if frame.reason else ""
        sure = "" if frame.sure else ", or another frame in its place: counters say how many, not which"
        lines.append(
            f"offered at {first:,.1f} ns, {frame.outcome}{why}, last seen {frame.took:,.1f} ns later at {frame.place}{sure}"
        )
    usual = {x.stage: x.p50 for x in others if x.stream == frame.stream}
    rows = [["stage", "at ns", "+ ns", "spent", "median"]]
    for stage, time in frame.at.items():
        spent = frame.spent.get(stage)
        median = f"{usual[stage]:,.1f}" if spent is not None and stage in usual else "-"
        rows.append([stage, f"{time:,.1f}", f"{time - first:,.1f}", "-" if spent is None else f"{spent:,.1f}", median])
    lines += ["", table(rows)]
    late = {stage: time - usual[stage] for stage, time in frame.spent.items() if stage in usual}
    if late and frame.outcome == "delivered":
        most = max(late, key=lambda x: late[x])
        over = frame.took - usual["all"]
        told = f"{abs(over):,.1f} ns {'longer' if over >= 0 else 'shorter'} than the median of its stream"
        more = f", most of it at {most}: {late[most]:,.1f} ns" if over > 0 and late[most] > 0 else ""
        lines += ["", told + more]
    return "\n".join(lines)
