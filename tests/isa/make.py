# SPDX-License-Identifier: Apache-2.0
"""Self-checking programs for each instruction of the core: `python tests/isa/make.py` rewrites programs.hex.

A program is made of small cases whose expected results are worked out here, in Python. Operands are corner values; each
instruction is also met with its operands and its result on their way at every distance in the pipeline, with rd equal to
rs1 and rs2, and with x0. They are assembled by the cross compiler; programs.hex is kept so that the tests run without it.

`python tests/isa/make.py DIRECTORY FILE` makes FILE of a checkout of the public riscv-tests instead (rv32ui, rv32um and
the amo programs of rv32ua), in the same format: core_isa_tb takes it with +programs=FILE.

The format: `program NAME`, then lines of an address and eight words in hexadecimal.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "src"))

from emery.make import programs as binaries  # noqa: E402
from emery.make import toolchain  # noqa: E402

HEX = HERE / "programs.hex"
TARGET = ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+a+zicsr+zifencei"]
MASK = 0xFFFFFFFF
CORNERS = [
    0,
    1,
    2,
    0x1F,
    0x7FF,
    0x8000,
    0x12345678,
    0x7FFFFFFF,
    0x80000000,
    0x80000001,
    0xDEADBEEF,
    0xFFFF8000,
    0xFFFFFFFE,
    MASK,
]
IMMEDIATES = [0, 1, 7, 0x555, 2047, -1, -2, -1366, -2048]


def signed(x):
    """A word as a signed number."""
    return (x & MASK) - ((x & 0x80000000) << 1)


def divide(a, b):
    """Quotient and remainder, rounded towards zero."""
    q = abs(a) // abs(b)
    q = -q if (a < 0) != (b < 0) else q
    return q, a - q * b


REGISTER = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a << (b & 31),
    "slt": lambda a, b: signed(a) < signed(b),
    "sltu": lambda a, b: a < b,
    "xor": lambda a, b: a ^ b,
    "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: signed(a) >> (b & 31),
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
    "mul": lambda a, b: a * b,
    "mulh": lambda a, b: signed(a) * signed(b) >> 32,
    "mulhsu": lambda a, b: signed(a) * b >> 32,
    "mulhu": lambda a, b: a * b >> 32,
    "div": lambda a, b: -1 if b == 0 else divide(signed(a), signed(b))[0],
    "divu": lambda a, b: -1 if b == 0 else a // b,
    "rem": lambda a, b: a if b == 0 else divide(signed(a), signed(b))[1],
    "remu": lambda a, b: a if b == 0 else a % b,
}
IMMEDIATE = {x: REGISTER[x.removesuffix("i").replace("sltiu", "sltu")] for x in ("addi", "slti", "xori", "ori", "andi")}
IMMEDIATE["sltiu"] = REGISTER["sltu"]
SHIFT = {"slli": REGISTER["sll"], "srli": REGISTER["srl"], "srai": REGISTER["sra"]}
BRANCH = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: signed(a) < signed(b),
    "bge": lambda a, b: signed(a) >= signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}
LOAD = {"lb": (1, True), "lbu": (1, False), "lh": (2, True), "lhu": (2, False), "lw": (4, False)}
STORE = {"sb": 1, "sh": 2, "sw": 4}
AMO = {
    "amoswap.w": lambda a, b: b,
    "amoadd.w": lambda a, b: a + b,
    "amoxor.w": lambda a, b: a ^ b,
    "amoand.w": lambda a, b: a & b,
    "amoor.w": lambda a, b: a | b,
    "amomin.w": lambda a, b: a if signed(a) < signed(b) else b,
    "amomax.w": lambda a, b: a if signed(a) > signed(b) else b,
    "amominu.w": min,
    "amomaxu.w": max,
}
DATA = bytes((37 * i + 101) & 255 for i in range(64))


class Program:
    """The assembly text of a program under construction."""

    def __init__(self):
        self.lines = []
        self.number = 1

    def add(self, *lines):
        self.lines += lines

    def begin(self):
        self.number += 1
        self.add(f"test_{self.number}: li TESTNUM, {self.number}")

    def want(self, register, value):
        self.add(f"li t6, {signed(value)}", f"bne {register}, t6, fail")

    def text(self):
        data = ", ".join(map(str, DATA))
        tail = ["j pass", "fail: RVTEST_FAIL", "pass: RVTEST_PASS", "RVTEST_CODE_END", ".data", "RVTEST_DATA_BEGIN"]
        tail += [f"data: .byte {data}", "room: .space 64", "RVTEST_DATA_END"]
        return "\n".join(['#include "riscv_test.h"', "RVTEST_CODE_BEGIN", *self.lines, *tail, ""])


def pairs():
    """Pairs of corner values: each value on both sides several times, and with itself."""
    count = len(CORNERS)
    return [(CORNERS[i], CORNERS[(i + step) % count]) for step in (0, 1, 5, count - 1) for i in range(count)]


def in_the_pipeline(p, line, a, b, result):
    """`line` takes s1 (and s2) to s3 while they are 0 to 2 instructions ahead, and its result is needed as soon."""
    for after_a in range(3):
        for after_b in range(3 if b is not None else 1):
            for later in range(3):
                p.begin()
                p.add("la s10, data", f"li s4, {signed(a)}", f"li s5, {signed(b or 0)}", "mv s1, s4", *["nop"] * after_a)
                p.add(*(["mv s2, s5"] if b is not None else []), *["nop"] * after_b, line, *["nop"] * later, "mv s6, s3")
                p.want("s6", result)


def arithmetic(name, work, values, reads_second):
    """A program for an instruction that takes one or two registers to one."""
    p = Program()

    def line(rd, a, second):
        return f"{name} {rd}, {a}, {second}"

    for a, b in values:
        p.begin()
        p.add(f"li s1, {signed(a)}", *([f"li s2, {signed(b)}"] if reads_second else []))
        p.add(line("s3", "s1", "s2" if reads_second else b))
        p.want("s3", work(a, b & MASK))
    a, b = values[-3]
    in_the_pipeline(p, line("s3", "s1", "s2" if reads_second else b), a, b if reads_second else None, work(a, b & MASK))
    p.begin()
    p.add(f"li s1, {signed(a)}", line("s1", "s1", "zero" if reads_second else b))
    p.want("s1", work(a, 0 if reads_second else b & MASK))
    if reads_second:
        p.begin()
        p.add(f"li s1, {signed(a)}", line("s1", "s1", "s1"))
        p.want("s1", work(a, a))
        p.begin()
        p.add(f"li s2, {signed(b)}", line("s2", "zero", "s2"))
        p.want("s2", work(0, b))
    p.begin()
    p.add(f"li s1, {signed(a)}", line("zero", "s1", "s1" if reads_second else b), "mv s2, zero")
    p.want("s2", 0)
    return p


def branches(name, taken):
    """A program for a conditional branch, ahead and back."""
    p = Program()
    for a, b in pairs():
        p.begin()
        number = p.number
        p.add(f"li s1, {signed(a)}", f"li s2, {signed(b)}", "li s3, 0", f"j 2f{'' if number % 2 else '; .balign 32'}")
        # Back to 1 if taken from 2; the other way from 1 to 3.
        p.add("1: ori s3, s3, 1", f"{name} s1, s2, 3f", "ori s3, s3, 2", "j 3f")
        p.add("2: ori s3, s3, 4", f"{name} s1, s2, 1b", "ori s3, s3, 8", "3:")
        p.want("s3", 4 | 1 if taken(a, b) else 4 | 8)
    for ahead_a in range(3):
        for ahead_b in range(3):
            for a, b in ((5, 5), (MASK, 1)):
                p.begin()
                p.add(f"li s4, {signed(a)}", f"li s5, {signed(b)}", "li s3, 0", "mv s1, s4", *["nop"] * ahead_a, "mv s2, s5")
                p.add(*["nop"] * ahead_b, f"{name} s1, s2, 1f", "addi s3, s3, 1", "1:")
                p.want("s3", 0 if taken(a, b) else 1)
    return p


def jumps(name):
    """A program for jal or jalr: where it goes, what it leaves behind, what it skips."""
    p = Program()
    for distance in (0, 1, 2, 5, 8, 9, 40):
        for before in range(3):
            p.begin()
            p.add("li s3, 0", "la s1, 2f", "la s4, 1f", *["nop"] * before)
            p.add("jal s2, 2f" if name == "jal" else "jalr s2, s1, 1" if before else "jalr s2, 0(s1)")
            p.add("1: addi s3, s3, 1", *["addi s3, s3, 1"] * distance, "2: sub s5, s2, s4")
            p.want("s3", 0)
            p.want("s5", 0)
    p.begin()
    p.add("la s1, 3f", "la s2, 4f", "j 2f", "1: li s3, 7", "j 5f", "2: jal zero, 1b" if name == "jal" else "2: jr s1")
    p.add("3: jalr s1, -4(s2)", "nop", "j fail", "nop", "li s3, 7", "4: nop", "5:")
    p.want("s3", 7)
    return p


def upper(name):
    """A program for lui or auipc."""
    p = Program()
    for value in (0, 1, 0x7FFFF, 0x80000, 0xFFFFF, 0x12345):
        p.begin()
        if name == "lui":
            p.add(f"lui s1, {value}")
            p.want("s1", value << 12)
        else:
            p.add(f"1: auipc s1, {value}", "la s2, 1b", "sub s1, s1, s2")
            p.want("s1", value << 12)
    p.begin()
    p.add(f"{name} zero, 5", "mv s1, zero")
    p.want("s1", 0)
    return p


def loads(name):
    """A program for a load, at each alignment and reach."""
    size, extend = LOAD[name]
    p = Program()

    def value(place):
        x = int.from_bytes(DATA[place : place + size], "little")
        return x - (1 << 8 * size) if extend and x >> (8 * size - 1) else x

    for place in range(0, 16, size):
        for base in (0, 48, place):
            p.begin()
            p.add(f"la s1, data + {base}", f"{name} s3, {place - base}(s1)")
            p.want("s3", value(place))
        p.begin()
        p.add(f"la s1, data + {place}", f"{name} s1, 0(s1)", "addi s1, s1, 1")
        p.want("s1", value(place) + 1)
    for ahead in range(3):
        for later in range(3):
            p.begin()
            p.add("la s4, data", "mv s1, s4", *["nop"] * ahead, f"{name} s3, 8(s1)", *["nop"] * later, "mv s6, s3")
            p.want("s6", value(8))
    p.begin()
    p.add("la s1, data", f"{name} zero, 0(s1)", "mv s2, zero", f"{name} s3, 4(s1)", f"{name} s4, 8(s1)", "add s5, s3, s4")
    p.want("s2", 0)
    p.want("s5", value(4) + value(8))
    return p


def stores(name):
    """A program for a store: what it changes, what it leaves, and loads right after it."""
    size = STORE[name]
    p = Program()
    for place in range(0, 12, size):
        for number in (0xA5A55AC3, 0x01020384):
            p.begin()
            p.add("la s1, room + 32", "li s2, -1", "sw s2, -4(s1)", "sw s2, 0(s1)", "sw s2, 4(s1)", "sw s2, 8(s1)")
            p.add(f"li s3, {signed(number)}", f"{name} s3, {place - 4}(s1)")
            want = bytearray(b"\xff" * 16)
            want[place : place + size] = (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            for i in range(4):
                p.add(f"lw s{4 + i}, {4 * i - 4}(s1)")
            for i in range(4):
                p.want(f"s{4 + i}", int.from_bytes(want[4 * i : 4 * i + 4], "little"))
    for ahead_a in range(3):
        for ahead_b in range(3):
            p.begin()
            p.add(
                "la s4, room", "li s5, 0x77", "sw zero, 0(s4)", "mv s1, s4", *["nop"] * ahead_a, "mv s2, s5", *["nop"] * ahead_b
            )
            p.add(f"{name} s2, 0(s1)", "lw s3, 0(s1)")
            p.want("s3", 0x77)
    p.begin()
    p.add(
        "la s1, room", *(f"{name} s1, {size * i}(s1)" for i in range(8)), f"li s2, {0x55}", f"{name} s2, 0(s1)", "lbu s3, 0(s1)"
    )
    p.want("s3", 0x55)
    return p


def atomics(name, work):
    """A program for an amo: what it gives and what it leaves, its result used at once or not at all."""
    p = Program()
    for a, b in pairs()[::2]:
        p.begin()
        p.add("la s1, room", f"li s2, {signed(a)}", f"li s3, {signed(b)}", "sw s2, 0(s1)", f"{name} s4, s3, (s1)", "mv s5, s4")
        p.add("lw s6, 0(s1)")
        p.want("s5", a)
        p.want("s6", work(a, b))
    a, b = 0x80000005, 0x7000000C
    p.begin()
    p.add(
        "la s1, room",
        f"li s2, {signed(a)}",
        f"li s3, {b}",
        "sw s2, 0(s1)",
        f"{name} zero, s3, (s1)",
        "lw s4, 0(s1)",
        "mv s5, zero",
    )
    p.want("s4", work(a, b))
    p.want("s5", 0)
    p.begin()
    p.add(
        "la s1, room",
        f"li s2, {signed(a)}",
        f"li s3, {b}",
        "sw s2, 0(s1)",
        f"{name} s3, s3, (s1)",
        f"{name} s3, s3, (s1)",
        "lw s4, 0(s1)",
    )
    once = work(a, b) & MASK
    p.want("s3", once)
    p.want("s4", work(once, a))
    return p


def bits():
    """A program for `set` and `update`, one after the other over an array of bits."""
    p = Program()
    array = [0] * 4
    p.add("la s1, room", *(f"sw zero, {4 * i}(s1)" for i in range(4)))

    def put(index):
        array[index >> 5] |= 1 << (index & 31)
        p.begin()
        p.add(f"li s2, {index}", ".insn r 0x0b, 0, 0, zero, s1, s2", f"lw s3, {index >> 5 << 2}(s1)")
        p.want("s3", array[index >> 5])

    def take(index):
        word, count = index >> 5, 0
        while (index & 31) + count < 32 and array[word] >> ((index & 31) + count) & 1:
            array[word] &= ~(1 << ((index & 31) + count))
            count += 1
        p.begin()
        p.add(f"li s2, {index}", ".insn r 0x0b, 1, 0, s4, s1, s2", "mv s5, s4", f"lw s3, {word << 2}(s1)")
        p.want("s5", count)
        p.want("s3", array[word])

    for index in (0, 1, 2, 5, 31, 32, 33, 63, 64, 127, 30, 29, 3, 4):
        put(index)
    for index in (0, 6, 29, 28, 33, 32, 34, 63, 64, 127, 127, 100):
        take(index)
    for index in range(96, 128):
        array[index >> 5] |= 1 << (index & 31)
        p.add(f"li s2, {index}", ".insn r 0x0b, 0, 0, zero, s1, s2")
    take(96)
    put(70)
    p.begin()
    p.add("li s2, 70", ".insn r 0x0b, 1, 0, zero, s1, s2", "lw s3, 8(s1)")  # nobody asks how many
    array[2] &= ~(1 << 6)
    p.want("s3", array[2])
    return p


def others():
    """A program for fences and counters."""
    p = Program()
    p.begin()
    p.add(
        "fence",
        "fence.i",
        "csrr s1, mcycle",
        "nop",
        "nop",
        "csrr s2, mcycle",
        "sub s3, s2, s1",
        "sltiu s4, s3, 3",
        "csrr s5, mcycleh",
    )
    p.want("s4", 0)
    p.want("s5", 0)
    for between in range(5):
        p.begin()
        p.add("csrr s1, minstret", *["nop"] * between, "csrr s2, instret", "sub s3, s2, s1")
        p.want("s3", between + 1)
    p.begin()
    p.add("csrr s1, mhartid", "sltiu s2, s1, 32")
    p.want("s2", 1)
    return p


def programs():
    """All programs by name."""
    short = pairs()
    made = {x: arithmetic(x, work, short, True) for x, work in REGISTER.items()}
    values = [(a, b) for i, a in enumerate(CORNERS) for b in IMMEDIATES[i % 3 :: 3]]
    made |= {x: arithmetic(x, work, values, False) for x, work in IMMEDIATE.items()}
    values = [(a, b) for i, a in enumerate(CORNERS) for b in ((0, 1, 31), (4, 17, 30), (7, 16, 8))[i % 3]]
    made |= {x: arithmetic(x, work, values, False) for x, work in SHIFT.items()}
    made |= {x: branches(x, work) for x, work in BRANCH.items()}
    made |= {x: jumps(x) for x in ("jal", "jalr")} | {x: upper(x) for x in ("lui", "auipc")}
    made |= {x: loads(x) for x in LOAD} | {x: stores(x) for x in STORE}
    made |= {x: atomics(x, work) for x, work in AMO.items()}
    made |= {"set_update": bits(), "others": others()}
    return {name: p.text() for name, p in made.items()}


def assemble(name, source, folders):
    """The lines of a program in programs.hex."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "program.S").write_text(source)
        words = [*TARGET, "-nostdlib", *(f"-I{x}" for x in folders), "-T", str(HERE / "link.ld")]
        toolchain.cross_compile([*words, "program.S", "-o", "program.elf"], Path(scratch), name)
        return [f"program {name}", *binaries.rows(binaries.words(Path(scratch) / "program.elf"))]


def public(folder):
    """The programs of a checkout of riscv-tests, by name, and where their headers are."""
    found = {}
    for suite, pattern in (("rv32ui", "*.S"), ("rv32um", "*.S"), ("rv32ua", "amo*_w.S")):
        for path in sorted((folder / "isa" / suite).glob(pattern)):
            # ma_data: misaligned accesses, which trap here; fence_i: stores into the code, which no store reaches here;
            # amocas_w, and the amo of bytes and halfwords: extensions the core does not have.
            if path.stem not in ("ma_data", "fence_i", "amocas_w"):
                found[f"{suite}-{path.stem}"] = f'#include "{path}"\n'
    return found, [folder / "isa" / "macros" / "scalar"]


def make(folder=None):
    """The text of programs.hex, or of the like from a checkout of riscv-tests."""
    texts, folders = public(Path(folder).resolve()) if folder else (programs(), [])
    lines = [x for name, text in texts.items() for x in assemble(name, text, [HERE, *folders])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text(make(sys.argv[1]))
    else:
        HEX.write_text(make())
