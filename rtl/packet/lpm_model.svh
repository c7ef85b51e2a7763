// SPDX-License-Identifier: Apache-2.0
// What the tests of the longest-prefix match share: random prefixes, the slow way to look one up, and the trie of them.
`ifndef EMERY_LPM_MODEL_SVH
`define EMERY_LPM_MODEL_SVH

/// `LPM_MODEL(Nodes)` declares route_table_t's parts: add prefixes with lpm_add, then lpm_build fills lpm_image; or with lpm_fit, as long
/// as the trie takes them.
`define LPM_MODEL(Nodes) \
  logic [31:0] lpm_prefix[$]; \
  int lpm_length[$]; \
  logic [15:0] lpm_value[$]; \
  lpm_entry_t lpm_image[16 * Nodes]; \
  int lpm_nodes; \
  function automatic void lpm_clear(); \
    lpm_prefix.delete(); \
    lpm_length.delete(); \
    lpm_value.delete(); \
  endfunction \
  function automatic logic [31:0] lpm_mask(int length); \
    /* verilator no_inline_task */ \
    return length == 0 ? 32'd0 : 32'hffffffff << (32 - length); \
  endfunction \
  function automatic void lpm_add(logic [31:0] prefix, int length, logic [15:0] value); \
    foreach (lpm_prefix[i]) \
      if (lpm_length[i] == length && ((lpm_prefix[i] ^ prefix) & lpm_mask(length)) == 0) return; \
    lpm_prefix.push_back(prefix & lpm_mask(length)); \
    lpm_length.push_back(length); \
    lpm_value.push_back(value); \
  endfunction \
  /* The longest of all that match, one by one; `none` if there is none. */ \
  function automatic logic [15:0] lpm_lookup(logic [31:0] address, logic [15:0] none); \
    int best = -1; \
    logic [15:0] value = none; \
    foreach (lpm_prefix[i]) \
      if (lpm_length[i] > best && ((lpm_prefix[i] ^ address) & lpm_mask(lpm_length[i])) == 0) begin \
        best  = lpm_length[i]; \
        value = lpm_value[i]; \
      end \
    return value; \
  endfunction \
  /* Short prefixes first: a longer one then only overwrites. False: more nodes than there are. */ \
  function automatic bit lpm_build(logic [15:0] none); \
    lpm_nodes = 1; \
    for (int i = 0; i < 16; i++) lpm_image[i] = '{node: 0, value: LpmNodeW'(none)}; \
    /* verilator unroll_disable */ \
    for (int length = 0; length <= 32; length++) \
      foreach (lpm_prefix[i]) \
        if (lpm_length[i] == length) begin \
          int node = 0, shift = 28; \
          while (length > 32 - shift) begin \
            int at = node * 16 + int'(4'(lpm_prefix[i] >> shift)); \
            if (!lpm_image[at].node) begin \
              if (lpm_nodes == Nodes) return 0; \
              for (int j = 0; j < 16; j++) lpm_image[lpm_nodes*16+j] = lpm_image[at]; \
              lpm_image[at] = '{node: 1, value: LpmNodeW'(lpm_nodes)}; \
              lpm_nodes++; \
            end \
            node = int'(lpm_image[at].value); \
            shift -= 4; \
          end \
          for (int j = 0; j < 1 << (32 - shift - length); j++) \
            lpm_image[node*16+int'(4'(lpm_prefix[i]>>shift))+j] = '{node: 0, value: LpmNodeW'(lpm_value[i])}; \
        end \
    return 1; \
  endfunction \
  /* Adds a prefix and builds; false, and without it, when there are too few nodes. */ \
  function automatic bit lpm_fit(logic [31:0] prefix, int length, logic [15:0] value, logic [15:0] none); \
    lpm_add(prefix, length, value); \
    if (lpm_build(none)) return 1; \
    void'(lpm_prefix.pop_back()); \
    void'(lpm_length.pop_back()); \
    void'(lpm_value.pop_back()); \
    return 0; \
  endfunction

`endif
