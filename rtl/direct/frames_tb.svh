// SPDX-License-Identifier: Apache-2.0
// In the module of a bench of frames in words: what a frame is, how many words it has, and what is in each.
typedef struct {
  int unsigned id;
  int unsigned bytes;
} frame_t;
function automatic int unsigned words_of(int unsigned bytes);
  return (bytes + 7) / 8;
endfunction
function automatic logic [63:0] content(int unsigned id, int unsigned word);
  return {id, word} * 64'h9e3779b97f4a7c15;
endfunction
