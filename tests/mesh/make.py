# SPDX-License-Identifier: Apache-2.0
"""The program that rtl/mesh/mesh_tb.sv runs on every tile: `python tests/mesh/make.py` compiles smoke.c to program.hex.

program.hex is kept so that the test runs without the cross compiler. Its lines: an address and eight words.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src"))

from emery.make import riscv  # noqa: E402

# The networks' registers stay free: the compiler knows that as features of the processor.
CPU = "generic_rv32+m+a+zicsr" + "".join(f"+reserve_x{n}" for n in (26, 27, 28, 29))
FLAGS = ["-target", "riscv32-freestanding-none", f"-mcpu={CPU}", "-O2", "-fomit-frame-pointer", "-ffreestanding"]
FLAGS += ["-nostdlib", "-Wall", "-Werror", "-T", "link.ld"]


def make() -> str:
    """The text of program.hex."""
    with tempfile.TemporaryDirectory() as scratch:
        parts = riscv.compiled([*FLAGS, "start.S", "smoke.c"], HERE, Path(scratch), "program of mesh_tb")
    return "\n".join(riscv.rows(parts)) + "\n"


if __name__ == "__main__":
    (HERE / "program.hex").write_text(make())
