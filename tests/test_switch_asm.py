# SPDX-License-Identifier: Apache-2.0
"""The assembler of the switch processors: encodings by hand, and messages that name line and operand."""

import random

import pytest

from emery import system
from emery.common import UserError

switch_asm = system.load("tile-router").module("switch_asm")

FRAME = """
# a length, 16 words to two places, a body
.set HEAD 16
frame:  movew r0, cWi       route cWi->csti, cWi->cEo
        movei r1, HEAD-1
head:   bnezd r1, head      route $cWi->$csti, $cWi->$cEo
        beqzd r0, frame     // no body
body:   bnezd r0, body      route cWi->cEo, csto2->cXo2
        jump frame
"""


def encode(op, counter=0, source_net=0, source=7, imm=0, routes1=(), routes2=()):
    """By the fields of switch_instr_t, the first named highest; routes as (output, input)."""
    selects = []
    for routes in (routes2, routes1):
        by_output = dict(routes)
        selects += [by_output.get(port, 7) for port in range(5, -1, -1)]
    bits = f"{op:04b}{counter:02b}{source_net:01b}{source:03b}00{imm:016b}" + "".join(f"{x:03b}" for x in selects)
    assert len(bits) == 64
    return int(bits, 2)


def test_program():
    program = switch_asm.assemble(FRAME, "frame.sw")
    broadcast = ((0, 4), (2, 4))
    assert program.instructions == [
        encode(7, 0, 0, 4, 0, broadcast),
        encode(6, 1, imm=15),
        encode(4, 1, imm=2, routes1=broadcast),
        encode(5, 0, imm=0),
        encode(4, 0, imm=4, routes1=((2, 4),), routes2=((5, 0),)),
        encode(1, imm=0),
    ]
    assert program.lines == [4, 5, 6, 7, 8, 9]
    assert program.words()[:2] == [program.instructions[0] & 0xFFFFFFFF, program.instructions[0] >> 32]
    assert program.where(3) == "frame.sw:7: beqzd r0, 0"
    assert "outside the program" in program.where(6)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("foo r1, x", "no operation 'foo'"),
        ("bnezd r4, here", "operand 'r4' of bnezd is not a counter"),
        ("bnezd r1", "bnezd has 2 operands, not 1"),
        ("jump there", "operand 'there' of jump: no such label (did you mean here?)"),
        ("movei r0, 65536", "operand '65536' of movei is 65536: does not fit"),
        ("movei r0, -1", "does not fit"),
        ("movei r0, SIZ", "no value 'SIZ'"),
        ("movei r0, 3*4", "operand '3*4' is not a number"),
        ("movew r0, cWo", "operand 'cWo' is no input"),
        ("nop route cWi->cZo", "operand 'cZo' is no output"),
        ("nop route cWi->cEo, cNi->cEo", "output 'cEo' has two routes"),
        ("nop route cWi->cEo2", "changes the network"),
        ("nop route cWi", "route 'cWi' is not INPUT->OUTPUT"),
        ("nop route", "`route` without a route"),
        ("here: nop", "label 'here' is defined twice"),
        (".word 3", "directive '.word'"),
    ],
)
def test_errors(line, says):
    with pytest.raises(UserError) as caught:
        switch_asm.assemble(f"here: nop\n{line}\nhalt\n", "bad.sw")
    assert str(caught.value).startswith("bad.sw:2: ")
    assert says in str(caught.value)


def test_whole_program_errors():
    with pytest.raises(UserError, match="no instructions"):
        switch_asm.assemble("# nothing\n")
    with pytest.raises(UserError, match=r"^switch:2: the program runs on"):
        switch_asm.assemble("nop\nnop\n")
    with pytest.raises(UserError, match=r"^switch:3: 4 instructions, the switch holds 2"):
        switch_asm.assemble("nop\nnop\nnop\nhalt\n", room=2)


def test_disassembles_what_it_assembles():
    chosen = random.Random(1)
    lines = []
    for _ in range(300):
        routes = []
        for suffix in ("", "2"):
            inputs = [x for x in switch_asm.INPUTS if x.endswith("2") == bool(suffix)]
            outputs = [x for x in switch_asm.OUTPUTS if x.endswith("2") == bool(suffix)]
            routes += [f"{chosen.choice(inputs)}->{x}" for x in chosen.sample(outputs, chosen.randint(0, 6))]
        word = chosen.choice(["nop", "movei r1, 7", "addi r3, 65535", "movew r2, cNi2", "jr r0", "halt"])
        lines.append(word + (" route " + ", ".join(routes) if routes else ""))
    first = switch_asm.assemble("\n".join([*lines, "halt"]))
    again = switch_asm.assemble("\n".join(map(switch_asm.disassemble, first.instructions)))
    assert again.instructions == first.instructions


def test_waiting():
    assert switch_asm.waits_for(0) == ""
    assert (
        switch_asm.waits_for(1 << 40 | 1 << (28 + 4) | 1 << (34 + 3) | 1 << 16)
        == "a word from cWi, a word from cSi2, room at csti"
    )
