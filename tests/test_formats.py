# SPDX-License-Identifier: Apache-2.0
"""Formats have one source: names are unique, all languages agree on every field, and nobody writes a number down again."""

import ast
import contextlib
import re
import subprocess
from pathlib import Path

import pytest
from systemrdl.node import RegNode

from emery import system
from emery.check import testing
from emery.common import ROOT, UserError
from emery.make import formats, registers

FOLDERS = [None, ROOT / "systems" / "core_nic" / "firmware", ROOT / "systems" / "tile_router" / "programs"]


def everything() -> dict[str, formats.Package]:
    """The packages of rtl/ and those that systems have of their own."""
    return {name: x for folder in FOLDERS for name, x in formats.packages(folder).items()}


def names(package: formats.Package) -> list[str]:
    """The types, constants and enumerators of a package."""
    return [*package.constants, *package.enums, *package.records, *(x for enum in package.enums.values() for x in enum)]


def test_every_package_is_looked_at():
    own = {x.stem for x in ROOT.glob("systems/**/*_pkg.sv")}
    assert set(everything()) == own | {Path(x).stem for x in formats.package_files()}


def test_names_are_unique():
    seen = {}
    for package in everything().values():
        for name in names(package):
            assert name not in seen, f"{name} of {package.name} is one of {seen[name]} too"
            seen[name] = package.name


def test_no_name_comes_from_two_packages_at_once():
    """Where packages are imported whole and two have a name, it is written with its package (address packages included)."""
    found = {x.name: set(names(x)) for x in everything().values()}
    for target in map(system.load, system.names()):
        for x in target.registers:
            for path in registers.generate(target.folder / x.file, x.blocks, x.map).glob("*_map_pkg.sv"):
                found[path.stem] = set(re.findall(r"localparam int (\w+)", path.read_text()))
    for path in testing.sources(("*.sv",)):
        text = re.sub(r"//.*", "", path.read_text())
        whole = [x for x in re.findall(r"\b(\w+_pkg)::\*", text) if x in found]
        for i, one in enumerate(whole):
            for other in whole[i + 1 :]:
                for name in (found[one] & found[other]) if one != other else ():
                    assert not re.search(rf"(?<![\w:.]){name}\b", text), f"{path}: {name} of {one} or of {other}"


