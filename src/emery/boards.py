# SPDX-License-Identifier: Apache-2.0
"""Boards: folders of boards/ with a `board.toml` or `project.toml`, top of that name, pins. Read with the standard library."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from emery.common import ROOT, UserError, nearest

FOLDER = ROOT / "boards"


@dataclass(frozen=True)
class _Known:
    """What is known of every board."""

    name: str
    title: str
    device: str

    @property
    def folder(self) -> Path:
        """Where it is."""
        return FOLDER / self.name


@dataclass(frozen=True)
class Board(_Known):
    """A board whose bitstream is made here: what a `board.toml` says."""

    packages: ClassVar = ("run", "test", "board")  # lists that its command needs (requirements/)
    place: tuple[str, ...]  # the device, as nextpnr is told
    pins: str
    seed: int
    files: tuple[str, ...]  # packages besides those of rtl/
    dirs: tuple[str, ...]  # where its modules are, besides rtl/ and its own folder
    cells: str  # folder of modules that stand for the vendor's cells
    program: dict[str, str]
    load: str


@dataclass(frozen=True)
class Project(_Known):
    """A board whose bitstream only its vendor's tool makes: what a `project.toml` says."""

    packages: ClassVar = ("run", "test")
    system: str
    settings: dict  # parameters of the system
    identity: dict[str, str]  # of its PCI function: names of rtl/pcie/ids_pkg.sv
    files: tuple[str, ...]  # besides those of the system and its own folder
    scripts: tuple[str, ...]


_KINDS = {"board.toml": Board, "project.toml": Project}


def names(kind: type | None = None) -> list[str]:
    """The boards there are, of one kind or of any."""
    return sorted(x.parent.name for file, y in _KINDS.items() if kind in (None, y) for x in FOLDER.glob(f"*/{file}"))


def load(name: str) -> Board | Project:
    """A board by its name."""
    if name not in names():
        raise UserError(f"there is no board {name}{nearest(name, names())}")
    ((path, kind),) = [(x, y) for file, y in _KINDS.items() if (x := FOLDER / name / file).exists()]
    said = tomllib.loads(path.read_text())
    return kind(name=name, **{key: tuple(x) if isinstance(x, list) else x for key, x in said.items()})
