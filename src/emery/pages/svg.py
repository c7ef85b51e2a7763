# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG for a page: colours are the page's (classes `s0` ... and those of roles), values are there for its script."""

import json
from html import escape

from emery.charts import EMERY, Bars, Curves, label, ticks
from emery.published import number

_WIDE, _TALL = 460, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 10, 12, 42  # on the left more, where numbers are long
COLOURS = 9  # series colours of the page; more series begin again, with another mark
_FEW = 40  # points of a line that get a mark each
_DIGIT = 7  # width of one in a tick
_TITLE = 22  # how far from the left edge the y axis's title comes


class _Scale:
    """From values to places."""

    def __init__(self, low: float, high: float, log: bool, start: float, end: float):
        import math

        self.of = math.log10 if log else float
        self.low, self.high, self.log = low, high, log
        self.start, self.per = start, (end - start) / ((self.of(high) - self.of(low)) or 1.0)

    def __call__(self, value: float) -> float:
        return round(self.start + (self.of(value) - self.of(self.low)) * self.per, 1)

    def ticks(self) -> list[float]:
        return ticks(self.low, self.high, self.log)


def _left(y: _Scale) -> int:
    """Where the y axis is: its numbers have room beside its title."""
    return max(_LEFT, _TITLE + 6 + _DIGIT * max(len(label(value)) for value in y.ticks()))


def _axes(found: Curves, x: _Scale, y: _Scale, left: int) -> list[str]:
    lines = []
    for value in y.ticks():
        at = y(value)
        lines.append(f'<path class="grid" d="M{left} {at}H{_WIDE - _RIGHT}"/>')
        lines.append(f'<text class="tick" x="{left - 6}" y="{at + 4}" text-anchor="end">{label(value)}</text>')
    for value in _apart(x):
        at, words = x(value), label(value)
        beside = min(at, _WIDE - 1 - _DIGIT * len(words) / 2)
        lines.append(f'<path class="grid" d="M{at} {_TOP}V{_TALL - _BOTTOM}"/>')
        lines.append(f'<text class="tick" x="{beside}" y="{_TALL - _BOTTOM + 16}" text-anchor="middle">{words}</text>')
    middle = (left + _WIDE - _RIGHT) / 2
    lines.append(f'<text class="axis" x="{middle}" y="{_TALL - 6}" text-anchor="middle">{escape(found.x)}</text>')
    across = (_TOP + _TALL - _BOTTOM) / 2
    turned = f'transform="translate(12 {across}) rotate(-90)" text-anchor="middle"'
    return [*lines, f'<text class="axis" {turned}>{escape(found.y)}</text>'] if found.y else lines


def _apart(x: _Scale) -> list[float]:
    """Ticks whose numbers do not touch; powers of ten before others on a logarithmic axis."""
    kept: list[float] = []

    def fits(value: float, other: float) -> bool:
        return abs(x(value) - x(other)) >= _DIGIT / 2 * (len(label(value)) + len(label(other)) + 2)

    for value in sorted(x.ticks(), key=lambda value: (x.log and x.of(value) % 1 > 1e-9, value)):
        if all(fits(value, other) for other in kept):
            kept.append(value)
    return sorted(kept)


def line_name(found: Curves, line) -> str:
    """What a legend or a value says of a line."""
    if line.series < 0:
        return line.role
    name = found.series[line.series]
    if line.role == EMERY:
        return name or EMERY
    return f"{name}, {line.role}" if len(found.series) > 1 else line.role


def look(found: Curves, line) -> str:
    """The classes of a line: the series' colour, or its role's where there is one series, or it is of all."""
    one = len(found.series) == 1
    colour = f"s{line.series % COLOURS}" if line.series >= 0 and not (one and line.role != EMERY) else f"c-{line.role}"
    return f"{colour} r-{line.role}"


