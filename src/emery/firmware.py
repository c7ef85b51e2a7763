# SPDX-License-Identifier: Apache-2.0
"""Firmware for a system's cores: compiled when the cross compiler is here, else as it was built before.

A firmware folder has a `build.toml` (compiler, flags, variants and their sources) and `prebuilt/`: an ELF file for each variant
and `sources.txt`, the digest of the sources they were built from. `./emery firmware` refreshes those.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

from emery import cache as store
from emery.common import UserError, cache_dir
from emery.toolchain import BuildError

_KINDS = (".c", ".h", ".S", ".ld")


def _recipe(folder: Path) -> dict:
    return tomllib.loads((folder / "build.toml").read_text())


def variants(folder: Path) -> list[str]:
    """What can be built of the firmware in this folder."""
    return list(_recipe(folder)["variants"])


def sources_digest(folder: Path) -> str:
    """Names the content of a firmware folder: sources, linker script, recipe."""
    files = sorted(x for x in folder.iterdir() if x.suffix in _KINDS or x.name == "build.toml")
    return store.digest([(x.name, store.file_digest(x)) for x in files])


@cache
def compiler(wanted: str) -> str:
    """The Python module that is the compiler `NAME==VERSION`; empty when that very version is not here."""
    name, _, version = wanted.partition("==")
    if importlib.util.find_spec(name) is None:
        return ""
    try:
        return name if importlib.metadata.version(name) == version else ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def _compile(folder: Path, variant: str, output: Path):
    recipe = _recipe(folder)
    chosen = recipe["variants"][variant]
    sources = [*recipe["sources"], *chosen["sources"]]
    command = [sys.executable, "-m", compiler(recipe["compiler"]), "cc", *recipe["flags"], *chosen["flags"], *sources]
    work = cache_dir() / "zig"
    environment = dict(os.environ, ZIG_LOCAL_CACHE_DIR=str(work), ZIG_GLOBAL_CACHE_DIR=str(work))
    done = subprocess.run([*command, "-o", str(output)], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.splitlines()
        first = next((x for x in lines if "error:" in x), lines[0] if lines else "no message")
        raise BuildError(f"firmware {variant}: {first}", done.stderr)


def build(folder: Path, variant: str) -> Path:
    """The ELF file of a variant of the firmware in this folder."""
    recipe = _recipe(folder)
    sources = sources_digest(folder)
    if compiler(recipe["compiler"]):
        key = store.digest(recipe["compiler"], sources, variant)
        return store.entry("firmware", key, lambda work: _compile(folder, variant, work / "firmware.elf")) / "firmware.elf"
    built = folder / "prebuilt" / f"{variant}.elf"
    stamp = folder / "prebuilt" / "sources.txt"
    if not built.is_file() or not stamp.is_file() or stamp.read_text().strip() != sources:
        raise UserError(
            f"firmware {variant}: its sources have changed and {recipe['compiler']} is not installed: "
            "`./emery firmware` installs it and builds"
        )
    print(f"emery: firmware {variant} as it was built before ({recipe['compiler']} is not installed)", file=sys.stderr)
    return built


def main(folder: Path):
    """Builds all variants anew and puts them where those look who have no compiler."""
    wanted = _recipe(folder)["compiler"]
    if not compiler(wanted):
        raise UserError(f"{wanted} is not installed: start Emery with ./emery, or `pip install {wanted}`")
    target = folder / "prebuilt"
    target.mkdir(exist_ok=True)
    for variant in variants(folder):
        shutil.copyfile(build(folder, variant), target / f"{variant}.elf")
        print(f"{variant}: {(target / f'{variant}.elf').stat().st_size} bytes")
    (target / "sources.txt").write_text(sources_digest(folder) + "\n")
