# SPDX-License-Identifier: Apache-2.0
"""Programs for the cores of a system: compiled when they have to be, else as they are shipped, which needs no compiler.

A folder of programs has a `build.toml` (`flags` and `sources` of all, and of each of its `variants`, or `all_sources` of one
that shares none; `formats`: the packages whose headers they include, of rtl/ or of the folder itself) and `prebuilt/`: an ELF
file for each variant and `sources.txt`, the digest of what they were built from. While that is right they are used; else what
is needed is compiled, which the cache keeps. `./emery firmware` writes them anew.

Over a folder may lie files of the user's own (`Overlay`): then it is a folder of both in the cache that programs are built in.
"""

import json
import shutil
import struct
import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from emery.common import UserError
from emery.make import cache, formats, toolchain

_KINDS = (".c", ".h", ".S", ".ld")
_ADDED = "added.toml"  # sources besides those of the recipe
_LOAD, _SYMBOLS, _FUNCTION, _RISCV = 1, 2, 2, bytes((243, 0))  # of ELF


@dataclass(frozen=True)
class Overlay:
    """What lies over a folder of programs: folders whose files take the place of those of their name, and sources besides."""

    folders: tuple[Path, ...] = ()
    sources: tuple[str, ...] = ()


_LAID: ContextVar[dict[Path, Overlay] | None] = ContextVar("overlays", default=None)
_BUILT: ContextVar[set[Path] | None] = ContextVar("built", default=None)


@contextmanager
def laid_over(overlays: dict[Path, Overlay]):
    """Programs that are built inside have these overlays; gives the set of their sources, by the folder's own paths."""
    built: set[Path] = set()
    before = _LAID.set(overlays), _BUILT.set(built)
    try:
        yield built
    finally:
        _LAID.reset(before[0])
        _BUILT.reset(before[1])


def sources(folder: Path) -> Path:
    """Where the files of a folder of programs are, with what lies over it."""
    over = (_LAID.get() or {}).get(folder)
    if over is None:
        return folder

    def make(out: Path):
        for one in (folder, *over.folders):
            shutil.copytree(one, out, dirs_exist_ok=True)
        if over.sources:
            (out / _ADDED).write_text(f"sources = {json.dumps(over.sources)}\n")

    every = [(str(x.relative_to(one)), cache.file_digest(x)) for one in (folder, *over.folders) for x in _files(one)]
    return cache.entry("overlaid", cache.digest(every, over.sources), make)


def _files(folder: Path) -> list[Path]:
    return sorted(x for x in folder.rglob("*") if x.is_file())


def _recipe(folder: Path) -> dict:
    recipe = tomllib.loads((folder / "build.toml").read_text())
    added = folder / _ADDED
    return recipe | {"sources": recipe["sources"] + tomllib.loads(added.read_text())["sources"]} if added.is_file() else recipe


def _sources(recipe: dict, variant: str) -> list[str]:
    chosen = recipe["variants"][variant]
    return chosen.get("all_sources") or [*recipe["sources"], *chosen.get("sources", ())]


def variants(folder: Path) -> list[str]:
    """What can be built in this folder."""
    return list(_recipe(folder)["variants"])


def sources_digest(folder: Path) -> str:
    """Names what programs come from: compiler, sources, linker script, recipe."""
    files = sorted(x for x in folder.iterdir() if x.suffix in _KINDS or x.name in ("build.toml", _ADDED))
    files += sorted(_formats(folder).glob("*.h"))
    return cache.digest(toolchain.cross_wanted(), [(x.name, cache.file_digest(x)) for x in files])


def _formats(folder: Path) -> Path:
    return formats.generate(tuple(_recipe(folder).get("formats", ())), folder)


def is_shipped(folder: Path) -> bool:
    """Whether what is shipped was built from these sources."""
    stamp = folder / "prebuilt" / "sources.txt"
    return stamp.is_file() and stamp.read_text().strip() == sources_digest(folder)


def build(folder: Path, variant: str) -> Path:
    """The ELF file of a variant."""
    own, folder = folder, sources(folder)
    if (built := _BUILT.get()) is not None:
        built |= {own / x for x in _sources(_recipe(folder), variant)}
    shipped = folder / "prebuilt" / f"{variant}.elf"
    return shipped if is_shipped(folder) and shipped.is_file() else compiled(folder, variant)


