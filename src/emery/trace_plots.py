# SPDX-License-Identifier: Apache-2.0
"""Rows of trace_tables drawn: numbers over queues or flows, over time, and histograms."""

from emery import pictures
from emery.charts import EMERY, Bars, Curves, Line, spans_decades
from emery.common import UserError
from emery.trace_tables import Row

_MOST = 9  # lines that can be told from each other
_MOST_BARS = 40


def _name(row: Row, by: str) -> str:
    return row["stream"] if by == "stream" else f"{row['stream']} {by} {'-' if row[by] is None else row[by]}"


def _curves(title: str, x: str, unit: str, lines: dict[str, list[tuple[float, float]]], log_x: bool = False) -> Curves | None:
    drawn = {name: points for name, points in lines.items() if points}
    if not drawn:
        return None
    if len(drawn) > _MOST:
        raise UserError(f"--plot: {len(drawn)} lines cannot be told from each other: --worst {_MOST // 2} names some")
    heights = [y for points in drawn.values() for _, y in points]
    found = tuple(Line(EMERY, n, tuple(points)) for n, points in enumerate(drawn.values()))
    return Curves(title, x, unit, tuple(drawn), found, log_x, spans_decades(heights))


_GROUPS = (("l2_gbps", "Gb/s L2"), ("latency_ns.p99", "p99 latency, ns"), ("lost", "part lost"))


def _of_groups(rows: list[Row], by: str) -> list:
    if len(rows) <= _MOST_BARS:
        names = tuple(_name(x, by) for x in rows)
        return [Bars("", unit, names, (EMERY,), tuple((x[key],) for x in rows)) for key, unit in _GROUPS]
    streams = list(dict.fromkeys(x["stream"] for x in rows))

    def line(stream: str, key: str) -> list[tuple[float, float]]:
        return [(x[by], x[key]) for x in rows if x["stream"] == stream and x[by] is not None and x[key] is not None]

    return [_curves("", by, unit, {x: line(x, key) for x in streams}) for key, unit in _GROUPS]


def _of_series(rows: list[Row], by: str) -> list:
    names = list(dict.fromkeys(_name(x, by) for x in rows))

    def lines(*keys: str) -> dict[str, list[tuple[float, float]]]:
        return {
            f"{name} {key.removeprefix('latency_ns.').removesuffix('_gbps')}".removesuffix(" l2"): [
                (x["from_ns"] / 1000, x[key]) for x in rows if _name(x, by) == name and x[key] is not None
            ]
            for name in names
            for key in keys
        }

    lost = {name: line for name, line in lines("dropped").items() if any(y for _, y in line)}
    return [
        _curves("", "time, us", "Gb/s L2 delivered", lines("l2_gbps")),
        _curves("", "time, us", "latency of a window, ns", lines("latency_ns.p50", "latency_ns.p99")),
        _curves("", "time, us", "frames dropped in a window", lost),
    ]


def _of_histogram(rows: list[Row], by: str) -> list:
    lines: dict[str, list[tuple[float, float]]] = {}
    for x in rows:
        lines.setdefault(_name(x, by), []).append(((x["from_ns"] + x["to_ns"]) / 2, 100 * x["share"]))
    log = spans_decades([x for points in lines.values() for x, _ in points])
    return [_curves("", "latency, ns", "% of the frames", lines, log)]


_KINDS = {"groups": _of_groups, "series": _of_series, "histogram": _of_histogram}


def draw(kind: str, rows: list[Row], by: str, path: str, title: str):
    """Draws rows of one kind as .png, .svg or .pdf."""
    found = [x for x in _KINDS[kind](rows, by) if x]
    if not found:
        raise UserError("--plot: there is nothing to draw: no frame was delivered")
    pictures.panels(found, title, path)
