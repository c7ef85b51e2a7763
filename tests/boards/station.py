# SPDX-License-Identifier: Apache-2.0
"""A board that answers by itself, and its line: a PHY (cocotbext-eth) and packets (scapy) that no one here wrote."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from cocotbext.eth import GmiiFrame
from line import phy, well
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

OURS, OUR_IP = "02:00:00:00:00:01", "192.168.1.50"  # of the board
HERE, HERE_IP = "02:aa:bb:cc:dd:ee", "192.168.1.7"


class Board:
    """It and its line."""

    def __init__(self, dut):
        self.dut = dut
        self.phy = phy(dut)
        self.random = random.Random(1)
        cocotb.start_soon(Clock(dut.clk100, 10, unit="ns").start())

    async def start(self, clocks=2000):
        """To where its cores have set up; of the first test it is just configured."""
        while not int(self.dut.running.value):
            await ClockCycles(self.dut.rgmii_rx_clk, 100)
        assert int(self.dut.phy_rst_n.value)
        await ClockCycles(self.dut.rgmii_rx_clk, clocks)

    def send(self, packet):
        self.phy.rx.send_nowait(GmiiFrame.from_payload(bytes(packet)))

    async def answer(self, us=100):
        await self.phy.tx.wait(us, "us")
        assert not self.phy.tx.empty(), "no answer"
        return Ether(well(self.phy.tx.recv_nowait()))

    async def quiet(self):
        await self.phy.rx.wait()
        await ClockCycles(self.dut.rgmii_rx_clk, 4000)
        assert self.phy.tx.empty(), Ether(bytes(self.phy.tx.recv_nowait().get_payload())).summary()

    def ping(self, size, number, **ip):
        data = Raw(self.random.randbytes(size))
        return Ether(src=HERE, dst=OURS) / IP(src=HERE_IP, dst=OUR_IP, **ip) / ICMP(id=0x1234, seq=number) / data