def compiled(tmp_path: Path, name: str, text: str, *words: str) -> Path:
    source = tmp_path / name
    source.write_text(text)
    folders = [f"-I{formats.generate(tuple(formats.packages(x)), x)}" for x in FOLDERS]
    words = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", *words]
    done = subprocess.run(
        ["g++" if name.endswith("pp") else "gcc", *words, *folders, source, "-o", tmp_path / "a"], capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return tmp_path / "a"


def samples(record: formats.Record):
    """Each field by itself, full and with one bit: its name, the index in it, a value, the record that holds nothing else."""
    for name, field in record.fields.items():
        for i in range(field.count):
            for value in {(1 << field.width) - 1, 1 << (field.width // 2)}:
                whole = [0] * i + [value] if field.count > 1 else value
                yield name, field, i, value, record.pack(**{name: whole})


def test_all_c_headers_go_together(tmp_path):
    lines = [f'#include "{x.stem}_formats.h"' for x in everything().values()]
    compiled(tmp_path, "a.c", "\n".join([*lines, "int main(void) { return 0; }", ""]), "-std=c11", "-pedantic")


def test_languages_agree(tmp_path):
    """Python packs what C++ and C take apart, and the other way round."""
    lines, checks = [], []
    for package in everything().values():
        lines += [f'#include "{package.stem}_formats.hpp"']
        for record in package.records.values():
            if record.bits > 128 or formats.is_words(record):
                continue
            for name, field, i, value, word in samples(record):
                if field.width > 64 or (record.bits > 64 and field.count > 1):
                    continue
                get = name + "_" if name in formats.KEPT else name
                at, index = f"{i}, " if field.count > 1 else "", f"{i}" if field.count > 1 else ""
                one = f"emery::{package.name}::{record.name}{{}}.set_{name}({at}{value}u{'ll' if record.bits > 32 else ''})"
                halves = f"one.word[0] == {word & (1 << 64) - 1}ull && one.word[1] == {word >> 64}ull"
                same = halves if record.bits > 64 else f"one.word == {word}ull"
                checks.append(f"  {{ const auto one = {one}; bad += !({same} && one.{get}({index}) == {value}ull); }}")
    body = ["#include <cstdio>", *lines, "int main() {", "  int bad = 0;", *checks, "  return bad != 0; }", ""]
    program = compiled(tmp_path, "a.cpp", "\n".join(body), "-std=c++20")
    assert len(checks) > 600 and subprocess.run([program]).returncode == 0


# Registers that a block answers for by itself: the words it knows, in a package, and where they are described.
@pytest.mark.parametrize(
    ("package", "prefix", "name", "block"),
    [
        ("queue_pkg", "QReg", "host-nic", "desc_queue_regs"),
        ("queue_pkg", "CqReg", "host-nic", "cpl_queue_regs"),
        ("queue_pkg", "StatReg", "host-nic", "stat_regs"),
        ("eth_pkg", "FlowReg", "host-nic", "flow_regs"),
        ("cap_pkg", "RingReg", "capture", "ring_regs"),
        ("direct_pkg", "PeerReg", "direct-router", "peer_regs"),
        ("direct_pkg", "ClassReg", "direct-router", "class_regs"),
        ("direct_pkg", "QueueReg", "direct-router", "queue_regs"),
    ],
)
def test_words_are_those_of_the_register_map(package, prefix, name, block):
    target = system.load(name)
    maps = [registers.elaborate(target.folder / x.file, x.map) for x in target.registers]
    part = next(x for whole in maps for x in whole.descendants(unroll=False) if x.type_name == block)
    described = {x.inst_name: x.raw_address_offset // 4 for x in part.children(unroll=False)}
    found = {
        "_".join(formats.words_of(x.removeprefix(prefix))): value
        for x, value in everything()[package].constants.items()
        if re.match(rf"{prefix}[A-Z]", x)
    }
    assert len(found) > 3 and found == {x: described.get(x) for x in found}


def test_ranges_of_coalescing_are_those_of_the_register_map():
    """What the text of the two registers says is what the RTL keeps them to, and system.toml lets a run set."""
    target = system.load("host-nic")
    (description,) = target.registers
    port = registers.elaborate(target.folder / description.file, "nic_port_regs")
    most = formats.load("queue_pkg")
    for name, bound in (("coalesce_bytes", most.CoalesceMostBytes), ("coalesce_clocks", most.CoalesceMostClocks)):
        text = port.get_child_by_name(name).get_property("desc")
        assert re.search(r"\b0\b[^.,;]*? \.\.\. (\d+)", text)[1] == str(bound), name
    assert target.parameters["coalesce_bytes"].maximum == most.CoalesceMostBytes
    assert target.parameters["coalesce_us"].maximum * 250 == most.CoalesceMostClocks  # at 250 MHz


def own_defaults(text: str, parameters: set[str]) -> list[str]:
    """The parameters for which a bench has a value of its own: it takes them for settings that may be left out."""
    return [x for x in re.findall(r'\bget(?:<[^<>]*>)?\(\s*"([^"]+)",', text) if x in parameters]


def test_defaults_stand_in_system_toml_alone():
    """A parameter without a value is an error of whoever starts the bench, not the bench's to make up."""
    parameters = {name for target in map(system.load, system.names()) for name in target.parameters}
    files = testing.sources(("*.cpp", "*.hpp"))
    found = {x.name: names for x in files if (names := own_defaults(x.read_text(), parameters))}
    assert len(parameters) > 150 and len(files) > 300 and not found
    assert own_defaults('options.get("mps", 256u) + options.get<unsigned>(\n"frames", 0)', parameters) == ["mps"]


def register_offsets() -> dict[str, set[int]]:
    """Where the registers of all systems are, by name: in their map, and in the part of it they are in."""
    found = {}
    for target in map(system.load, system.names()):
        for x in target.registers:
            for node in registers.elaborate(target.folder / x.file, x.map).descendants(unroll=False):
                if isinstance(node, RegNode):
                    at = node.raw_absolute_address
                    found.setdefault(node.inst_name, set()).update((at, at - node.parent.raw_absolute_address))
    return found


def numbers_named(path: Path):
    """The constants a source defines by hand: name and number, `name = 1`, `#define name 1` and, in Python, `a, b = 1, 2`."""
    text = path.read_text()
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in getattr(node, "targets", None) or [node.target]:
                    both = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                    for name, value in zip(target.elts, node.value.elts, strict=False) if both else [(target, node.value)]:
                        if isinstance(name, ast.Name) and isinstance(value, ast.Constant) and type(value.value) is int:
                            yield name.id, value.value
        return
    number = r"\(?(-?[0-9][\w']*)"
    define = rf"^\s*#define\s+(\w+)\s+{number}|(?<![\w.:>])([A-Za-z_]\w*)\s*=\s*{number}\s*[,;}}\n/]"
    for match in re.finditer(define, text, re.MULTILINE):
        with contextlib.suppress(ValueError):  # 1.5, 1e9
            yield match[1] or match[3], int((match[2] or match[4]).replace("'", "").rstrip("uUlL"), 0)


def meant(name: str) -> str:
    """The words of Name, kName, NAME or _NAME, joined by `_`; empty for the name of a variable."""
    name = name.lstrip("_")
    if name.isupper():
        return name.lower()
    name = name[1:] if re.match("k[A-Z]", name) else name
    return "_".join(formats.words_of(name)) if name[0].isupper() else ""


def copies(path: Path, values: dict[str, set[int]], names: set[str] = frozenset()) -> list[str]:
    """What a source defines with the name and the number of something that has a source, or with one of these names."""
    found = [(name, meant(name), x) for name, x in numbers_named(path)]
    return [f"{path.name}: {name} = {x}" for name, words, x in found if x in values.get(words, ()) or words in names]


def test_nothing_is_written_down_again():
    """No constant of a package and no register's address is defined by hand in C, C++ or Python.

    Not so in bench/: it is the world outside the chip and has PCI Express, PCI-X and Ethernet from their standards, not from
    the RTL that it judges.
    """
    values, own = register_offsets(), set()
    for package in everything().values():
        for constants in (package.constants, *package.enums.values()):
            for name, x in constants.items():
                words = formats.words_of(name)
                values.setdefault("_".join(words), set()).add(x)
                own |= {"_".join(words)} if len(words) > 1 else set()  # a single word is anybody's
    files = [x for x in testing.sources(("*.c", "*.h", "*.cpp", "*.hpp", "*.py")) if not x.is_relative_to(ROOT / "bench")]
    assert not (found := [line for x in files for line in copies(x, values, own)]), found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "A, RX_PRODUCER = 1, 0x88  # of the ring"),
        ("a.py", "_RX_PRODUCER: int = 136"),
        ("a.c", "#define RX_PRODUCER 0x88u /* here */"),
        ("a.h", "enum { A, RX_PRODUCER = 0x88 };"),
        ("a.cpp", "constexpr unsigned kRxProducer = 1'36;  // here"),
    ],
)
def test_a_copy_is_found(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text + "\n")
    assert copies(path, {"rx_producer": {0x88}}) and not copies(path, {"rx_producer": {0x80}, "producer": {0x88}})
    assert copies(path, {}, {"rx_producer"})


def test_records():
    record = formats.load("mesh_pkg").header_t
    word = record.pack(user=31, src=0x123, len=7, dest=5)
    assert word == 31 << 27 | 0x123 << 16 | 7 << 11 | 5
    assert record.unpack(word) == {"user": 31, "src": 0x123, "len": 7, "dest": 5}
    with pytest.raises(ValueError, match="header_t.len: 32 does not fit 5 bits"):
        record.pack(len=32)


def test_unknown_package():
    with pytest.raises(UserError, match=r"formats: there is no package queues_pkg \(did you mean queue_pkg"):
        formats.generate(("queues_pkg",))


def test_errors_in_a_package_name_their_line(tmp_path):
    (tmp_path / "a_pkg.sv").write_text("package a_pkg;\n  localparam int X = Y;\nendpackage\n")
    with pytest.raises(UserError, match=r"a_pkg.sv:2:\d+: error: .*'Y'"):
        formats.packages(tmp_path)
