# SPDX-License-Identifier: Apache-2.0
"""`./emery export`: blocks and systems for a project of one's own, as a FuseSoC library that needs nothing of Emery.

Each file of RTL is a core of its own, `emery:ROOM:NAME`, which names those it needs: what they are is read from the sources
(emery.check.structure), so that nobody writes a core file. A system is `emery:systems:NAME`, with its generated registers and
its parameters as they were set.
"""

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from emery import __version__, system
from emery.check import blocks, clocks, constraints, structure
from emery.common import ROOT, UserError, nearest
from emery.make import build, formats

_INCLUDE = re.compile(r'^\s*`include\s+"([^"]+)"', re.M)
# What Verilator warns about and Emery allows (emery.check.testing): parts of a bus that are not used, outputs left open, words
# of C++; in generated registers unnamed blocks; registers that begin with the configuration.
_ALLOWED = ("UNUSEDSIGNAL", "UNUSEDPARAM", "PINCONNECTEMPTY", "SYMRSVDWORD", "GENUNNAMED", "PROCASSINIT")
_CONSTRAINTS = {"vivado": "xdc", "quartus": "sdc"}
_FILE_TYPES = {"vivado": "xdc", "quartus": "SDC"}  # as FuseSoC calls them
_LINT = ("-Wall", *(f"-Wno-{x}" for x in _ALLOWED), "--timescale", "1ns/1ps")


@dataclass(frozen=True)
class Core:
    """What a core file says. Sources are read from `files`, by the name they have beside the core file."""

    name: str  # emery:ROOM:NAME
    folder: str  # where it goes in the library
    about: str
    files: dict[str, Path]
    depend: list[str] = field(default_factory=list)
    top: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    constraints: dict[str, str] = field(default_factory=dict)  # tool: what is in the file for it

    @property
    def base(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(":")[2]

    def text(self) -> str:
        """The core file (CAPI 2)."""
        lines = ["CAPI=2:", "# SPDX-License-Identifier: Apache-2.0", f"name: {self.name}:{__version__}"]
        lines += [f"description: {_quoted(self.about)}", "", "filesets:", "  rtl:", "    files:"]
        for name in self.files:
            header = ": {is_include_file: true, file_type: systemVerilogSource}" if name.endswith(".svh") else ""
            lines.append(f"      - {name}{header or ': {file_type: systemVerilogSource}'}")
        if self.depend:
            lines += ["    depend:", *(f"      - {x}" for x in self.depend)]
        for tool in self.constraints:
            name, kind = self.constraint_file(tool), _FILE_TYPES[tool]
            lines += [f"  {tool}:", "    files:", f"      - {name}: {{file_type: {kind}}}"]
        sets = ["rtl", *(f'"tool_{x}? ({x})"' for x in self.constraints)]
        lines += ["", "targets:", "  default: &default", f"    filesets: [{', '.join(sets)}]"]
        if self.top:
            lines += [f"    toplevel: {self.top}"]
            lines += [f"    parameters: [{', '.join(self.parameters)}]"] if self.parameters else []
            lines += ["  lint:", "    <<: *default", "    flow: lint", "    flow_options:", "      tool: verilator"]
            lines += [f"      verilator_options: [{', '.join(_LINT)}]"]
        if self.parameters:
            lines += ["", "parameters:"]
            for name, value in self.parameters.items():
                kind = "int" if re.fullmatch(r"-?\d+", value) else "str"
                shown = value if kind == "int" else _quoted(value.strip('"'))
                lines += [f"  {name}: {{datatype: {kind}, default: {shown}, paramtype: vlogparam}}"]
        return "\n".join([*lines, ""])

    def constraint_file(self, tool: str) -> str:
        """Its name."""
        return f"{self.top}.{_CONSTRAINTS[tool]}"

    def write(self, library: Path):
        """Puts the core file and its sources into a library."""
        folder = library / self.folder
        for name, source in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name)
        for tool, text in self.constraints.items():
            (folder / self.constraint_file(tool)).write_text(text)
        (folder / f"{self.base}.core").write_text(self.text())


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _about(path: Path) -> str:
    """The first sentence of what a file's head says."""
    words = []
    for line in path.read_text().splitlines():
        if line.startswith("///"):
            words.append(line.removeprefix("///").strip())
        elif words:
            break
    told = re.match(r".*?[.:](?= |$)", " ".join(words))
    return (told[0] if told else " ".join(words)).rstrip(".:") or path.name


