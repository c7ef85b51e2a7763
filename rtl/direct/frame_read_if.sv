// SPDX-License-Identifier: Apache-2.0
/// Read side of `frame_queues`: look at the frames of a queue in order, then free some of them.
///
/// `load` puts the scan at the oldest frame of `queue`. `next_bytes` and `next_word` read the next frame's length and the next
/// data word; the answer comes one clock later and stays until the next read. Nothing leaves the queue before `free`, which
/// gives back the `free_packets` oldest frames of `queue` with their `free_words` words (packet headers counted). `load` and
/// `free` both use `queue`. The scan may run past the last frame: what it reads there means nothing.
interface frame_read_if #(
    parameter int Queues = 1
);
  import direct_pkg::*;
  localparam int QueueW = Queues > 1 ? $clog2(Queues) : 1;

  logic [QueueW-1:0] queue;  // peer * Classes + class
  logic load;
  logic next_bytes;
  logic [15:0] bytes;
  logic next_word;
  logic [63:0] word;
  logic free;
  words_t free_packets;
  words_t free_words;
  words_t [Queues-1:0] used;  // words of whole frames, packet headers counted

  modport store(
      input queue, load, next_bytes, next_word, free, free_packets, free_words,
      output bytes, word, used
  );
  modport reader(
      output queue, load, next_bytes, next_word, free, free_packets, free_words,
      input bytes, word, used
  );
endinterface
