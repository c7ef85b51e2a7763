# SPDX-License-Identifier: Apache-2.0
"""What a figure's rows are drawn as, whoever draws: curves or bars, which lines share a colour, which axes are logarithmic."""

import math
from dataclasses import dataclass

from emery.published import BESIDE, beside

EMERY = "Emery"
_CLOSE = 0.75  # curves all of whose numbers are above this part of the highest
_DECADES = 50  # what lies so many times apart on an axis is drawn logarithmic


@dataclass(frozen=True)
class Line:
    """A curve: Emery's, or what paper, peer or physics say beside it (`role`); of one series, or (-1) of all."""

    role: str
    series: int
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Curves:
    """Rows that have a place on an axis."""

    title: str
    x: str
    unit: str
    series: tuple[str, ...]
    lines: tuple[Line, ...]
    log_x: bool
    log_y: bool

    @property
    def roles(self) -> list[str]:
        """Those that occur, Emery first."""
        return [x for x in (EMERY, *BESIDE) if any(line.role == x for line in self.lines)]

    def range(self, axis: int) -> tuple[float, float]:
        """The least and the most on an axis (0: x, 1: y)."""
        values = [point[axis] for line in self.lines for point in line.points]
        return min(values), max(values)

    @property
    def heights(self) -> tuple[float, float]:
        """From where to where the y axis goes: from 0 on, unless it is logarithmic or all would be one line."""
        low, high = self.range(1)
        if self.log_y:
            return low / 1.2, high * 1.2
        if low > _CLOSE * high:
            room = max(high - low, 0.02 * high)
            return low - 0.3 * room, high + 0.15 * room
        return min(0, low * 1.05), max(0, high * 1.06) or 1.0

    @property
    def y(self) -> str:
        """What stands beside the y axis."""
        above = ["axis not from 0"] if self.heights[0] > 0 and not self.log_y else []
        return ", ".join([*[self.unit] * bool(self.unit), *above])


@dataclass(frozen=True)
class Bars:
    """A group of bars a row: a column for each of `roles`."""

    title: str
    unit: str
    groups: tuple[str, ...]
    roles: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]  # a row a group


def spans_decades(values: list) -> bool:
    """Whether numbers lie so far apart that small ones would not be seen on a linear axis."""
    return bool(values) and min(values) > 0 and max(values) >= _DECADES * min(values)


def _lines(placed: list[dict], names: list[str]) -> list[Line]:
    def points(found: dict) -> tuple:
        return tuple(sorted(found.items()))

    lines = []
    for role, key in BESIDE.items():
        shared, apart = beside(placed, key)
        lines += [Line(role, -1, points(shared))] if shared else []
        lines += [Line(role, names.index(name), points(own)) for name, own in apart.items()]
    for number, name in enumerate(names):
        own = {row["x"]: row["emery"] for row in placed if row["series"] == name and row["emery"] is not None}
        lines += [Line(EMERY, number, points(own))] if own else []
    return lines


def chart(figure: dict, rows: list[dict]) -> Curves | Bars | None:
    """What the rows of a figure are drawn as; nothing for fewer than two numbers."""
    placed = [row for row in rows if row["x"] is not None]  # beside them a figure may have numbers about all of these
    if len(placed) > 1:
        names = list(dict.fromkeys(row["series"] for row in placed))
        lines = _lines(placed, names)
        if not lines:
            return None
        heights = [y for line in lines for _, y in line.points]
        log_x = spans_decades([row["x"] for row in placed])
        units = (figure.get("x", ""), placed[0]["unit"])
        return Curves(figure["title"], *units, tuple(names), tuple(lines), log_x, spans_decades(heights))
    shown = [row for row in rows if row["emery"] is not None]
    if len(shown) < 2 or len({row["unit"] for row in shown}) > 1:
        return None
    roles = [x for x, key in {**BESIDE, EMERY: "emery"}.items() if any(row[key] is not None for row in shown)]
    keys = {**BESIDE, EMERY: "emery"}
    values = tuple(tuple(row[keys[role]] for role in roles) for row in shown)
    return Bars(figure["title"], shown[0]["unit"], tuple(row["what"] for row in shown), tuple(roles), values)


def ticks(low: float, high: float, log: bool, count: int = 6) -> list[float]:
    """Round numbers from about `low` to about `high`: the powers of ten and a few between them, or even steps."""
    if log:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        wide = len(decades) > count
        steps = (1,) if wide else (1, 2, 5) if len(decades) < 5 else (1, 3)
        found = [m * 10.0**d for d in decades for m in steps if low * 0.999 <= m * 10.0**d <= high * 1.001]
        return found or [low, high]
    even = step(low, high, count)
    first, last = math.ceil(low / even - 1e-9), math.floor(high / even + 1e-9)
    return [i * even for i in range(first, last + 1)]


def step(low: float, high: float, count: int) -> float:
    """A round number, of which about `count` fit between `low` and `high`."""
    raw = ((high - low) or 1.0) / max(1, count - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(x for x in (1, 2, 2.5, 5, 10) if x * power >= raw * 0.999)


def label(value: float) -> str:
    """A tick's number: no powers of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
