# SPDX-License-Identifier: Apache-2.0
"""`import emery`: what the command line does, for programs and notebooks.

Options of a run and parameters of the system are keyword arguments alike: `emery.run(SYSTEM, size=64, mps=128)`.
Bad input is a `UserError` of one line; a run that loses account of a frame an `IntegrityError`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emery import data, executors, extension, limits, packets, report, searches, sweeps, system, traces
from emery.common import UserError, nearest
from emery.points import check, combinations
from emery.runs import check_places, prepare_outputs, run_system
from emery.workload import OPTIONS, workload

if TYPE_CHECKING:
    from pandas import DataFrame

Value = str | int | float | bool


@dataclass(frozen=True)
class Latency:
    """Of the frames of a stream, in nanoseconds."""

    min: float | None
    p50: float | None
    p99: float | None
    p999: float | None
    max: float | None
    histogram: tuple[tuple[float, int], ...] = ()  # a latency and how many frames had it, within 1/32


@dataclass(frozen=True)
class Stream:
    """What became of the frames of a stream, or of all of them; rates are None where the run was never steady."""

    offered: int
    delivered: int
    dropped: dict[str, int]
    corrupted: int
    duplicated: int
    misdelivered: int
    reordered: int
    mpps: float | None
    l1_gbps: float | None
    l2_gbps: float | None
    latency_ns: Latency | None

    @property
    def lost(self) -> float:
        """The part of the offered frames that was dropped."""
        return limits.lost(vars(self))


def _of(kind: type, values: Mapping[str, Any]) -> Any:
    """A dataclass of those values that it knows."""
    return kind(**{x.name: values[x.name] for x in fields(kind) if x.name in values})


def _stream(counts: dict[str, Any]) -> Stream:
    latency = counts.get("latency_ns")
    if latency:
        pairs = tuple((value, n) for value, n in latency.get("histogram", ()))
        latency = _of(Latency, {**latency, "histogram": pairs})
    return _of(Stream, {**counts, "latency_ns": latency or None})


@dataclass(frozen=True)
class Result:
    """The result of a run. `data` is all of it, as `--json` writes it (docs/results.md)."""

    data: dict[str, Any]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the system."""
        return self.data["parameters"]

    @property
    def streams(self) -> dict[str, Stream]:
        """By name."""
        return {name: _stream(x) for name, x in self.data["streams"].items()}

    @property
    def totals(self) -> Stream:
        """Of all streams."""
        return _stream(self.data["totals"])

    @property
    def limit(self) -> dict[str, Any] | None:
        """What physics allows at the measured mix."""
        return self.data.get("limit")

    @property
    def resources(self) -> dict[str, Any]:
        """What the parts counted."""
        return self.data["resources"]

    @property
    def steady(self) -> bool:
        """Whether there are rates."""
        return self.data["window"]["steady"]

    @property
    def digest(self) -> str:
        """Of all that was delivered."""
        return self.data["digest"]

    def flat(self) -> dict[str, Any]:
        """All numbers and words in one level, by dotted names."""
        return data.flat(self.data)

    def frame(self) -> DataFrame:
        """A row a stream, and one of the totals (needs pandas)."""
        rows = {**self.data["streams"], "total": self.data["totals"]}
        return data.pandas().DataFrame({name: _flat_stream(x) for name, x in rows.items()}).T.infer_objects()

    def __str__(self) -> str:
        return report.run_table(self.data, str(self.data["workload"].get("size") or "captures"))


def _flat_stream(counts: dict[str, Any]) -> dict[str, Any]:
    latency = {f"latency_ns.{x}": y for x, y in (counts.get("latency_ns") or {}).items() if x != "histogram"}
    plain = {x: y for x, y in counts.items() if not isinstance(y, dict)}
    return {**plain, "dropped": sum(counts["dropped"].values()), **latency}


