# SPDX-License-Identifier: Apache-2.0
"""Results as flat rows: CSV, Parquet, DataFrames, quick plots."""

import csv
import os
from typing import Any

from emery import pictures
from emery.charts import spans_decades
from emery.common import UserError, whole
from emery.limits import lost

FORMATS = (".csv", ".parquet")
PICTURES = (".png", ".svg", ".pdf")


def one_level(nested: dict) -> dict:
    """What is not a list, by dotted names."""
    row = {}

    def add(name: str, value):
        if isinstance(value, dict):
            for key, x in value.items():
                add(f"{name}.{key}" if name else key, x)
        elif not isinstance(value, list):
            row[name] = value

    add("", nested)
    return row


def flat(result: dict) -> dict:
    """The numbers and words of a result in one level: `totals.mpps`, `streams.rx.latency_ns.p99`, `resources...`, `limit.by`.

    Lists (histograms, notes) are left out. A result that failed has `failure` alone.
    """
    if "failure" in result:
        return {"failure": result["failure"]}
    row = one_level({name: x for name, x in result.items() if name not in ("parameters", "workload", "identity", "schema")})
    return row | {"totals.lost": lost(result["totals"]), "identity": result["identity"]["digest"]}


def rows(points: list[tuple[dict, dict]]) -> tuple[list[str], list[dict]]:
    """Names of columns and rows of (point, result) pairs: what the point sets first; what a row lacks is None."""
    whole = [{**point, **{x: y for x, y in flat(result).items() if x not in point}} for point, result in points]
    names = list(dict.fromkeys([name for point, _ in points for name in point]))
    names += [name for name in dict.fromkeys(x for row in whole for x in row) if name not in names]
    return names, [{name: row.get(name) for name in names} for row in whole]


def pandas() -> Any:
    """What DataFrames need, and nothing else."""
    try:
        import pandas as found
    except ImportError as error:
        raise UserError("DataFrames need pandas: pip install pandas") from error
    return found


def check_table(option: str, path: str, endings=FORMATS):
    """Refuses a file whose name does not say what it is to be."""
    if not path.endswith(endings):
        raise UserError(f"{option} {path}: name it {' or '.join('*' + x for x in endings)}")


def write(path: str, points: list[tuple[dict, dict]]):
    """The rows as CSV or Parquet, by the name of the file."""
    write_rows(path, *rows(points))


def write_rows(path: str, names: list[str], found: list[dict]):
    """Flat rows of those columns as CSV or Parquet, by the name of the file."""
    if path.endswith(".csv"):
        with whole(path), open(path, "w", newline="", encoding="utf-8") as handle:
            out = csv.DictWriter(handle, names, lineterminator="\n")
            out.writeheader()
            out.writerows(found)
        return
    import pyarrow
    from pyarrow import parquet

    columns = {name: _column([row[name] for row in found]) for name in names}
    with whole(path):
        parquet.write_table(pyarrow.table(columns), path)


def _column(values: list) -> list:
    """Values of one type: numbers, truth values, or words; a column of several kinds is one of words."""
    kinds = {type(x) for x in values if x is not None}
    if kinds <= {int, float} and len(kinds) == 2:
        return [None if x is None else float(x) for x in values]
    return values if len(kinds) < 2 else [None if x is None else str(x) for x in values]


def typed(text: str):
    """A value of a point as a number, where it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


_PANELS = (
    ("totals.mpps", "Mpps"),
    ("totals.l1_gbps", "Gb/s L1"),
    ("totals.latency_ns.p99", "p99 latency, ns"),
    ("totals.lost", "part lost"),
)


def plot(path: str, title: str, points: list[tuple[dict, dict]]):
    """Rates, latency and loss over what the first name of the points says, a line for each combination of the others."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    _, found = rows(points)
    first, *others = points[0][0]
    places = list(dict.fromkeys(point.get(first) for point, _ in points))
    numbers = all(isinstance(x, int | float) for x in places)
    combinations = list(dict.fromkeys(", ".join(f"{x} {row[x]}" for x in others) for row in found))
    canvas, panels = pyplot.subplots(2, 2, figsize=(10, 7), layout="constrained", sharex=True)
    entries = {}
    for axes, (name, label) in zip(panels.flat, _PANELS, strict=True):
        lines: dict[str, list] = {}
        for row in found:
            if row.get(name) is not None:
                place = row[first] if numbers else places.index(row[first])
                lines.setdefault(", ".join(f"{x} {row[x]}" for x in others), []).append((place, row[name]))
        for told, line in lines.items():
            number = combinations.index(told)  # the same colour and marker in each panel
            look = {"color": f"C{number % 10}", "marker": pictures.MARKERS[number // 10 % len(pictures.MARKERS)]}
            (entries[told],) = axes.plot(*zip(*sorted(line), strict=True), label=told, **look)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        heights = [y for line in lines.values() for _, y in line]
        if heights and spans_decades(heights):
            pictures.plain_numbers(axes, "y", min(heights), max(heights))
        else:
            axes.set_ylim(0, 1.06 * max(heights, default=0) or 1)
        if not heights:
            axes.text(0.5, 0.5, "no run was steady", ha="center", transform=axes.transAxes)
        if numbers and min(places) > 0 and max(places) >= 50 * min(places):
            pictures.plain_numbers(axes, "x", min(places), max(places))
        elif not numbers:
            axes.set_xticks(range(len(places)), [str(x) for x in places])
    for axes in panels[1]:
        axes.set_xlabel(first)
    if others:
        canvas.legend(handles=[entries[x] for x in combinations if x in entries], loc="outside right upper", fontsize=8)
    gaps = {"failed": sum(x.get("failure") is not None for x in found)}
    gaps["without a steady rate"] = sum(x.get("totals.mpps") is None for x in found) - gaps["failed"]
    canvas.suptitle(", ".join([title, *(f"{n} {what}" for what, n in gaps.items() if n)]), fontsize=10)
    with whole(path):
        canvas.savefig(path, dpi=130)
    pyplot.close(canvas)


def plot_sizes(path: str, result: dict):
    """Of a search with several sizes the graph that RFC 2544 (26.1) asks for: rates over sizes beside the line's."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    found = result["sizes"]
    places = range(len(found))
    with pyplot.rc_context(pictures.LOOK):
        canvas, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
        axes.plot(places, [x["line_mpps"] for x in found], label="line rate", color="0.4", linestyle="--", marker="_")
        heights = [x["line_mpps"] for x in found]
        for number, name in enumerate(found[0]["goals"]):
            at = [(n, x["goals"][name]["mpps"]["mean"]) for n, x in enumerate(found) if x["goals"][name].get("mpps")]
            heights += [y for _, y in at]
            if at:
                axes.plot(*zip(*at, strict=True), label=name, color=f"C{number}", marker=pictures.MARKERS[number], alpha=0.8)
        pictures.plain_numbers(axes, "y", min(heights), max(heights))
        axes.set_xticks(places, [x["workload"]["size"] for x in found])
        axes.set_xlabel("frame size, bytes with FCS")
        axes.set_ylabel("Mpps")
        axes.grid(alpha=0.3)
        axes.legend()
        axes.set_title(f"{result['system']}, {result['sizes'][0]['workload'].get('direction') or 'all inputs'}", fontsize=10)
        with whole(path):
            canvas.savefig(path, dpi=130)
        pyplot.close(canvas)
