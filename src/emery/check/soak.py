# SPDX-License-Identifier: Apache-2.0
"""Soak: runs of a system one after the other, with settings, traffic and faults drawn from a seed, until so many frames are
through. Each must account for every frame, give everything back, and have a result that its schema describes.

What is drawn is said by the `[soak]` table of system.toml: `set`, parameters that stay; `options` and `draw`, lists of values
for options of the run and for parameters; what would do nothing beside the others is left out. Tables `[[soak.also]]` say the
same of other kinds of runs, each with the `share` of all runs that are of it; one with `[[soak.also.also]]` is what those have
in common: they say what each has besides, share and all.
"""

import random
from dataclasses import dataclass

from emery.check.described import undescribed
from emery.common import UserError
from emery.runs import IntegrityError, run_system
from emery.workload import workload

MOST_REFUSED = 0.5  # of the draws, before the table is taken to be wrong


@dataclass
class Soak:
    """What a soak came to."""

    runs: int = 0
    refused: int = 0  # draws that contradict each other: told in one line, not run
    offered: int = 0
    delivered: int = 0


def _kinds(table: dict):
    """The other kinds of runs, each with what it has in common with more."""
    for other in table.get("also", []):
        if "also" not in other:
            yield other
        for one in other.get("also", []):
            joined = {name: other.get(name, {}) | one.get(name, {}) for name in ("set", "options", "draw")}
            yield other | one | joined


def _kind(source: random.Random, table: dict) -> dict:
    """Which kind of run is next."""
    left = source.random() if "also" in table else 1.0
    for other in _kinds(table):
        left -= other["share"]
        if left < 0:
            return other
    return table


def draw(source: random.Random, table: dict, frames: int) -> tuple[list[str], dict]:
    """Settings (NAME=VALUE) and options of one run of at most `frames` frames."""
    plan = _kind(source, table)

    def text(value):
        return str(value).lower() if isinstance(value, bool) else str(value)

    settings = [f"{name}={text(value)}" for name, value in plan.get("set", {}).items()]
    settings += [f"{name}={text(source.choice(values))}" for name, values in plan.get("draw", {}).items()]
    options = {name: text(source.choice(values)) for name, values in plan.get("options", {}).items()}
    options |= {"frames": str(min(frames, plan["frames"])), "seed": str(source.randrange(1, 1 << 31))}
    return settings, options


def command(system, settings: list[str], options: dict) -> str:
    """The command line of that run."""
    words = [f"--{name} {value}" for name, value in options.items()] + [f"--set {x}" for x in settings]
    return f"./emery run {system.name} {' '.join(words)}"


def soak(system, frames: int, seed: int, assertions: bool, say, stay: list[str] = ()) -> Soak:
    """Runs until `frames` frames have been offered, with the settings that are to `stay`. IntegrityError, with the command
    that shows it, at the first run that fails."""
    if not system.soak:
        raise UserError(f"{system.name}: system.toml has no [soak] table")
    system.values(stay)  # refuses what is none
    given = {x.partition("=")[0] for x in stay}
    source, done = random.Random(seed), Soak()
    while done.offered < frames:
        settings, options = draw(source, system.soak, frames - done.offered)
        work = workload(system, options)
        settings = system.effective([x for x in settings if x.partition("=")[0] not in given] + list(stay), work.facts())
        line = command(system, settings, options)
        try:
            result = run_system(system, system.values(settings), work, assertions=assertions)
        except UserError as error:
            done.refused += 1
            say(f"refused: {line}: {error}")
            if done.refused > 10 and done.refused > MOST_REFUSED * (done.runs + done.refused):
                raise UserError(f"{system.name}: most of what [soak] draws is refused: {error}") from error
            continue
        except IntegrityError as error:
            raise IntegrityError(f"{error}: {line}", error.result) from error
        if found := undescribed(system, result):
            raise IntegrityError(f"against the schema, {found}: {line}", result)
        done.runs += 1
        done.offered += result["totals"]["offered"]
        done.delivered += result["totals"]["delivered"]
        say(f"{done.offered:,} frames: {line}")
    return done
