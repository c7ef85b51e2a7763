# SPDX-License-Identifier: Apache-2.0
"""The program that tile_router_tb runs on every tile: `python tests/mesh/make.py` compiles smoke.c to program.hex.

program.hex is kept so that the test runs without the cross compiler. Its lines: an address and eight words.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src"))

from emery.make import programs, toolchain  # noqa: E402

# The networks' registers stay free: the compiler knows that as features of the processor.
CPU = "generic_rv32+m+a+zicsr" + "".join(f"+reserve_x{n}" for n in (26, 27, 28, 29))
FLAGS = ["-target", "riscv32-freestanding-none", f"-mcpu={CPU}", "-O2", "-fomit-frame-pointer", "-ffreestanding"]
FLAGS += ["-nostdlib", "-Wall", "-Werror", "-T", "link.ld"]


def make() -> str:
    """The text of program.hex."""
    with tempfile.TemporaryDirectory() as scratch:
        elf = Path(scratch) / "program.elf"
        toolchain.cross_compile([*FLAGS, "start.S", "smoke.c", "-o", str(elf)], HERE, "program of tile_router_tb")
        return "\n".join(programs.rows(programs.words(elf))) + "\n"


if __name__ == "__main__":
    (HERE / "program.hex").write_text(make())
