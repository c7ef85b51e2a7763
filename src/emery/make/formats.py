# SPDX-License-Identifier: Apache-2.0
"""Formats of the RTL's packages for programs: constants, enums and packed structs in C11, C++20 and Python.

The packages of rtl/packages.f, and those a folder has of its own, are the source (read with pyslang); `generate` makes
NAME_formats.h, .hpp and .py of NAME_pkg. All names are those of the package, which are unique. A struct of up to 32 bits is a
word of 32 bits, of up to 64 bits one of 64, of up to 128 bits two of 64, lower half first: in host memory the bytes of a
record, little endian. Structs made of words of 32 bits are structs of `uint32_t` in C and C++, of any length, in the order of
memory. Other wide structs, and fields wider than 64 bits, stay in the RTL. For a struct `desc_t` with a field `len`:

    C        DESC_BITS, DESC_BYTES; desc_len(word) takes the field out, DESC_LEN(value) is the field in its place, a constant
             for a constant; where there are two words desc_len(words), desc_set_len(words, value)
    C++      namespace NAME_pkg: struct desc_t with len() and set_len(value), read(bytes) and write(bytes)
    Python   desc_t.pack(len=...) -> int, desc_t.unpack(int) -> dict

A field that is an array has an index: C and C++ `place(i)`, Python a list. An enumerator's name in words ("null_address" for
ErrNullAddress: without what all names of the enum begin with) is error_name(code) in C++.
"""

import importlib.util
import re
from dataclasses import dataclass
from functools import cache as remember
from pathlib import Path
from types import ModuleType

from emery.common import ROOT, UserError, nearest
from emery.make import cache

_WIDEST = 128
KEPT = {"class", "delete", "new", "operator", "read", "register", "template", "union", "word", "write"}  # by C++ or us


@dataclass(frozen=True)
class Field:
    """Where a field of a packed struct lies: lowest bit, bits of an element, elements."""

    low: int
    width: int
    count: int = 1
    enum: str = ""  # of the same package


@dataclass(frozen=True)
class Record:
    """A packed struct, as a number."""

    name: str
    bits: int
    fields: dict[str, Field]

    def pack(self, **values) -> int:
        """The number; what is not given is 0. A field whose name Python keeps for itself has a `_` behind it."""
        word = 0
        for name, value in values.items():
            field = self.fields[name if name in self.fields else name.removesuffix("_")]
            elements = value if field.count > 1 else [value]
            if len(elements) > field.count:
                raise ValueError(f"{self.name}.{name}: {len(elements)} elements, there are {field.count}")
            for i, element in enumerate(elements):
                if not 0 <= element < 1 << field.width:
                    raise ValueError(f"{self.name}.{name}: {int(element)} does not fit {field.width} bits")
                word |= int(element) << (field.low + i * field.width)
        return word

    def unpack(self, word: int) -> dict[str, int | list[int]]:
        """The fields of a number."""
        found = {}
        for name, x in self.fields.items():
            elements = [word >> (x.low + i * x.width) & ((1 << x.width) - 1) for i in range(x.count)]
            found[name] = elements if x.count > 1 else elements[0]
        return found


@dataclass(frozen=True)
class Package:
    """What a package of the RTL says."""

    name: str
    constants: dict[str, int]
    enums: dict[str, dict[str, int]]
    records: dict[str, Record]

    @property
    def stem(self) -> str:
        """Its name without `_pkg`."""
        return self.name.removesuffix("_pkg")


def package_files() -> list[str]:
    """The packages of rtl/, in the order they depend on each other."""
    lines = (ROOT / "rtl" / "packages.f").read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _field(field, package: str) -> Field:
    kind, count = field.type.canonicalType, 1
    element = getattr(kind, "elementType", None)
    if element is not None and element.bitWidth > 1:
        kind, count = element.canonicalType, field.type.bitWidth // element.bitWidth
    enum = str(field.type).split("::") if kind.isEnum else [""]
    return Field(field.bitOffset, kind.bitWidth, count, enum[-1] if enum[0] == package else "")


