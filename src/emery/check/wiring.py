# SPDX-License-Identifier: Apache-2.0
"""Whether a module only wires blocks together: the rule for everything in systems/.

A wiring module has no procedure and no gate primitive. What it connects or assigns may be renamed, cut, joined, repeated and
cast, and gathered with `&`, `|` and `~` (with their logical and reducing forms), as several causes of one interrupt are. It
may not be added, compared, selected by a signal (nor by gates that see it as it is and inverted, nor hold itself by some) or
given to a function: that is a block's work. Members of an interface are only renamed: a gate on `valid` or `ready` is flow
control. What is left of state are the registers of rtl/base, so these may not be made into more than a delay: no register's
input follows from its own output (a counter, a latch), and no gate sees a signal both before and after a register (an edge
detector). The way is followed through other wiring modules below.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

from pyslang.syntax import SyntaxKind as Kind
from pyslang.syntax import SyntaxNode

from emery.check.structure import PROCEDURES, Design, Instance, Module, find

Signal = tuple[str, ...]  # a name and, of a struct or an interface, the members on the way

_GATES = {
    Kind.BinaryAndExpression,
    Kind.BinaryOrExpression,
    Kind.LogicalAndExpression,
    Kind.LogicalOrExpression,
    Kind.UnaryBitwiseNotExpression,
    Kind.UnaryLogicalNotExpression,
    Kind.UnaryBitwiseAndExpression,
    Kind.UnaryBitwiseOrExpression,
    Kind.UnaryBitwiseNorExpression,
    Kind.UnaryBitwiseNandExpression,
}
_INVERT = {
    Kind.UnaryBitwiseNotExpression,
    Kind.UnaryLogicalNotExpression,
    Kind.UnaryBitwiseNorExpression,
    Kind.UnaryBitwiseNandExpression,
}
_PLAIN = {
    Kind.ParenthesizedExpression,
    Kind.ConcatenationExpression,
    Kind.MultipleConcatenationExpression,
    Kind.StreamingConcatenationExpression,
    Kind.CastExpression,
    Kind.SignedCastExpression,
    Kind.AssignmentPatternExpression,
    Kind.SimplePropertyExpr,
    Kind.SimpleSequenceExpr,
    Kind.AssignmentExpression,
    Kind.ElementSelectExpression,
    Kind.MemberAccessExpression,
    Kind.ParenthesizedPropertyExpr,
    Kind.ParenthesizedSequenceExpr,
}
_NAMES = {Kind.IdentifierName, Kind.IdentifierSelectName, Kind.ScopedName}


@dataclass(frozen=True)
class Edge:
    """What follows from what."""

    to: Signal
    of: Signal
    registered: bool


def _overlap(a: Signal, b: Signal) -> bool:
    """Whether one is the other or a part of it."""
    n = min(len(a), len(b))
    return a[:n] == b[:n]


def _line(node: SyntaxNode) -> str:
    """A node as one line, comments left out."""
    tokens = []
    node.visit(lambda x: tokens.append(x.valueText) if not isinstance(x, SyntaxNode) else None)
    return "".join(tokens)[:70]


class Wiring:
    """One module as signals and what they follow from; `problems` is what makes it more than wiring."""

    def __init__(self, design: Design, module: Module):
        self.design = design
        self.module = module
        self.problems: set[str] = set()
        self.edges: list[Edge] = []
        self.gates: list[tuple[str, set[Signal]]] = []
        self.senses: dict[Signal, list[tuple[Signal, bool]]] = defaultdict(list)  # what assigns it, each as it is or inverted
        self.idle: set[str] = set()  # given what nobody needs, by `wire unused = &{1'b0, ...}`
        self.read: set[str] = set()
        self.interfaces = {x.name for x in module.ports if x.interface}
        self.signals = {x.name for x in module.ports} | self._declared()
        self.clocks = {x.name for x in module.ports if x.name.endswith(("clk_i", "rst_i"))}
        self.driven: dict[Signal, set[tuple[Signal, bool]]] = defaultdict(set)
        for node in find(module.node, *PROCEDURES, Kind.PrimitiveInstantiation, Kind.ContinuousAssign):
            if node.kind != Kind.ContinuousAssign:
                self.problems.add(f"{node.kind.name}: {_line(node)}")
            for one in find(node, Kind.AssignmentExpression) if node.kind == Kind.ContinuousAssign else ():
                self._follow(self._names(one.left), one.right)
        for node in find(module.node, Kind.NetDeclaration, Kind.DataDeclaration):
            for one in node.declarators:
                if isinstance(one, SyntaxNode) and one.initializer:
                    self._follow({(one.name.valueText,)}, one.initializer.expr)
        for instance in module.instances:
            self._connect(instance)
        for edge in self.edges:
            self.driven[edge.to].add((edge.of, edge.registered))
        self.problems |= {f"reads {x}, which is to be read by nobody" for x in self.idle & self.read}
        self._loops()
        self._edges_detected()
        self._selects()

    def _declared(self) -> set[str]:
        names = set()
        for node in find(self.module.node, Kind.NetDeclaration, Kind.DataDeclaration):
            names |= {x.name.valueText for x in node.declarators if isinstance(x, SyntaxNode)}
        for x in self.module.instances:
            if (made := self.design.modules.get(x.module)) and made.is_interface:
                names.add(x.name)
                self.interfaces.add(x.name)
        return names

    # ---------------------------------------------------------------- expressions

    def _signal(self, node: SyntaxNode) -> Signal | None:
        """The signal that a name is, or None for a parameter, a genvar, a type."""
        path: list[str] = []
        while node.kind in (Kind.ScopedName, Kind.MemberAccessExpression, Kind.ElementSelectExpression):
            if node.kind == Kind.ScopedName:
                if node.separator.valueText == "::":
                    return None
                path.insert(0, node.right.identifier.valueText)
            elif node.kind == Kind.MemberAccessExpression:
                path.insert(0, node.name.valueText)
            node = node.left
        if node.kind not in _NAMES:
            return None
        name = node.identifier.valueText
        return (name, *path) if name in self.signals else None

    def _names(self, node: SyntaxNode) -> set[Signal]:
        """The signals in an expression; what selects among them is looked at too."""
        found = set()
        signal = (
            self._signal(node) if node.kind in _NAMES | {Kind.MemberAccessExpression, Kind.ElementSelectExpression} else None
        )
        if signal:
            found.add(signal)
            for select in find(node, Kind.ElementSelect):
                for inner in select:
                    if isinstance(inner, SyntaxNode) and self._names(inner):
                        self.problems.add(f"selects by a signal: {_line(node)}")
            return found
        if node.kind == Kind.NamedPortConnection and node.expr is None:
            return {(node.name.valueText,)} & {(x,) for x in self.signals}
        for inner in node:
            if isinstance(inner, SyntaxNode):
                found |= self._names(inner)
        return found

    def _look(self, node: SyntaxNode) -> bool:
        """Notes every operator on signals that wiring has not; gives whether there is a gate."""
        if node.kind in _NAMES:
            return False
        gate = False
        names = self._names(node)
        if names and node.kind.name.endswith("Expression") and node.kind not in _PLAIN:
            if node.kind in _GATES:
                gate = True
                if any(x[0] in self.interfaces for x in names):
                    self.problems.add(f"gate on an interface: {_line(node)}")
            elif node.kind == Kind.ConditionalExpression and not self._names(node.predicate):
                pass  # decided by parameters
            else:
                self.problems.add(f"{node.kind.name.removesuffix('Expression')}: {_line(node)}")
        for inner in node:
            if isinstance(inner, SyntaxNode):
                gate |= self._look(inner)
        return gate

    def _senses(self, node: SyntaxNode, inverted: bool = False) -> list[tuple[Signal, bool]]:
        """The signals in an expression, each with whether it is inverted on its way out of it."""
        if (signal := self._signal(node)) is not None:
            return [(signal, inverted)]
        inner = [x for x in node if isinstance(x, SyntaxNode)]
        return [y for x in inner for y in self._senses(x, inverted ^ (node.kind in _INVERT))]

    def _follow(self, to: set[Signal], expression: SyntaxNode):
        """Notes that `to` follows from an expression."""
        names = self._names(expression)
        if all(x[0].startswith("unused") for x in to):
            self.idle |= {x[0] for x in to}
            return
        self.read |= {x[0] for x in names}
        if self._look(expression):
            self.gates.append((f"{'.'.join(min(to, default=('?',)))}", names))
            if any(x[0] in self.interfaces for x in to):
                self.problems.add(f"gate on an interface: {_line(expression)}")
        self.edges += [Edge(x, y, False) for x in to for y in names]
        for x in to:
            self.senses[x] += self._senses(expression)

    # ---------------------------------------------------------------- instances

    def wires(self, instance: Instance) -> dict[str, set[Signal]]:
        """Port: the signals in what it is connected to."""
        child = self.design.modules.get(instance.module)
        wires: dict[str, set[Signal]] = {}
        for x in instance.node.connections:
            if not isinstance(x, SyntaxNode):
                continue
            if x.kind == Kind.WildcardPortConnection:
                wires |= {p.name: {(p.name,)} for p in child.ports if p.name in self.signals} if child else {}
            elif x.kind == Kind.NamedPortConnection and x.expr:
                wires[x.name.valueText] = self._names(x.expr)
            elif x.kind == Kind.NamedPortConnection and not x.openParen:
                wires[x.name.valueText] = {(x.name.valueText,)}
        return wires

    def _connect(self, instance: Instance):
        wires = self.wires(instance)
        for x in find(instance.node, Kind.NamedPortConnection):
            if x.expr and self._look(x.expr):
                name = x.name.valueText
                self.gates.append((f"{instance.name}.{name}", wires[name]))
                self.senses[instance.name, name] += self._senses(x.expr)
        self.read |= {y[0] for names in wires.values() for y in names}
        child = self.design.modules.get(instance.module)
        if child is None or child.is_interface:
            return  # registers made from RDL are a block
        for to, of, registered in _through(self.design, child):
            ends = ((x, y) for x in wires.get(to[0], ()) for y in wires.get(of[0], ()))
            self.edges += [Edge((*x, *to[1:]), (*y, *of[1:]), registered) for x, y in ends]

    # ---------------------------------------------------------------- ways

    def origins(self, signal: Signal) -> set[tuple[Signal, bool]]:
        """All that a signal follows from, each with whether a register is on the way; with itself."""
        seen, todo = set(), [(signal, False)]
        while todo:
            at, registered = todo.pop()
            if (at, registered) in seen:
                continue
            seen.add((at, registered))
            for to, sources in self.driven.items():
                if _overlap(to, at):
                    todo += [(of, registered or by) for of, by in sources]
        return seen

    def _loops(self):
        for edge in self.edges:
            if edge.registered and any(_overlap(x, edge.to) for x, _ in self.origins(edge.of)):
                self.problems.add(f"a register follows from itself: {'.'.join(edge.to)}")

    def _edges_detected(self):
        for what, names in self.gates:
            seen: dict[bool, set[Signal]] = {False: set(), True: set()}
            for name in names:
                for signal, registered in self.origins(name):
                    if signal[0] not in self.clocks:
                        seen[registered].add(signal)
            if any(_overlap(x, y) for x in seen[True] for y in seen[False]):
                self.problems.add(f"a gate sees a signal before and after a register: {what}")

    def _selects(self):
        """What gates see in both senses, or see that follows from them, all without a register on the way."""
        for target in self.senses:
            seen: set[tuple[Signal, bool]] = set()
            todo = [(target, False)]
            while todo:
                at, inverted = todo.pop()
                for of, also in (y for to, found in self.senses.items() if _overlap(to, at) for y in found):
                    if (of, inverted ^ also) not in seen:
                        seen.add((of, inverted ^ also))
                        todo.append((of, inverted ^ also))
            name = ".".join(target)
            if any((x, not inverted) in seen and x[0] not in self.clocks for x, inverted in seen):
                self.problems.add(f"selects by gates: {name}")
            if any(_overlap(x, target) for x, _ in seen):
                self.problems.add(f"follows from itself: {name}")


def _through(design: Design, child: Module) -> set[tuple[Signal, Signal, bool]]:
    """Which outputs of an instance follow from which inputs, as far as it counts: registers of rtl/base, and wiring below."""
    if child.path.parts[0] == "systems":
        inner = of(design, child.name)
        outs = [x for x in child.ports if x.direction == "output"]
        found = set()
        for out in outs:
            for signal, registered in inner.origins((out.name,)):
                if any(x.name == signal[0] and x.direction == "input" and x.name not in inner.clocks for x in child.ports):
                    found.add(((out.name,), signal, registered))
        return found
    if child.room != "base":
        return set()
    registered = any(design.modules[x].procedures["AlwaysFFBlock"] for x in design.below({child.name}))
    plain = [x for x in child.ports if not x.name.endswith(("clk_i", "rst_i"))]
    ins = [(x.name,) for x in plain if x.direction == "input"]
    outs = [(x.name,) for x in plain if x.direction == "output"]
    sinks = [x.name for x in plain if x.direction == "snk"]
    for source in (x.name for x in plain if x.direction == "src"):
        for sink in sinks:
            ins += [(sink, "valid"), (sink, "data")]
            outs += [(source, "valid"), (source, "data")]
    return {(to, of, registered) for to in outs for of in ins}


@cache
def of(design: Design, module: str) -> Wiring:
    """A module's wiring."""
    return Wiring(design, design.modules[module])


def problems(design: Design, module: Module) -> list[str]:
    """What makes a module more than wiring."""
    return sorted(of(design, module.name).problems)
