# SPDX-License-Identifier: Apache-2.0
"""Tables of registers, formats and codes in pages for programmers, made from the RDL and the RTL's packages.

Between `<!-- made: SYSTEM KIND NAME -->` and `<!-- /made -->` stands a table of that kind: `map` (where the parts of an addrmap
lie), `registers` (of an addrmap or regfile), `format` (bits of a packed struct), `enum` (of a package). `./emery map --readme`
writes them.
"""

import re
from itertools import takewhile
from pathlib import Path

from pyslang.parsing import TriviaKind
from pyslang.syntax import SyntaxKind as Kind
from pyslang.syntax import SyntaxNode, SyntaxTree

from emery import system
from emery.check.structure import find
from emery.common import ROOT, UserError
from emery.make import cache, formats, registers

PAGES = ("docs/write-a-driver.md",)
_BLOCK = re.compile(r"(<!-- made: (\S+) (\w+) (\w+) -->\n).*?(<!-- /made -->)", re.DOTALL)


def _row(*cells) -> str:
    return "| " + " | ".join(str(x).replace("|", "\\|") for x in cells) + " |"


def _table(head: list[str], rows: list[tuple]) -> str:
    return "\n".join([_row(*head), _row(*["---"] * len(head)), *(_row(*x) for x in rows)])


def _text(node) -> str:
    return " ".join((node.get_property("desc") or "").split())


def _hex(value: int, width: int = 0) -> str:
    return f"0x{value:0{width}x}"


def _size(value: int) -> str:
    return f"{value >> 20} MB" if value % (1 << 20) == 0 else f"{value >> 10} kB" if value % 1024 == 0 else f"{value} B"


def _map(top, name: str) -> str:
    """The parts of an addrmap: offset, distance from one to the next, how many, what they are."""
    from systemrdl.node import RegNode

    rows = []
    for part in _named(top, name).children(unroll=False):
        if isinstance(part, RegNode):
            continue
        counts = list(part.array_dimensions or [])
        strides = [part.array_stride] if counts else []
        for count in reversed(counts[1:]):
            strides.insert(0, strides[0] * count)
        label = part.inst_name + "".join(f"[{x}]" for x in counts)
        step = ", ".join(_hex(x) for x in strides)
        kind = re.sub(r"__.*", "", part.type_name or part.inst_name)
        rows.append(
            (f"`{label}`", _hex(part.raw_address_offset, 7), step, _size(part.size), f"`{kind}`", part.get_property("name"))
        )
    return _table(["part", "offset", "one to the next", "size of one", "registers", "what"], rows)


def _named(top, name: str):
    """The addrmap or regfile of this type, wherever it is in the map."""
    for node in [top, *top.descendants(unroll=False)]:
        if (node.type_name or "").split("__")[0] == name:
            return node
    raise UserError(f"{top.inst_name} has no {name}")


def _access(field) -> str:
    return {"rw": "RW", "r": "RO", "w": "WO"}[field.get_property("sw").name]


def _bits(field) -> str:
    return f"{field.high}:{field.low}" if field.high != field.low else str(field.low)


def _register(reg, prefix: str, base: int = 0) -> tuple:
    offset = _hex(base + reg.raw_address_offset, 3)
    name = reg.inst_name + "".join(f"[{x}]" for x in reg.array_dimensions or [])
    fields = sorted(reg.fields(), key=lambda x: x.low)
    parts = [_text(reg)]
    whole = len(fields) == 1 and fields[0].inst_name == "value"
    for field in () if whole else fields:
        about = _text(field)
        parts.append(f"{_bits(field)} `{field.inst_name}` {_access(field)}" + (f": {about.rstrip('.')}" if about else ""))
    resets = [(x, x.get_property("reset")) for x in fields]
    reset = sum(value << x.low for x, value in resets if value is not None)
    known = any(value is not None for _, value in resets)
    access = "/".join(dict.fromkeys(_access(x) for x in fields))
    text = "; ".join(x.rstrip(".") for x in parts if x) or reg.get_property("name")
    return f"`{prefix}{name}`", offset, access, _hex(reset) if known else "", text