def _curves(found: Curves) -> str:
    x_low, x_high = found.range(0)
    if not found.log_x:
        room = (x_high - x_low) * 0.03 or 1
        x_low, x_high = (x_low if x_low == 0 else x_low - room), x_high + room
    y = _Scale(*found.heights, found.log_y, _TALL - _BOTTOM, _TOP)
    left = _left(y)
    x = _Scale(x_low, x_high, found.log_x, left + 4, _WIDE - _RIGHT - 4)
    parts, told = _axes(found, x, y, left), []
    for line in found.lines:
        name, classes = line_name(found, line), look(found, line)
        places = [(x(a), y(b)) for a, b in line.points]
        way = " ".join(f"{a},{b}" for a, b in places)
        parts.append(f'<g class="line {classes}" data-series="{line.series}"><title>{escape(name)}</title>')
        parts.append(f'<polyline points="{way}"/>')
        if len(places) <= _FEW:
            size = 3.2 if line.role == EMERY else 2
            for (a, b), (value, height) in zip(places, line.points, strict=True):
                words = f"{escape(name)}, {number(value)}: {number(height)} {escape(found.unit)}"
                parts.append(f'<circle cx="{a}" cy="{b}" r="{size}"><title>{words}</title></circle>')
        parts.append("</g>")
        points = [[number(v), number(h), *place] for (v, h), place in zip(line.points, places, strict=True)]
        told.append({"name": name, "look": classes, "series": line.series, "points": points})
    data = escape(json.dumps({"unit": found.unit, "x": found.x, "lines": told}, separators=(",", ":")))
    size = f'viewBox="0 0 {_WIDE} {_TALL}" role="img" aria-label="{escape(found.title)}"'
    cross = f'<path class="cross" d="M0 {_TOP}V{_TALL - _BOTTOM}"/>'
    return f'<svg class="chart" {size} data-chart="{data}">{"".join(parts)}{cross}</svg>{_legend(found)}'


def _legend(found: Curves) -> str:
    """An entry a series, and one for each kind of line."""

    def sample(classes: str) -> str:
        return f'<svg class="key" viewBox="0 0 26 10"><g class="line {classes}"><polyline points="1,5 25,5"/></g></svg>'

    entries = []
    if len(found.series) > 1:
        for i, name in enumerate(found.series):
            entries.append(
                f'<button type="button" data-series="{i}">{sample(f"s{i % COLOURS} r-{EMERY}")}{escape(name)}</button>'
            )
    for role in found.roles:
        shared = next((x for x in found.lines if x.role == role and (x.series < 0 or len(found.series) == 1)), None)
        classes = look(found, shared) if shared else f"c-any r-{role}"
        name = line_name(found, shared) if shared else role
        entries.append(f"<span>{sample(classes)}{escape(name)}</span>")
    return f'<div class="legend">{"".join(entries)}</div>'


def _bars(found: Bars) -> str:
    highest = max((x for row in found.values for x in row if x is not None), default=0) or 1
    lowest = min(0, *(x for row in found.values for x in row if x is not None))
    x = _Scale(lowest, highest * 1.02, False, 4, _WIDE - 70)
    parts, at, base = [], 0, x(0)
    for group, values in zip(found.groups, found.values, strict=True):
        parts.append(f'<text class="group" x="9" y="{at + 13}">{escape(group)}</text>')
        at += 19
        for role, value in zip(found.roles, values, strict=True):
            if value is None:
                continue
            left, right = sorted((base, x(value)))
            words = f"{escape(group)}, {role}: {number(value)} {escape(found.unit)}"
            shape = f'<rect x="{left}" y="{at}" width="{max(1, right - left):.1f}" height="9" rx="1.5"/>'
            parts.append(f'<g class="bar c-{role}"><title>{words}</title>{shape}</g>')
            parts.append(f'<text class="value" x="{right + 5}" y="{at + 8.5}">{number(value)}</text>')
            at += 12
        at += 8
    parts.append(f'<path class="base" d="M{base} 0V{at - 6}"/>')
    keys = "".join(f'<span><i class="bar c-{role}"></i>{role}</span>' for role in found.roles)
    size = f'viewBox="0 0 {_WIDE} {at}" role="img" aria-label="{escape(found.title)}"'
    unit = f"<span>{escape(found.unit)}</span>"
    return f'<svg class="chart" {size}>{"".join(parts)}</svg><div class="legend">{keys}{unit}</div>'


def svg(found: Curves | Bars) -> str:
    """A chart with its legend, as HTML."""
    return _curves(found) if isinstance(found, Curves) else _bars(found)
