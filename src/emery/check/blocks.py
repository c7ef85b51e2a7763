# SPDX-License-Identifier: Apache-2.0
"""A block as a system uses it: its first instance there gives parameters and clocks, a wrapper gives it plain ports.

Synthesis takes no interface at the ports of a top, and a type parameter has no value outside the module that gives it. So the
system is elaborated (pyslang), and a module is written that has the block, its interfaces and nothing else.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from pyslang import ast, driver

from emery import extension, system
from emery.check import structure
from emery.common import ROOT, UserError, nearest
from emery.make import build, own_rtl
from emery.physics import mhz_times_3


@dataclass(frozen=True)
class Subject:
    """What is synthesized: a system's top, or a block as a system uses it."""

    name: str
    system: str
    rtl: build.Rtl
    clocks: dict[str, float]  # MHz by clock port, as far as the system declares them
    wrapper: str = ""  # the module around a block; it comes after the files of `rtl`

    @property
    def top(self) -> str:
        """The module to synthesize."""
        return f"{self.name}_alone" if self.wrapper else self.rtl.top


class Elaborated:
    """A system's RTL with these parameters, elaborated."""

    def __init__(self, rtl: build.Rtl):
        self.driver = driver.Driver()
        self.driver.addStandardArgs()
        words = ["slang", *synthesis_words(rtl)]
        self.driver.parseCommandLine(" ".join(words), driver.CommandLineOptions())
        self.driver.processOptions()
        self.driver.parseAllSources()
        self.compilation = self.driver.createCompilation()
        self.root = self.compilation.getRoot()
        self.instances: dict[str, ast.InstanceSymbol] = {}  # by path below the top

        def visit(symbol):
            if isinstance(symbol, ast.InstanceSymbol) and symbol.isModule:
                self.instances[_below(symbol)] = symbol

        self.root.visit(visit)

    def first(self, module: str) -> ast.InstanceSymbol | None:
        """The first instance of a module."""
        return next((x for x in self.instances.values() if x.definition.name == module), None)

    def around(self, path: str) -> str:
        """The path of the instance in which something with this path lies; that of the top is empty."""
        path = path.rpartition(".")[0]
        while path not in self.instances:
            path = path.rpartition(".")[0]
        return path

    def at_top(self, instance: ast.InstanceSymbol, port: str) -> str | None:
        """The port of the top that an instance's port is connected to, or is one of, through nothing but other ports."""
        path = _below(instance)
        while path:
            found = self.instances[path].getPortConnection(self.instances[path].body.findPort(port))
            expression = found.expression if found else None
            path = self.around(path)
            while isinstance(expression, (ast.ElementSelectExpression, ast.RangeSelectExpression)):
                expression = expression.value
            if not isinstance(expression, ast.NamedValueExpression):
                return None
            port = expression.symbol.name
            if self.instances[path].body.findPort(port) is None:
                return None
        return port


def _below(instance: ast.InstanceSymbol) -> str:
    """An instance's path below the top."""
    return instance.hierarchicalPath.partition(".")[2]


@cache
def elaborate(rtl: build.Rtl) -> Elaborated:
    """The elaborated RTL; kept, as it takes seconds."""
    return Elaborated(rtl)


def synthesis_words(rtl: build.Rtl) -> list[str]:
    """The words that slang takes, alone and inside Yosys."""
    words = ["--top", rtl.top, "-D", "SYNTHESIS", *(w for n, v in rtl.parameters for w in ("-G", f"{n}={v}"))]
    for directory in rtl.dirs:
        words += ["-y", str(ROOT / directory), "-I", str(ROOT / directory)]
    return [*words, *(str(ROOT / x) for x in rtl.files)]


