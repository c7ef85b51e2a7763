# SPDX-License-Identifier: Apache-2.0
"""Figures of measured rows for a paper or a page, by matplotlib: PNG, SVG, PDF."""

import os
import textwrap

from emery.charts import EMERY, Bars, Curves, chart, label, ticks
from emery.common import whole

_COLOURS = {"limit": "0.6", "paper": "#d1741a", "peer": "#c2306b", EMERY: "#2563b0"}
_LINES = {"limit": "--", "paper": ":", "peer": "-.", EMERY: "-"}
_SERIES = ("#2563b0", "#d1741a", "#1f8a4c", "#c2306b", "#7a4fc4", "#00868f", "#8a6d1b", "#5b6472", "#a33d2f")
MARKERS = "os^Dv<>ph"
# Names of fonts only and letters as letters: what a paper's typesetter wants, and the same bytes on every machine.
LOOK = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "emery", "font.family": "DejaVu Sans", "font.size": 9}
_NO_DATE = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def plain_numbers(axes, name: str, low: float, high: float):
    """A logarithmic axis with plain numbers."""
    axis = getattr(axes, f"{name}axis")
    places = ticks(low, high, True)
    getattr(axes, f"set_{name}scale")("log")
    axis.set_ticks(places, [label(x) for x in places])
    axis.set_ticks([], minor=True)


def _curves(axes, found: Curves):
    """Colour and marker say the series, the kind of line who says so."""
    one = len(found.series) == 1
    for line in found.lines:
        apart = line.series >= 0 and not (one and line.role != EMERY)
        colour = _SERIES[line.series % len(_SERIES)] if apart else _COLOURS[line.role]
        marker = MARKERS[line.series % len(MARKERS)] if line.role == EMERY else "."
        few = len(line.points) <= 40
        look = {"marker": marker if few else "", "markersize": 5 if line.role == EMERY else 4, "markerfacecolor": "white"}
        axes.plot(*zip(*line.points, strict=True), linestyle=_LINES[line.role], color=colour, linewidth=1.4, **look)
    if found.log_x:
        plain_numbers(axes, "x", *found.range(0))
    if found.log_y:
        plain_numbers(axes, "y", *found.heights)
    else:
        axes.set_ylim(*found.heights)
    axes.set_xlabel(found.x)
    axes.set_ylabel(found.y)
    axes.grid(alpha=0.25, linewidth=0.6)


def _legend(found: Curves | Bars) -> list:
    """An entry a series, and one for each kind of line; never one for each pair of these."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if isinstance(found, Bars):
        return [Patch(color=_COLOURS[x], label=x) for x in found.roles]
    one = len(found.series) == 1
    entries = []
    if not one:
        look = [(_SERIES[i % len(_SERIES)], MARKERS[i % len(MARKERS)], name) for i, name in enumerate(found.series)]
        entries = [Line2D([], [], color=c, marker=m, markerfacecolor="white", markersize=5, label=name) for c, m, name in look]
    for role in found.roles:
        colour = _COLOURS[role] if one or any(x.role == role and x.series < 0 for x in found.lines) else "0.3"
        name = (found.series[0] or EMERY) if one and role == EMERY else role
        entries.append(Line2D([], [], color=colour, linestyle=_LINES[role], label=name))
    return entries


def _bars(axes, found: Bars):
    """Upright, or, where their names would not stand beside each other, lying."""
    upright = len(found.groups) <= 8
    draw, count = (axes.bar if upright else axes.barh), len(found.roles)
    for number, role in enumerate(found.roles):
        places = [i + (number - (count - 1) / 2) * 0.8 / count for i in range(len(found.groups))]
        heights = [values[number] or 0.0 for values in found.values]
        drawn = draw(places, heights, 0.8 / count, label=role, color=_COLOURS[role])
        if role == EMERY and upright:
            axes.bar_label(drawn, [f"{x:.4g}" for x in heights], fontsize=6, padding=1)
    if upright:
        axes.set_xticks(range(len(found.groups)), [textwrap.fill(x, 90 // len(found.groups)) for x in found.groups], fontsize=7)
        axes.set_ylabel(found.unit)
    else:
        axes.set_yticks(range(len(found.groups)), found.groups, fontsize=7)
        axes.set_ylim(len(found.groups) - 0.4, -0.6)
        axes.set_xlabel(found.unit)
    axes.grid(alpha=0.25, linewidth=0.6, axis="y" if upright else "x")
    axes.set_axisbelow(True)


def _draw(found: Curves | Bars, title: str, paths: list[str]):
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    entries = _legend(found)
    rows = len(found.groups) if isinstance(found, Bars) else 0
    tall = max(4.2, 0.19 * len(entries) + 0.8, 0.24 * rows + 1.0 if rows > 8 else 0)
    with pyplot.rc_context(LOOK):
        canvas, axes = pyplot.subplots(figsize=(9, tall), layout="constrained")
        (_curves if isinstance(found, Curves) else _bars)(axes, found)
        axes.set_title(textwrap.fill(title, 90), fontsize=10)
        canvas.legend(handles=entries, loc="outside right upper", fontsize=8)
        for path in paths:
            _save(canvas, path)
        pyplot.close(canvas)


def _save(canvas, path: str):
    with whole(path):
        canvas.savefig(path, dpi=130, metadata=_NO_DATE[os.path.splitext(path)[1]])


def panels(found: list[Curves | Bars], title: str, path: str):
    """Several charts above each other, each with a legend of its series."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(LOOK):
        canvas, places = pyplot.subplots(len(found), figsize=(9, 0.6 + 2.8 * len(found)), layout="constrained", squeeze=False)
        for axes, one in zip(places.flat, found, strict=True):
            (_curves if isinstance(one, Curves) else _bars)(axes, one)
            if isinstance(one, Curves):
                axes.legend(handles=_legend(one)[: len(one.series)], loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
        canvas.suptitle(title, fontsize=10)
        _save(canvas, path)
        pyplot.close(canvas)


def _own(system, panels: list, path: str):
    os.environ.setdefault("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    with pyplot.rc_context(LOOK):
        system.hook("picture")(panels, path)


def pictures(system, rows: list[dict], out: str, endings=(".png",), every: bool = False) -> list[str]:
    """Pictures of figures that say `plot` (`every`: of all that can be drawn), a file for each of `endings`."""
    paths = []
    for name, figure in system.figures.items():
        own = [x for x in rows if x["figure"] == name]
        stem = os.path.join(out, f"{system.name}-{name}")
        if figure.get("plot") == "own":
            panels = [(row["what"], row["resources"]) for row in own if row.get("resources")]
            if panels:
                paths += [stem + x for x in endings]
                for path in paths[-len(endings) :]:
                    _own(system, panels, path)
            continue
        found = chart(figure, own) if every or figure.get("plot") else None
        if found:
            paths += [stem + x for x in endings]
            _draw(found, f"{system.name}: {figure['title']}", paths[-len(endings) :])
    return paths
