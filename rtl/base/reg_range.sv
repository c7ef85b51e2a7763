// SPDX-License-Identifier: Apache-2.0
/// Keeps settings within their ranges, whatever is written to their registers, and as they are while they may not change.
///
/// The nearest value in Least ... Most is on `setting_o` a clock after the register holds another; while `hold_i` is high the
/// setting stays what it is. With `refused_o` a value that is not taken as it was is put back in its place (`next_o`, the
/// register's hardware write), so that it is read as what it was taken for; high for one clock each time, for a counter. No
/// reset: the registers have one; hold nothing before the first clock after it.
module reg_range #(
    parameter int N = 1,
    parameter logic [N-1:0][31:0] Least = '0,
    parameter logic [N-1:0][31:0] Most = '1
) (
    input  logic               clk_i,
    input  logic [N-1:0][31:0] value_i,
    input  logic [N-1:0]       hold_i,
    output logic [N-1:0][31:0] next_o,
    output logic [N-1:0]       refused_o,
    output logic [N-1:0][31:0] setting_o
);
  function automatic logic [31:0] nearest(logic [31:0] value, logic [31:0] least,
                                          logic [31:0] most);
    return value < least ? least : value > most ? most : value;
  endfunction

  for (genvar i = 0; i < N; i++) begin : g_setting
    if (Least[i] > Most[i]) begin : g_bad_parameter
      $fatal(1, "reg_range: nothing lies from %0d to %0d", Least[i], Most[i]);
    end
    assign next_o[i] = hold_i[i] ? setting_o[i] : nearest(value_i[i], Least[i], Most[i]);
    assign refused_o[i] = value_i[i] != next_o[i];
  end
  always_ff @(posedge clk_i) setting_o <= next_o;
endmodule
