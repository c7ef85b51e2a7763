rtl/pcie/pcie_pkg.sv
rtl/pcie/dma_pkg.sv
rtl/queue/queue_pkg.sv
rtl/eth/eth_pkg.sv
rtl/port/port_pkg.sv
rtl/capture/cap_pkg.sv
rtl/pcix/pcix_pkg.sv
rtl/direct/direct_pkg.sv
