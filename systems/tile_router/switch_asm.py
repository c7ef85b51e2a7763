# SPDX-License-Identifier: Apache-2.0
"""Assembler of the switch processors.

One instruction a line: an operation, or routes, or both. It fires when every word it takes is there and every place it sends
to has room (rtl/mesh/static_switch.sv).

    # the length word goes to two tiles and to a counter
    frame:  movew r0, cWi       route cWi->csti, cWi->cEo
            movei r1, HEAD-1
    head:   bnezd r1, head      route cWi->csti, cWi->cEo
            beqzd r0, frame
    body:   bnezd r0, body      route cWi->cEo
            jump frame

Inputs of network 1: cNi cEi cSi cWi, csto (from the core), cXi (from network 2); outputs cNo cEo cSo cWo, csti (to the core),
cXo (to network 2, its cXi2). Network 2: the same with a 2 at the end. A route stays in its network.

    nop                       routes only (may be left out)
    jump LABEL                halt: fires its routes and stops
    bnez rN, LABEL            if the counter is not 0; beqz: if it is 0
    bnezd rN, LABEL           as bnez, then a counter that is not 0 goes down by one; beqzd likewise
    movei rN, VALUE           addi rN, VALUE
    movew rN, INPUT           the lower half of the word from that input, which is taken
    jr rN                     to the instruction of that number

Counters r0 .. r3 have 16 bits. `.set NAME VALUE` names a number; values may be added and subtracted (`WORDS-1`); comments begin
with # or //.
"""

import re
from dataclasses import dataclass, field

from emery.common import UserError, nearest
from emery.make import formats

_mesh = formats.load("mesh_pkg")
OPERATIONS = {x.name.removeprefix("Op").lower(): x.value for x in _mesh.switch_op_e}
_INPUTS = ("csto", "cNi", "cEi", "cSi", "cWi", "cXi")
_OUTPUTS = ("csti", "cNo", "cEo", "cSo", "cWo", "cXo")
# Name: (network, port).
INPUTS = {name + suffix: (net, port) for net, suffix in ((0, ""), (1, "2")) for port, name in enumerate(_INPUTS)}
OUTPUTS = {name + suffix: (net, port) for net, suffix in ((0, ""), (1, "2")) for port, name in enumerate(_OUTPUTS)}
_LABEL = re.compile(r"([A-Za-z_]\w*)\s*:\s*")


@dataclass
class Program:
    """What the switch's memory holds, and where it came from."""

    name: str
    instructions: list[int] = field(default_factory=list)  # of 64 bits
    lines: list[int] = field(default_factory=list)  # source line of each
    labels: dict[str, int] = field(default_factory=dict)

    def words(self) -> list[int]:
        """As the boot port loads it: the lower half first."""
        return [half for x in self.instructions for half in (x & 0xFFFFFFFF, x >> 32)]

    def where(self, pc: int) -> str:
        """The source of an instruction: what a person looks for when a switch stands still."""
        if pc >= len(self.instructions):
            return f"{self.name}: instruction {pc}, outside the program"
        return f"{self.name}:{self.lines[pc]}: {disassemble(self.instructions[pc])}"