def subject(name: str, settings: list[str], within: str | None = None, own: list[str] = ()) -> Subject:
    """A system, or a block of one (`within`: of that system). Settings are the system's parameters and the block's own.

    `own`: folders of the user's in place of parts of it.
    """
    if within is None and ("/" in name or name in system.names()):
        chosen = extension.chosen(name, own)
        own_rtl.check_all(chosen)
        values = chosen.values(settings)
        return Subject(name, chosen.name, build.system_rtl(chosen, values), clocks(chosen, values))
    design = structure.read()
    known = {x for x, module in design.modules.items() if not module.is_interface}
    if name not in known:
        raise UserError(f"there is no system and no block {name}{nearest(name, [*system.names(), *known], system.names())}")
    for setting in settings:
        if "=" not in setting:
            raise UserError(f"--set {setting}: write it as NAME=VALUE")
    homes = {x.system for x in map(extension.load, own)} - {""}
    for one in [within] if within else [x for x in system.names() if name in design.reach[x] and homes <= {x}]:
        if found := _in_system(name, settings, extension.chosen(one, own)):
            return found
    raise UserError(f"{name}: {within or 'no system'} has it with these settings; --in names a system, --set its parameters")


def _in_system(name: str, settings: list[str], chosen: system.System) -> Subject | None:
    ours = [x for x in settings if x.partition("=")[0] in chosen.parameters]
    own = dict(x.partition("=")[::2] for x in settings if x not in ours)
    values = chosen.values(ours)
    own_rtl.check_all(chosen)
    whole = build.system_rtl(chosen, values)
    elaborated = elaborate(whole)
    instance = elaborated.first(name)
    if instance is None:
        return None
    parameters = [x.name for x in instance.body.parameters if not x.isLocalParam]
    for given in own:
        if given not in parameters:
            raise UserError(f"{name} has no parameter {given}{nearest(given, [*parameters, *chosen.parameters], parameters)}")
    rates = clocks(chosen, values)
    ports = (x.name for x in instance.body.portList if isinstance(x, ast.PortSymbol) and x.name.endswith("clk_i"))
    found = {x: rates[top] for x in ports if (top := elaborated.at_top(instance, x)) in rates}
    return Subject(name, chosen.name, replace(whole, parameters=()), found, _wrapper(instance, own))


def clocks(chosen: system.System, values: dict) -> dict[str, float]:
    """MHz of the clock ports of a system's top, as it declares them: numbers, names of parameters, or of a parameter whose
    value stands for another number in a table, leaves thirds out, or is so many times the clock."""

    def mhz(x) -> float:
        if isinstance(x, dict):
            ((name, table),) = x.items()
            if table == "thirds":
                return mhz_times_3(values[name]) / 3
            return table.get(str(values[name]), values[name]) if isinstance(table, dict) else table * values[name]
        return values[x] if isinstance(x, str) else x

    return {port: float(mhz(x)) for port, x in chosen.variant(values).clocks.items()}


# ---------------------------------------------------------------- the wrapper


def _type(kind: ast.Type) -> str:
    """A type by a name that is known everywhere; without one a structure by its members, whose names the block may use, and
    all else as so many bits."""
    while kind.isAlias and not re.fullmatch(r"\w+::\w+", str(kind)):
        kind = kind.targetType.type
    text = str(kind)
    if kind.isAlias or "{" not in text:
        return text
    if isinstance(kind, ast.PackedStructType):
        return f"struct packed {{ {' '.join(f'{_type(x.type)} {x.name};' for x in kind)} }}"
    return f"logic [{kind.bitWidth - 1}:0]"


def _plain(kind: ast.Type) -> str:
    """A type as so many bits; one that has none, an unpacked structure, by its name."""
    return f"logic [{kind.bitWidth - 1}:0]" if kind.isIntegral else _type(kind)


def _value(parameter: ast.ParameterSymbol) -> str:
    """A parameter's value: in full, where slang would write a long number short, and an enumeration's as one."""
    kind = parameter.type
    if kind.isIntegral and kind.bitWidth > 32 and not parameter.value.value.hasUnknown:
        return f"{kind.bitWidth}'h{int(parameter.value.value) % 2**kind.bitWidth:x}"
    return _cast(kind, str(parameter.value))