def _package(symbol) -> Package:
    constants, enums, records = {}, {}, {}
    for member in symbol:
        kind = type(member).__name__
        if kind == "ParameterSymbol" and member.type.isIntegral and member.type.bitWidth <= 64:
            constants[member.name] = int(member.value.value)
        elif kind == "TypeAliasType":
            of = member.canonicalType
            if of.isEnum:
                enums[member.name] = {x.name: int(x.value.value) for x in of}
            elif of.isStruct and of.isIntegral:  # packed: the others have no bits of their own
                fields = {x.name: _field(x, symbol.name) for x in of}
                records[member.name] = Record(member.name, of.bitWidth, fields)
    return Package(symbol.name, constants, enums, records)


def _sources(folder: Path | None) -> dict[str, Path]:
    own = sorted(folder.rglob("*_pkg.sv")) if folder else []
    return {x.stem: x for x in (*(ROOT / name for name in package_files()), *own)}


@remember
def packages(folder: Path | None = None) -> dict[str, Package]:
    """All packages, elaborated: those of rtl/ and those in a folder."""
    from pyslang import DiagnosticEngine
    from pyslang.ast import Compilation
    from pyslang.syntax import SyntaxTree

    compilation = Compilation()
    files = _sources(folder)
    for path in files.values():
        compilation.addSyntaxTree(SyntaxTree.fromFile(str(path)))
    errors = [x for x in compilation.getAllDiagnostics() if x.isError()]
    if errors:
        text = DiagnosticEngine.reportAll(compilation.sourceManager, errors[:1]).splitlines()[0]
        raise UserError(text.replace(f"{ROOT}/", ""))
    return {x.name: _package(x) for x in compilation.getPackages() if x.name in files}


def words_of(name: str) -> list[str]:
    """The words of an UpperCamelCase name, in lower case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower().split()


def in_words(enum: dict[str, int]) -> dict[str, str]:
    """The names of an enum's members in words, without what all begin with."""
    names = {name: words_of(name) for name in enum}
    while len(names) > 1 and len({x[0] for x in names.values()}) == 1 and min(map(len, names.values())) > 1:
        names = {name: x[1:] for name, x in names.items()}
    return {name: "_".join(x) for name, x in names.items()}


def _shown(package: Package) -> list[Record]:
    return [x for x in package.records.values() if x.bits <= _WIDEST or is_words(x)]


