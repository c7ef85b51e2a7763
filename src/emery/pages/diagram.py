# SPDX-License-Identifier: Apache-2.0
"""The block diagram of a system, as SVG, made of its RTL: instances, and the wires between them.

Boxes are instances; those of a system's own modules, which are wiring, contain theirs. Thick arrows are streams (`stream_if`),
dashed ones the register port (`reg_if`), thin ones other signals where nothing thicker leads the same way. Blocks of rtl/base
that have neither stream nor register port (synchronizers, delays) are left out.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from html import escape

from pyslang.syntax import SyntaxKind as Kind

from emery.check import wiring
from emery.check.structure import Design, Instance, Module
from emery.pages import layers
from emery.pages.headers import sentence

_FROM, _TO = {"src", "master", "output"}, {"snk", "slave", "input"}
_FEW = 8  # a diagram of fewer boxes shows what the blocks are made of, too
_LETTER, _LINE, _EDGE, _HEAD = 7.0, 16, 12, 24  # sizes: a letter, a line of text, the room around boxes, a box's headline
_LEAST = 0.75  # of its size, so that its words (12 and 11 pixels) can be read; a screen that is narrower scrolls
_RANK = {"stream": 2, "regs": 1, "wires": 0}


@dataclass
class Node:
    """A box: an instance, a port of the module around it, or pins of the whole."""

    label: str
    about: str = ""
    room: str = ""
    many: bool = False  # in a loop, or an array
    inner: "Drawing | None" = None
    port: bool = False
    anchors: dict[str, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Drawing:
    """A module's inside: boxes with places, arrows, size."""

    nodes: dict[str, Node] = field(default_factory=dict)
    boxes: dict[str, layers.Box] = field(default_factory=dict)
    edges: dict[tuple[str, str], str] = field(default_factory=dict)  # kind: stream, regs, wires
    ends: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)  # the ports it is fixed to
    placed: layers.Placed = field(default_factory=layers.Placed)


def _in_loop(instance: Instance) -> bool:
    node = instance.node
    if any(getattr(x, "kind", None) == Kind.VariableDimension for x in instance.node.decl.dimensions):
        return True
    while node is not None:
        if node.kind == Kind.LoopGenerate:
            return True
        node = node.parent
    return False


def _kind(interface: str) -> str:
    return {"": "wires", "reg_if": "regs"}.get(interface, "stream")


def _shown(design: Design, instance: Instance) -> bool:
    module = design.modules.get(instance.module)
    if module is None:  # registers made of RDL
        return True
    if module.is_interface:
        return False
    return module.room != "base" or any(x.interface for x in module.ports)


