# SPDX-License-Identifier: Apache-2.0
"""What is generated from a register description (SystemRDL): RTL register blocks, address packages, C header, pages."""

import os
from pathlib import Path

from emery.common import ROOT, UserError
from emery.make import cache

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # the HTML writer imports GitPython; no git is needed


def elaborate(source: Path, top: str):
    """The map `top` of a register description, as systemrdl's nodes; UserError with the place of what is wrong in it."""
    from systemrdl import RDLCompileError, RDLCompiler
    from systemrdl.messages import MessagePrinter, Severity

    lines = []

    class Collect(MessagePrinter):
        def print_message(self, severity, text, src_ref):
            if severity in (Severity.ERROR, Severity.FATAL):
                where = f"{source.relative_to(ROOT)}" if source.is_relative_to(ROOT) else str(source)
                line = getattr(src_ref, "line", None)
                lines.append(f"{where}:{line}: {text}" if line else f"{where}: {text}")

    from peakrdl_regblock.udps import ALL_UDPS

    compiler = RDLCompiler(message_printer=Collect())
    for udp in ALL_UDPS:
        compiler.register_udp(udp)
    try:
        compiler.compile_file(str(source))
        return compiler.elaborate(top_def_name=top).top
    except RDLCompileError as error:
        raise UserError(lines[0] if lines else str(error)) from error


def _camel(name: str) -> str:
    return "".join(x.capitalize() for x in name.split("_"))


def _places(node, prefix: str = "", origin: int = 0) -> list[tuple[str, str]]:
    """Names and numbers for the parts of a map, and for those of its register files."""
    from systemrdl.node import AddrmapNode, RegNode

    found = []
    for part in node.children():
        if isinstance(part, RegNode) and not part.is_array:
            continue
        name, base = prefix + _camel(part.inst_name), origin + part.raw_absolute_address - node.raw_absolute_address
        size = 1 << (part.total_size - 1).bit_length()  # what reg_demux takes: a power of two
        found.append((f"{name}Base", f"'h{base:x}"))
        if base % size == 0:
            found.append((f"{name}Size", f"'h{size:x}"))
        if part.is_array:
            found.append((f"{name}Stride", f"'h{part.total_size // part.array_dimensions[0]:x}"))
            found.append((f"{name}Count", f"{part.array_dimensions[0]}"))
        elif not isinstance(part, AddrmapNode):
            found += _places(part, name, base)
    return found


def _write_map(node, source: Path, out: Path):
    """The package of where the parts of an addrmap lie, for reg_demux and for registers that say it to drivers."""
    package = f"{node.type_name.removesuffix('_map')}_map_pkg"
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"/// Where the parts of {node.type_name} lie; made from {source.name}."]
    lines += [f"package {package};", f"  localparam int MapW = {(node.size - 1).bit_length()};  // bits of an address"]
    lines += [f"  localparam int {name} = {value};" for name, value in _places(node)]
    (out / f"{package}.sv").write_text("\n".join([*lines, "endpackage", ""]))


def _write_offsets(node, source: Path, out: Path):
    """The package of where the registers of a block are, and of the lowest bits of their fields where they have several."""
    package = f"{node.type_name}_map_pkg"
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"/// Where registers of {node.type_name} are; from {source.name}.",
    ]
    lines += [f"package {package};"]
    for reg in node.registers(unroll=False):
        name, fields = _camel(reg.inst_name), list(reg.fields())
        lines.append(f"  localparam int {name}At = 'h{reg.raw_absolute_address - node.raw_absolute_address:x};")
        lines += [f"  localparam int {name}{_camel(x.inst_name)}Bit = {x.low};" for x in fields if len(fields) > 1]
    (out / f"{package}.sv").write_text("\n".join([*lines, "endpackage", ""]))