def compiled(folder: Path, variant: str) -> Path:
    """The ELF file of a variant, compiled here."""
    recipe = _recipe(folder)
    flags = recipe["variants"][variant].get("flags", ())
    arguments = [*recipe["flags"], *flags, *_sources(recipe, variant)]
    arguments.append(f"-I{_formats(folder)}")

    def make(out: Path):
        toolchain.cross_compile([*arguments, "-o", str(out / "program.elf")], folder, f"program {variant}")

    return cache.entry("programs", cache.digest(sources_digest(folder), variant), make) / "program.elf"


def ship(folder: Path):
    """Builds all variants anew and puts them where those look who have no compiler."""
    if not toolchain.cross_compiler():
        wanted = toolchain.cross_wanted()
        raise UserError(f"{wanted} is not installed: start Emery with ./emery, or `pip install {wanted}`")
    target = folder / "prebuilt"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for variant in variants(folder):
        shutil.copyfile(compiled(folder, variant), target / f"{variant}.elf")
        print(f"{variant}: {(target / f'{variant}.elf').stat().st_size} bytes")
    (target / "sources.txt").write_text(sources_digest(folder) + "\n")


def stale(folder: Path) -> list[Path]:
    """What is shipped and differs from what a compiler makes of the sources now."""
    shipped = {x: folder / "prebuilt" / f"{x}.elf" for x in variants(folder)}
    return [y for x, y in shipped.items() if not y.is_file() or y.read_bytes() != compiled(folder, x).read_bytes()]


@dataclass(frozen=True)
class Segment:
    """What is loaded at an address: words, and how many bytes there are to be (what is not in the file is cleared data)."""

    address: int
    room: int
    words: list[int]


@dataclass(frozen=True)
class Symbol:
    """A name in a program."""

    name: str
    address: int
    size: int
    is_function: bool


def segments(elf: Path) -> list[Segment]:
    """What an ELF file wants loaded."""
    data = _contents(elf)
    with _whole(elf):
        found = []
        for at in _table(data, 28, 42):
            kind, offset, address, _, filled, room = struct.unpack_from("<6I", data, at)
            if kind == _LOAD and filled:
                part = struct.unpack_from(f"{filled}s", data, offset)[0] + bytes(-filled % 4)
                found.append(Segment(address, room, list(struct.unpack(f"<{len(part) // 4}I", part))))
        return found


def symbols(elf: Path) -> list[Symbol]:
    """The names in an ELF file, in its order."""
    data = _contents(elf)
    with _whole(elf):
        sections = [struct.unpack_from("<10I", data, at) for at in _table(data, 32, 46)]
        found = []
        for _, kind, _, _, offset, size, link, *_ in sections:
            if kind != _SYMBOLS:
                continue
            names = sections[link][4]
            for name, address, length, info, _, _ in struct.iter_unpack("<3IBBH", data[offset : offset + size]):
                text = data[names + name : data.index(b"\0", names + name)].decode()
                if text:
                    found.append(Symbol(text, address, length, info & 15 == _FUNCTION))
        return found


def words(elf: Path) -> dict[int, list[int]]:
    """The words of an ELF file's segments, by address."""
    return {x.address: x.words for x in segments(elf)}


def _contents(elf: Path) -> bytes:
    try:
        data = elf.read_bytes()
    except OSError as error:
        raise UserError(f"{elf}: {error.strerror}") from error
    if data[:6] != b"\x7fELF\x01\x01" or data[18:20] != _RISCV:
        raise UserError(f"{elf}: not a RISC-V program (ELF, 32 bits)")
    return data


def _table(data: bytes, start: int, size: int) -> range:
    """Where the entries of a table of an ELF file are; where its header says where it is, how large they are and how many."""
    offset, (each, count) = struct.unpack_from("<I", data, start)[0], struct.unpack_from("<HH", data, size)
    return range(offset, offset + each * count, max(each, 1))


@contextmanager
def _whole(elf: Path):
    try:
        yield
    except (struct.error, IndexError, ValueError):
        raise UserError(f"{elf}: damaged, or cut off") from None


def rows(parts: dict[int, list[int]]) -> list[str]:
    """Lines of an address and eight words, in hexadecimal, zeros at the end: what block tests read."""
    lines = []
    for address, words in parts.items():
        words = words + [0] * (-len(words) % 8)
        lines += [f"{address + 4 * i:08x} {' '.join(f'{x:08x}' for x in words[i : i + 8])}" for i in range(0, len(words), 8)]
    return lines
