# SPDX-License-Identifier: Apache-2.0
"""Public programs on the core, from a checkout that is the user's own; nothing of it is kept here.

`python tests/isa/public.py DIRECTORY`: a checkout of riscv-tests: its rv32ui, rv32um and amo programs (make.py) pass.
A checkout of CoreMark (github.com/eembc/coremark): the 2K performance run, on an 8 kB cache and a memory that answers in the
next clock; its results are right, and what is printed is CoreMark/MHz and what the clocks went to. A simulation does not run
the ten seconds the rules ask for. `--cc "COMMAND ..."`: that compiler and flags, in place of those of the firmware with -O3.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import make

from emery.common import ROOT
from emery.make import build, toolchain
from emery.make import programs as binaries

ITERATIONS = 4
FILES = ("core_main.c", "core_list_join.c", "core_matrix.c", "core_state.c", "core_util.c")
LINE = re.compile(r"^timed .*?: (\d+) clocks, .*$", re.M)


def coremark(folder: Path, command: str | None) -> str:
    """CoreMark in the format of programs.hex."""
    with tempfile.TemporaryDirectory() as scratch:
        elf = str(Path(scratch) / "program.elf")
        port = make.HERE / "coremark"
        words = ["-ffreestanding", "-nostdlib", f"-DITERATIONS={ITERATIONS}", f"-I{port}", f"-I{folder}"]
        sources = [port / "core_portme.c", *(folder / x for x in FILES)]
        words += ["-T", str(make.HERE / "link.ld"), *map(str, sources), "-o", elf]
        if command:
            subprocess.run([*shlex.split(command), *words], check=True)
        else:
            flags = ["-O3", "-fomit-frame-pointer", "-Wno-everything"]
            toolchain.cross_compile([*make.TARGET, *flags, *words], Path(scratch), "CoreMark")
        return "\n".join(["program coremark", *binaries.rows(binaries.words(Path(elf)))]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIRECTORY")
    parser.add_argument("--cc", metavar="COMMAND")
    given = parser.parse_args()
    folder = given.folder.resolve()
    marks = (folder / "core_matrix.c").is_file()
    if not marks and not (folder / "isa" / "rv32ui").is_dir():
        sys.exit(f"{given.folder}: neither riscv-tests nor CoreMark")
    with tempfile.NamedTemporaryFile("w", suffix=".hex") as file:
        file.write(coremark(folder, given.cc) if marks else make.make(folder))
        file.flush()
        bench = build.build_block_test(ROOT / "rtl" / "core" / "core_isa_tb.sv")
        words = [str(bench), f"+programs={file.name}", *(["+limit=2400000"] if marks else [])]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    print(done.stdout if done.returncode else "", end="", file=sys.stderr)
    if done.returncode:
        sys.exit(done.returncode)
    if marks:
        free, contested = (m for m in LINE.finditer(done.stdout))
        print(free[0])
        for what, found in (("free memory", free), ("memory taken 40 % of the clocks", contested)):
            print(f"{1e6 * ITERATIONS / int(found[1]):.2f} CoreMark/MHz, {what}")
    else:
        print("\n".join(x for x in done.stdout.splitlines() if "programs" in x or "PASS" in x))


if __name__ == "__main__":
    main()