class _Reader:
    """One module's instances and wires as nodes and edges."""

    def __init__(self, design: Design, module: Module, top: bool, expand: bool):
        self.design, self.module, self.top, self.expand = design, module, top, expand
        self.drawing = Drawing()
        self.ends: dict[tuple[str, str], dict[str, set]] = defaultdict(lambda: {"from": set(), "to": set(), "with": set()})
        own = {x.name: x for x in module.ports}
        seen: dict[tuple, list[Instance]] = defaultdict(list)
        for instance in module.instances:
            if _shown(design, instance):
                seen[instance.name, instance.module].append(instance)
        for (name, _), same in seen.items():  # the branches of a generate, under one name
            self._instance(name, same[0])
            for instance in same:
                self._wires(name, instance)
        self._ports(own)
        self._edges(own)

    def _instance(self, name: str, instance: Instance):
        module = self.design.modules.get(instance.module)
        many = _in_loop(instance)
        if module is None:
            self.drawing.nodes[name] = Node(instance.module, "registers, made of the system's .rdl", "registers", many)
            return
        inside = module.path.parts[0] == "systems" or (self.expand and _parts(self.design, module))
        inner = _read(self.design, module, False, False) if inside else None
        about = sentence(module.path)
        self.drawing.nodes[name] = Node(instance.module, about, module.room, many, inner)

    def _wires(self, name: str, instance: Instance):
        module = self.design.modules.get(instance.module)
        ports = {x.name: x for x in module.ports} if module else {}
        for port, signals in wiring.of(self.design, self.module.name).wires(instance).items():
            if port.endswith(("clk_i", "rst_i")) or (module and port not in ports):
                continue
            if module:
                interface, direction = ports[port].interface, ports[port].direction
            else:
                interface, direction = (
                    ("reg_if", "slave") if port == "regs" else ("", "input" if port.endswith("_i") else "output")
                )
            way = "from" if direction in _FROM else "to" if direction in _TO else "with"
            for signal in signals:
                self.ends[_kind(interface), signal[0]][way].add((name, port))

    def _ports(self, own: dict):
        """Ports of the module that streams and registers go through; of the whole, its pins, those to the same boxes as one."""
        if not self.top:
            for (kind, signal), ends in self.ends.items():
                if signal in own and kind != "wires":
                    self.drawing.nodes[f".{signal}"] = Node(signal, port=True)
                    ends["from" if own[signal].direction in _TO else "to"].add((f".{signal}", signal))
            return
        groups = defaultdict(list)
        for (_, signal), ends in self.ends.items():
            if signal in own and not signal.endswith(("clk_i", "rst_i")):
                groups[frozenset(x for x, _ in ends["from"] | ends["to"] | ends["with"])].append(signal)
        for names, signals in groups.items():
            first = {x.split("_")[0] for x in signals}
            label = first.pop() if len(first) == 1 else "pins"
            pin = f".{label}{sorted(names)}"
            self.drawing.nodes[pin] = Node(label, ", ".join(signals[:12]) + " …" * (len(signals) > 12), port=True)
            for signal in signals:
                for (_, other), ends in self.ends.items():
                    if other == signal:
                        ends["from" if own[signal].direction in _TO else "to"].add((pin, signal))

    def _edges(self, own: dict):
        found: dict[tuple[str, str], tuple[int, str, tuple]] = {}
        for (kind, _), ends in self.ends.items():
            pairs = [(a, b) for a in ends["from"] for b in ends["to"]]
            both = sorted(ends["with"])
            pairs += list(zip(both, both[1:], strict=False))
            for (a, port_a), (b, port_b) in pairs:
                if a != b:
                    found[a, b] = max(found.get((a, b), (-1, "", ())), (_RANK[kind], kind, (port_a, port_b)))
        for (a, b), (_, kind, ports) in sorted(found.items()):
            back = found.get((b, a), (-1,))[0]
            if kind == "wires" and back > 0:
                continue  # something thicker leads the other way
            self.drawing.edges[a, b] = kind
            self.drawing.ends[a, b] = ports
        linked = {x for edge in self.drawing.edges for x in edge}
        for name in [x for x, node in self.drawing.nodes.items() if node.port and x not in linked]:
            del self.drawing.nodes[name]


def _parts(design: Design, module: Module) -> list[Instance]:
    """The instances of a block that are worth a box of their own."""
    found = [x for x in module.instances if x.module in design.blocks and design.blocks[x.module].room != "base"]
    return [x for x in found if not design.modules[x.module].is_interface] if len({x.module for x in found}) > 1 else []


def _read(design: Design, module: Module, top: bool, expand: bool) -> Drawing:
    drawing = _Reader(design, module, top, expand).drawing
    for name, node in drawing.nodes.items():
        drawing.boxes[name] = _box(drawing, name, node)
    drawing.placed = layers.place(drawing.boxes, list(drawing.edges))
    return drawing


def _box(drawing: Drawing, name: str, node: Node) -> layers.Box:
    wide = _LETTER * len(node.label) + 18
    if node.port:
        ins = any(a == name for a, _ in drawing.edges)
        return layers.Box(wide, 18, "top" if ins else "bottom")
    if node.inner:
        placed = node.inner.placed
        return layers.Box(max(wide, placed.width + 2 * _EDGE), placed.height + _HEAD + 2 * _EDGE)
    return layers.Box(wide, 28)


def _count(drawing: Drawing) -> int:
    return sum(_count(x.inner) if x.inner else not x.port for x in drawing.nodes.values())


def read(design: Design, top: str) -> Drawing:
    """The drawing of a top module."""
    module = design.modules[top]
    drawing = _read(design, module, True, False)
    return _read(design, module, True, True) if _count(drawing) < _FEW else drawing


# ---------------------------------------------------------------- as SVG


def _curve(points: list[tuple[float, float]]) -> str:
    """A way from point to point that leaves each of them upright."""
    x, y = points[0]
    parts = [f"M{x:.0f} {y:.0f}"]
    for to_x, to_y in points[1:]:
        bend = (to_y - y) / 2
        parts.append(f"C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}")
        x, y = to_x, to_y
    return "".join(parts)


def _end(drawing: Drawing, name: str, port: str, below: bool, share: float) -> tuple[float, float]:
    """Where an arrow meets a box: at the port inside it that it leads to, or spread over its edge."""
    box, node = drawing.boxes[name], drawing.nodes[name]
    inner = node.inner.boxes.get(f".{port}") if node.inner else None
    x = box.x + box.width * share
    if inner and (inner.fixed == "top") != below:
        x = box.x + (box.width - node.inner.placed.width) / 2 + inner.x + inner.width / 2
    return x, box.y + (box.height if below else 0)


