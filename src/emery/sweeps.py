# SPDX-License-Identifier: Apache-2.0
"""Many runs: one system over values of its parameters and options, or one workload through several systems."""

import itertools
import time
from dataclasses import dataclass

from emery.common import UserError
from emery.executors import LOCAL
from emery.points import OPTIONS
from emery.report import number, reached, table
from emery.results import Results, all_of, kept_in, told
from emery.runs import run_system
from emery.terminal import Progress
from emery.workload import workload


@dataclass
class Sweep:
    """What was asked for: a system, its points, and what all of them have in common."""

    system: object
    points: list[dict]
    settings: list[str]
    options: dict
    out: str | None = None  # finished runs, a line of JSON each
    executor: object = LOCAL  # where they are done

    def piece(self, point: dict) -> tuple[dict, dict, object]:
        """Point, parameters and workload of a run."""
        own = {k: v for k, v in point.items() if k in OPTIONS}
        work = workload(self.system, {**self.options, **own})
        values = self.system.values(self._settings(point, work))
        work.judge(self.system, values)
        return point, values, work

    def _settings(self, point: dict, work) -> list[str]:
        """The point's; and of those that all have in common what does something there."""
        named = [f"{k}={v}" for k, v in point.items() if k in self.system.parameters]
        useful = self.system.effective(self.settings + named, work.facts())
        return [x for x in self.settings if x in useful] + named

    def _refuse_idle(self, pieces: list):
        """Refuses what all have in common and does nothing at any point."""
        for name, value in self.system.given(self.settings).items():
            idle = self.system.parameters[name].idle
            if idle and all(values[name] != value for _, values, _ in pieces):
                _, values, work = pieces[0]
                idle.check({**values, **work.facts(), name: value}, (name,))

    def run(self, say) -> tuple[list[tuple[dict, dict]], str]:
        """Runs all points that `out` does not have yet; gives them with their results, and the file. Points whose settings
        do not go together, and runs that fail, have a `failure`."""
        pieces, refused = {}, {}
        for place, point in enumerate(self.points):
            try:
                pieces[place] = self.piece(point)
            except UserError as error:
                refused[place] = {"failure": str(error)}
        if not pieces:
            raise UserError(refused[0]["failure"])
        self._refuse_idle(list(pieces.values()))
        finished = Results(kept_in(self.out, "sweep", self.system, self.points, self.settings, self.options), self.executor)
        begun, done, progress = time.monotonic(), itertools.count(1), Progress("sweep")

        def one(place: int) -> dict:
            point, values, work = pieces[place]
            found = told(lambda: finished.get(self.system, values, work, point))
            so_far = next(done)
            left = (time.monotonic() - begun) / so_far * (len(pieces) - so_far)
            progress.update(so_far, len(pieces), f"{span(left)} left")
            words = ", ".join(f"{k} {v}" for k, v in point.items())
            what = found.get("failure") or f"{number(found['totals']['mpps'], '.3f')} Mpps"
            say(f"{words}: {what} ({so_far} of {len(pieces)}{f', {span(left)} left' if left else ''})")
            return found

        try:
            results = refused | dict(zip(pieces, all_of(list(pieces), one, self.executor), strict=True))
        finally:
            progress.done()
        return [(point, results[place]) for place, point in enumerate(self.points)], str(finished.path)


def span(seconds: float) -> str:
    """A time in words."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


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
    names = list(dict.fromkeys(name for point, _ in rows for name in point))
    lines = [[*names, *COLUMNS]] + [[*(point.get(x, "") for x in names), *result_row(result)] for point, result in rows]
    return table(lines, left=len(names))


def compare(systems: list, options: dict) -> str:
    """The same traffic through several systems, each with its default parameters, and with what it has of the user's."""
    pieces = []
    for system in systems:
        own = {k: v for k, v in options.items() if k not in ("direction", "routes", "updates") or k in system.options}
        name = " with ".join([system.name, *(x.given.rstrip("/") for x in system.extensions)])
        values, work = system.values(), workload(system, own)
        try:  # all of them before the first is built
            work.judge(system, values)
        except UserError as error:
            raise UserError(f"{name}: {error}") from error
        pieces.append((name, system, values, work))
    rows = [[name, *result_row(run_system(*piece))] for name, *piece in pieces]
    return table([["system", *COLUMNS], *rows])
