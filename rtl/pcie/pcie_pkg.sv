// SPDX-License-Identifier: Apache-2.0
/// PCI Express transaction-layer packets as they cross the boundary to the hard block.
///
/// One TLP is one or more beats. The first beat (`sop`) carries the header in the layout of the PCIe Base Specification:
/// byte 0 of the header in hdr[127:120], so DW0 is hdr[127:96]; a 3DW header leaves hdr[31:0] zero. Payload starts in byte
/// lane 0 of the first beat and fills 64 bytes a beat, first byte in the lowest lane; its length is the header's Length
/// field. A TLP without payload is one beat. `data` beyond the payload is undefined.
package pcie_pkg;
  localparam int TlpBeatBytes = 64;
  localparam int WideTlpBytes = 2 * TlpBeatBytes;

  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] hdr;
    logic [8*TlpBeatBytes-1:0] data;
  } tlp_beat_t;

  /// The same with 128 bytes a beat. One TLP starts a beat, so at 250 MHz beats of 64 bytes carry 125 M TLPs a second of 65 bytes
  /// (100G Ethernet has 142 M frames of that payload a second, and their records come on top), these 250 M.
  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] hdr;
    logic [8*WideTlpBytes-1:0] data;
  } wide_tlp_beat_t;

  // Fmt and Type of the TLPs in use, {fmt[2:0], type[4:0]}.
  localparam logic [7:0] MRd3 = 8'h00, MRd4 = 8'h20, MWr3 = 8'h40, MWr4 = 8'h60, Cpl = 8'h0a, CplD = 8'h4a;

  typedef enum logic [2:0] {
    StatusSC  = 3'b000,
    StatusUR  = 3'b001,
    StatusCRS = 3'b010,
    StatusCA  = 3'b100
  } cpl_status_e;

  /// DW0, the same in every TLP.
  typedef struct packed {
    logic [7:0] fmt_type;
    logic       tag9;
    logic [2:0] tc;
    logic       tag8;
    logic       attr_ido;
    logic       ln;
    logic       th;
    logic       td;
    logic       ep;        // poisoned
    logic       attr_ro;   // relaxed ordering
    logic       attr_ns;
    logic [1:0] at;
    logic [9:0] length;    // payload in DW, 0 means 1024
  } tlp_dw0_t;

  /// Memory request with a 64-bit address.
  typedef struct packed {
    tlp_dw0_t    dw0;
    logic [15:0] requester_id;
    logic [7:0]  tag;
    logic [3:0]  last_be;
    logic [3:0]  first_be;
    logic [63:0] addr;          // bits 1:0 are zero
  } mem4_hdr_t;

  /// Memory request with a 32-bit address.
  typedef struct packed {
    tlp_dw0_t    dw0;
    logic [15:0] requester_id;
    logic [7:0]  tag;
    logic [3:0]  last_be;
    logic [3:0]  first_be;
    logic [31:0] addr;          // bits 1:0 are zero
    logic [31:0] unused;
  } mem3_hdr_t;

  /// Completion, with or without data.
  typedef struct packed {
    tlp_dw0_t    dw0;
    logic [15:0] completer_id;
    cpl_status_e status;
    logic        bcm;
    logic [11:0] byte_count;    // bytes left including this TLP, 0 means 4096
    logic [15:0] requester_id;
    logic [7:0]  tag;
    logic        reserved;
    logic [6:0]  lower_addr;    // of the first byte returned
    logic [31:0] unused;
  } cpl_hdr_t;

  /// The functions of a device with virtual ones (SR-IOV): 0 is the physical one, n the n-th virtual one. An address inside such a device says
  /// whose it is: bits 63:56 the function, bits 51:0 where in its memory, and what a sum carries beyond those, or borrows, stays in the bits
  /// between (owned, function_of), so that no arithmetic on an address makes another function's of it.
  localparam int MostFunctions = 64;
  typedef logic [7:0] function_t;
  typedef logic [MostFunctions-1:0] functions_t;

  /// What the host has set for each of them.
  typedef struct packed {
    functions_t master;       // may read and write memory
    functions_t msix_enable;
    functions_t msix_mask;
    functions_t in_reset;     // function-level reset, until function_done_t; never the physical one
  } function_state_t;

  /// A virtual function has been reset, for a clock.
  typedef struct packed {
    logic      valid;
    function_t which;
  } function_done_t;

  function automatic logic [63:0] owned(function_t which, logic [63:0] addr);
    logic unused;
    unused = &{1'b0, addr};
    return {which, addr[55:0]};
  endfunction
  function automatic function_t function_of(logic [63:0] addr);
    logic unused;
    unused = &{1'b0, addr};
    return addr[63:56] + 8'(addr[55]);
  endfunction
  /// What becomes of such an address on the bus, in a device with so many functions.
  typedef struct packed {
    function_t   whose;
    logic [63:0] addr;
    logic        allowed;  // its function may read and write memory
  } bus_access_t;
  function automatic bus_access_t access_of(logic [63:0] addr, functions_t master, int functions);
    function_t whose;
    whose = function_of(addr);
    if (functions == 1) return '{whose: '0, addr: addr, allowed: 1'b1};
    return '{whose: whose, addr: {8'd0, addr[55:0]}, allowed: master[6'(whose&8'(functions-1))]};
  endfunction
  /// Its place on the bus: that of the physical one is 0, virtual ones follow from FirstVirtual on (First VF Offset of SR-IOV).
  localparam logic [7:0] FirstVirtual = 8'd4;
  function automatic logic [7:0] routing_of(function_t which);
    return which == '0 ? '0 : which + (FirstVirtual - 8'd1);
  endfunction
  function automatic function_t routed_to(logic [7:0] number);
    return number < FirstVirtual ? '0 : number - (FirstVirtual - 8'd1);
  endfunction

  /// What the hard block's configuration space tells the logic behind it.
  typedef struct packed {
    logic [15:0]     requester_id;
    logic [2:0]      max_payload;       // 128 << n bytes
    logic [2:0]      max_read_request;  // 128 << n bytes
    logic            bus_master;
    logic            extended_tag;
    logic            wide_tag;          // 10 bits
    logic            relaxed_ordering;
    logic            msix_enable;
    logic            msix_mask;         // function mask
    function_state_t functions;         // 0 where there are no virtual ones
  } pcie_cfg_t;

  /// What the host has written to a window, up to 64 bytes: `pieces` of 16 bytes from the start of line `line` (of 64 bytes) on.
  typedef struct packed {
    logic                      valid;   // for one clock, never refused
    logic [25:0]               line;    // counted from the first window's begin
    logic [2:0]                pieces;  // 1 ... 4
    logic [8*TlpBeatBytes-1:0] data;
  } line_write_t;

  /// The tag of request `number` 0 ... 511, when tags have 10 bits: those whose two highest are 0 are not among them.
  function automatic logic [9:0] wide_tag_of(logic [8:0] number);
    return {number[8], ~number[8], number[7:0]};
  endfunction

  /// Transmit flow control: cumulative credit limits since link up, modulo the field (PCIe Base Specification 2.6.1).
  /// A header credit is one TLP, a data credit 16 bytes. An `inf` bit says that credits of that kind are never used up.
  typedef struct packed {
    logic [7:0]  ph;
    logic [11:0] pd;
    logic        p_inf;
    logic [7:0]  nph;
    logic        np_inf;
    logic [7:0]  cplh;
    logic [11:0] cpld;
    logic        cpl_inf;
  } fc_limit_t;

  /// What the hard block tells the logic beside TLPs.
  typedef struct packed {
    logic link_up;
    logic      function_reset;  // the host resets the function: high until the logic has said that it is done
    pcie_cfg_t cfg;
    fc_limit_t fc;
  } block_state_t;

  /// What the hard block drives. Not packed, so that a bench has each pin by its name.
  typedef struct {
    // A beat to the logic; `ready` comes back with pcie_out_t. A device with beats of 64 bytes uses the lower half.
    logic                      rx_valid;
    logic [127:0]              rx_hdr;
    logic [8*WideTlpBytes-1:0] rx_data;
    logic                      rx_sop;
    logic                      rx_eop;
    // What the logic sends is taken.
    logic                      tx_ready;
    logic                      read_ready;
    // The link is trained. A device may hold its logic in reset while it is not.
    logic                      link_up;
    // The host resets the function: high until function_reset_done was, for a clock.
    logic                      function_reset;
    // Configuration space: pcie_cfg_t.
    logic [15:0]               requester_id;
    logic [2:0]                max_payload;
    logic [2:0]                max_read_request;
    logic                      bus_master;
    logic                      extended_tag;
    logic                      wide_tag;
    logic                      relaxed_ordering;
    logic                      msix_enable;
    logic                      msix_mask;
    // Credits: fc_limit_t.
    logic [7:0]                ph;
    logic [11:0]               pd;
    logic                      p_inf;
    logic [7:0]                nph;
    logic                      np_inf;
    logic [7:0]                cplh;
    logic [11:0]               cpld;
    logic                      cpl_inf;
  } pcie_in_t;

  /// What the logic drives.
  typedef struct {
    logic                      rx_ready;
    // A beat to the hard block.
    logic                      tx_valid;
    logic [127:0]              tx_hdr;
    logic [8*WideTlpBytes-1:0] tx_data;
    logic                      tx_sop;
    logic                      tx_eop;
    // Read requests, header only: a stream of their own, so that they take no beats from packets with data.
    logic                      read_valid;
    logic [127:0]              read_hdr;
    logic                      function_reset_done;
  } pcie_out_t;
endpackage
