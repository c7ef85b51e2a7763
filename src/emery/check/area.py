# SPDX-License-Identifier: Apache-2.0
"""FPGA area of a system's top, or of a block as a system uses it: Yosys, `synth_xilinx -family xcup`, flattened.

Cells are counted before placement: LUTs of logic, LUTs used as memory (a RAM32M16 or RAM64M8 is eight of them) or as shift
registers, flip-flops, block RAM in units of 36 kbit, DSPs. A 100G NIC takes about ten minutes; results are cached.
"""

from emery.check import blocks, synthesis


def area(name: str, settings: list[str], within: str | None = None, own: list[str] = ()) -> dict[str, float]:
    """What `name` takes of an UltraScale+ device with these parameters (see `blocks.subject`)."""
    return synthesis.count(synthesis.mapped(blocks.subject(name, settings, within, own)))
