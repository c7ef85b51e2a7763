# SPDX-License-Identifier: Apache-2.0
"""A device at pins of a real hard block in a slot of cocotbext-pcie's: its model of the block, its root complex above it.

Both are the work of others, written to the same documents (PCI Express, AMD PG213, Intel 683059): what they take for a TLP, a
descriptor or a beat is not what we told them.
"""

import os

import cocotb
from cocotb.triggers import RisingEdge, Timer
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core import RootComplex
from cocotbext.pcie.core.caps import PciCapId
from cocotbext.pcie.intel.ptile import PTilePcieDevice, PTileRxBus, PTileTxBus
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice

from emery import system
from emery.make import registers

PINS = os.environ["PINS"]  # pcie_interface
STRADDLE = PINS == "usplus"
SIGNALS = (
    "user_clk user_reset user_lnk_up sys_reset pcie_cq_np_req cfg_max_payload cfg_max_read_req cfg_function_status "
    "cfg_bus_number cfg_mgmt_addr cfg_mgmt_function_number cfg_mgmt_write cfg_mgmt_write_data cfg_mgmt_byte_enable "
    "cfg_mgmt_read cfg_mgmt_read_data cfg_mgmt_read_write_done cfg_mgmt_debug_access cfg_interrupt_msix_enable "
    "cfg_interrupt_msix_mask"
)
PTILE = "reset_status coreclkout_hip tx_cdts_limit tx_cdts_limit_tdm_idx tl_cfg_func tl_cfg_add tl_cfg_ctl"


class Slot:
    """`name`: the system whose registers are in BAR 0; `bar_bytes`: of that; `vectors`: of MSI-X.

    A register is named by its path in the system's description (`way[1].control`), or its address is given."""

    def __init__(self, dut, name, bar_bytes, vectors=0):
        self.dut = dut
        target = system.load(name)
        (described,) = target.registers
        self.map = registers.elaborate(target.folder / described.file, described.map)
        msix = {}
        if vectors:
            msix = {"pf0_msix_enable": True, "pf0_msix_table_size": vectors - 1, "pf0_msix_table_bir": 0, "pf0_msix_pba_bir": 0}
            msix |= {"pf0_msix_table_offset": self.at("msix"), "pf0_msix_pba_offset": self.at("msix.pending[0]")}
        dut.sys_reset.value = 1
        dut.pcie_tfc_nph_av.value = 15  # the model does not drive it
        self.rc = RootComplex()
        self.rc.max_payload_size = 0x2  # 512 bytes
        self.rc.max_read_request_size = 0x3
        self.reset = dut.reset_status if PINS == "ptile" else dut.user_reset
        self.block = self.ptile(msix) if PINS == "ptile" else self.usplus(msix)
        self.block.functions[0].configure_bar(0, bar_bytes)
        # The model of the block has the capability, and leaves to others what it does.
        dut.cfg_flr_in_process.value = dut.flr_rcvd_pf.value = 0
        capability = self.block.functions[0].pcie_cap
        capability.function_level_reset_capability = True
        capability.initiate_function_level_reset = self.initiate_function_level_reset
        self.rc.make_port().connect(self.block)

    def usplus(self, msix):
        dut = self.dut
        return UltraScalePlusPcieDevice(
            pcie_generation=3,
            pcie_link_width=16,
            user_clk_frequency=250e6,
            rq_straddle=STRADDLE,
            rc_straddle=STRADDLE,
            rc_4tlp_straddle=STRADDLE,
            max_payload_size=1024,
            enable_extended_tag=True,
            rq_bus=AxiStreamBus.from_prefix(dut, "s_axis_rq"),
            rc_bus=AxiStreamBus.from_prefix(dut, "m_axis_rc"),
            cq_bus=AxiStreamBus.from_prefix(dut, "m_axis_cq"),
            cc_bus=AxiStreamBus.from_prefix(dut, "s_axis_cc"),
            **{name: getattr(dut, name) for name in SIGNALS.split()},
            **msix,
        )

    def ptile(self, msix):
        dut = self.dut
        return PTilePcieDevice(
            pcie_generation=3,
            pcie_link_width=16,
            pld_clk_frequency=250e6,
            max_payload_size=512,
            enable_extended_tag=True,
            rx_bus=PTileRxBus.from_prefix(dut, "rx_st"),
            tx_bus=PTileTxBus.from_prefix(dut, "tx_st"),
            pin_perst_n=dut.sys_reset,
            **{name: getattr(dut, name) for name in PTILE.split()},
            **msix,
        )

    def reads_open(self):
        """Requests without their last completion, as the block sees them; P-tile looks after none."""
        return 0 if PINS == "ptile" else sum(x is not None for x in self.block.active_request)

    async def out_of_reset(self):
        for level in (1, 0):
            while int(self.reset.value) != level:
                await Timer(4, "ns")

    async def start(self):
        """Enumerates it; `bar` is its BAR 0."""
        await self.out_of_reset()
        await self.rc.enumerate()
        self.device = self.rc.find_device(self.block.functions[0].pcie_id)
        await self.device.enable_device()
        await self.device.set_master()
        self.bar = self.device.bar_window[0]
        above = self.rc.mem_address_space.create_pool(0x12_0000_0000, 1 << 22)
        self.pools = [self.rc.mem_pool, above]  # below 4 GB and above
        await Timer(1, "us")  # Device Control has been read

    async def initiate_function_level_reset(self):
        """What the block does when the host has written that bit."""
        function = self.block.functions[0]
        function.bus_master_enable = function.memory_space_enable = False
        cocotb.start_soon(self.follow_function_level_reset())

    async def follow_function_level_reset(self):
        """Its pins, until the logic says that it is through."""
        dut, ptile = self.dut, PINS == "ptile"
        clock = dut.coreclkout_hip if ptile else dut.user_clk
        level, done = (dut.flr_rcvd_pf, dut.flr_completed_pf) if ptile else (dut.cfg_flr_in_process, dut.cfg_flr_done)
        await RisingEdge(clock)
        level.value = 1
        while True:
            await RisingEdge(clock)
            if int(done.value) & 1:
                break
        level.value = 0

    async def reset_function(self):
        """As a host does it, but that it does not wait for what is under way, nor for 100 ms."""
        assert await self.device.capability_read_dword(PciCapId.EXP, 4) >> 28 & 1
        control = await self.device.capability_read_word(PciCapId.EXP, 8)
        assert not control >> 15
        await self.device.capability_write_word(PciCapId.EXP, 8, control | 1 << 15)
        level = self.dut.flr_rcvd_pf if PINS == "ptile" else self.dut.cfg_flr_in_process
        await Timer(3, "us")
        assert int(level.value) == 0, "the logic does not come to an end"
        command = await self.device.config_read_word(4)
        await self.device.config_write_word(4, command | 0x6)  # memory, bus master
        await Timer(1, "us")

    def at(self, register):
        """Its address in the BAR."""
        return self.map.find_by_path(register).absolute_address if isinstance(register, str) else register

    async def write(self, register, value=0, **fields):
        """All of it, or some of its fields by name."""
        for name, x in fields.items():
            value |= x << self.map.find_by_path(f"{register}.{name}").low
        await self.bar.write_dword(self.at(register), value)

    async def read(self, register):
        return await self.bar.read_dword(self.at(register))

    async def check_magic(self, register):
        """What tells this register map from others is what the description says it is."""
        assert await self.read(register) == self.map.find_by_path(f"{register}.value").get_property("reset")
