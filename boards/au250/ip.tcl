# SPDX-License-Identifier: Apache-2.0
# The IP cores of the board: PCI Express block and two MACs. settings.tcl says what follows from the design.
create_ip -name pcie4_uscale_plus -vendor xilinx.com -library ip -module_name pcie4_uscale_plus_0
set_property -dict [list \
    CONFIG.mode_selection {Advanced} \
    CONFIG.PL_LINK_CAP_MAX_LINK_SPEED {8.0_GT/s} \
    CONFIG.PL_LINK_CAP_MAX_LINK_WIDTH {X16} \
    CONFIG.axisten_if_width {512_bit} \
    CONFIG.axisten_freq {250} \
    CONFIG.axisten_if_enable_client_tag {true} \
    CONFIG.AXISTEN_IF_EXT_512_RQ_STRADDLE {true} \
    CONFIG.AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE {true} \
    CONFIG.AXISTEN_IF_EXT_512_CQ_STRADDLE {true} \
    CONFIG.extended_tag_field {true} \
    CONFIG.pf0_dev_cap_max_payload {1024_bytes} \
    CONFIG.vendor_id $vendor_id \
    CONFIG.PF0_DEVICE_ID $device_id \
    CONFIG.PF0_SUBSYSTEM_VENDOR_ID $vendor_id \
    CONFIG.PF0_SUBSYSTEM_ID $device_id \
    CONFIG.PF0_Use_Class_Code_Lookup_Assistant {false} \
    CONFIG.PF0_CLASS_CODE $class_code \
    CONFIG.pf0_bar0_64bit {true} \
    CONFIG.pf0_bar0_prefetchable {true} \
    CONFIG.pf0_bar0_scale {Megabytes} \
    CONFIG.pf0_bar0_size $bar0_megabytes \
    CONFIG.pf0_msi_enabled {false} \
    CONFIG.pf0_msix_enabled {true} \
    CONFIG.MSI_X_OPTIONS {MSI-X_External} \
    CONFIG.PF0_MSIX_CAP_TABLE_SIZE $msix_last \
    CONFIG.PF0_MSIX_CAP_TABLE_BIR {BAR_1:0} \
    CONFIG.PF0_MSIX_CAP_TABLE_OFFSET $msix_table \
    CONFIG.PF0_MSIX_CAP_PBA_BIR {BAR_1:0} \
    CONFIG.PF0_MSIX_CAP_PBA_OFFSET $msix_pba \
] [get_ips pcie4_uscale_plus_0]

# QSFP, transceivers, MAC.
foreach {qsfp lanes mac} {
    0 X1Y48~X1Y51 CMACE4_X0Y8
    1 X1Y44~X1Y47 CMACE4_X0Y7
} {
    create_ip -name cmac_usplus -vendor xilinx.com -library ip -module_name cmac_usplus_$qsfp
    set_property -dict [list \
        CONFIG.CMAC_CAUI4_MODE {1} \
        CONFIG.NUM_LANES {4x25} \
        CONFIG.GT_REF_CLK_FREQ {161.1328125} \
        CONFIG.GT_DRP_CLK {100} \
        CONFIG.GT_GROUP_SELECT $lanes \
        CONFIG.CMAC_CORE_SELECT $mac \
        CONFIG.INCLUDE_SHARED_LOGIC {2} \
        CONFIG.USER_INTERFACE {AXIS} \
        CONFIG.TX_FLOW_CONTROL {1} \
        CONFIG.RX_FLOW_CONTROL {1} \
        CONFIG.RX_FORWARD_CONTROL_FRAMES {0} \
        CONFIG.INCLUDE_RS_FEC {1} \
        CONFIG.ENABLE_TIME_STAMPING {1} \
    ] [get_ips cmac_usplus_$qsfp]
}