class Library:
    """The cores of this checkout's RTL."""

    def __init__(self):
        self.design = structure.read()
        self.files: dict[str, Path] = {}  # what a core of rtl/ is made of, by its name
        self.owner: dict[str, str] = {}  # core of a module, package or header
        found = {x.name: x.path for x in self.design.blocks.values()}
        found |= {Path(x).stem: Path(x) for x in formats.package_files()}
        headers = {y for x in self.design.modules.values() for y in _INCLUDE.findall((ROOT / x.path).read_text())}
        found |= {x.name: x.relative_to(ROOT) for x in ROOT.glob("rtl/*/*.svh") if x.name in headers}
        for name, path in found.items():
            self.owner[name] = f"emery:{path.parts[1]}:{path.stem if path.suffix == '.sv' else path.name.replace('.', '_')}"
            self.files[self.owner[name]] = ROOT / path

    def needs(self, path: Path) -> list[str]:
        """The cores that a file needs."""
        here = path.relative_to(ROOT)
        inside = [x for x in self.design.modules.values() if x.path == here]
        names = {y for x in inside for y in x.children | x.packages} | self.design.package_uses.get(path.stem, set())
        names |= set(_INCLUDE.findall(path.read_text()))
        return sorted({self.owner[x] for x in names & self.owner.keys()} - {self.owner.get(path.stem)})

    def block(self, name: str) -> Core:
        """The core of a file of rtl/, by the core's name."""
        path = self.files[name]
        module = self.design.blocks.get(path.stem)
        # Tools take no interface at the ports of a top.
        plain = module and not module.is_interface and not any(x.interface for x in module.ports)
        folder = str(path.parent.relative_to(ROOT))
        return Core(name, folder, _about(path), {path.name: path}, self.needs(path), path.stem if plain else "")

    def below(self, names: list[str]) -> list[str]:
        """These cores of rtl/ and all that they need."""
        seen, todo = [], list(names)
        while todo:
            if (name := todo.pop()) not in seen:
                seen.append(name)
                todo += self.needs(self.files[name])
        return sorted(seen)

    def system(self, chosen: system.System, values: dict) -> Core:
        """The core of a system with these parameter values."""
        rtl = build.system_rtl(chosen, values)
        subject = blocks.Subject(chosen.name, chosen.name, rtl, blocks.clocks(chosen, values))
        generated = [x for y in rtl.dirs if Path(y).is_absolute() for x in Path(y).glob("*.sv")]
        # A package comes before what uses it.
        files = {f"registers/{x.name}": x for x in sorted(generated, key=lambda x: (not x.stem.endswith("_pkg"), x.name))}
        inside = [self.design.modules[x].path for x in self.design.below({rtl.top})]
        own = sorted(ROOT / x for x in inside if x.parts[0] == "systems")
        folder = f"systems/{chosen.folder.name}"
        needs = sorted({y for x in own for y in self.needs(x)})
        return Core(
            f"emery:systems:{chosen.name}",
            folder,
            chosen.title,
            files | {x.name: x for x in own},
            needs,
            rtl.top,
            dict(rtl.parameters),
            constraints.files(subject, clocks.crossings(), clocks.outside()),
        )


def export(folder: Path, names: list[str], settings: list[str]) -> list[Core]:
    """Writes a library with these blocks and systems (all, without names) and what they need; gives its cores."""
    library = Library()
    known = {x: library.owner[x] for x in library.design.blocks}
    systems = system.names()
    for name in names:
        if name not in known and name not in systems:
            raise UserError(f"export: no system and no block {name}{nearest(name, [*known, *systems], systems)}")
    if settings and [x for x in names if x in systems] != names[:1]:
        raise UserError("export: --set is for one system")
    cores = []
    for name in systems:
        if not names or name in names:
            chosen = system.load(name)
            cores.append(library.system(chosen, chosen.values(settings)))
    wanted = [known[x] for x in names if x in known] if names else list(library.files)
    cores += map(library.block, library.below([*wanted, *(y for x in cores for y in x.depend)]))
    for core in cores:
        core.write(folder)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    return cores
