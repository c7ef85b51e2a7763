// SPDX-License-Identifier: Apache-2.0
/// What the user of a bus says to it and hears from it, the same over PCI-X and PCI Express: transfers of a channel, word by
/// word, and what others write into the card's windows.
package channel_pkg;
  typedef enum logic [1:0] {
    ChannelOk         = 2'd0,
    ChannelAbort      = 2'd1,  // no target answered (master abort), or target abort
    ChannelTimeout    = 2'd2,  // a split read was never completed
    ChannelSplitError = 2'd3   // the completer sent a Split Completion Message
  } channel_result_e;

  /// A transfer of one channel. `fixed`: pieces after the first start at `addr` again (a window, not memory).
  typedef struct packed {
    logic        read;
    logic        fixed;
    logic [63:0] addr;   // a multiple of 8
    logic [15:0] bytes;  // a multiple of 8, not 0
  } channel_cmd_t;

  /// Word of a read; `last` with the last word of the command. A failed read gives its missing words as zeros.
  typedef struct packed {
    logic [63:0] data;
    logic        last;
  } channel_word_t;

  /// A word that another device wrote into the card's windows.
  typedef struct packed {
    logic [3:0]  window;
    logic        message;  // in the mailbox half (a message); else in the burst half
    logic        first;    // first data phase of a bus transaction
    logic [63:0] data;
  } window_word_t;
endpackage
