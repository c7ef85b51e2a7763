# SPDX-License-Identifier: Apache-2.0
"""Where SystemVerilog can be made wrong: in what is computed when it runs, not in ranges, parameters and assertions.

Found in the syntax (pyslang). What comes out of a macro is left alone.
"""

import re
from pathlib import Path

from pyslang import Bag, SourceManager
from pyslang.parsing import PreprocessorOptions
from pyslang.syntax import SyntaxKind as Kind
from pyslang.syntax import SyntaxNode, SyntaxTree

from emery.check.mutate.faults import Fault, line_of, short
from emery.common import ROOT

_SWAPS = {
    Kind.AddExpression: ("+", "-"),
    Kind.SubtractExpression: ("-", "+"),
    Kind.LogicalAndExpression: ("&&", "||"),
    Kind.LogicalOrExpression: ("||", "&&"),
    Kind.BinaryAndExpression: ("&", "|"),
    Kind.BinaryOrExpression: ("|", "&"),
    Kind.BinaryXorExpression: ("^", "&"),
    Kind.EqualityExpression: ("==", "!="),
    Kind.InequalityExpression: ("!=", "=="),
    Kind.LessThanExpression: ("<", "<="),
    Kind.LessThanEqualExpression: ("<=", "<"),
    Kind.GreaterThanExpression: (">", ">="),
    Kind.GreaterThanEqualExpression: (">=", ">"),
    Kind.LogicalShiftLeftExpression: ("<<", ">>"),
    Kind.LogicalShiftRightExpression: (">>", "<<"),
}
_NOT_SYMMETRIC = {Kind.SubtractExpression, Kind.LogicalShiftLeftExpression, Kind.LogicalShiftRightExpression}
_NEGATIONS = {Kind.UnaryLogicalNotExpression, Kind.UnaryBitwiseNotExpression}
_ASSIGNMENTS = {x for x in Kind.__members__.values() if x.name.endswith("AssignmentExpression")}
_STEPS = {
    Kind.PostincrementExpression,
    Kind.PostdecrementExpression,
    Kind.UnaryPreincrementExpression,
    Kind.UnaryPredecrementExpression,
}
# Constant, or not of the hardware.
_CLOSED = {
    Kind.ParameterDeclarationStatement,
    Kind.ParameterValueAssignment,
    Kind.TypedefDeclaration,
    Kind.DataDeclaration,
    Kind.GenvarDeclaration,
    Kind.ModuleHeader,
    Kind.InterfaceHeader,
    Kind.PackageHeader,
    Kind.ElabSystemTask,
    Kind.ElementSelect,
    Kind.InitialBlock,
    Kind.FinalBlock,
    Kind.ImmediateAssertStatement,
    Kind.ImmediateAssertionMember,
    Kind.ConcurrentAssertionMember,
    Kind.EventControlWithExpression,
    Kind.FunctionPrototype,
    Kind.RangeList,
}
_ZERO = re.compile(r"'0|\d+'[bdh]0+|'\{default: '0\}")
_HANDSHAKE = re.compile(r"(valid|ready)(_[a-z]+)*$")


