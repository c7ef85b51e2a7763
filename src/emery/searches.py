# SPDX-License-Identifier: Apache-2.0
"""The highest rates a system keeps up with: throughput (RFC 2544), NDR and PDR (as FD.io CSIT), back-to-back frames.

A trial is a run of a load (a share of line rate) with one seed. Loads are whole multiples of the width asked for. What trials
say of a load, and loads of a goal, is as in MLRsearch (IETF BMWG), with all trials of one duration:

- A trial's loss ratio is what was dropped of what was offered; where the system takes less for good than was to be sent
  (`window.settled_mpps` of the result), because whoever sends was held back or queues went on growing, it is that shortfall.
- A load is an upper bound of a goal when more than `exceed_ratio` of its trials have a loss ratio above the goal's, else a
  lower bound. All its seeds are run: what is found does not follow from how many runs there are side by side.
- The goal's upper bound is its lowest one, its lower bound the highest below that: a load that does well above one that does
  not counts for nothing. `conditional_throughput` is the lower bound less the loss ratio that all but `exceed_ratio` of its
  trials keep.
"""

import math
import os
from dataclasses import dataclass, field

from emery.common import UserError
from emery.executors import LOCAL
from emery.limits import lost
from emery.physics import GAP
from emery.report import number, table
from emery.results import Results, all_of, kept_in
from emery.runs import IntegrityError
from emery.workload import DEFAULTS, NAMED, workload

SCHEMA = 1
_SLACK = 0.01  # how much less than was to be sent may come out in the window: edges and steadiness (score/meter.hpp)
_LONG = 1 / 8  # a delay that is more of the time for which a load is sent may not have settled
_REFERENCE = 4  # one of so many parts of line rate is the load that says how much is to be sent at others


@dataclass(frozen=True)
class Goal:
    """What is searched for."""

    name: str
    loss_ratio: float  # that a trial may have
    exceed_ratio: float  # share of trials that may have more

    def exceeded(self, trials: list[dict]) -> int:
        """How many of the trials lose more."""
        return sum(x["loss_ratio"] > self.loss_ratio for x in trials)

    def holds(self, trials: list[dict]) -> bool:
        """Whether a load with these trials is a lower bound."""
        return self.exceeded(trials) <= self.exceed_ratio * len(trials)


_GOALS = (Goal("throughput", 0.0, 0.0), Goal("ndr", 0.0, 0.5), Goal("pdr", 0.005, 0.5))
_BURSTS = "back-to-back"
GOALS = (*(x.name for x in _GOALS), _BURSTS)


def confidence(bad: int, trials: int, level: float = 0.95) -> float:
    """Below what the share of all seeds that exceed a goal lies, with this confidence (exact binomial; Clopper and Pearson)."""
    if bad == trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        seen = sum(math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(bad + 1))
        low, high = (p, high) if seen > 1 - level else (low, p)
    return high


