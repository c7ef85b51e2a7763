# SPDX-License-Identifier: Apache-2.0
"""Where C++ (by its text, as clang-format leaves it) and Python (by its syntax) can be made wrong."""

import ast
import re
from pathlib import Path

from emery.check.mutate.faults import Fault, line_of, short
from emery.common import ROOT

_SWAPS = {
    "+": "-",
    "-": "+",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+=": "-=",
    "-=": "+=",
}
_NOT_CODE = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*', re.S | re.M)
_OPERATOR = re.compile(rb" ([+\-<>]=?|[=!]=|&&|\|\|) ")
_NUMBER = re.compile(rb"(?<![\w.'])(\d+)(?=[;,) \]])")
_BOOLEAN = re.compile(rb"\b(true|false)\b")
_NOT = re.compile(rb"(?<=[( ])!(?=[\w(])")
_IF = re.compile(rb"\bif \(")
_STATEMENT = re.compile(
    rb"^[ \t]*((?:[\w.\[\]]|->|\(\))+ [+\-|&^]?= [^;]*;|[\w.]+(?:->\w+)*\([^;]*\);|(?:\+\+|--)[\w.]+;)$", re.M
)


def cxx_faults(path: Path) -> list[Fault]:
    """All that this finds to be made wrong in a C++ file."""
    source = path.read_bytes()
    code = _NOT_CODE.sub(lambda x: re.sub(rb"[^\n]", b"\0", x[0]), source)
    name = path.relative_to(ROOT).as_posix()
    found = []

    def add(start: int, end: int, words: str, text: str):
        line = source[source.rfind(b"\n", 0, start) + 1 : source.find(b"\n", start)]
        if b"static_assert" not in line and b"template" not in line:
            found.append(Fault(name, line_of(source, start), f"{words} in `{short(line)}`", start, end, text))

    for x in _OPERATOR.finditer(code):
        old = x[1].decode()
        add(x.start(1), x.end(1), f"`{old}` is `{_SWAPS[old]}`", _SWAPS[old])
    for x in _NUMBER.finditer(code):
        add(x.start(1), x.end(1), f"{int(x[1])} is {int(x[1]) + 1}", str(int(x[1]) + 1))
    for x in _BOOLEAN.finditer(code):
        other = "false" if x[1] == b"true" else "true"
        add(x.start(), x.end(), f"{x[1].decode()} is {other}", other)
    for x in _NOT.finditer(code):
        add(x.start(), x.end(), "`!` is left out", "")
    for x in _IF.finditer(code):
        add(x.end(), x.end(), "the `if` is never so", "false && ")
        add(x.end(), x.end(), "the `if` is always so", "true || ")
    for x in _STATEMENT.finditer(code):
        if not x[1].startswith((b"return", b"static", b"using")):
            statement = short(source[x.start(1) : x.end(1)])
            found.append(Fault(name, line_of(source, x.start(1)), f"left out: `{statement}`", x.start(1), x.end(1), ";"))
    return sorted(found, key=lambda x: (x.start, x.words))


_COMPARES = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_BINARY = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//"}


class _Python(ast.NodeVisitor):
    def __init__(self, path: Path):
        self.name = path.relative_to(ROOT).as_posix()
        self.source = path.read_bytes()
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Fault] = []
        self.visit(ast.parse(self.source))

    def add(self, node, words: str, text: str):
        """Notes a fault in place of a node."""
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        self.found.append(Fault(self.name, node.lineno, words, start, end, text))

    def visit_Compare(self, node):
        if len(node.ops) == 1:
            left, right, new = ast.unparse(node.left), ast.unparse(node.comparators[0]), _COMPARES[type(node.ops[0])]
            self.add(node, f"`{short(ast.unparse(node))}` compares with `{new}`", f"(({left}) {new} ({right}))")
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        new = "or" if isinstance(node.op, ast.And) else "and"
        text = f" {new} ".join(f"({ast.unparse(x)})" for x in node.values)
        self.add(node, f"`{new}` in `{short(ast.unparse(node))}`", f"({text})")
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if new := _BINARY.get(type(node.op)):
            text = f"(({ast.unparse(node.left)}) {new} ({ast.unparse(node.right)}))"
            self.add(node, f"`{new}` in `{short(ast.unparse(node))}`", text)
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            self.add(node, f"not negated: `{short(ast.unparse(node))}`", f"bool({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if node.value in (True, False) and isinstance(node.value, bool):
            self.add(node, f"{node.value} is {not node.value}", str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, f"{node.value} is {node.value + 1}", str(node.value + 1))

    def visit_If(self, node):
        self.add(node.test, f"`if {short(ast.unparse(node.test))}` is always so", "True")
        self.add(node.test, f"`if {short(ast.unparse(node.test))}` is never so", "False")
        self.generic_visit(node)

    def visit_Return(self, node):
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.add(node, f"nothing is returned, not `{short(ast.unparse(node.value))}`", "return None")
        self.generic_visit(node)

    def visit_Raise(self, node):
        self.add(node, f"left out: `{short(ast.unparse(node))}`", "pass")

    def visit_AugAssign(self, node):
        self.add(node, f"left out: `{short(ast.unparse(node))}`", "pass")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            self.add(node, f"left out: `{short(ast.unparse(node))}`", "pass")
        if not isinstance(node.value, ast.Constant):  # no text for people
            self.generic_visit(node)

    def visit_JoinedStr(self, node):
        """What is said is not looked into."""

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node):
        """Types are not looked into."""


def python_faults(path: Path) -> list[Fault]:
    """All that this finds to be made wrong in a Python file."""
    return sorted(_Python(path).found, key=lambda x: (x.start, x.words))
