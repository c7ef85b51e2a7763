// SPDX-License-Identifier: Apache-2.0
/// desc_fetch_tb with stream queues that are emptied in turns, page by page.
module desc_fetch_turns_tb;
  desc_fetch_tb #(.Streams(queue_pkg::StreamsEmptied)) i_tb ();
endmodule