def _registers(top, name: str) -> str:
    from systemrdl.node import RegNode

    block = _named(top, name)
    rows = []
    for part in block.children(unroll=False):
        if isinstance(part, RegNode):
            rows.append(_register(part, ""))
        else:  # a table: the registers of its first entry
            base = part.raw_address_offset
            rows += [_register(x, f"{part.inst_name}[].", base) for x in part.children(unroll=False)]
    return f"{_text(block)}\n\n" + _table(["register", "offset", "access", "reset", "what"], rows)


# ---------------------------------------------------------------- formats


def _package_of(target, name: str) -> tuple[formats.Package, dict[str, str]]:
    """The package that has this struct or enum, and what it says behind each member."""
    known = formats.packages(target.folder)
    for package in target.formats:
        if name in known[package].records or name in known[package].enums:
            places = {x.stem: x for x in (*(ROOT / x for x in formats.package_files()), *target.folder.rglob("*_pkg.sv"))}
            return known[package], _comments(places[package], name)
    raise UserError(f"no package of {target.name} has {name}")


def _comments(path: Path, name: str) -> dict[str, str]:
    """The comment on the line of each member of a typedef."""
    tree = SyntaxTree.fromFile(str(path))
    (kind,) = (x.type for x in find(tree.root, Kind.TypedefDeclaration) if x.name.valueText == name)
    members = [x for x in kind.members if isinstance(x, SyntaxNode)]
    found = {}
    for member, behind in zip(members, [*(x.getFirstToken() for x in members[1:]), kind.closeBrace], strict=True):
        line = list(takewhile(lambda x: x.kind != TriviaKind.EndOfLine, behind.trivia))
        text = " ".join(x.getRawText().removeprefix("//").strip() for x in line if x.kind == TriviaKind.LineComment)
        declared = [x for x in getattr(member, "declarators", [member]) if isinstance(x, SyntaxNode)]
        found |= {x.name.valueText: text for x in declared}
    return found


def _format(target, name: str) -> str:
    """The bits of a record, from the lowest on, with the byte of memory that each field begins in."""
    package, comments = _package_of(target, name)
    record = package.records[name]
    rows = []
    for field, x in sorted(record.fields.items(), key=lambda item: item[1].low):
        high = x.low + x.width * x.count - 1
        bits = f"{high}:{x.low}" if high != x.low else str(x.low)
        place = f"{x.low // 8}" + (f", bit {x.low % 8}" if x.low % 8 else "")
        rows.append((f"`{field}`", bits, place, comments[field]))
    return f"{-(-record.bits // 8)} bytes, little endian.\n\n" + _table(["field", "bits", "from byte", "what"], rows)


def _enum(target, name: str) -> str:
    package, comments = _package_of(target, name)
    words = formats.in_words(package.enums[name])
    rows = [(value, f"`{x}`", words[x], comments[x]) for x, value in package.enums[name].items()]
    return _table(["code", "name", "in results", "what"], rows)


# ---------------------------------------------------------------- pages


def made(text: str) -> str:
    """A page as it should be: its tables made anew."""

    def block(match) -> str:
        head, name, kind, what, end = match.groups()
        target = system.load(name)
        if kind in ("format", "enum"):
            table = (_format if kind == "format" else _enum)(target, what)
        elif kind in ("map", "registers"):
            source = target.registers[0]
            table = (_map if kind == "map" else _registers)(registers.elaborate(target.folder / source.file, source.map), what)
        else:
            raise UserError(f"made: {kind} is none of map, registers, format, enum")
        return f"{head}\n{table}\n\n{end}"

    return _BLOCK.sub(block, text)


def write():
    """Brings the tables of all pages up to date."""
    for page in PAGES:
        path = ROOT / page
        path.write_text(made(path.read_text()))


def html(target) -> list[Path]:
    """The register manuals of a system as folders with an index.html, one a register description."""
    key = cache.file_digest(Path(registers.__file__))
    return [
        cache.entry(
            "manuals",
            cache.digest(key, x.map, cache.file_digest(target.folder / x.file)),
            lambda out, x=x: registers.document(target.folder / x.file, x.map, out),
        )
        / "index.html"
        for x in target.registers
    ]
