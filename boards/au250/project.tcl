# SPDX-License-Identifier: Apache-2.0
# vivado -mode batch -source project.tcl: the project, its IP cores, and its bitstream, in the folder `project`.
set here [file dirname [file normalize [info script]]]
source $here/settings.tcl
create_project -force $top $here/project -part $part
foreach source $sources { add_files $here/rtl/$source }
set_property include_dirs $here/rtl [current_fileset]
set_property top $top [current_fileset]
source $here/ip.tcl
add_files -fileset constrs_1 [list $here/pins.xdc $here/crossings.xdc]
# What crosses clocks is named as host_nic has it.
set_property SCOPED_TO_REF $scope [get_files $here/crossings.xdc]
set_property PROCESSING_ORDER LATE [get_files $here/crossings.xdc]
update_compile_order -fileset sources_1
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
open_run impl_1
report_timing_summary -file $here/timing.txt
report_utilization -file $here/utilization.txt
