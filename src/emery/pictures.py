# SPDX-License-Identifier: Apache-2.0
"""Figures of what `reproduce` measured, as PNG."""

import os
import textwrap

from emery.published import BESIDE, beside

_COLOURS = {"limit": "0.75", "paper": "tab:orange", "peer": "tab:red"}
_LINES = {"limit": "--", "paper": ":", "peer": "-."}
_DECADES = 50  # what lies so many times apart on an axis is drawn logarithmic


def _curves(axes, own: list[dict]):
    """Rows that have a place on an axis: Emery's points a series, beside them what paper, peer and physics say, once where
    all series share it."""
    names = list(dict.fromkeys(row["series"] for row in own))

    def line(points: dict, **look):
        if points:
            axes.plot(*zip(*sorted(points.items()), strict=True), **look)

    numbers = {label: beside(own, key) for label, key in BESIDE.items()}
    for label, (shared, _) in numbers.items():
        line(shared, marker=".", label=label, color=_COLOURS[label])
    for number, name in enumerate(names):
        colour = "tab:blue" if len(names) == 1 else f"C{number}"
        for label, (_, apart) in numbers.items():
            line(apart.get(name, {}), marker="x", linestyle=_LINES[label], label=f"{name}, {label}", color=colour)
        points = {row["x"]: row["emery"] for row in own if row["series"] == name and row["emery"] is not None}
        line(points, marker="o", label=name or "Emery", color=colour)
    if _spans_decades([row["x"] for row in own]):
        axes.set_xscale("log")
    heights = [row[key] for row in own for key in ("emery", *BESIDE.values()) if row[key] is not None]
    if _spans_decades(heights):
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, axes.get_ylim()[1] * 1.05)


def _spans_decades(values: list) -> bool:
    return bool(values) and min(values) > 0 and max(values) >= _DECADES * min(values)


def _bars(axes, own: list[dict]):
    """A group of bars a row: upright, or, where their names would not stand beside each other, lying."""
    columns = [(label, key, _COLOURS[label]) for label, key in BESIDE.items()] + [("Emery", "emery", "tab:blue")]
    columns = [x for x in columns if any(row[x[1]] is not None for row in own)]
    upright = len(own) <= 8
    draw = axes.bar if upright else axes.barh
    for number, (label, key, colour) in enumerate(columns):
        places = [i + (number - (len(columns) - 1) / 2) * 0.8 / len(columns) for i in range(len(own))]
        draw(places, [row[key] or 0.0 for row in own], 0.8 / len(columns), label=label, color=colour)
    if upright:
        axes.set_xticks(range(len(own)), [textwrap.fill(row["what"], 90 // len(own)) for row in own], fontsize=7)
        axes.set_ylabel(own[0]["unit"])
    else:
        axes.set_yticks(range(len(own)), [row["what"] for row in own], fontsize=7)
        axes.invert_yaxis()
        axes.set_xlabel(own[0]["unit"])


def pictures(system, rows: list[dict], out: str) -> list[str]:
    """One PNG a figure that says `plot`: curves of the targets that have a place on an axis, or bars."""
    paths = []
    for name, figure in system.figures.items():
        own = [x for x in rows if x["figure"] == name]
        if not figure.get("plot") or len(own) < 2:
            continue
        os.environ.setdefault("MPLBACKEND", "Agg")
        from matplotlib import pyplot

        paths.append(os.path.join(out, f"{system.name}-{name}.png"))
        if figure["plot"] == "own":
            system.hook("picture")([(row["what"], row["resources"]) for row in own if row["resources"]], paths[-1])
            continue
        canvas, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
        placed = [row for row in own if row["x"] is not None]  # beside them a figure may have numbers about all of these
        if len(placed) > 1:
            _curves(axes, placed)
            axes.set_xlabel(figure.get("x", ""))
            axes.set_ylabel(placed[0]["unit"])
        else:
            _bars(axes, own)
        axes.set_title(f"{system.name}: {figure['title']}", fontsize=10)
        canvas.legend(loc="outside right upper", fontsize=8)
        canvas.savefig(paths[-1], dpi=130)
        pyplot.close(canvas)
    return paths
