# SPDX-License-Identifier: Apache-2.0
"""Boards: folders of boards/ with a `board.toml`, a top of that name and its pins. Read with the standard library alone."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from emery.common import ROOT, UserError, nearest

FOLDER = ROOT / "boards"


@dataclass(frozen=True)
class Board:
    """What a `board.toml` says."""

    name: str
    title: str
    device: str
    place: tuple[str, ...]  # the device, as nextpnr is told
    pins: str
    seed: int
    files: tuple[str, ...]  # packages besides those of rtl/
    dirs: tuple[str, ...]  # where its modules are, besides rtl/ and its own folder
    cells: str  # folder of modules that stand for the vendor's cells
    program: dict[str, str]
    load: str

    @property
    def folder(self) -> Path:
        """Where it is."""
        return FOLDER / self.name


def names() -> list[str]:
    """The boards there are."""
    return sorted(x.parent.name for x in FOLDER.glob("*/board.toml"))


def load(name: str) -> Board:
    """A board by its name."""
    if name not in names():
        raise UserError(f"there is no board {name}{nearest(name, names())}")
    said = tomllib.loads((FOLDER / name / "board.toml").read_text())
    return Board(name=name, **{key: tuple(x) if isinstance(x, list) else x for key, x in said.items()})
