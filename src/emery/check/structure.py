# SPDX-License-Identifier: Apache-2.0
"""What the RTL is made of, read from its syntax: modules, who instantiates whom, which room needs which, what a system reaches.

Nothing is elaborated: an instance in either branch of a generate counts. Words do not count at all: a wire may be called as a
block is. A room is a folder of rtl/; ROOMS is the order in which each may use those before it. A
folder of systems/ without a top is a room between those and the systems: wiring that several of them have.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from pyslang import Bag, SourceManager
from pyslang.parsing import PreprocessorOptions
from pyslang.syntax import SyntaxKind as Kind
from pyslang.syntax import SyntaxNode, SyntaxTree

from emery import system
from emery.common import ROOT

ROOMS = (
    "base",
    "packet",
    "mac",
    "pcie",
    "pcix",
    "dram",
    "queue",
    "sched",
    "engine",
    "core",
    "assist",
    "mesh",
    "edge",
    "direct",
    "capture",
)

_MODULES = (Kind.ModuleDeclaration, Kind.InterfaceDeclaration)
PROCEDURES = (
    Kind.AlwaysBlock,
    Kind.AlwaysFFBlock,
    Kind.AlwaysCombBlock,
    Kind.AlwaysLatchBlock,
    Kind.InitialBlock,
    Kind.FinalBlock,
)
_INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.M)


@dataclass(frozen=True)
class Port:
    """A port of a module; `interface` is its type where it is an interface."""

    name: str
    direction: str
    interface: str = ""


@dataclass(frozen=True)
class Instance:
    """An instance of a module or interface; `node` is its syntax."""

    module: str
    name: str
    node: SyntaxNode = field(compare=False)


def _room(folder: Path) -> str:
    """The room of a folder: its name below rtl/; a system's folder with all in it is one room, by its path."""
    return folder.name if folder.parts[0] == "rtl" else str(Path(*folder.parts[:2]))


@dataclass
class Module:
    """A module or an interface."""

    name: str
    path: Path  # relative to the checkout
    lines: int
    node: SyntaxNode
    is_interface: bool
    ports: list[Port] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    procedures: Counter = field(default_factory=Counter)

    @property
    def room(self) -> str:
        """The folder's name below rtl/; for what lies in a system's folder, the path of that."""
        return _room(self.path.parent)

    @property
    def is_test(self) -> bool:
        """Whether it is part of a block test or a proof."""
        return self.path.stem.endswith(("_tb", "_formal"))

    @property
    def children(self) -> set[str]:
        """The modules and interfaces it names: instances, and types of ports."""
        return {x.module for x in self.instances} | {x.interface for x in self.ports if x.interface}


def find(root: SyntaxNode, *kinds) -> list[SyntaxNode]:
    """All nodes at and below `root` of one of the kinds."""
    wanted, found = frozenset(kinds), []
    root.visit(lambda x: found.append(x) if isinstance(x, SyntaxNode) and x.kind in wanted else None)
    return found


