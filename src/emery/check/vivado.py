# SPDX-License-Identifier: Apache-2.0
"""`./emery board` for a board whose bitstream only its vendor's tool makes: a folder with all that tool is to be given.

RTL of the system and of the board, registers generated, pins, the exceptions of each clock crossing (of the system as an
instance), and what the IP cores follow from (settings.tcl). Nothing here runs the tool; tests elaborate the top with models of
the cores, and hold the pins against its ports.
"""

import shutil
from pathlib import Path

from emery import system
from emery.boards import Project
from emery.check import blocks, clocks, constraints
from emery.common import ROOT, UserError, in_checkout
from emery.export import Library
from emery.make import build, formats, registers


def _values(project: Project) -> dict:
    """The system's parameters."""
    return system.load(project.system).values([f"{name}={value}" for name, value in project.settings.items()])


def inner(project: Project) -> build.Rtl:
    """The system's RTL."""
    return build.system_rtl(system.load(project.system), _values(project))


def rtl(project: Project) -> build.Rtl:
    """All of it but the vendor's cells and cores."""
    inside = inner(project)
    return build.Rtl(top=project.name, files=(*inside.files, *_own(project)), dirs=inside.dirs)


def _own(project: Project) -> list[str]:
    """The board's own files."""
    return [*project.files, in_checkout(project.folder / f"{project.name}.sv")]


def settings(project: Project) -> dict[str, str]:
    """What the scripts need to know of the design: the part, and the PCI function as the bench's configuration space has it."""
    target = system.load(project.system)
    (described,) = target.registers
    space = registers.elaborate(target.folder / described.file, described.map)
    bar = 1 << (space.size - 1).bit_length()
    at = {
        name: space.find_by_path(path).absolute_address
        for name, path in (("msix_table", "msix"), ("msix_pba", "msix.pending[0]"))
    }
    ids = formats.packages()["ids_pkg"].constants
    vectors = space.find_by_path("msix.entry").array_dimensions[0]
    return {
        "top": project.name,
        "part": project.device,
        "scope": inner(project).top,
        "vendor_id": f"{ids['IdVendor']:04x}",
        "device_id": f"{ids[project.identity['device']]:04x}",
        "class_code": f"{ids[project.identity['class']]:06x}",
        "bar0_megabytes": str(bar >> 20),
        "msix_last": f"{vectors - 1:03X}",
        **{name: f"{address:08x}" for name, address in at.items()},
    }


def write(project: Project, folder: Path):
    """Puts the project into a folder, which is made."""
    if folder.exists():
        raise UserError(f"{folder} is already there")
    chosen, values, inside = system.load(project.system), _values(project), inner(project)
    library = Library()
    whole = library.system(chosen, values)
    own = [ROOT / x for x in _own(project)]
    needed = library.below([*whole.depend, *(y for x in own for y in library.needs(x))])
    sources = {x.name: x for x in (*whole.files.values(), *(y for x in needed for y in library.block(x).files.values()), *own)}
    (folder / "rtl").mkdir(parents=True)
    for source in sources.values():
        shutil.copyfile(source, folder / "rtl" / source.name)
    for name in project.scripts:
        shutil.copyfile(project.folder / name, folder / name)
    subject = blocks.Subject(chosen.name, chosen.name, inside, blocks.clocks(chosen, values))
    (folder / "crossings.xdc").write_text(constraints.inside(subject, clocks.crossings(), clocks.outside()))
    # A package comes before what uses it.
    packages = [Path(x).name for x in inside.files]
    ordered = sorted(
        sources, key=lambda x: (packages.index(x) if x in packages else len(packages), not x.endswith("_pkg.sv"), x)
    )
    said = settings(project) | {"sources": " ".join(ordered)}
    lines = [f"set {name} {{{value}}}" for name, value in said.items()]
    (folder / "settings.tcl").write_text("\n".join(["# SPDX-License-Identifier: Apache-2.0", *lines, ""]))
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
