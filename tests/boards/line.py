# SPDX-License-Identifier: Apache-2.0
"""The PHY's side of RGMII that no one here wrote (cocotbext-eth), with the delay of the transmit clock that the pins' delay
element makes: without it the clock would move with its data."""

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from cocotbext.eth import GmiiFrame, RgmiiPhy


async def _delayed(clock, to):
    rise, fall, delay = RisingEdge(clock), FallingEdge(clock), Timer(2, "ns")
    while True:
        for edge, level in ((rise, 1), (fall, 0)):
            await edge
            await delay
            to.value = level


def phy(dut) -> RgmiiPhy:
    """At the pins of `dut`, whose `sink_clk` is for the sink."""
    dut.sink_clk.value = 0
    cocotb.start_soon(_delayed(dut.rgmii_tx_clk, dut.sink_clk))
    pins = (dut.rgmii_tx_data, dut.rgmii_tx_ctl, dut.sink_clk, dut.rgmii_rx_data, dut.rgmii_rx_ctl, dut.rgmii_rx_clk)
    return RgmiiPhy(*pins, speed=1000e6)


def well(frame: GmiiFrame) -> bytes:
    """What a frame from the device carries; its preamble and FCS are as they have to be."""
    assert bytes(frame.get_preamble()) == b"\x55" * 7 + b"\xd5" and frame.check_fcs() and not frame.error
    return bytes(frame.get_payload())
