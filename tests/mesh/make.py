# SPDX-License-Identifier: Apache-2.0
"""The program that rtl/mesh/mesh_tb.sv runs on every tile: `python tests/mesh/make.py` compiles smoke.c to program.hex.

program.hex is kept so that the test runs without the cross compiler. Its lines: an address and eight words.
"""

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The networks' registers stay free: the compiler knows that as features of the processor.
CPU = "generic_rv32+m+a+zicsr" + "".join(f"+reserve_x{n}" for n in (26, 27, 28, 29))
FLAGS = ["-target", "riscv32-freestanding-none", f"-mcpu={CPU}", "-O2", "-fomit-frame-pointer", "-ffreestanding"]
FLAGS += ["-nostdlib", "-Wall", "-Werror", "-T", str(HERE / "link.ld")]


def make() -> str:
    """The text of program.hex."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "program"
        words = [sys.executable, "-m", "ziglang", "cc", *FLAGS, str(HERE / "start.S"), str(HERE / "smoke.c")]
        subprocess.run([*words, "-o", str(out)], check=True)
        elf = out.read_bytes()
    lines = []
    offset, size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    for i in range(count):
        kind, place, address, _, length, memory = struct.unpack_from("<6I", elf, offset + i * size)
        if kind != 1 or not memory:
            continue
        content = elf[place : place + length].ljust(memory, b"\0")
        content += b"\0" * (-len(content) % 32)
        numbers = [f"{x:08x}" for (x,) in struct.iter_unpack("<I", content)]
        lines += [f"{address + 4 * i:08x} {' '.join(numbers[i : i + 8])}" for i in range(0, len(numbers), 8)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE / "program.hex").write_text(make())
