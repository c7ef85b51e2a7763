# SPDX-License-Identifier: Apache-2.0
"""What is generated from a register description (SystemRDL): RTL register block, C header, documentation page."""

import os
from pathlib import Path

from emery.common import ROOT, UserError
from emery.make import cache

os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")  # the HTML writer imports GitPython; no git is needed


def _elaborate(source: Path, top: str):
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


def generate(source: Path, blocks: list[str], top: str) -> Path:
    """A directory with what `source` describes: BLOCK.sv and BLOCK_pkg.sv for each block (pass-through bus), TOP.h."""

    def make(out: Path):
        from peakrdl_cheader.exporter import CHeaderExporter
        from peakrdl_regblock import RegblockExporter
        from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif

        for block in blocks:
            RegblockExporter().export(_elaborate(source, block), str(out), cpuif_cls=PassthroughCpuif)
        CHeaderExporter().export(_elaborate(source, top), str(out / f"{top}.h"))

    return cache.entry("registers", cache.digest(1, blocks, top, cache.file_digest(source)), make)


def document(source: Path, top: str, out: Path):
    """Writes the documentation page of `source` into the directory `out`."""
    from peakrdl_html import HTMLExporter

    HTMLExporter().export(_elaborate(source, top), str(out))