def _write_list(top, source: Path, out: Path):
    """All registers of a map for the bench: name, offset, whether writable, and the arrays it lies in, the outer one first."""
    from systemrdl.node import RegNode

    rows = []
    for reg in top.descendants(unroll=False):
        if not isinstance(reg, RegNode):
            continue
        arrays, node, names = [], reg, []
        while node is not top:
            names.insert(0, node.inst_name)
            stride = node.array_stride if node.is_array else 0
            for count in reversed(node.array_dimensions or ()):
                arrays.insert(0, f"{{{count}, {stride:#x}}}")
                stride *= count
            node = node.parent
        writable = "true" if reg.has_sw_writable else "false"
        offset = reg.raw_absolute_address - top.raw_absolute_address
        rows.append(f'    {{"{".".join(names)}", {offset:#x}, {writable}, {{{", ".join(arrays)}}}}},')
    lines = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// The registers of {top.inst_name}; made from {source.name}.",
        "#pragma once",
    ]
    lines += ['#include "bench/pcie/register_list.hpp"', "namespace emery {"]
    lines += [
        f"inline constexpr RegisterPlace k{_camel(top.inst_name)}Registers[] = {{",
        *rows,
        "};",
        "}  // namespace emery",
        "",
    ]
    (out / f"{top.inst_name}_registers.hpp").write_text("\n".join(lines))


# The bus of a register block: its one port is a slave of reg_if. Nothing stalls: reads and writes take as long as each other.
_REG_IF = """
assign cpuif_req = regs.req;
assign cpuif_req_is_wr = regs.write;
assign cpuif_addr = {width}'(regs.addr);
assign cpuif_wr_data = regs.wdata;
assign cpuif_wr_biten = {{{{8{{regs.wstrb[3]}}}}, {{8{{regs.wstrb[2]}}}}, {{8{{regs.wstrb[1]}}}}, {{8{{regs.wstrb[0]}}}}}};
assign regs.ack = cpuif_rd_ack || cpuif_wr_ack;
assign regs.rdata = cpuif_rd_data;
wire unused_cpuif = &{{1'b0, cpuif_req_stall_wr, cpuif_req_stall_rd, cpuif_rd_err, cpuif_wr_err}};
"""


def generate(source: Path, blocks: list[str], top: str) -> Path:
    """A directory with what `source` describes.

    BLOCK.sv and BLOCK_pkg.sv for each block, whose port `regs` is a slave of reg_if, and BLOCK_map_pkg.sv, the addresses in it;
    MAP_map_pkg.sv, the addresses in `top` and in the maps it has; TOP.h, the C header; TOP_registers.hpp, all
    registers as a table for the bench.
    """

    def make(out: Path):
        from peakrdl_cheader.exporter import CHeaderExporter
        from peakrdl_regblock import RegblockExporter
        from peakrdl_regblock.cpuif.base import CpuifBase
        from systemrdl.node import AddrmapNode

        class RegIf(CpuifBase):
            port_declaration = "reg_if.slave regs"

            def get_implementation(self) -> str:
                return _REG_IF.format(width=self.addr_width)

        for block in blocks:
            described = elaborate(source, block)
            _write_offsets(described, source, out)
            RegblockExporter().export(described, str(out), cpuif_cls=RegIf)
            made = out / f"{block}.sv"  # drives each field of one struct from an always_comb of its own
            made.write_text(
                "/* verilator lint_off MULTIDRIVEN */\n" + made.read_text() + "/* verilator lint_on MULTIDRIVEN */\n"
            )
        whole = elaborate(source, top)
        maps = [x for x in whole.descendants() if isinstance(x, AddrmapNode) and x.type_name not in blocks]
        for node in maps if top in blocks else [whole, *maps]:
            _write_map(node, source, out)
        CHeaderExporter().export(whole, str(out / f"{top}.h"))
        _write_list(whole, source, out)

    key = cache.digest(cache.file_digest(Path(__file__)), blocks, top, cache.file_digest(source))
    return cache.entry("registers", key, make)


def document(source: Path, top: str, out: Path):
    """Writes the documentation page of `source` into the directory `out`."""
    from peakrdl_html import HTMLExporter

    HTMLExporter().export(elaborate(source, top), str(out))