def assemble(text: str, name: str = "switch", room: int = 512, values: dict[str, int] | None = None) -> Program:
    """Assembles `text`. `values` are names known as if by `.set`; `name` is that of the source, for messages."""
    program = Program(name)
    known = dict(values or {})
    pending = []  # (line number, operation with its operands, routes)
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(#|//).*", "", line).strip()
        while match := _LABEL.match(line):
            if match[1] in program.labels:
                raise _error(name, number, f"label {match[1]!r} is defined twice")
            program.labels[match[1]] = len(pending)
            line = line[match.end() :]
        if not line:
            continue
        if line.startswith("."):
            _directive(line, known, name, number)
            continue
        operation, route, routes = line.partition("route") if re.search(r"\broute\b", line) else (line, "", "")
        if route and not routes.strip():
            raise _error(name, number, "`route` without a route")
        pending.append((number, operation.strip() or "nop", routes.strip()))
    if clash := sorted(set(program.labels) & set(known)):
        raise UserError(f"{name}: {clash[0]!r} is a label and a value")
    if len(pending) > room:
        raise _error(name, pending[room][0], f"{len(pending)} instructions, the switch holds {room}")
    for number, operation, routes in pending:
        program.instructions.append(_instruction(operation, routes, program.labels, known, name, number))
        program.lines.append(number)
    if not program.instructions:
        raise UserError(f"{name}: no instructions")
    if _mesh.switch_instr_t.unpack(program.instructions[-1])["op"] not in (
        OPERATIONS["jump"],
        OPERATIONS["jr"],
        OPERATIONS["halt"],
    ):
        raise _error(name, program.lines[-1], "the program runs on past its last instruction: end it with jump, jr or halt")
    return program


def _error(name: str, number: int, what: str) -> UserError:
    return UserError(f"{name}:{number}: {what}")


def _directive(line: str, known: dict[str, int], name: str, number: int):
    match = re.fullmatch(r"\.set\s+([A-Za-z_]\w*)\s+(.+)", line)
    if not match:
        raise _error(name, number, f"directive {line.split()[0]!r}: only `.set NAME VALUE` is known")
    if match[1] in known:
        raise _error(name, number, f"{match[1]!r} is set twice")
    known[match[1]] = _value(match[2], known, name, number)


def _value(text: str, known: dict[str, int], name: str, number: int) -> int:
    """A sum of numbers and names."""
    if not re.fullmatch(r"\s*-?\s*\w+(\s*[+-]\s*\w+)*\s*", text):
        raise _error(name, number, f"operand {text!r} is not a number")
    total = 0
    for sign, term in re.findall(r"([+-]?)\s*(\w+)", text):
        if term in known:
            value = known[term]
        elif re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", term):
            value = int(term, 0) if term[:2].lower() == "0x" else int(term)
        else:
            raise _error(name, number, f"operand {text!r}: no value {term!r}{nearest(term, known) if known else ''}")
        total += -value if sign == "-" else value
    return total


def _instruction(operation: str, routes: str, labels: dict[str, int], known: dict[str, int], name: str, number: int) -> int:
    word, _, rest = operation.partition(" ")
    if word not in OPERATIONS:
        raise _error(name, number, f"no operation {word!r}{nearest(word, OPERATIONS)}")
    operands = [x.strip() for x in rest.split(",")] if rest.strip() else []
    wanted = {"nop": 0, "halt": 0, "jump": 1, "jr": 1}.get(word, 2)
    if len(operands) != wanted:
        raise _error(name, number, f"{word} has {wanted} operand{'' if wanted == 1 else 's'}, not {len(operands)}")

    counter = imm = 0
    source = (0, _mesh.NoPort)
    if wanted == 2 or word == "jr":
        if not re.fullmatch(r"r[0-3]", operands[0]):
            raise _error(name, number, f"operand {operands[0]!r} of {word} is not a counter r0 .. r3")
        counter = int(operands[0][1])
    if word in ("jump", "bnez", "beqz", "bnezd", "beqzd"):
        if operands[-1] not in labels:
            raise _error(name, number, f"operand {operands[-1]!r} of {word}: no such label{nearest(operands[-1], labels)}")
        imm = labels[operands[-1]]
    elif word in ("movei", "addi"):
        imm = _value(operands[1], known, name, number)
        if not (-0x8000 if word == "addi" else 0) <= imm <= 0xFFFF:
            raise _error(name, number, f"operand {operands[1]!r} of {word} is {imm}: does not fit 16 bits")
    elif word == "movew":
        source = _port(operands[1], INPUTS, "input", name, number)

    sends = [[_mesh.NoPort] * _mesh.SwitchPorts for _ in range(2)]
    for route in filter(None, (x.strip() for x in routes.split(","))):
        ends = [x.strip() for x in route.split("->")]
        if len(ends) != 2:
            raise _error(name, number, f"route {route!r} is not INPUT->OUTPUT")
        from_net, from_port = _port(ends[0], INPUTS, "input", name, number)
        to_net, to_port = _port(ends[1], OUTPUTS, "output", name, number)
        if from_net != to_net:
            raise _error(name, number, f"route {route!r} changes the network: by cXo, and one word later from cXi")
        if sends[to_net][to_port] != _mesh.NoPort:
            raise _error(name, number, f"output {ends[1]!r} has two routes")
        sends[to_net][to_port] = from_port

    return _mesh.switch_instr_t.pack(
        op=OPERATIONS[word],
        counter=counter,
        source_net=source[0],
        source=source[1],
        imm=imm & 0xFFFF,
        route2=sends[1],
        route1=sends[0],
    )


def _port(text: str, ports: dict[str, tuple[int, int]], kind: str, name: str, number: int) -> tuple[int, int]:
    text = text.removeprefix("$")
    if text not in ports:
        raise _error(name, number, f"operand {text!r} is no {kind}{nearest(text, ports)}")
    return ports[text]


def disassemble(instruction: int) -> str:
    """One instruction as text; branch targets as numbers."""
    by_code = {code: word for word, code in OPERATIONS.items()}
    inputs = {end: word for word, end in INPUTS.items()}
    outputs = {end: word for word, end in OUTPUTS.items()}
    fields = _mesh.switch_instr_t.unpack(instruction)
    word = by_code.get(fields["op"], "?")
    counter, imm = f"r{fields['counter']}", fields["imm"]
    operands = {"nop": "", "halt": "", "jump": str(imm), "jr": counter}.get(word, f"{counter}, {imm}")
    if word == "movew":
        operands = f"{counter}, {inputs.get((fields['source_net'], fields['source']), '?')}"
    routes = []
    for net in range(2):
        for port, select in enumerate(fields[f"route{net + 1}"]):
            if select < _mesh.SwitchPorts:
                routes.append(f"{inputs[net, select]}->{outputs[net, port]}")
    return f"{word} {operands}".strip() + (" route " + ", ".join(routes) if routes else "")


def waits_for(status: int) -> str:
    """What a switch that stands still waits for, from its `switch_status_t`; empty if it does not wait."""
    fields = _mesh.switch_status_t.unpack(status)
    if not fields["waiting"]:
        return ""
    missing = []
    for kind, ends, what in (("no_word", INPUTS, "a word from"), ("no_room", OUTPUTS, "room at")):
        for name, (net, port) in ends.items():
            if fields[f"{kind}{net + 1}"] >> port & 1:
                missing.append(f"{what} {name}")
    return ", ".join(missing)
