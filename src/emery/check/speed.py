# SPDX-License-Identifier: Apache-2.0
"""How fast simulators are: simulated core clocks for each second of processor time, beside another checkout's.

The `[speed]` table of system.toml says what runs: `run`, as a target has it, with `frames`, and a `goal` in thousands of clocks
a second. Each sample is that run less one of a tenth of its frames, both through the command line: neither the start of Python
nor the set-up counts, and a machine that does other work besides changes little. Another checkout takes turns with this one.
"""

import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from emery import process, report
from emery.common import ROOT, UserError
from emery.runs import tune_system
from emery.workload import from_table, workload

SHORTER = 10  # the run that is taken off has so many times fewer frames


@dataclass
class Speed:
    """Samples of one system, in thousands of clocks a second, and how they stand to another checkout's, pair by pair."""

    system: str
    command: str
    goal: float | None
    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """What a clock costs here for each second that it costs there: below 1 is faster."""
        return [there / here for here, there in zip(self.here, self.there, strict=False)]

    def as_json(self) -> dict:
        """For `--json`."""
        names = {"kilocycles_per_s": self.here, "there_kilocycles_per_s": self.there, "cost_ratio": self.ratios}
        kept = {name: {"median": statistics.median(x), "samples": x} for name, x in names.items() if x}
        return {"system": self.system, "command": self.command, "goal_kilocycles_per_s": self.goal, **kept}


def measure(system, settings: list[str], times: int, against: Path | None, there: list[str], say, tuned: bool = False) -> Speed:
    """Samples a system `times` times. `against`: another checkout, run with the settings `there`. `tuned`: with a simulator
    tuned on this run (`./emery tune`); without it none that is there is used."""
    if not system.speed:
        raise UserError(f"{system.name}: system.toml has no [speed] table")
    common, options = from_table(system.speed["run"])
    frames = int(options.pop("frames"))
    words = ["run", system.name, *(y for name, value in options.items() for y in (f"--{name}", str(value)))]

    def line(more: list[str]) -> list[str]:
        return [*words, *(y for x in [*common, *more] for y in ("--set", x))]

    sides = [(ROOT, line(settings))] + ([(against, line(there))] if against else [])
    found = Speed(system.name, " ".join(["./emery", *sides[0][1], "--frames", str(frames)]), system.speed.get("goal"))
    for checkout, command in sides:
        _cost(checkout, command, max(1, frames // SHORTER))  # builds what is to be built
    if tuned:
        tune_system(system, system.values([*common, *settings]), workload(system, {**options, "frames": frames}))
    for number in range(times):
        for (checkout, command), samples in zip(sides, (found.here, found.there), strict=False):
            less, more = (_cost(checkout, command, n, tuned) for n in (max(1, frames // SHORTER), frames))
            samples.append(1e-3 * (more[0] - less[0]) / max(more[1] - less[1], 1e-3))
        say(f"{system.name}: {number + 1} of {times}")
    return found


def _cost(checkout: Path, command: list[str], frames: int, tuned: bool = False) -> tuple[int, float]:
    """A run's core clocks, and the seconds of processor time it took with all that it started."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        before = process.spent()
        words = [sys.executable, str(checkout / "emery"), *command, "--frames", str(frames), "--json", str(file)]
        done = process.run(words, cwd=checkout, env={**os.environ, "EMERY_TUNED": str(int(tuned))})
        after = process.spent()
        if done.returncode or not file.is_file():
            said = (done.stderr.strip().splitlines() or ["no result"])[-1]
            raise UserError(f"{checkout}: {said.removeprefix('emery: ')}")
        clocks = json.loads(file.read_text())["cycles"]["core"]
    return clocks, after - before


def text(found: list[Speed]) -> str:
    """What the command prints."""
    rows = [["system", "kilocycles/s", "least", "most", "goal"]]
    if paired := any(x.there for x in found):
        rows[0] += ["there", "cost, of theirs", "least", "most"]
    for x in found:
        row = [x.system, *(f"{y:.0f}" for y in (statistics.median(x.here), min(x.here), max(x.here)))]
        row.append("" if x.goal is None else f"{x.goal:g}")
        if paired:
            row += [f"{statistics.median(x.there):.0f}", *(f"{f(x.ratios):.3f}" for f in (statistics.median, min, max))]
        rows.append(row)
    return report.table(rows)
