# SPDX-License-Identifier: Apache-2.0
"""Places for the boxes of a directed graph: in layers from top to bottom, so that most arrows point down and few cross.

After Sugiyama: arrows that close a circle are turned, each box stands below all that lead to it, long arrows get a place in
every layer they pass, layers are put in an order near that of their neighbours, boxes are moved towards these.
"""

from dataclasses import dataclass, field

GAP_X, GAP_Y = 26, 40  # between boxes and between layers
_SWEEPS = 12


@dataclass
class Box:
    """What is placed: its size, and after `place` where its upper left corner is."""

    width: float
    height: float
    fixed: str = ""  # "top" or "bottom": in the first or the last layer
    x: float = 0.0
    y: float = 0.0


@dataclass
class Placed:
    """The size of it all, and the points that each arrow passes between its ends."""

    width: float = 0.0
    height: float = 0.0
    ways: dict[tuple, list[tuple[float, float]]] = field(default_factory=dict)
    bands: dict[str, tuple[float, float]] = field(default_factory=dict)  # a box: top and bottom of its layer


def _forward(names: list, edges: list[tuple]) -> set[tuple]:
    """The edges, those that close a circle turned."""
    after: dict = {x: [] for x in names}
    for a, b in edges:
        after[a].append(b)
    state, turned = dict.fromkeys(names, 0), set()

    def visit(name):
        state[name] = 1
        for other in after[name]:
            if state[other] == 1:
                turned.add((name, other))
            elif state[other] == 0:
                visit(other)
        state[name] = 2

    for name in sorted(names, key=lambda x: sum(x == b for _, b in edges)):
        if state[name] == 0:
            visit(name)
    return {(b, a) if (a, b) in turned else (a, b) for a, b in edges if a != b}


def _levels(boxes: dict, edges: set[tuple]) -> dict:
    """The layer of each box."""
    level = dict.fromkeys(boxes, 0)
    for _ in boxes:
        for a, b in edges:
            level[b] = max(level[b], level[a] + 1)
    for _ in boxes:  # down to what they lead to
        for name, box in boxes.items():
            below = [level[b] for a, b in edges if a == name]
            if below and box.fixed != "top":
                level[name] = max(level[name], min(below) - 1)
    last = max(level.values(), default=0)
    shift = any(box.fixed == "top" for box in boxes.values())
    for name, box in boxes.items():
        if box.fixed == "top":
            level[name] = 0
        elif box.fixed == "bottom":
            level[name] = last + 2
        else:
            level[name] += shift
    used = {x: i for i, x in enumerate(sorted(set(level.values())))}
    return {name: used[x] for name, x in level.items()}


def _ordered(layers: list[list], links: dict):
    """Brings each layer into the order of the middle of what its members are linked to."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for i in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            other = {
                x: place / max(1, len(layers[i - 1 if down else i + 1]) - 1)
                for place, x in enumerate(layers[i - 1 if down else i + 1])
            }
            own = {x: place / max(1, len(layers[i]) - 1) for place, x in enumerate(layers[i])}

            def middle(x, other=other, own=own):
                near = [other[y] for y in links[x] if y in other]
                return sum(near) / len(near) if near else own[x]

            layers[i].sort(key=middle)


def _moved(layers: list[list], boxes: dict, links: dict):
    """Moves boxes sideways towards what they are linked to, in their order."""
    for layer in layers:
        at = 0.0
        for name in layer:
            boxes[name].x = at
            at += boxes[name].width + GAP_X
    widest = max(sum(boxes[x].width + GAP_X for x in layer) for layer in layers)
    for layer in layers:
        spare = (widest - sum(boxes[x].width + GAP_X for x in layer)) / 2
        for name in layer:
            boxes[name].x += spare
    for sweep in range(2 * _SWEEPS):
        for layer in layers if sweep % 2 else reversed(layers):
            wanted = []
            for name in layer:
                near = [boxes[x].x + boxes[x].width / 2 for x in links[name]]
                wanted.append(sum(near) / len(near) - boxes[name].width / 2 if near else boxes[name].x)
            _spread(layer, wanted, boxes)


def _spread(layer: list, wanted: list[float], boxes: dict):
    """The places nearest to those wanted without an overlap: groups that touch share their middle."""
    groups: list[list] = []  # first place, width, sum of what is wanted, members
    for name, at in zip(layer, wanted, strict=True):
        groups.append([at, boxes[name].width + GAP_X, at, [name]])
        while len(groups) > 1 and groups[-2][0] + groups[-2][1] > groups[-1][0]:
            last, before = groups.pop(), groups[-1]
            before[2] += last[2] - before[1] * len(last[3])
            before[1] += last[1]
            before[3] += last[3]
            before[0] = before[2] / len(before[3])
    for at, _, _, names in groups:
        for name in names:
            boxes[name].x = at
            at += boxes[name].width + GAP_X


def place(boxes: dict, edges: list[tuple]) -> Placed:
    """Gives each box its place; says the size of it all, and where arrows pass."""
    if not boxes:
        return Placed()
    forward = _forward(list(boxes), list(dict.fromkeys(edges)))
    level = _levels(boxes, {(a, b) for a, b in forward})
    layers: list[list] = [[] for _ in range(max(level.values()) + 1)]
    for name in boxes:
        layers[level[name]].append(name)
    everything, ways = dict(boxes), {}
    links: dict = {x: [] for x in boxes}
    for a, b in sorted(forward, key=str):
        up, low = (a, b) if level[a] <= level[b] else (b, a)
        chain = [up]
        for i in range(level[up] + 1, level[low]):
            bend = ("bend", up, low, i)
            everything[bend] = Box(6, 0)
            links[bend] = []
            layers[i].append(bend)
            chain.append(bend)
        chain.append(low)
        for x, y in zip(chain, chain[1:], strict=False):
            links[x].append(y)
            links[y].append(x)
        ways[up, low] = chain[1:-1]
    _ordered(layers, links)
    _moved(layers, everything, links)
    left = min(x.x for x in everything.values())
    at, bands = 0.0, {}
    for layer in layers:
        tall = max(everything[x].height for x in layer)
        for name in layer:
            box = everything[name]
            box.x -= left
            box.y = at + (0 if isinstance(name, tuple) else (tall - box.height) / 2)
            bands[name] = (at, at + tall)
            if name not in boxes:
                box.height = tall
        at += tall + GAP_Y
    placed = Placed(max(x.x + x.width for x in everything.values()), at - GAP_Y, bands={x: bands[x] for x in boxes})
    for (up, low), bends in ways.items():
        points = [(everything[x].x + 3, y) for x in bends for y in (everything[x].y, everything[x].y + everything[x].height)]
        placed.ways[up, low] = points
        placed.ways[low, up] = points[::-1]
    return placed
