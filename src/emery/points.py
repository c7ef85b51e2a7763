# SPDX-License-Identifier: Apache-2.0
"""The points of a sweep: all combinations of axes, draws from axes, or lines of a list."""

import csv
import itertools
import math
import random
import re
from collections.abc import Iterable, Mapping

from emery import shapes
from emery.common import UserError, nearest
from emery.workload import workload

_ALONE = ("size", "rate", "flows", "frames", "duration", "direction", "seed")  # whether a value can be does not hang on others
OPTIONS = (*_ALONE, *shapes.OPTIONS)
_NUMBER = r"[+-]?(?:[0-9]{1,18}(?:\.[0-9]{1,18})?|\.[0-9]{1,18})"


def check(system, point: dict, where: str):
    """Refuses names that are none, and values that they cannot have."""
    for name, value in point.items():
        _known(system, name, where)
        _check(system, name, value)


def _known(system, name: str, where: str):
    known = [*system.parameters, *OPTIONS]
    if name not in known:
        raise UserError(f"{where}: {system.name} has no {name}{nearest(name, known)}")


def _check(system, name: str, value: str):
    if name in system.parameters:
        system.parameters[name].parse(value)
    elif name in _ALONE:
        workload(system, {"size": "64", name: value})


class Axis:
    """NAME=A,B,C: these values. NAME=LOW..HIGH: any between, for draws; evenly by their logarithm where they span decades."""

    def __init__(self, system, text: str):
        self.text = text
        self.name, equals, values = text.partition("=")
        self.values, self.span = values.split(","), re.fullmatch(rf"({_NUMBER})\.\.({_NUMBER})", values)
        if not equals or not all(self.values):
            raise UserError(f"--over {text}: write it as NAME=A,B,C or, with --sample, NAME=LOW..HIGH")
        _known(system, self.name, f"--over {text}")
        for value in self.span.groups() if self.span else self.values:
            _check(system, self.name, value)
        self.parameter = system.parameters.get(self.name)

    def draw(self, source: random.Random) -> str:
        """One of its values."""
        if not self.span:
            return source.choice(self.values)
        low, high = map(float, self.span.groups())
        if self.parameter and self.parameter.power_of_two:
            return str(1 << source.randint(int(low).bit_length() - 1, int(high).bit_length() - 1))
        wide = low > 0 and high >= 100 * low
        value = math.exp(source.uniform(math.log(low), math.log(high))) if wide else source.uniform(low, high)
        whole = not any("." in x for x in self.span.groups()) and not isinstance(getattr(self.parameter, "default", 0), float)
        return str(round(value)) if whole else f"{value:.6g}"


def _axes(system, over: list[str]) -> list[Axis]:
    """What varies; a name once."""
    axes = [Axis(system, x) for x in over]
    for at, axis in enumerate(axes):
        if axis.name in (x.name for x in axes[:at]):
            raise UserError(f"--over {axis.text}: {axis.name} is given twice")
    return axes


def grid(system, over: list[str]) -> list[dict]:
    """All combinations."""
    axes = _axes(system, over)
    if ranged := next((x for x in axes if x.span), None):
        raise UserError(f"--over {ranged.text}: a range is for --sample N")
    for axis in axes:
        meant = [axis.parameter.parse(x) if axis.parameter else x for x in axis.values]
        if twice := next((x for n, x in enumerate(axis.values) if meant[n] in meant[:n]), None):
            raise UserError(f"--over {axis.text}: {twice} is given twice")
    return combinations({x.name: x.values for x in axes})


def combinations(over: Mapping[str, Iterable]) -> list[dict]:
    """A point for each way to choose a value of every name."""
    return [dict(zip(over, x, strict=True)) for x in itertools.product(*over.values())]


def draws(system, over: list[str], count: int) -> list[dict]:
    """So many, each value drawn from its axis. More draws of the same axes begin with the same points."""
    axes = _axes(system, over)
    source = random.Random("\n".join(over))
    return [{x.name: x.draw(source) for x in axes} for _ in range(count)]


def listed(system, path: str) -> list[dict]:
    """Lines of a CSV file; the first has the names. What is left empty is as it is without it."""
    try:
        with open(path, newline="", encoding="utf-8") as handle:
            rows = [x for x in csv.reader(handle) if any(x)]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"--list {path}: {getattr(error, 'strerror', None) or 'not a table of text'}") from error
    if len(rows) < 2:
        raise UserError(f"--list {path}: a line with names, then at least one point")
    names, *lines = ([x.strip() for x in row] for row in rows)
    for name in names:
        _known(system, name, f"--list {path}")
    for number, row in enumerate(lines, 2):
        if len(row) != len(names):
            raise UserError(f"--list {path}: point {number - 1} has {len(row)} values, not {len(names)}")
        for name, value in zip(names, row, strict=True):
            if value:
                _check(system, name, value)
    return [{name: value for name, value in zip(names, row, strict=True) if value} for row in lines]