@dataclass
class Search:
    """Loads of a system that are tried, each with the seeds `first` ... `first + seeds - 1`."""

    system: object
    values: dict
    options: dict  # of a run, without rate
    finished: Results
    seeds: int = 3
    width: float = 0.005
    first: int = 1
    say: object = lambda line: None
    trials: dict[int, list[dict]] = field(default_factory=dict)  # by load
    results: dict[int, list[dict]] = field(default_factory=dict)
    per_second: float = 0.0  # frames that are to be sent at line rate

    @property
    def line(self) -> int:
        """The load that is line rate."""
        return round(1 / self.width)

    def _run(self, seed: int, **options) -> tuple[object, dict]:
        common = {name: x for name, x in self.options.items() if not ("frames" in options and name == "duration")}
        work = workload(self.system, {**common, **options, "seed": str(seed)})
        result = self.finished.get(self.system, self.values, work, {**options, "seed": seed})
        if "failure" in result:
            what = ", ".join(f"{k} {v}" for k, v in options.items())
            raise IntegrityError(f"search: {what}, seed {seed}: {result['failure']}", None)
        return work, result

    def _at(self, load: int, seed: int) -> tuple[object, dict]:
        return self._run(seed, rate=f"{load / self.line:.9g}")

    def measure(self, load: int):
        """Runs a load with all seeds, unless it was."""
        if load not in self.trials:
            done = _all(self._seeds(), lambda seed: self._trial(load, seed), self.finished.executor)
            self.trials[load], self.results[load] = ([x[n] for x in done] for n in range(2))

    def _trial(self, load: int, seed: int) -> tuple[dict, dict]:
        work, result = self._at(load, seed)
        total, told = result["totals"], {"rate": load / self.line, "seed": seed}
        told |= {"offered": total["offered"], "dropped": sum(total["dropped"].values()), "mpps": total["mpps"]}
        told["shortfall"] = None if result["window"]["settled_mpps"] is None else self._shortfall(work, result, load)
        told["p99_ns"] = max((x["latency_ns"]["p99"] or 0 for x in result["streams"].values() if x["latency_ns"]), default=0)
        told["loss_ratio"] = max(lost(total), told["shortfall"] or 0.0)
        self.say(f"rate {told['rate']:g}, seed {seed}: {100 * told['loss_ratio']:.3g} % lost")
        return told, result

    def _shortfall(self, work, result: dict, load: int) -> float:
        """The part of what was to be sent that did not come out, as far as that is more than edges and chance make of it."""
        window = result["window"]
        taken = window["settled_mpps"]
        frames = taken * (window["to_ns"] - window["from_ns"]) / 2e3  # in its second half
        sizes = work.sizes()
        mean = sum(n * (x + GAP) for x, n in sizes.items()) / sizes.total()
        spread = math.sqrt(sum(n * (x + GAP - mean) ** 2 for x, n in sizes.items()) / sizes.total()) / mean
        few = min(frames, self.per_second * work.duration_ps / 1e12 / _REFERENCE)  # or of the reference
        slack = _SLACK + (2 * len(result["streams"]) + 3 * spread * math.sqrt(few)) / max(few, 1)
        wanted = self.per_second * load / self.line / 1e6
        short = 1 - taken / wanted
        return short if short > slack else 0.0

    def prepare(self):
        """How much is to be sent, from a load that is no trouble."""
        load = max(self.line // _REFERENCE, 1)
        work, result = self._at(load, self.first)
        if not result["totals"]["offered"]:
            raise UserError("search: nothing is sent in that time; a longer --duration helps")
        self.per_second = result["totals"]["offered"] / (work.duration_ps / 1e12) * self.line / load

    def bounds(self, goal: Goal) -> tuple[int, int | None]:
        """Its relevant bounds so far: lower (0 when there is none) and upper."""
        upper = min((x for x, trials in self.trials.items() if not goal.holds(trials)), default=None)
        return max((x for x in self.trials if upper is None or x < upper), default=0), upper

    def find(self, goal: Goal) -> tuple[int, int | None]:
        """Tries loads until the bounds of a goal are as near as they are to be: line rate first, then in the middle."""
        while True:
            lower, upper = self.bounds(goal)
            if lower == self.line or (upper and upper - lower == 1):
                return lower, upper
            self.measure((lower + upper) // 2 if upper else self.line)

    def _seeds(self) -> range:
        return range(self.first, self.first + self.seeds)

    def told(self, goal: Goal) -> dict:
        """What is found of a goal."""
        lower, upper = self.find(goal)
        found = {"loss_ratio": goal.loss_ratio, "exceed_ratio": goal.exceed_ratio}
        found |= {"lower": lower / self.line if lower else None, "upper": upper / self.line if upper else None}
        if not lower:
            return {**found, "conditional_throughput": None}
        trials, results = self.trials[lower], self.results[lower]
        ratios = sorted(x["loss_ratio"] for x in trials)
        kept = ratios[max(math.ceil(len(ratios) * (1 - goal.exceed_ratio)) - 1, 0)]
        bad = goal.exceeded(trials)
        rates = {x: _spread([r["totals"][x] for r in results]) for x in ("mpps", "l1_gbps", "l2_gbps")}
        delays = {
            stream: {x: _spread([(r["streams"][stream]["latency_ns"] or {}).get(x) for r in results]) for x in _LATENCIES}
            for stream in results[0]["streams"]
        }
        return {
            **found,
            "conditional_throughput": lower / self.line * (1 - kept),
            "exceeding": {"trials": bad, "of": self.seeds, "share_below": confidence(bad, self.seeds)},
            **rates,
            "latency_ns": delays,
        }

    def back_to_back(self, duration_ps: int) -> dict:
        """The longest burst at line rate of which nothing is dropped, in frames an input, within 1 %."""
        inputs = self._run(self.first, frames="1", rate="1.0")[1]["totals"]["offered"]
        most = max(int(self.per_second * duration_ps / 1e12 / inputs), 1)

        def whole(frames: int, seed: int) -> bool:
            return not sum(self._run(seed, rate="1.0", frames=str(frames))[1]["totals"]["dropped"].values())

        def longest(seed: int) -> int:
            low, high = 0, most + 1
            while high - low > max(1, low // 100):
                frames = most if high > most else (low + high) // 2
                low, high = (frames, high) if whole(frames, seed) else (low, frames)
            self.say(f"back-to-back, seed {seed}: {low:,} frames")
            return low

        found = _all(self._seeds(), longest, self.finished.executor)
        return {"frames": found, "mean": sum(found) / len(found), "most_tried": most}


_LATENCIES = ("min", "p50", "p99", "p999", "max")


def _spread(values: list) -> dict | None:
    """Least, mean and most over seeds; None where a run has no such number."""
    if any(x is None for x in values):
        return None
    return {"least": min(values), "mean": sum(values) / len(values), "most": max(values)}


def _all(seeds, one, executor) -> list:
    found = all_of(list(seeds), one, executor)
    for x in found:
        if isinstance(x, dict) and "failure" in x:
            raise UserError(x["failure"])
    return found


def search(
    system,
    settings: list[str],
    options: dict,
    goals=GOALS,
    out: str | None = None,
    say=lambda line: None,
    executor=LOCAL,
    **how,
) -> dict:
    """Searches; gives the result (docs/search.md). Finished runs are kept in the file `out`."""
    for name in ("rate", "frames", "timed"):
        if options.get(name):
            raise UserError(f"search: without --{name}; every load is sent for --duration")
    options = {"duration": DEFAULTS["duration"], **options}
    values = system.values(settings)
    first = workload(system, {**options, "rate": "1.0"})
    first.judge(system, values)  # refuses what is wrong before anything is built
    finished = Results(kept_in(out, "search", system, settings, options), executor)
    self = Search(system, values, options, finished, first=first.seed, say=say, **how)
    self.prepare()
    found = {x.name: self.told(x) for x in _GOALS if x.name in goals}
    work = {name: x for name, x in first.describe().items() if name != "rate"}
    result = {"schema": SCHEMA, "system": system.name, "parameters": values, "workload": work}
    result |= {"seeds": list(self._seeds()), "width": 1 / self.line, "line_mpps": self.per_second / 1e6, "goals": found}
    if _BURSTS in goals:
        result["back_to_back"] = self.back_to_back(first.duration_ps)
    return result | {"trials": [x for load in sorted(self.trials) for x in self.trials[load]]}


def sizes_of(text: str) -> list[str]:
    """The sizes that `--sizes` names: each is searched alone. `rfc2544`: those of RFC 2544, section 9.1."""
    named = [y for x in text.split(",") for y in (map(str, NAMED[x]) if x == "rfc2544" else [x])]
    return list(dict.fromkeys(named))


def search_sizes(system, settings: list[str], options: dict, sizes: list[str], *arguments, **how) -> dict:
    """Searches with one size after the other; what is wrong with any of them is refused before the first."""
    for name in ("size", "pcap", "source"):
        if options.get(name):
            raise UserError(f"search: --sizes and --{name}: choose one")
    values = system.values(settings)
    for size in sizes:
        workload(system, {**options, "size": size}).judge(system, values)
    found = [search(system, settings, {**options, "size": size}, *arguments, **how) for size in sizes]
    return {"schema": SCHEMA, "system": system.name, "parameters": found[0]["parameters"], "sizes": found}


def sizes_table(result: dict) -> str:
    """What was found with each size, for people: a line a size."""
    found = result["sizes"]
    names = list(found[0]["goals"])
    head = ["size", "line, Mpps"]
    for name in names:
        head += [name, "Mpps", "Gb/s L1"]
    bursts = "back_to_back" in found[0]
    rows = [[*head, *(["p50 ns", "p99 ns"] if names else []), *(["back-to-back"] if bursts else [])]]
    for one in found:
        row = [one["workload"]["size"], number(one["line_mpps"], ".3f")]
        for name in names:
            goal = one["goals"][name]
            rates = [_range(goal.get("mpps"), ".3f"), _range(goal.get("l1_gbps"), ".2f")]
            row += [number(goal["lower"], ".1%"), *rates]
        if names:
            delays = one["goals"][names[0]].get("latency_ns", {}).values()
            for x in ("p50", "p99"):
                most = [y[x]["most"] for y in delays if y[x]]
                row.append(number(max(most, default=None), ",.0f"))
        if bursts:
            back = one["back_to_back"]
            row.append(f"{min(back['frames']):,}{'+' * (min(back['frames']) == back['most_tried'])}")
        rows.append(row)
    first = found[0]
    title = _what({name: x for name, x in first["workload"].items() if name != "size"})
    seeds = len(first["seeds"])
    lines = [
        f"{result['system']}: {title}, {seeds} seed{'s' * (seeds != 1)} a load, loads {100 * first['width']:g} % apart",
        "",
    ]
    lines += [table(rows)]
    if names:
        lines += ["", f"line: all that is sent at line rate; p50 and p99 at {names[0]}, of the slowest stream and seed"]
    lines += [f"{x['workload']['size']}: {slow}" for x in found if (slow := too_short(x))]
    if bursts:
        lines.append("back-to-back: frames an input at line rate, the least of the seeds (+: no longer ones were tried)")
    return "\n".join(lines)


def too_short(result: dict) -> str:
    """A line where a goal is bounded by a load at which delays were much of the time for which it was sent: they may not
    have settled, and a shortfall be theirs."""
    upper = [x["upper"] for x in result["goals"].values() if x["upper"]]
    longest = max((x["p99_ns"] for x in result["trials"] if x["rate"] in upper and x["shortfall"]), default=0)
    duration = result["workload"]["duration_ps"] / 1e3
    if longest <= duration * _LONG:
        return ""
    return f"delays of {longest / 1e3:,.0f} us are much of {duration / 1e3:g} us: with a longer --duration more may hold"


def _range(spread: dict | None, form: str) -> str:
    if not spread:
        return "-"
    least, most = (number(spread[x], form) for x in ("least", "most"))
    return least if least == most else f"{least} ... {most}"


def _what(work: dict) -> str:
    files = [os.path.basename(x) for x in {**work.get("pcap", {}), **work.get("source", {})}.values()]
    named = [f"{name} {work[name]}" for name in ("size", "flows", "direction") if name in work]
    return ", ".join([*files, *named, f"{work['duration_ps'] / 1e6:g} us"])


def tables(result: dict) -> str:
    """What was found, for people."""
    title = _what(result["workload"])
    seeds = len(result["seeds"])
    lines = [
        f"{result['system']}: {title}, {seeds} seed{'s' * (seeds != 1)} a load, loads {100 * result['width']:g} % apart",
        "",
    ]
    rows = [["", "holds", "does not", "conditional", "Gb/s L1", "Mpps", "seeds that lose more", "of all, 95 % sure"]]
    delays = [["latency at it, ns", "stream", *_LATENCIES]]
    for name, x in result["goals"].items():
        shares = [number(x[y], ".1%") for y in ("lower", "upper", "conditional_throughput")]
        if not x["lower"]:
            rows.append([name, *shares, *["-"] * 4])
            continue
        bad = x["exceeding"]
        rates = [_range(x["l1_gbps"], ".2f"), _range(x["mpps"], ".3f")]
        rows.append([name, *shares, *rates, f"{bad['trials']} of {bad['of']}", f"below {bad['share_below']:.0%}"])
        alike = [other for other, y in result["goals"].items() if y["lower"] == x["lower"]]
        if name == alike[0]:
            at = ", ".join(alike)
            delays += [[at, stream, *(_range(y[z], ",.0f") for z in _LATENCIES)] for stream, y in x["latency_ns"].items()]
    if len(rows) > 1:
        lines += [table(rows), ""]
    if any(x["lower"] and not x["mpps"] for x in result["goals"].values()):
        lines += ["never steady: a longer --duration gives rates, and says whether all that is sent comes out as fast", ""]
    if slow := too_short(result):
        lines += [slow, ""]
    if len(delays) > 1:
        lines += [table(delays, left=2), ""]
    if bursts := result.get("back_to_back"):
        frames = ", ".join(f"{x:,}{'+' * (x == bursts['most_tried'])}" for x in bursts["frames"])
        lines.append(f"back-to-back  {frames} frames an input at line rate, by seed (+: no longer ones were tried)")
    return "\n".join(lines)