class Design:
    """The RTL of a checkout."""

    def __init__(self, root: Path = ROOT, tops: dict[str, set[str]] | None = None):
        self.modules: dict[str, Module] = {}
        self.packages: dict[str, Path] = {}  # its folder's place in the checkout
        self.package_uses: dict[str, set[str]] = {}
        self.tests: list[Module] = []  # what block tests and proofs are made of
        self.includes: dict[str, set[str]] = defaultdict(set)  # room: rooms whose files its design files include
        self.tops = _system_tops() if tops is None else tops
        self._trees = []  # they own the nodes
        self._manager = SourceManager()
        self._options = PreprocessorOptions()
        headers = {x.name: x for x in root.glob("rtl/**/*.svh")}
        self._options.additionalIncludePaths = sorted({x.parent for x in headers.values()})
        for path in sorted([*root.glob("rtl/**/*.sv"), *root.glob("systems/**/*.sv")]):
            self._read(path, path.relative_to(root), headers)

    def _read(self, path: Path, relative: Path, headers: dict[str, Path]):
        text = path.read_text()
        tree = SyntaxTree.fromFile(str(path), self._manager, Bag([self._options]))
        self._trees.append(tree)
        members = list(tree.root.members) if tree.root.kind == Kind.CompilationUnit else [tree.root]
        declared = [x for x in members if isinstance(x, SyntaxNode) and x.kind in _MODULES]
        for node in members:
            if isinstance(node, SyntaxNode) and node.kind == Kind.PackageDeclaration:
                name = node.header.name.valueText
                self.packages[name] = relative.parent
                self.package_uses[name] = _packages_named(find(node, Kind.ScopedName, Kind.PackageImportItem)) - {name}
        for node in declared:
            module = _read_module(node, relative, (text if len(declared) == 1 else str(node)).count("\n"))
            if module.is_test:  # proofs put stand-ins in place of blocks: those are no blocks
                self.tests.append(module)
            else:
                self.modules[module.name] = module
        if not relative.stem.endswith(("_tb", "_formal")):
            room = _room(relative.parent)
            self.includes[room] |= {headers[x].parent.name for x in _INCLUDE.findall(text) if x in headers}

    def below(self, start: set[str]) -> set[str]:
        """The modules and interfaces reached from those of `start`, with themselves."""
        seen, todo = set(), [x for x in start if x in self.modules]
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += self.modules[name].children & self.modules.keys()
        return seen

    @cached_property
    def reach(self) -> dict[str, set[str]]:
        """System: its modules."""
        return {name: self.below(tops) for name, tops in self.tops.items()}

    @cached_property
    def blocks(self) -> dict[str, Module]:
        """The modules and interfaces of rtl/."""
        return {name: x for name, x in self.modules.items() if x.path.parts[0] == "rtl"}

    def wiring(self) -> list[Module]:
        """The modules of the systems, which are to wire blocks together and no more."""
        return sorted((x for x in self.modules.values() if x.path.parts[0] == "systems"), key=lambda x: x.path)

    def unused(self) -> list[str]:
        """Blocks that no system instantiates, directly or through others."""
        return sorted(self.blocks.keys() - set().union(*self.reach.values()))

    def untested(self) -> list[str]:
        """Blocks that no block test and no proof instantiates, directly or through others."""
        made = set().union(*(x.children for x in self.tests))
        return sorted(self.blocks.keys() - self.below(made))

    @cached_property
    def arrows(self) -> dict[tuple[str, str], set[str]]:
        """(room, room it needs): what needs what. Tests and proofs may use any room, and do not count."""
        found = defaultdict(set)

        def need(room: str, folder: Path, what: str):
            other = _room(folder)
            if other != room:
                found[room, other].add(what)

        for x in self.modules.values():
            for child in x.children & self.modules.keys():
                need(x.room, self.modules[child].path.parent, f"{x.name} uses {child}")
            for package in x.packages & self.packages.keys():
                need(x.room, self.packages[package], f"{x.name} uses {package}")
        for name, uses in self.package_uses.items():
            for package in uses & self.packages.keys():
                room = self.packages[name]
                need(_room(room), self.packages[package], f"{name} uses {package}")
        for room, others in self.includes.items():
            for other in others - {room}:
                found[room, other].add("an include")
        return dict(found)

    def against_the_order(self) -> dict[tuple[str, str], set[str]]:
        """Arrows from a room to one that is not named before it, or that ROOMS does not name."""
        place = {x: i for i, x in enumerate(ROOMS)}
        tops = {self.modules[x].room for names in self.tops.values() for x in names if x in self.modules}
        for x in self.modules.values():  # what several systems wire up alike comes before the systems
            if x.path.parts[0] == "systems":
                place[x.room] = len(ROOMS) + (x.room in tops)
        unknown = len(ROOMS) + 2
        return {(a, b): why for (a, b), why in sorted(self.arrows.items()) if not place.get(b, unknown) < place.get(a, -1)}

    def circles(self) -> list[list[str]]:
        """Rooms that need each other."""
        edges = defaultdict(set)
        for a, b in self.arrows:
            edges[a].add(b)

        def from_(room: str) -> set[str]:
            seen, todo = set(), list(edges[room])
            while todo:
                if (x := todo.pop()) not in seen:
                    seen.add(x)
                    todo += edges.get(x, ())
            return seen

        reach = {x: from_(x) for x in list(edges)}
        found = {frozenset([x, *(y for y in reach[x] if x in reach.get(y, ()))]) for x in reach if x in reach[x]}
        return sorted(map(sorted, found))

    @cached_property
    def shared(self) -> list[Module]:
        """The modules that more than one system has."""
        return [x for name, x in self.modules.items() if sum(name in r for r in self.reach.values()) > 1]

    @property
    def shared_share(self) -> float:
        """The part of the lines of RTL that more than one system has."""
        return sum(x.lines for x in self.shared) / sum(x.lines for x in self.modules.values())

    def block_table(self) -> str:
        """Markdown: a row a room, a column a system; the blocks that the system has, by instance."""
        names = sorted(self.reach)
        lines = ["| blocks | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        rooms = {x.room for x in self.blocks.values()}
        for room in sorted(rooms, key=lambda x: (ROOMS.index(x) if x in ROOMS else len(ROOMS), x)):
            inside = sorted(name for name, x in self.blocks.items() if x.room == room)
            cells = [" ".join(f"`{x}`" for x in inside if x in self.reach[name]) for name in names]
            lines.append(f"| `rtl/{room}` | " + " | ".join(cells) + " |")
        return "\n".join(lines)


def _system_tops() -> dict[str, set[str]]:
    """System: its top modules, one a variant."""
    tops = {}
    for target in map(system.load, system.names()):
        tops[target.name] = {target.top, *(x["top"] for x in target.variants if "top" in x)}
    return tops


def _packages_named(nodes: list[SyntaxNode]) -> set[str]:
    names = {x.package.valueText for x in nodes if x.kind == Kind.PackageImportItem}
    scoped = (x for x in nodes if x.kind == Kind.ScopedName and x.separator.valueText == "::")
    return names | {x.left.identifier.valueText for x in scoped if x.left.kind == Kind.IdentifierName}


def _read_ports(header: SyntaxNode) -> list[Port]:
    ports, direction, interface = [], "inout", ""
    for port in find(header.ports, Kind.ImplicitAnsiPort) if header.ports else []:
        kind = port.header.kind
        if kind == Kind.InterfacePortHeader:
            interface, direction = port.header.nameOrKeyword.valueText, ""
            direction = port.header.modport.member.valueText if port.header.modport else ""
        elif port.header.direction.valueText:
            interface, direction = "", port.header.direction.valueText
        ports.append(Port(port.declarator.name.valueText, direction, interface))
    return ports


def _read_module(node: SyntaxNode, path: Path, lines: int) -> Module:
    module = Module(
        node.header.name.valueText, path, lines, node, node.kind == Kind.InterfaceDeclaration, _read_ports(node.header)
    )
    named = []
    for x in find(node, Kind.HierarchyInstantiation, Kind.ScopedName, Kind.PackageImportItem, *PROCEDURES):
        if x.kind == Kind.HierarchyInstantiation:
            made = (y for y in x.instances if isinstance(y, SyntaxNode))
            module.instances += [Instance(x.type.valueText, y.decl.name.valueText, y) for y in made]
        elif x.kind in PROCEDURES:
            module.procedures[x.kind.name] += 1
        else:
            named.append(x)
    module.packages = _packages_named(named)
    return module


@cache
def read() -> Design:
    """This checkout's RTL."""
    return Design()


_BEGIN, _END = "<!-- blocks -->", "<!-- /blocks -->"


def write_table():
    """Brings the table on the front page up to date."""
    (ROOT / "README.md").write_text(readme_with_table())


def readme_with_table() -> str:
    """README.md as it should be: the table of blocks and systems between its two markers."""
    text = (ROOT / "README.md").read_text()
    head, rest = text.split(_BEGIN)
    return f"{head}{_BEGIN}\n{read().block_table()}\n{_END}{rest.split(_END)[1]}"