class _Finder:
    def __init__(self, path: Path):
        self.path = path.relative_to(ROOT).as_posix()
        self.source = path.read_bytes()
        self.found: list[Fault] = []
        options = PreprocessorOptions()
        options.additionalIncludePaths = sorted({x.parent for x in (ROOT / "rtl").rglob("*.svh")})
        manager = SourceManager()
        tree = SyntaxTree.fromFile(str(path), manager, Bag([options]))
        root = tree.root
        self.buffer = root.sourceRange.end.buffer
        self.open(root)

    def mine(self, node: SyntaxNode) -> bool:
        """Whether a node is text of the file, from its beginning to its end."""
        first, last = node.getFirstToken(), node.getLastToken()
        return first.location.buffer == last.location.buffer == self.buffer and not _from_macro(node, self.buffer)

    def text(self, node) -> str:
        """The text of a node, in one line."""
        return " ".join(self.source[node.sourceRange.start.offset : node.sourceRange.end.offset].decode().split())

    def add(self, node: SyntaxNode, words: str, text: str, statement: bool = False):
        """Notes a fault in place of a node."""
        start, end = node.sourceRange.start.offset, node.sourceRange.end.offset
        if b"//" in self.source[start:end] or b"`" in self.source[start:end]:
            return  # comments and macros do not fit into a line of text
        self.found.append(Fault(self.path, line_of(self.source, start), words, start, end, text, statement))

    def open(self, node):
        """Looks through a node and all below it."""
        if not isinstance(node, SyntaxNode) or node.kind in _CLOSED or "Property" in node.kind.name and not self.mine(node):
            return
        if node.kind == Kind.Declarator and self.text(node).startswith("unused"):  # is there for the linter
            return
        if node.kind == Kind.ForLoopStatement:  # its bounds are constants
            self.open(node.statement)
        elif node.kind in (Kind.IfGenerate, Kind.CaseGenerate, Kind.LoopGenerate):
            for child in node:
                if isinstance(child, SyntaxNode) and "Expression" not in child.kind.name:
                    self.open(child)
        elif node.kind == Kind.StandardCaseItem:
            self.open(node.clause)
        elif node.kind == Kind.CastExpression:
            self.open(node.right)
        elif node.kind == Kind.MultipleConcatenationExpression:
            self.open(node.concatenation)
        elif node.kind == Kind.NamedPortConnection:
            if node.expr is not None and not self.text(node.expr).startswith("{"):  # it may be an output
                self.open(node.expr)
        elif node.kind == Kind.InvocationExpression and self.text(node).startswith("$"):
            if self.text(node).startswith(("$unsigned", "$signed", "$countones")):
                self.children(node)
        elif node.kind in _ASSIGNMENTS:
            self.assignment(node)
        elif node.kind == Kind.ConditionalStatement:
            self.conditional(node)
        else:
            if self.mine(node):
                self.change(node)
            self.children(node)

    def children(self, node):
        """Looks through what is below a node."""
        for child in node:
            self.open(child)

    def assignment(self, node):
        """The right side of an assignment; what it is to becomes its opposite."""
        if self.mine(node):
            target = self.text(node.left)
            if _HANDSHAKE.search(target.split("[")[0]):
                right = self.text(node.right)
                self.add(node.right, f"`{target}` is inverted: `{short(right)}`", f"!({right})")
            elif node.parent.kind != Kind.ExpressionStatement and not _ZERO.fullmatch(self.text(node.right)):
                self.add(node.right, f"`{target}` is always 0, not `{short(self.text(node.right))}`", "'0")
        self.open(node.right)

    def conditional(self, node):
        """An `if`: that it is always or never so."""
        condition = self.text(node.predicate)
        if self.mine(node.predicate) and "matches" not in condition:
            if re.fullmatch(r"\w*rst\w*", condition):
                self.add(node.predicate, f"no reset by `{condition}`", "1'b0")
            else:
                self.add(node.predicate, f"`if ({short(condition)})` is always so", "1'b1")
                self.add(node.predicate, f"`if ({short(condition)})` is never so", "1'b0")
                self.children(node.predicate)
        self.open(node.statement)
        if node.elseClause is not None:
            self.open(node.elseClause.clause)

    def change(self, node):
        """What can be wrong with an expression or a statement itself."""
        kind = node.kind
        shown = short(self.text(node))
        if kind in _SWAPS:
            left, right = self.text(node.left), self.text(node.right)
            old, new = _SWAPS[kind]
            self.add(node, f"`{old}` is `{new}` in `{shown}`", f"(({left}) {new} ({right}))")
            if kind in _NOT_SYMMETRIC:
                self.add(node, f"operands change places in `{shown}`", f"(({right}) {old} ({left}))")
        elif kind == Kind.ConditionalExpression:
            condition, left, right = (self.text(x) for x in (node.predicate, node.left, node.right))
            self.add(node, f"the two sides change places in `{shown}`", f"(({condition}) ? {right} : {left})")
        elif kind in _NEGATIONS:
            self.add(node, f"not negated: `{shown}`", f"({self.text(node.operand)})")
        elif kind == Kind.IntegerLiteralExpression:
            number = self.text(node)
            if number.isdigit():
                self.add(node, f"{number} is {int(number) + 1}", str(int(number) + 1))
        elif kind == Kind.IntegerVectorExpression:
            self.vector(node)
        elif kind == Kind.UnbasedUnsizedLiteralExpression:
            if shown in ("'0", "'1"):
                other = "'1" if shown == "'0" else "'0"
                self.add(node, f"{shown} is {other}", other)
        elif kind == Kind.ConcatenationExpression:
            parts = [self.text(x) for x in node.expressions if isinstance(x, SyntaxNode)]
            if len(parts) == 2 and parts[0] != parts[1]:
                self.add(node, f"parts change places in `{shown}`", f"{{{parts[1]}, {parts[0]}}}")
        elif kind == Kind.ExpressionStatement and node.expr.kind in _ASSIGNMENTS | _STEPS:
            self.add(node, f"left out: `{shown}`", ";", statement=True)

    def vector(self, node):
        """A number with its width."""
        match = re.fullmatch(r"(\d+) ?'([bdh])([0-9a-fA-F_]+)", self.text(node))
        if match:
            width, base, digits = match.groups()
            value = int(digits.replace("_", ""), {"b": 2, "d": 10, "h": 16}[base])
            other = (value + 1) % (1 << int(width))
            self.add(node, f"{match[0]} is {width}'d{other}", f"{width}'d{other}")


def _from_macro(node: SyntaxNode, buffer) -> bool:
    """Whether anything in a node is of another text than the file's."""
    other = []
    node.visit(lambda x: other.append(x) if not isinstance(x, SyntaxNode) and x.location.buffer != buffer else None)
    return bool(other)


def faults(path: Path) -> list[Fault]:
    """All that this finds to be made wrong in a file."""
    # The same words in one line twice would be two faults nobody could tell from each other.
    return list(dict.fromkeys(_Finder(path).found))