def _parameters(body, inside: list[str], given: dict | None = None) -> str:
    """Values of parameters; those that are structures by names that they are given in the wrapper."""
    found = []
    for x in body.parameters:
        if not x.isLocalParam:
            is_type = isinstance(x, ast.TypeParameterSymbol)
            value = _type(x.targetType.type) if is_type else (given or {}).get(x.name) or _value(x)
            if value.startswith("struct"):
                inside.append(f"typedef {value} type_{len(inside)}_t;")
                value = f"type_{len(inside) - 1}_t"
            found.append(f".{x.name}({value})")
    return ", ".join(found)


def _cast(kind: ast.Type, value: str) -> str:
    """An enumeration takes no bits without a cast."""
    return f"{_type(kind)}'({value})" if kind.isEnum and "::" in _type(kind) else value


def _wrapper(instance: ast.InstanceSymbol, given: dict) -> str:
    ports, inside, connections = [], [], []
    for x in instance.body.portList:
        if isinstance(x, ast.InterfacePortSymbol):
            _interface(x, ports, inside)
            connections.append(f".{x.name}({x.name}_if)")
            continue
        taken = x.direction == ast.ArgumentDirection.In
        element, array, size = str(x.type).partition("$")  # slang writes an unpacked array as `element$[n]`
        kind = f"{element if array else _plain(x.type)} {x.name} {size}".rstrip()
        ports.append(f"{'input' if taken else 'output'} {kind}")
        connections.append(f".{x.name}({_cast(x.type, x.name) if taken else x.name})")
    name = instance.definition.name
    head = f"module {name}_alone (\n  " + ",\n  ".join(ports) + "\n);\n"
    block = f"  {name} #({_parameters(instance.body, inside, given)}) i_block (\n    {', '.join(connections)}\n  );\n"
    return head + "".join(f"  {x}\n" for x in inside) + block + "endmodule\n"


def _interface(port: ast.InterfacePortSymbol, ports: list[str], inside: list[str]):
    """The interface at a port (or an array of them), and its members as ports of the wrapper."""
    whole, modport = port.connection
    element, ranges = whole, []
    while isinstance(element, ast.InstanceArraySymbol):
        ranges.append(element.range)
        element = element.elements[0]
    if len(ranges) > 1:
        raise UserError(f"{port.name}: an array of arrays of interfaces cannot be synthesized alone")
    size = f" [{ranges[0].left}:{ranges[0].right}]" if ranges else ""
    lowest = min(ranges[0].left, ranges[0].right) if ranges else 0
    many = abs(ranges[0].left - ranges[0].right) + 1 if ranges else 1
    own = ", ".join(f".{x.name}({x.name})" for x in element.body.portList)
    inside.append(f"{element.definition.name} #({_parameters(element.body, inside)}) {port.name}_if{size} ({own});")
    enums = [x.targetType.type for x in element.body.parameters if isinstance(x, ast.TypeParameterSymbol)]
    for member in element.body.find(modport.name):
        if not isinstance(member, ast.ModportPortSymbol):
            continue
        taken = member.direction == ast.ArgumentDirection.In  # by the block, so by the wrapper
        width, flat = member.type.bitWidth, f"{port.name}__{member.name}"
        ports.append(f"{'input' if taken else 'output'} logic [{width * many - 1}:0] {flat}")
        for i in range(many):
            there = f"{port.name}_if{f'[{lowest + i}]' if ranges else ''}.{member.name}"
            part = f"{flat}[{width * i} +: {width}]"
            kind = next((x for x in enums if x.isEnum and x.isMatching(member.type)), None)
            inside.append(f"assign {there} = {_cast(kind, part) if kind else part};" if taken else f"assign {part} = {there};")