def _storage(record: Record) -> tuple[int, int]:
    """Bits of the words that hold a record, and how many there are."""
    bits = 32 if record.bits <= 32 else 64
    return bits, -(-record.bits // bits)


def _accessible(record: Record) -> dict[str, Field]:
    """The fields that accessors are made for."""
    single = _storage(record)[1] == 1
    return {name: x for name, x in record.fields.items() if x.width <= 64 and (single or x.count == 1)}


def _stem(name: str) -> str:
    return re.sub(r"_[te]$", "", name)


def _number(value: int) -> str:
    return (hex(value) if value > 9 else str(value)) + ("u" if value >> 31 else "")


def _mask(width: int, bits: int) -> str:
    return hex((1 << width) - 1) + ("u" if bits == 32 else "ull")


def _get(words: list[str], bits: int, field: Field) -> str:
    """The value of a field in words of so many bits."""
    if field.count > 1:
        return f"{words[0]} >> ({field.low} + {field.width} * i) & {_mask(field.width, bits)}"
    first, shift = divmod(field.low, bits)
    text = f"{words[first]} >> {shift}" if shift else words[first]
    if shift + field.width > bits:
        text = f"({text} | {words[first + 1]} << {bits - shift})"
    return text if shift + field.width == bits else f"{text} & {_mask(field.width, bits)}"


def _set(words: list[str], bits: int, field: Field) -> str:
    """Statements that put `value` into a field."""
    mask = _mask(field.width, bits)
    if field.count > 1:
        at = f"({field.low} + {field.width} * i)"
        return f"{words[0]} = ({words[0]} & ~({mask} << {at})) | (value & {mask}) << {at};"
    first, shift = divmod(field.low, bits)
    if field.width == bits and not shift:
        return f"{words[first]} = value;"
    text = f"{words[first]} = ({words[first]} & ~({mask} << {shift})) | (value & {mask}) << {shift};"
    if shift + field.width > bits:
        rest = bits - shift
        text += f" {words[first + 1]} = ({words[first + 1]} & ~({mask} >> {rest})) | (value & {mask}) >> {rest};"
    return text


def _c(package: Package) -> str:
    guard = f"EMERY_{package.stem.upper()}_FORMATS_H"
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// Made from {package.name}."]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>"]
    small = [f"  {name} = {_number(x)}," for name, x in package.constants.items() if not x >> 31]
    lines += ["", "enum {", *small, "};"] if small else []
    lines += [f"#define {name} {_number(x)}" for name, x in package.constants.items() if x >> 31]
    for name, enum in package.enums.items():
        lines += ["", f"enum {name} {{", *(f"  {x} = {_number(value)}," for x, value in enum.items()), "};"]
    for record in _shown(package):
        lines += ["", f"// {record.name}", *_c_record(record)]
    return "\n".join([*lines, "", f"#endif  // {guard}", ""])


def is_words(record: Record) -> bool:
    """Whether a record is made of words of 32 bits: a struct in C and C++."""
    return record.bits > 32 and all(x.width == 32 for x in record.fields.values())


def _words(record: Record, name: str, word: str) -> list[str]:
    fields = sorted(record.fields.items(), key=lambda x: x[1].low)
    members = [f"  {word} {member}{f'[{x.count}]' if x.count > 1 else ''};" for member, x in fields]
    return [f"struct {name} {{", *members, "};"]


def _c_record(record: Record) -> list[str]:
    if is_words(record):
        return _words(record, _stem(record.name), "uint32_t")
    stem, (bits, count) = _stem(record.name), _storage(record)
    word, upper = f"uint{bits}_t", stem.upper()
    lines = [f"enum {{ {upper}_BITS = {record.bits}, {upper}_BYTES = {-(-record.bits // 8)} }};"]
    for name, field in _accessible(record).items():
        if count > 1:
            words = [f"words[{i}]" for i in range(count)]
            lines.append(f"static inline {word} {stem}_{name}(const {word}* words) {{ return {_get(words, bits, field)}; }}")
            body = _set(words, bits, field)
            lines.append(f"static inline void {stem}_set_{name}({word}* words, {word} value) {{ {body} }}")
        else:
            index, shift = ("i, ", f"({field.low} + {field.width} * (i))") if field.count > 1 else ("", str(field.low))
            lines.append(f"#define {upper}_{name.upper()}({index}value) (({word})(value) << {shift})")
            index = ", unsigned i" if field.count > 1 else ""
            lines.append(f"static inline {word} {stem}_{name}({word} word{index}) {{ return {_get(['word'], bits, field)}; }}")
    return lines


def _cpp_type(field: Field) -> str:
    if field.enum:
        return field.enum
    return "bool" if field.width == 1 else f"std::uint{max(8, 1 << (field.width - 1).bit_length())}_t"


def _cpp(package: Package) -> str:
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// Made from {package.name}.", "#pragma once", ""]
    lines += ["#include <cstdint>", "#include <cstring>", "#include <string_view>", ""]
    lines += [f"namespace emery::{package.name} {{", ""]
    for name, x in package.constants.items():
        lines.append(f"inline constexpr std::uint{64 if x >> 32 else 32}_t {name} = {_number(x)};")
    for name, enum in package.enums.items():
        size = 8 if max(enum.values()) < 256 else 32
        lines += ["", f"enum {name} : std::uint{size}_t {{", *(f"  {x} = {_number(value)}," for x, value in enum.items()), "};"]
        lines += [f"constexpr std::string_view {_stem(name)}_name(unsigned value) {{", "  switch (value) {"]
        lines += [f'    case {x}: return "{text}";' for x, text in in_words(enum).items()]
        lines += ['    default: return "unknown";', "  }", "}"]
    for record in _shown(package):
        lines += ["", *_cpp_record(record)]
    return "\n".join([*lines, "", f"}}  // namespace emery::{package.name}", ""])


def _cpp_record(record: Record) -> list[str]:
    if is_words(record):
        return _words(record, record.name, "std::uint32_t")
    bits, count = _storage(record)
    words = [f"word[{i}]" for i in range(count)] if count > 1 else ["word"]
    lines = [f"struct {record.name} {{", f"  static constexpr unsigned kBits = {record.bits}, kBytes = {-(-record.bits // 8)};"]
    lines.append(f"  std::uint{bits}_t word{'[2]' if count > 1 else ''} = {{}};")
    for name, field in _accessible(record).items():
        kind, index = _cpp_type(field), "unsigned i" if field.count > 1 else ""
        own = name + "_" if name in KEPT else name
        lines.append(f"  constexpr {kind} {own}({index}) const {{ return static_cast<{kind}>({_get(words, bits, field)}); }}")
        body = _set(words, bits, field)
        lines.append(
            f"  constexpr {record.name}& set_{name}({index and index + ', '}std::uint{bits}_t value) {{ {body} return *this; }}"
        )
    lines += [f"  static {record.name} read(const void* from) {{", f"    {record.name} record;"]
    lines += ["    std::memcpy(&record.word, from, kBytes);", "    return record;", "  }"]
    lines += ["  void write(void* to) const { std::memcpy(to, &word, kBytes); }", "};"]
    return lines


def _python(package: Package) -> str:
    lines = ["# SPDX-License-Identifier: Apache-2.0", f'"""Made from {package.name}."""', "", "from enum import IntEnum", ""]
    lines += ["from emery.make.formats import Field, Record", ""]
    lines += [f"{name} = {_number(x).rstrip('u')}" for name, x in package.constants.items()]
    for name, enum in package.enums.items():
        lines += ["", "", f"class {name}(IntEnum):", *(f"    {x} = {value}" for x, value in enum.items()), "", ""]
        lines += [f"{x} = {name}.{x}" for x in enum]
    for record in package.records.values():
        lines += ["", f"{record.name} = Record(", f'    "{record.name}",', f"    {record.bits},", "    {"]
        lines += [f'        "{name}": Field({x.low}, {x.width}, {x.count}),' for name, x in record.fields.items()]
        lines += ["    },", ")"]
    return "\n".join([*lines, ""])


@remember
def generate(names: tuple[str, ...], folder: Path | None = None) -> Path:
    """A directory with what programs need of these packages: those of rtl/, and those that lie in `folder`."""
    files = _sources(folder)
    for name in names:
        if name not in files:
            raise UserError(f"formats: there is no package {name}{nearest(name, files)}")

    def make(out: Path):
        found = packages(folder)
        for package in (found[x] for x in names):
            for suffix, text in ((".h", _c), (".hpp", _cpp), (".py", _python)):
                (out / f"{package.stem}_formats{suffix}").write_text(text(package))

    content = [(name, cache.file_digest(x)) for name, x in files.items()]
    return cache.entry("formats", cache.digest(cache.file_digest(Path(__file__)), names, content), make)


@remember
def load(name: str, folder: Path | None = None) -> ModuleType:
    """The formats of a package as a Python module."""
    stem = name.removesuffix("_pkg")
    spec = importlib.util.spec_from_file_location(f"{stem}_formats", generate((name,), folder) / f"{stem}_formats.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
