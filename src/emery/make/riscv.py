# SPDX-License-Identifier: Apache-2.0
"""C programs for the RV32 cores: compiled with the cross compiler, and shipped built so that none is needed.

A program is named by the digest of all it is made from. The built file that lies beside its source (`built/NAME.hex`) carries
that digest: it is used as long as it is right, else the program is compiled, which the cache keeps.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from emery.common import UserError
from emery.make import cache
from emery.make.toolchain import cross_compile

COMPILER = "ziglang==0.17.0"  # requirements/firmware.txt names it too
_FLAGS = ["-target", "riscv32-freestanding-none", "-O2", "-funroll-loops", "-fomit-frame-pointer", "-ffreestanding"]
_FLAGS += ["-fno-stack-protector", "-nostdlib", "-Wall", "-Wextra", "-Werror"]


@dataclass(frozen=True)
class Program:
    """What a program is made from, in one directory."""

    name: str
    directory: Path
    sources: tuple[str, ...]  # compiled, in this order
    others: tuple[str, ...]  # included; the linker script is the one that ends with .ld
    cpu: str  # zig's -mcpu
    defines: tuple[str, ...] = ()

    def digest(self) -> str:
        """Names what comes out."""
        files = {x: cache.file_digest(self.directory / x) for x in (*self.sources, *self.others)}
        return cache.digest(files, list(self.sources), self.cpu, list(self.defines), _FLAGS, COMPILER)

    @property
    def built(self) -> Path:
        """The file that is shipped."""
        return self.directory / "built" / f"{self.name}.hex"


def words(program: Program) -> dict[int, list[int]]:
    """The program's words, by the address they begin at."""
    digest = program.digest()
    try:
        return _read(program.built.read_text(), digest)
    except (OSError, _StaleError):
        pass

    def make(directory: Path):
        (directory / "program.hex").write_text(_text(_compile(program, directory), digest))

    return _read((cache.entry("programs", digest, make) / "program.hex").read_text(), digest)


def ship(program: Program):
    """Writes the built file anew."""
    digest = program.digest()
    text = _text(words(program), digest)
    if not program.built.is_file() or program.built.read_text() != text:
        program.built.parent.mkdir(exist_ok=True)
        program.built.write_text(text)


class _StaleError(Exception):
    """A built file of other sources."""


def _text(parts: dict[int, list[int]], digest: str) -> str:
    lines = [f"# {digest}"]
    for address, data in sorted(parts.items()):
        lines += [f"@{address:08x}", *(" ".join(f"{x:08x}" for x in data[i : i + 8]) for i in range(0, len(data), 8))]
    return "\n".join(lines) + "\n"


def _read(text: str, digest: str) -> dict[int, list[int]]:
    lines = text.splitlines()
    if not lines or lines[0] != f"# {digest}":
        raise _StaleError
    parts: dict[int, list[int]] = {}
    for line in lines[1:]:
        if line.startswith("@"):
            data = parts.setdefault(int(line[1:], 16), [])
        else:
            data += [int(x, 16) for x in line.split()]
    return parts


def _compile(program: Program, directory: Path) -> dict[int, list[int]]:
    script = next(x for x in program.others if x.endswith(".ld"))
    flags = [*_FLAGS, f"-mcpu={program.cpu}", *(f"-D{x}" for x in program.defines)]
    return compiled([*flags, *program.sources, "-T", script], program.directory, directory, f"program {program.name}")


def compiled(arguments: list[str], cwd: Path, scratch: Path, what: str) -> dict[int, list[int]]:
    """The words that the cross compiler makes with these arguments, run in `cwd`, by address; `what` is made, for messages."""
    elf = scratch / "program.elf"
    cross_compile(COMPILER, [*arguments, "-o", str(elf)], cwd, what)
    parts = loaded(elf.read_bytes())
    elf.unlink()
    return parts


def rows(parts: dict[int, list[int]]) -> list[str]:
    """Lines of an address and eight words, in hexadecimal, zeros at the end: what block tests read."""
    lines = []
    for address, words in parts.items():
        words = words + [0] * (-len(words) % 8)
        lines += [f"{address + 4 * i:08x} {' '.join(f'{x:08x}' for x in words[i : i + 8])}" for i in range(0, len(words), 8)]
    return lines


def loaded(elf: bytes) -> dict[int, list[int]]:
    """The words of an ELF file's segments, by address; what is not in the file (cleared data) is left out."""
    if elf[:6] != b"\x7fELF\x01\x01":
        raise UserError("not a little-endian 32-bit ELF file")
    offset, size, count = *struct.unpack_from("<I", elf, 28), *struct.unpack_from("<HH", elf, 42)
    parts = {}
    for i in range(count):
        kind, at, address, _, filled = struct.unpack_from("<5I", elf, offset + i * size)
        if kind != 1 or not filled:
            continue
        data = elf[at : at + filled] + bytes(-filled % 4)
        parts[address] = list(struct.unpack(f"<{len(data) // 4}I", data))
    return parts
