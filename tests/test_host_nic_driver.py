# SPDX-License-Identifier: Apache-2.0
"""The driver core of host-nic (sw/lib/host_nic): C11 against a device in C, without a C library, with every counter."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import listed

from emery.common import ROOT
from emery.make import formats, registers

CORE = ROOT / "sw" / "lib" / "host_nic"
RDL = ROOT / "systems" / "nic_core" / "host_nic.rdl"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
BLOCKS = ["nic_device_regs", "nic_interface_regs", "nic_port_regs"]


@pytest.fixture(scope="module")
def generated():
    """Where the headers are that are made from the RTL's packages and from the registers."""
    return [f"-I{registers.generate(RDL, BLOCKS, 'host_nic')}", f"-I{formats.generate(('queue_pkg',))}"]


def compiler(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_against_a_device_in_c(generated, tmp_path):
    """Rings more than twice around, order of writes, errors, restarts, resets, steering, memory that is not there."""
    program = tmp_path / "emnic_test"
    watched = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [*sorted(CORE.glob("*.c")), *sorted((CORE / "test").glob("*.c"))]
    compiler("gcc", "-std=c11", *WARNINGS, *watched, *generated, *sources, "-o", program)
    done = subprocess.run([program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "PASS\n", done.stdout + done.stderr


def test_it_needs_no_c_library(generated, tmp_path):
    """Only what a freestanding compiler has; the one thing besides is <assert.h> of the generated header, a line."""
    (tmp_path / "assert.h").write_text("#define static_assert _Static_assert\n")
    own = compiler("gcc", "-print-file-name=include").strip()
    words = ["-std=c11", "-O2", "-ffreestanding", "-nostdinc", "-isystem", own, "-isystem", tmp_path, *WARNINGS, "-Wconversion"]
    objects = []
    for source in sorted(CORE.glob("*.c")):
        objects.append(tmp_path / f"{source.stem}.o")
        compiler("gcc", *words, *generated, "-c", source, "-o", objects[-1])
    compiler("ld", "-r", *objects, "-o", tmp_path / "all.o")
    needed = {x.split()[-1] for x in compiler("nm", "-u", tmp_path / "all.o").splitlines() if x.strip()}
    assert needed <= {"memcpy", "memset", "memmove", "memcmp"}, needed
    names = {x.split()[-1] for x in compiler("nm", "-g", "--defined-only", tmp_path / "all.o").splitlines()}
    assert {x for x in names if x.startswith("emnic_")} == declared(generated, tmp_path) | {"emnic_rss_key"}


def declared(generated, tmp_path):
    """The functions that the headers for users declare, as the compiler says: `/* FILE:LINE:N. */ extern int name (...);`."""
    (tmp_path / "users.c").write_text(
        "".join(f'#include "{x}.h"\n' for x in ("emnic", "counters", "clock", "filter", "joined"))
    )
    compiler("gcc", "-fsyntax-only", "-aux-info", tmp_path / "users", f"-I{CORE}", *generated, tmp_path / "users.c")
    own = [x for x in (tmp_path / "users").read_text().splitlines() if x.startswith(f"/* {CORE}/")]
    return {x.split(" (")[0].split()[-1].lstrip("*") for x in own if " extern " in x}


def test_the_header_works_in_cpp(generated, tmp_path):
    (tmp_path / "a.cpp").write_text('#include "emnic.h"\nint main() { return emnic_error(EMNIC_FULL) == nullptr; }\n')
    words = ["g++", "-std=c++17", *WARNINGS, "-Wshadow", "-Wconversion", f"-I{CORE}"]
    compiler(*words, *generated, tmp_path / "a.cpp", "-c", "-o", tmp_path / "a.o")


def test_every_counter_of_the_device_can_be_read():
    """Those of the register description, no fewer: a new counter fails here until the core has it."""
    found = {"COUNTERS": set(), "LEVELS": set()}
    for group, block in (("DEVICE", BLOCKS[0]), ("INTERFACE", BLOCKS[1]), ("PORT", BLOCKS[2])):
        for reg in registers.elaborate(RDL, block).registers():
            kind = "COUNTERS" if any(x.get_property("counter") for x in reg.fields()) else "LEVELS"
            if kind == "COUNTERS" or "0 when nothing is under way" in reg.get_property("desc"):
                found[kind].add((group, reg.inst_name))
    for kind, wanted in found.items():
        rows = [tuple(x) for x in listed(CORE / "counters.h", f"EMNIC_{kind}")]
        assert len(rows) == len(set(rows)) and set(rows) == wanted


def test_it_is_c_and_short():
    for path in CORE.rglob("*"):
        if path.is_file():
            assert path.suffix in (".c", ".h"), path
            assert len(path.read_text().splitlines()) <= (700 if path.parent != CORE else 400), path


def test_the_bench_has_no_rings_of_its_own():
    """The driver model goes through the core: no register of a queue is named elsewhere, but by the one that
    means harm, and where it is looked whether what that one wrote has gone."""
    for path in (ROOT / "systems" / "host_nic").glob("*.?pp"):
        if path.stem in ("hostile_function", "functions_bench"):
            continue
        assert not re.search(r"desc_queue_regs|cpl_queue_regs|QRegBase", Path(path).read_text()), path
