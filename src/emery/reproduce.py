# SPDX-License-Identifier: Apache-2.0
"""The paper's numbers beside Emery's: runs a system's targets and judges them."""

import json
import os
from pathlib import Path

from emery import limits, published
from emery.common import UserError, nearest, written
from emery.executors import LOCAL
from emery.report import table
from emery.results import Results, all_of
from emery.runs import check_file, make_directory
from emery.workload import from_table, workload

_COPIED = ("id", "figure", "what", "unit", "x", "series", "paper", "paper_value", "peer_value")


def measure(result: dict, path: str):
    """The number at a dotted path of a result."""
    value = result
    before = ""
    for key in path.split("."):
        if before == "dropped":  # by reason: what never happened is not there
            return value.get(key, 0)
        before = key
        if not isinstance(value, dict) or key not in value:
            raise UserError(f"target: the result has no {path}")
        value = value[key]
    return value


def _limit(target, result: dict):
    """What bounds a target's number: a number of its own, or what was measured over the part of the limit that it is."""
    if target.limit not in ("physics", "protocol"):
        return target.limit
    part = result["limit"] if target.limit == "physics" else result["limit"]["protocol"]
    name = target.measure.split(".")[-1]
    if name in part:
        return part[name]
    return measure(result, target.measure) / part["loads"][part["by"]] if part["fraction"] else None


def _offered(target, system, values: dict, work) -> float:
    """What the design's protocol allows of a target's stream, or of all, where streams share as they are offered."""
    kind, name = target.measure.split(".")[-2:]
    shares, whole = system.hook("mix")(values, work), limits.limit(system, values, work)["protocol"]
    return whole[name] * (shares[kind] / sum(shares.values()) if kind in shares else 1)


def _row(target) -> dict:
    return {name: getattr(target, name) for name in _COPIED}


def _made_by(result: dict) -> dict:
    """The version and commit that a result is of."""
    return {name: x for name, x in result.get("identity", {}).items() if name in ("version", "commit")}


def _failed(target, why: str) -> dict:
    """The row of a target that has no number."""
    return {**_row(target), "limit": None, "goal": None, "emery": None, "met": False, "verdict": f"failed: {why}"}


def judge(target, result: dict, base: dict | None = None, offered: float | None = None) -> dict:
    """One row: what the paper says, what physics allows, what Emery measured, whether the goal is met.

    With `base`, the result of another run, what counts is the change against it, as a fraction. `offered`: the limit of a
    target that is about what was offered.
    """
    failure = result.get("failure") or (base or {}).get("failure")
    if failure:
        return _failed(target, failure)
    value = measure(result, target.measure)
    if base is not None and value is not None:
        other = measure(base, target.measure)
        value = None if other is None else value / other - 1
    limit = None if value is None else offered or _limit(target, result)
    if value is None or (limit is None and target.limit is not None):
        return _failed(target, "at no time was the run steady")
    return _judged(target, value, limit, limits.lost(result["totals"])) | _made_by(result)


def _judged(target, value: float, limit, lost: float) -> dict:
    """The row of what was measured, against the goal."""
    row = {**_row(target), "limit": limit, "lost": lost, "emery": value}
    if not target.compare:
        return {**row, "goal": None, "met": True, "verdict": "reported"}
    goal = target.goal if target.goal is not None else target.goal_fraction * limit
    met = {">=": value >= goal, "<=": value <= goal, "~": abs(value - goal) <= target.tolerance * abs(goal)}[target.compare]
    met = met and not (target.lossless and lost)
    margin = f" +- {target.tolerance:.0%}" if target.compare == "~" else ""
    against = f"{value:.4g} {target.compare} {goal:.4g}{margin}{', none lost' * target.lossless}"
    return {**row, "goal": goal, "met": met, "verdict": f"{'met' if met else 'missed'} ({against})"}


_OVER = {
    "least": lambda rows: min(row["emery"] for row in rows),
    "most": lambda rows: max(row["emery"] for row in rows),
    "mean": lambda rows: sum(row["emery"] for row in rows) / len(rows),
    "spread": lambda rows: max(row["emery"] for row in rows) / min(row["emery"] for row in rows) - 1,
    "least_fraction": lambda rows: min(row["emery"] / row["limit"] for row in rows),
}


