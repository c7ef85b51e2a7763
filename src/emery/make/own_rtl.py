# SPDX-License-Identifier: Apache-2.0
"""Modules of the user's own that take the place of others: is each one that, and does the design have it?

Read with pyslang, nothing is elaborated: a message says the file and the line.
"""

from dataclasses import dataclass
from pathlib import Path

from emery.common import ROOT, UserError, in_checkout


@dataclass(frozen=True)
class Head:
    """What a module is from outside: line of its name; ports (what each is, its line) and parameters, by name."""

    line: int
    ports: dict[str, tuple[str, int]]
    parameters: dict[str, int]


def head(path: Path, shown: str, include: list[Path]) -> Head:
    """The module of a file that has the file's name. UserError where the file is no SystemVerilog, or has no such module."""
    from pyslang import Bag, DiagnosticEngine, SourceManager
    from pyslang.parsing import PreprocessorOptions
    from pyslang.syntax import SyntaxKind, SyntaxTree

    manager, options = SourceManager(), PreprocessorOptions()
    options.additionalIncludePaths = include
    tree = SyntaxTree.fromFile(str(path), manager, Bag([options]))
    for found in tree.diagnostics:
        if found.isError():
            engine = DiagnosticEngine(manager)
            where = manager.getFileName(found.location)
            place = shown if Path(where).name == path.name else where
            raise UserError(f"{place}:{manager.getLineNumber(found.location)}: {engine.formatMessage(found)}")
    root = tree.root
    members = list(root.members) if root.kind == SyntaxKind.CompilationUnit else [root]
    for node in members:
        if getattr(node, "kind", None) == SyntaxKind.ModuleDeclaration and node.header.name.valueText == path.stem:
            return _head(node, manager)
    raise UserError(f"{shown}:1: there is no module {path.stem} in it")


def _head(node, manager) -> Head:
    from pyslang.syntax import SyntaxKind, SyntaxNode

    def below(root, *kinds) -> list:
        found = []
        if root is not None:
            root.visit(lambda x: found.append(x) if isinstance(x, SyntaxNode) and x.kind in kinds else None)
        return found

    def line(token) -> int:
        return manager.getLineNumber(token.location)

    ports, way = {}, "inout"
    for port in below(node.header.ports, SyntaxKind.ImplicitAnsiPort):
        if port.header.kind == SyntaxKind.InterfacePortHeader:
            modport = port.header.modport
            way = port.header.nameOrKeyword.valueText + (f".{modport.member.valueText}" if modport else "")
        elif port.header.direction.valueText:
            way = port.header.direction.valueText
        name = port.declarator.name
        ports[name.valueText] = (way, line(name))
    parameters = {}
    for x in below(node.header.parameters, SyntaxKind.Declarator, SyntaxKind.TypeAssignment):
        parameters[x.name.valueText] = line(x.name)
    return Head(line(node.header.name), ports, parameters)


def check(own: Path, shown: str, original: Path, include: list[Path]):
    """Refuses a module that does not have the ports and parameters of the one whose place it takes."""
    mine, theirs = head(own, shown, [own.parent, *include]), head(original, in_checkout(original), include)
    name = own.stem
    for port, (way, _) in theirs.ports.items():
        if port not in mine.ports:
            raise UserError(f"{shown}:{mine.line}: port {port} ({way}) is missing, which {in_checkout(original)} has")
        if mine.ports[port][0] != way:
            raise UserError(
                f"{shown}:{mine.ports[port][1]}: port {port} is {mine.ports[port][0]}, and {way} where {name} is used"
            )
    for port, (way, line) in mine.ports.items():
        if port not in theirs.ports:
            raise UserError(
                f"{shown}:{line}: port {port} ({way}) is connected to nothing: {in_checkout(original)} has none like it"
            )
    for parameter in theirs.parameters:
        if parameter not in mine.parameters:
            raise UserError(f"{shown}:{mine.line}: parameter {parameter} is missing, which {in_checkout(original)} has")


def check_all(system):
    """Refuses what the folders of a system's extensions have in place of its modules, where that cannot be."""
    include = sorted((ROOT / "rtl").iterdir())
    for x in system.extensions:
        for name, original in x.modules:
            check(x.folder / f"{name}.sv", str(Path(x.given) / f"{name}.sv"), original, include)


def missing(system, rtls: list) -> str:
    """Which of the user's modules nothing instantiates with these parameters, in words; empty when all are in the design."""
    from emery.check.blocks import elaborate

    have = {x.definition.name for rtl in rtls for x in elaborate(rtl).instances.values()}
    for x in system.extensions:
        for name, _ in x.modules:
            if name not in have:
                return f"{Path(x.given) / name}.sv: with these parameters {system.name} has no {name}"
    return ""
