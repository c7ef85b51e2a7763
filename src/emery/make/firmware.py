# SPDX-License-Identifier: Apache-2.0
"""Firmware for a system's cores: compiled when the cross compiler is here, else as it was built before.

A firmware folder has a `build.toml` (compiler, flags, variants and their sources) and `prebuilt/`: an ELF file for each variant
and `sources.txt`, the digest of the sources they were built from. `./emery firmware` refreshes those.
"""

import shutil
import sys
import tomllib
from pathlib import Path

from emery.common import UserError
from emery.make import cache, toolchain

_KINDS = (".c", ".h", ".S", ".ld")


def _recipe(folder: Path) -> dict:
    return tomllib.loads((folder / "build.toml").read_text())


def variants(folder: Path) -> list[str]:
    """What can be built of the firmware in this folder."""
    return list(_recipe(folder)["variants"])


def sources_digest(folder: Path) -> str:
    """Names the content of a firmware folder: sources, linker script, recipe."""
    files = sorted(x for x in folder.iterdir() if x.suffix in _KINDS or x.name == "build.toml")
    return cache.digest([(x.name, cache.file_digest(x)) for x in files])


def _compile(folder: Path, variant: str, output: Path):
    recipe = _recipe(folder)
    chosen = recipe["variants"][variant]
    arguments = [*recipe["flags"], *chosen["flags"], *recipe["sources"], *chosen["sources"], "-o", str(output)]
    toolchain.cross_compile(recipe["compiler"], arguments, folder, f"firmware {variant}")


def build(folder: Path, variant: str) -> Path:
    """The ELF file of a variant of the firmware in this folder."""
    recipe = _recipe(folder)
    sources = sources_digest(folder)
    built = folder / "prebuilt" / f"{variant}.elf"
    stamp = folder / "prebuilt" / "sources.txt"
    shipped = built.is_file() and stamp.is_file() and stamp.read_text().strip() == sources
    if not shipped or toolchain.cross_compiler(recipe["compiler"]):
        key = cache.digest(recipe["compiler"], sources, variant)
        return cache.entry("firmware", key, lambda work: _compile(folder, variant, work / "firmware.elf")) / "firmware.elf"
    print(f"emery: firmware {variant} as it was built before ({recipe['compiler']} is not installed)", file=sys.stderr)
    return built


def main(folder: Path):
    """Builds all variants anew and puts them where those look who have no compiler."""
    wanted = _recipe(folder)["compiler"]
    if not toolchain.cross_compiler(wanted):
        raise UserError(f"{wanted} is not installed: start Emery with ./emery, or `pip install {wanted}`")
    target = folder / "prebuilt"
    target.mkdir(exist_ok=True)
    for variant in variants(folder):
        shutil.copyfile(build(folder, variant), target / f"{variant}.elf")
        print(f"{variant}: {(target / f'{variant}.elf').stat().st_size} bytes")
    (target / "sources.txt").write_text(sources_digest(folder) + "\n")