def _is_about(target, figure: str, name: str) -> bool:
    return figure == target.figure and name != target.id and name.startswith(target.of)


def _about(target, rows: list[dict]) -> dict:
    """The row of a target about others: over all rows whose ids begin with `of`."""
    own = [row for row in rows if _is_about(target, row["figure"], row["id"])]
    if not own or any(row["emery"] is None for row in own):
        return _failed(target, "a run that it is about failed" if own else f"no target begins with {target.of}")
    return _judged(target, _OVER[target.measure](own), target.limit, max(row["lost"] for row in own))


def _wanted(system, only: str | None) -> list:
    """The targets of a figure, the one that `only` names, or all."""
    figures = {x.figure for x in system.targets}
    known = figures | {x.id for x in system.targets}
    if only and only not in known:
        raise UserError(f"{system.name} has no figure or target {only}{nearest(only, known, figures)}")
    return [x for x in system.targets if only in (None, x.figure, x.id)]


def published_rows(system, only: str | None, out: str) -> list[dict]:
    """The rows that are published, as `run` gives those it has measured."""
    wanted = {x.id for x in _wanted(system, only)}
    rows = [row for row in published.measured(system) if row["id"] in wanted]
    if not rows:
        raise UserError(f"{system.name}: nothing is published{f' of {only}' if only else ''}: reproduce it without --published")
    make_directory("--out", out)
    return rows


def run(system, only: str | None, settings: list[str], seed, out: str, say, executor=LOCAL) -> list[dict]:
    """Runs the targets of a system (of one figure, or one target, when `only` names it); writes pictures and rows."""
    wanted = _wanted(system, only)
    targets = [x for x in system.targets if x in wanted or any(y.of and _is_about(y, x.figure, x.id) for y in wanted)]
    first = [x for x in targets if not x.of]
    if not targets:
        raise UserError(f"{system.name} declares no targets")
    make_directory("--out", out)
    check_file("--out", os.path.join(out, "rows.json"))
    finished = Results(os.path.join(out, f"{system.name}.runs.jsonl"), executor)

    def asked(options: dict) -> tuple:
        own, options = from_table(options)
        work = workload(system, {**options, **({"seed": seed} if seed is not None else {})})
        return system, system.values(own + settings), work

    def one(target) -> dict:
        what = asked(target.run)
        found = finished.get(*what)
        base = finished.get(*asked(target.against)) if target.against else None
        row = judge(target, found, base, _offered(target, *what) if target.limit == "offered" else None)
        if system.figures.get(target.figure, {}).get("plot") == "own":
            row["resources"] = found.get("resources", {})
        say(f"{target.id}: {row['verdict']}")
        return row

    rows = []
    for target, row in zip(first, all_of(first, one, executor), strict=True):
        rows.append(_failed(target, row["failure"]) if "failure" in row else row)
    rows += [_about(x, rows) for x in targets if x.of]
    file = Path(out) / f"{system.name}.json"
    with written(file):
        file.write_text(json.dumps(rows, indent=2) + "\n")
    return rows


def tables(system, rows: list[dict]) -> str:
    """The rows as text, figure by figure."""
    parts = []
    for name in dict.fromkeys(row["figure"] for row in rows):
        figure = system.figures.get(name, {})
        parts.append(f"{figure.get('title', name)} ({figure.get('paper', 'the paper')})")
        lines = [["", "paper", "peer", "limit", "Emery", "unit", "lost", "verdict"]]
        for row in (x for x in rows if x["figure"] == name):
            numbers = ["" if x is None else f"{x:.4g}" for x in (row["peer_value"], row["limit"], row["emery"])]
            loss = "" if row.get("lost") is None else limits.percent(row["lost"])
            lines.append([row["what"], row["paper"], *numbers, row["unit"], loss, row["verdict"]])
        parts.append(table(lines, left=2) + "\n")
    return "\n".join(parts)
