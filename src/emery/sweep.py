# SPDX-License-Identifier: Apache-2.0
"""Many runs: one system over values of its parameters and options, or one workload through several systems."""

import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from emery.common import UserError, jobs, nearest
from emery.make import cache
from emery.report import number, reached, table
from emery.run import check_file, run_system
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
    points = _points(system, over)
    plans = []
    for point in points:
        own = [f"{k}={v}" for k, v in point.items() if k in system.parameters]
        values = system.values(settings + own)
        work = workload(system, {**options, **{k: v for k, v in point.items() if k in _OPTIONS}})
        plans.append((point, values, work, cache.digest(system.name, values, asdict(work))))
    if not out:
        out = f"out/sweep-{system.name}-{cache.digest(over, settings, options)[:8]}.jsonl"
        os.makedirs("out", exist_ok=True)
    check_file("--out", out)
    finished = _finished(Path(out))
    fresh = [x for x in plans if x[3] not in finished]
    say(f"{len(plans)} points, {len(plans) - len(fresh)} of them in {out} already")

    def one(plan):
        point, values, work, key = plan
        line = {"key": key, "point": point, "result": run_system(system, values, work)}
        with cache.lock("sweep"), open(out, "a") as handle:
            handle.write(json.dumps(line) + "\n")
        say(f"{point}: {number(line['result']['totals']['mpps'], '.3f')} Mpps")
        return key, line["result"]

    with ThreadPoolExecutor(jobs()) as pool:
        finished.update(pool.map(one, fresh))
    return [(point, finished[key]) for point, _, _, key in plans], out


def _finished(path: Path) -> dict:
    """Runs that an earlier sweep finished; a last line cut off in mid-write does not count."""
    results = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                data = json.loads(line)
                results[data["key"]] = data["result"]
            except (json.JSONDecodeError, KeyError):
                continue
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            with open(path, "a") as handle:
                handle.write("\n")
    return results


def result_row(result: dict) -> list:
    """The columns that sweep and compare show."""
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