def _border(drawing: Drawing, name: str, end: tuple[float, float], below: bool) -> list[tuple[float, float]]:
    """Where an arrow passes the border of a box's layer: straight above or below its end, clear of its neighbours."""
    at = drawing.placed.bands[name][below]
    return [(end[0], at)] if abs(at - end[1]) > 1 else []


def _arrows(drawing: Drawing, prefix: str) -> list[str]:
    ends: dict[tuple[str, bool], list] = defaultdict(list)  # box and side: what meets it there
    pairs = [(a, b) for a, b in drawing.edges if (b, a) not in drawing.edges or a < b]

    def middle(name: str) -> float:
        return drawing.boxes[name].x + drawing.boxes[name].width / 2

    for a, b in pairs:
        down = drawing.boxes[a].y < drawing.boxes[b].y
        near = drawing.placed.ways.get((a, b), [])
        ends[a, down].append((near[0][0] if near else middle(b), (a, b)))
        ends[b, not down].append((near[-1][0] if near else middle(a), (a, b)))
    shares = {}
    for (name, side), met in ends.items():
        for place, (_, pair) in enumerate(sorted(met)):
            shares[name, pair] = (side, (place + 1) / (len(met) + 1))
    lines = []
    for a, b in pairs:
        port_a, port_b = drawing.ends[a, b]
        start, end = _end(drawing, a, port_a, *shares[a, (a, b)]), _end(drawing, b, port_b, *shares[b, (a, b)])
        near = [_border(drawing, x, place, shares[x, (a, b)][0]) for x, place in ((a, start), (b, end))]
        way = _curve([start, *near[0], *drawing.placed.ways.get((a, b), []), *near[1], end])
        kinds = [drawing.edges[a, b], drawing.edges.get((b, a), "")]
        kind = max(filter(None, kinds), key=_RANK.get)
        both = f' marker-start="url(#{prefix}-{kind})"' if kinds[1] else ""
        words = f'data-a="{prefix}{escape(a)}" data-b="{prefix}{escape(b)}"'
        lines.append(f'<path class="w {kind}" d="{way}" {words} marker-end="url(#{prefix.split("/")[0]}-{kind})"{both}/>')
    return [x.replace(f"url(#{prefix}-", f"url(#{prefix.split('/')[0]}-") for x in lines]


def _inside(drawing: Drawing, prefix: str) -> list[str]:
    lines = []
    for name, node in drawing.nodes.items():
        box = drawing.boxes[name]
        told = f"<title>{escape(node.label)}{': ' if node.about else ''}{escape(node.about)}</title>"
        size = f'width="{box.width:.0f}" height="{box.height:.0f}"'
        kind = "pin" if node.port else "part" if node.inner else f"block room-{escape(node.room)}"
        lines.append(f'<g class="{kind}" id="{prefix}{escape(name)}" transform="translate({box.x:.0f} {box.y:.0f})">{told}')
        if node.many:
            lines.append(f'<rect class="many" x="4" y="4" rx="4" {size}/>')
        lines.append(f'<rect rx="{9 if node.port else 4}" {size}/>')
        across, height = box.width / 2, (16 if node.inner else box.height / 2 + 4.5)
        lines.append(f'<text x="{across:.0f}" y="{height:.0f}">{escape(node.label)}</text>')
        if node.inner:
            left = (box.width - node.inner.placed.width) / 2
            lines.append(f'<g transform="translate({left:.0f} {_HEAD + _EDGE})">')
            lines += [*_inside(node.inner, f"{prefix}{name}/"), "</g>"]
        lines.append("</g>")
    return [*_arrows(drawing, prefix), *lines]


def svg(drawing: Drawing, name: str) -> str:
    """The drawing; `name` begins its ids. Colours are those of the page it stands in (report.css)."""
    wide, tall = drawing.placed.width + 2 * _EDGE, drawing.placed.height + 2 * _EDGE
    lines = [f'<svg class="blocks" xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} {-_EDGE} {wide:.0f} {tall:.0f}"']
    lines[0] += f' width="{wide:.0f}" style="min-width:{_LEAST * wide:.0f}px" role="img"'
    lines[0] += f' aria-label="block diagram of {escape(name)}"><defs>'
    for kind in _RANK:
        lines.append(
            f'<marker id="{name}-{kind}" class="{kind}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker>'
        )
    return "\n".join([*lines, "</defs>", *_inside(drawing, f"{name}/"), "</svg>"])
