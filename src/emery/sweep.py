# SPDX-License-Identifier: Apache-2.0
"""Many runs: one system over values of its parameters and options, or one workload through several systems."""

import itertools

from emery.common import UserError, nearest
from emery.report import number, reached, table
from emery.results import Results, all_of, kept_in
from emery.run import run_system
from emery.workload import workload

_OPTIONS = ("size", "rate", "flows", "frames", "duration", "direction", "seed")


def _points(system, over: list[str]) -> list[dict]:
    axes = []
    for axis in over:
        name, equals, values = axis.partition("=")
        if not equals or not all(values.split(",")):
            raise UserError(f"--over {axis}: write it as NAME=A,B,C")
        known = [*system.parameters, *_OPTIONS]
        if name not in known:
            raise UserError(f"--over {axis}: {system.name} has no {name}{nearest(name, known)}")
        axes.append([(name, value) for value in values.split(",")])
    return [dict(point) for point in itertools.product(*axes)]


def sweep(system, over: list[str], settings: list[str], options: dict, out: str | None, say) -> tuple[list, str]:
    """Runs all points that `out` (lines of JSON, one a finished run) does not have yet; gives the rows and the file."""
    points = []
    for point in _points(system, over):
        values = system.values(settings + [f"{k}={v}" for k, v in point.items() if k in system.parameters])
        work = workload(system, {**options, **{k: v for k, v in point.items() if k in _OPTIONS}})
        points.append((point, values, work))
    out = kept_in(out, "sweep", system, over, settings, options)
    finished = Results(out)

    def one(piece):
        point, values, work = piece
        found = finished.get(system, values, work, point)
        say(f"{point}: {found.get('failure') or number(found['totals']['mpps'], '.3f') + ' Mpps'}")
        return found

    return list(zip((x[0] for x in points), all_of(points, one), strict=True)), out


def result_row(result: dict) -> list:
    """The columns that sweep and compare show."""
    if "failure" in result:
        return ["failed", *[""] * (len(COLUMNS) - 2), result["failure"]]
    total = result["totals"]
    latency = (total.get("latency_ns") or {}).get("p99")
    limit = result.get("limit")
    return [
        f"{total['offered']:,}",
        f"{sum(total['dropped'].values()):,}",
        number(total["l1_gbps"], ".2f"),
        number(total["mpps"], ".3f"),
        number(latency, ",.0f"),
        reached(limit, total) if limit else "-",
    ]


COLUMNS = ["offered", "dropped", "Gb/s L1", "Mpps", "p99 ns", "limit"]


def sweep_table(rows: list) -> str:
    """The points of a sweep, one a line."""
    names = list(rows[0][0])
    lines = [[*names, *COLUMNS]] + [[*point.values(), *result_row(result)] for point, result in rows]
    return table(lines, left=len(names))


def compare(systems: list, options: dict) -> str:
    """The same traffic through several systems, each with its default parameters."""
    lines = [["system", *COLUMNS]]
    for system in systems:
        own = {k: v for k, v in options.items() if k not in ("direction", "routes") or k in system.options}
        lines.append([system.name, *result_row(run_system(system, system.values(), workload(system, own)))])
    return table(lines)
