# SPDX-License-Identifier: Apache-2.0
"""A picture of a grid of tiles: what each core does with its time, how full each link is."""

_SIDES = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
_ORDER = ("core", "north", "east", "south", "west")
_NETWORKS = (("static1", "tab:blue"), ("static2", "tab:cyan"), ("gdn", "tab:red"), ("mdn", "tab:green"))
_USES = (
    ("works", ("retire",), "tab:olive"),
    ("stalls", ("fetch", "load", "bank", "pipe"), "tab:orange"),
    ("waits for a word", ("receive",), "0.85"),
    ("waits for room", ("send",), "tab:purple"),
    ("stands", ("halted",), "white"),
)
_HALF = 0.27  # of a tile's side, tiles being 1 apart


def _tile(axes, x: int, y: int, tile: dict):
    """A square: a bar of the core's time, its role, an arrow for each link that leaves it."""
    axes.add_patch(_rectangle(x - _HALF, y - _HALF, 2 * _HALF, 2 * _HALF, "white", "black"))
    bottom = y + _HALF
    for _, uses, colour in _USES:
        height = 2 * _HALF * min(1.0, sum(tile["use"][use] for use in uses))
        axes.add_patch(_rectangle(x - _HALF, bottom - height, 0.12, height, colour, "none"))
        bottom -= height
    axes.text(x + 0.06, y, f"{tile['tile']}\n" + tile["role"].replace(" ", "\n"), ha="center", va="center", fontsize=7)
    for number, (network, colour) in enumerate(_NETWORKS):
        shift = (number - 1.5) * 0.07
        for side, (dx, dy) in _SIDES.items():
            use = tile["links"][network][_ORDER.index(side)]
            if use < 0.005:
                continue
            # What comes the other way is on the other side of the middle.
            offset = shift * 0.5 + (0.14 if dx + dy > 0 else -0.14)
            start = (x + dx * _HALF + abs(dy) * offset, y + dy * _HALF + abs(dx) * offset)
            length = 1 - 2 * _HALF - 0.04
            style = {"arrowstyle": "-|>", "color": colour, "linewidth": 0.4 + 5 * use, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (start[0] + dx * length, start[1] + dy * length), start, arrowprops=style)
            if use >= 0.3:
                place = (start[0] + dx * length / 2, start[1] + dy * length / 2)
                axes.text(*place, f"{use:.0%}", fontsize=5, ha="center", va="center", color="black")


def _rectangle(x, y, width, height, face, edge):
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=face, edgecolor=edge, linewidth=0.8)


def picture(panels: list[tuple[str, dict]], path: str):
    """Writes a PNG with a grid for each (title, resources of a result)."""
    from matplotlib import pyplot
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    canvas, all_axes = pyplot.subplots(1, len(panels), figsize=(6 * len(panels), 7.2), squeeze=False, layout="constrained")
    for axes, (title, resources) in zip(all_axes[0], panels, strict=True):
        columns, rows = resources["columns"], resources["rows"]
        for tile in resources["tiles"]:
            _tile(axes, tile["tile"] % columns, tile["tile"] // columns, tile)
        axes.set_xlim(-0.85, columns - 0.15)
        axes.set_ylim(rows - 0.15, -0.85)
        axes.set_aspect("equal")
        axes.axis("off")
        busiest = f"busiest: {resources['busiest_link_is']}, {resources['busiest_link']:.0%} of its clocks"
        axes.set_title(f"{title}\n{busiest}", fontsize=9)
    marks = [Patch(facecolor=colour, edgecolor="black", linewidth=0.5, label=f"core {what}") for what, _, colour in _USES]
    marks += [Line2D([], [], color=colour, linewidth=3, label=f"{network}: words a clock") for network, colour in _NETWORKS]
    canvas.legend(handles=marks, loc="outside lower center", ncols=5, fontsize=7)
    canvas.savefig(path, dpi=130)
    pyplot.close(canvas)
