# SPDX-License-Identifier: Apache-2.0
"""Places of the sources that say the same: 13 or more lines in a row, identical or alike but for names, numbers and strings.

Looked at is what ships (RTL, C++, C, Python), not tests, proofs and what belongs to them. Comments, blank lines, imports, and
lines that only open or close (`end else begin`, `});`) do not count, nor do they part what is around them. In a module's header
and in an instance's connections names count too: every FIFO is connected in the same shape, but the same wires to the same
ports are a copy. A list (fields, registers one below the other) is alike to any other list: what is alike by shape only must
have lines of at least 8 shapes.
"""

import io
import keyword
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from pyslang.syntax import SyntaxKind as Kind
from pyslang.syntax import SyntaxNode, SyntaxTree

from emery.check import testing
from emery.check.structure import find
from emery.common import ROOT

LEAST = 13
SHAPES = 8

_TEST = re.compile(r"(_tb|_formal|_test)$")
_INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.M)
_PATTERNS = ("*.sv", "*.svh", "*.cpp", "*.hpp", "*.h", "*.c", "*.S", "*.py", "emery")
_CXX = """auto bool break case catch char class const constexpr continue default delete do double else enum explicit false float
    for friend if inline int long namespace new noexcept nullptr operator override private protected public return short signed
    sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while
    uint8_t uint16_t uint32_t uint64_t size_t std"""
_SV = """always_comb always_ff assign begin bit end endcase endfunction endgenerate endmodule endpackage endinterface function
    generate genvar import initial inout input inside interface localparam logic modport module output package packed
    parameter posedge type unique wire automatic"""
_KEPT = {*keyword.kwlist, *_CXX.split(), *_SV.split()}
_OPEN_OR_CLOSE = {
    "begin",
    "end",
    "else",
    "endcase",
    "endfunction",
    "endgenerate",
    "endmodule",
    "endpackage",
    "endinterface",
    "endif",
}
_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|[ \t\r\f]+|\\\n)|(?P<line>\n)
    |(?P<string>(?:[rbf]{0,2}\"\"\".*?\"\"\"|R"\((?:.*?)\)"|[rbf]{0,2}"(?:\\.|[^"\\\n])*"))
    |(?P<number>\d*'s?[bdohBDOH][0-9a-fA-F_xzXZ?]+|'[01xz]\b|\d[\w.']*|'(?:\\.|[^'\\\n])')
    |(?P<name>[`$#]?[A-Za-z_]\w*)|(?P<other>.)""",
    re.X | re.S,
)
_PYTHON = {
    tokenize.STRING: "string",
    getattr(tokenize, "FSTRING_MIDDLE", -1): "string",  # 3.12 on
    tokenize.NUMBER: "number",
    tokenize.NAME: "name",
    tokenize.OP: "other",
}


@dataclass(frozen=True)
class Line:
    """A line that counts: as it is, and its shape."""

    number: int
    text: str
    shape: str


@dataclass(frozen=True)
class Pair:
    """Two places that are alike."""

    first: str
    first_line: int
    second: str
    second_line: int
    lines: int
    identical: bool

    def __str__(self) -> str:
        how = "identical" if self.identical else "alike"
        return f"{self.lines} lines {how}: {self.first}:{self.first_line} {self.second}:{self.second_line}"


def _tokens(text: str, python: bool) -> Iterator[tuple[int, str, str]]:
    """Line, kind (string, number, name, other) and word of each token."""
    if python:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _PYTHON:
                yield token.start[0], _PYTHON[token.type], token.string
        return
    number = 1
    for match in _TOKEN.finditer(text):
        if match.lastgroup not in ("line", "skip"):
            yield number, match.lastgroup, match[0]
        number += match[0].count("\n")


def lines(text: str, suffix: str) -> list[Line]:
    """The lines of a source that count."""
    python = suffix in (".py", "")
    literal = _connections(text) if suffix in (".sv", ".svh") else set()
    found = []
    for number, tokens in groupby(_tokens(text, python), key=lambda x: x[0]):
        words, shape = [], []
        for _, kind, word in tokens:
            words.append(word)
            kept = kind == "other" or (kind == "name" and word in _KEPT)
            shape.append(word if kept else {"string": "s", "number": "0", "name": "n"}[kind])
        if not _boilerplate(words, python):
            found.append(Line(number, " ".join(words), " ".join(words if number in literal else shape)))
    return found


def _boilerplate(words: list[str], python: bool) -> bool:
    if not any(x[0].isalnum() or x[0] in "_`$\"'" for x in words) or set(words) <= _OPEN_OR_CLOSE | set("{}()[];:,"):
        return True
    first = words[0]
    if python:
        return first in ("import", "from") or (len(words) == 1 and first[-1] == '"')
    return first in ("import", "`include", "#include", "using") or (first == "#" and len(words) > 1 and words[1] == "include")


def _connections(text: str) -> set[int]:
    """The lines of module headers and of instances."""
    tree = SyntaxTree.fromText(text)
    manager = tree.sourceManager
    found: set[int] = set()
    for node in find(
        tree.root, Kind.ModuleHeader, Kind.InterfaceHeader, Kind.HierarchyInstantiation, Kind.PackageImportDeclaration
    ):
        if isinstance(node, SyntaxNode):
            span = node.sourceRange
            found.update(range(manager.getLineNumber(span.start), manager.getLineNumber(span.end) + 1))
    return found


def sources() -> list[Path]:
    """What is looked at."""
    found = [x for x in testing.sources(_PATTERNS) if not _TEST.search(x.stem) and "tests" not in x.relative_to(ROOT).parts]
    included = {y for x in found if x.suffix == ".sv" for y in _INCLUDE.findall(x.read_text())}
    return [x for x in found if x.suffix != ".svh" or x.name in included]


def pairs(files: dict[str, list[Line]]) -> list[Pair]:
    """All pairs of alike places; a place within a longer one does not count again."""
    windows: dict[tuple, list[tuple[str, int]]] = defaultdict(list)
    for name, content in files.items():
        for i in range(len(content) - LEAST + 1):
            windows[tuple(x.shape for x in content[i : i + LEAST])].append((name, i))
    found, seen = [], set()
    for places in windows.values():
        for a, (first, i) in enumerate(places):
            for second, j in places[a + 1 :]:
                if (first, i, second, j) in seen or (first == second and abs(j - i) < LEAST):
                    continue
                length = 0
                one, two = files[first][i:], files[second][j:]
                limit = min(len(one), len(two), j - i if first == second else len(one))
                while length < limit and one[length].shape == two[length].shape:
                    seen.add((first, i + length, second, j + length))
                    length += 1
                found += _judge(first, second, one[:length], two[:length])
    return sorted(found, key=lambda x: (x.first, x.second, x.first_line))


def _judge(first: str, second: str, one: list[Line], two: list[Line]) -> list[Pair]:
    same = [x.text == y.text for x, y in zip(one, two, strict=True)]
    if len({x.shape for x in one}) >= SHAPES:
        return [Pair(first, one[0].number, second, two[0].number, len(one), all(same))]
    run = 0
    for at, equal in enumerate([*same, False]):
        if equal:
            run += 1
            continue
        if run >= LEAST:
            return [Pair(first, one[at - run].number, second, two[at - run].number, run, True)]
        run = 0
    return []


@cache
def read() -> list[Pair]:
    """The pairs of this checkout."""
    return pairs({str(x.relative_to(ROOT)): lines(x.read_text(), x.suffix) for x in sources()})