@dataclass(frozen=True)
class Sweep:
    """Points, and the result of each; of one that could not be run a line that says why."""

    points: list[dict[str, Value]]
    data: list[dict[str, Any]]
    file: str  # finished runs

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[tuple[dict[str, Value], Result | str]]:
        for point, found in zip(self.points, self.data, strict=True):
            yield point, found.get("failure") or Result(found)

    @property
    def failures(self) -> list[tuple[dict[str, Value], str]]:
        """The points that could not be run, and why."""
        return [(point, x["failure"]) for point, x in zip(self.points, self.data, strict=True) if "failure" in x]

    def _pairs(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return list(zip(self.points, self.data, strict=True))

    def frame(self) -> DataFrame:
        """A row a point (needs pandas)."""
        names, rows = data.rows(self._pairs())
        return data.pandas().DataFrame(rows, columns=names)

    def write(self, path: str | Path) -> None:
        """A row a point, as .csv or .parquet."""
        data.check_table("path", str(path))
        data.write(str(path), self._pairs())

    def plot(self, path: str | Path, title: str = "") -> None:
        """Rates, latency and loss over what the first name says, as .png, .svg or .pdf."""
        data.check_table("path", str(path), data.PICTURES)
        data.plot(str(path), title, self._pairs())

    def __str__(self) -> str:
        return sweeps.sweep_table(self._pairs())


@dataclass(frozen=True)
class Search:
    """What a search found. `data` is all of it (docs/search.md)."""

    data: dict[str, Any]

    @property
    def goals(self) -> dict[str, dict[str, Any]]:
        """By name: throughput, ndr, pdr."""
        return self.data["goals"]

    def trials(self) -> DataFrame:
        """A row a trial (needs pandas)."""
        return data.pandas().DataFrame(self.data["trials"])

    def __str__(self) -> str:
        return searches.tables(self.data)


@dataclass(frozen=True)
class Searches:
    """Searches with one size after the other. `data` is all of it (docs/search.md)."""

    data: dict[str, Any]

    @property
    def sizes(self) -> dict[str, Search]:
        """By size, in the order in which they were asked for."""
        return {x["workload"]["size"]: Search(x) for x in self.data["sizes"]}

    def frame(self) -> DataFrame:
        """A row a size: `line_mpps`, and what was found of each goal, like `throughput.lower` (needs pandas)."""
        rows = {size: data.one_level({"line_mpps": x.data["line_mpps"], **x.goals}) for size, x in self.sizes.items()}
        return data.pandas().DataFrame.from_dict(rows, orient="index").rename_axis("size")

    def plot(self, path: str | Path) -> None:
        """Rates over sizes beside the line's, as .png, .svg or .pdf (RFC 2544, 26.1)."""
        data.check_table("path", str(path), data.PICTURES)
        data.plot_sizes(str(path), self.data)

    def __str__(self) -> str:
        return searches.sizes_table(self.data)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(os.fspath(value) if isinstance(value, Path) else value)


def _captures(pcap: Any) -> list[str]:
    if isinstance(pcap, Mapping):
        return [f"{port}={_text(path)}" for port, path in pcap.items()]
    return [_text(x) for x in pcap] if isinstance(pcap, list | tuple) else [_text(pcap)]


def _packets(given: Any, frames: Any) -> list[str]:
    """The captures that are kept of packets."""
    most = frames if isinstance(frames, int) and frames > 0 else 0
    if isinstance(given, Mapping):
        return [f"{port}={packets.of_iterable(x, most)}" for port, x in given.items()]
    return [packets.of_iterable(given, most)]


def _split(target: system.System, settings: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Parameters as NAME=VALUE, and options of a run."""
    named, options = [], {}
    if settings.keys() >= {"packets", "pcap"}:
        raise UserError("packets and pcap: choose one")
    for name, value in settings.items():
        if name == "source" and name in target.parameters:
            named.append(f"{name}={_text(value)}")
        elif name in ("pcap", "source"):
            options[name] = _captures(value)
        elif name == "packets":
            options["pcap"] = _packets(value, settings.get("frames"))
        elif name == "flow_weights" and isinstance(value, list | tuple):
            options[name] = ",".join(map(_text, value))
        elif name in OPTIONS:
            options[name] = _text(1 if name == "timed" and value is True else value)
        elif name in target.parameters:
            named.append(f"{name}={_text(value)}")
        else:
            raise UserError(f"{target.name} has no {name}{nearest(name, [*target.parameters, *OPTIONS, 'packets'])}")
    return named, options


def systems() -> list[str]:
    """The names of the systems."""
    return system.names()


def parameters(name: str) -> dict[str, system.Parameter]:
    """The parameters of a system, by name: default, unit, range, meaning."""
    return system.load(name).parameters


def _chosen(name: str, own: Any) -> system.System:
    """A system with folders of the user's own."""
    folders = [own] if isinstance(own, str | Path) else list(own)
    return extension.chosen(name, [str(x) for x in folders])


def run(
    name: str,
    *,
    with_: str | Path | Sequence[str | Path] = (),
    parameters: Mapping[str, Value] | None = None,
    pcap_out: str | Path | None = None,
    waves: str | Path | None = None,
    waves_from: str | None = None,
    waves_to: str | None = None,
    waves_frame: int | None = None,
    trace: str | Path | None = None,
    trace_bytes: int = 0,
    assertions: bool = False,
    **settings: Any,
) -> Result:
    """Sends traffic through a system (a name, or the folder of one of your own) and measures.

    `with_`: folders of your own in place of parts of it (docs/extend.md). `waves_from`, `waves_to` (times like "2.5us") and
    `waves_frame` say which part of the run is in `waves`; `trace_bytes`: so many bytes of each frame go into the trace.

    `settings`: options of `./emery run` (size, frames, pcap, rate, ...) and parameters of the system; those whose name is also
    an option's go into `parameters`. `packets`: an iterable of frames to play, bytes or packets of scapy, or (seconds, frame).
    """
    target = _chosen(name, with_)
    named, options = _split(target, settings)
    named += [f"{x}={_text(value)}" for x, value in (parameters or {}).items()]
    values = target.values(named)
    work = workload(target, options)
    files = [str(x) if x else None for x in (pcap_out, waves, trace)]
    check_places(target, work, files[0], {"waves": files[1], "trace": files[2]})
    outputs = prepare_outputs(*files, trace_bytes=trace_bytes, window=(waves_from, waves_to, waves_frame))
    return Result(run_system(target, values, work, outputs, assertions))


def sweep(
    name: str,
    over: Mapping[str, Iterable[Value]] | None = None,
    *,
    points: Sequence[Mapping[str, Value]] | None = None,
    with_: str | Path | Sequence[str | Path] = (),
    out: str | Path | None = None,
    executor: str | None = None,
    **settings: Any,
) -> Sweep:
    """Runs all combinations of the values of `over`, or the given points. Finished runs are kept in `out` (default in out/).

    `executor`: "dask://HOST:PORT", a cluster that does the runs; this machine without it.
    """
    if (over is None) == (points is None):
        raise UserError("sweep: give over, or points")
    target = _chosen(name, with_)
    named, options = _split(target, settings)
    wanted = combinations(over) if over is not None else [dict(x) for x in points or ()]
    if not wanted:
        raise UserError("sweep: there is no point")
    texts = [{x: _text(value) for x, value in point.items()} for point in wanted]
    for point in texts:
        check(target, point, "sweep")
    with executors.executor(executor) as where:
        found, file = sweeps.Sweep(target, texts, named, options, str(out) if out else None, where).run(lambda line: None)
    return Sweep(wanted, [x for _, x in found], file)


def search(
    name: str,
    *,
    goals: Sequence[str] = searches.GOALS,
    with_: str | Path | Sequence[str | Path] = (),
    seeds: int = 3,
    width: float = 0.005,
    out: str | Path | None = None,
    executor: str | None = None,
    **settings: Any,
) -> Search:
    """The highest rates that lose nothing, and little: RFC 2544 throughput and back-to-back, NDR and PDR (docs/search.md)."""
    return Search(_searched(searches.search, name, (), goals, with_, seeds, width, out, executor, settings))


def search_sizes(
    name: str,
    sizes: Sequence[int | str] | str = "rfc2544",
    *,
    goals: Sequence[str] = searches.GOALS,
    with_: str | Path | Sequence[str | Path] = (),
    seeds: int = 3,
    width: float = 0.005,
    out: str | Path | None = None,
    executor: str | None = None,
    **settings: Any,
) -> Searches:
    """A search for each of these sizes and mixes of sizes; "rfc2544": the seven sizes of RFC 2544."""
    named = searches.sizes_of(",".join(map(_text, [sizes] if isinstance(sizes, str) else sizes)))
    return Searches(_searched(searches.search_sizes, name, (named,), goals, with_, seeds, width, out, executor, settings))


def _searched(
    how: Any,
    name: str,
    more: tuple[list[str], ...],
    goals: Sequence[str],
    with_: Any,
    seeds: int,
    width: float,
    out: str | Path | None,
    executor: str | None,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    target = _chosen(name, with_)
    for goal in goals:
        if goal not in searches.GOALS:
            raise UserError(f"search: there is no goal {goal}{nearest(goal, searches.GOALS)}")
    if seeds < 1 or not 0.0001 <= width <= 0.5:
        raise UserError("search: seeds from 1, width from 0.0001 to 0.5")
    named, options = _split(target, settings)
    file = str(out) if out else ""
    with executors.executor(executor) as where:
        return how(target, named, options, *more, goals, file, executor=where, seeds=seeds, width=width)


def trace(file: str | Path) -> traces.Trace:
    """What a run with `trace=FILE` has written: its frames, where their time went, what was dropped (docs/trace.md)."""
    return traces.Trace(file)
