// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Receive engine (host-nic paper, section II-E): from a frame in the packet RAM to a completion record.
///
/// For each frame of `meta`, in order: one slot is asked for (`req`), the frame is written into the buffers of the slot's
/// descriptors (`dma`, one request a descriptor), and when their statuses are there the record and the commit of the slot
/// leave and the frame's space is given back. Frames without a descriptor are dropped and leave no record. A frame with a
/// null address or an unreadable descriptor is dropped, its record says `error`, and `stop` tells the queue manager; so is
/// one whose data could not be written. One longer than its descriptors is cut: record with `error` and the full length.
/// With `Split` a slot's first descriptor can be one for headers (`headers`): those of a frame of TCP or UDP are written there alone and
/// the rest on from the next descriptor, and the record says how long they are. A frame whose headers are not known, or do not fit
/// that buffer, leaves it out and is whole in the others: 0. In a slot of one descriptor the bit means nothing.
/// Of a stream queue (queue_pkg) the slot is the place of frame and record, which the packet RAM holds side by side: one DMA request
/// takes both, not relaxed, and nothing goes to `record`. What lies in one row goes to rx_pack instead (`part`, `moved_i`), which
/// makes one request of several. A stream queue whose ring lies at 0 is stopped as by a null address.
/// With `Coalesce` a slot can take several frames, as rx_coalesce says: the first as any, but record and commit leave when the aggregate
/// closes; of the others what is behind their headers, on from where the frame before ended, in the same descriptor. What fits no
/// more there is cut off as of a frame, and what became of the first becomes of the others. A frame that follows takes three clocks.
/// `slotless_o` tells of an aggregate that has no slot, whose frames are dropped.
/// One frame a clock in every step; up to `MaxFrames` frames wait for descriptors or data, all streams may stall.
/// `count_o` tells each frame's fate, `counted` what it adds to the counters of its queue (stat_ram). Reset forgets everything under way.
module rx_engine
  import dma_pkg::*, queue_pkg::*, engine_pkg::*, eth_pkg::*;
#(
    parameter ram_sel_t Sel = '0,
    parameter logic [1:0] Port = '0,  // told in the record's flags
    parameter bit Split = 0,
    parameter bit Coalesce = 0,
    parameter int Functions = 1,  // as rx_coalesce has them
    parameter int MaxFrames = 512  // that wait for their descriptors, and that wait for their data to be written
) (
    input logic clk_i,
    input logic rst_i,

    // Packet buffer.
           stream_if.snk meta,       // rx_meta_t
    output rx_free_t     free_o,
    output rx_slotless_t slotless_o,

    // Descriptor fetch: one request a frame, its descriptors in the order of the requests.
    stream_if.src req,  // deq_req_t
    stream_if.snk desc, // desc_beat_t

    // DMA write engine; only statuses with the own `Sel` count.
          stream_if.src dma,      // dma_req_t
    input dma_status_t  status_i,

    // Small frames of streams; each is given back, in order.
          stream_if.src part,    // rx_piece_t
    input logic         moved_i,

    // Finished frames: record to the completion writer; commit and stop to the queue manager; of every frame what to count of its queue.
           stream_if.src     record,   // record_t
           stream_if.src     commit,   // commit_t
           stream_if.src     stop,     // queue_error_t
           stream_if.src     counted,  // queue_count_t
    output rx_engine_count_t count_o
);
  typedef struct packed {
    rx_fate_e    fate;
    logic        stream;
    logic        moved;      // by rx_pack
    logic        recorded;
    logic        split;      // the slot has a buffer for headers; those there are in `info`
    rx_join_e    join_as;
    aggregate_t  aggregate;
    error_e      code;
    logic [3:0]  requests;   // DMA statuses to wait for
    queue_t      queue;
    queue_t      cq;
    logic [13:0] len;
    rx_info_t    info;
  } flight_t;

  // Step 1: a frame asks for a slot and waits for its descriptors.
  `STREAM(deq_req_t, req_in)
  typedef struct packed {
    logic       one_row;  // with its record
    logic [7:0] header;   // bytes, where all are in the frame; else 0
    rx_meta_t   meta;
  } waiting_t;
  `STREAM(waiting_t, wait_in)
  `STREAM(waiting_t, wait_out)
  `SPILL(deq_req_t, i_req, req_in, req)
  `DEEP_FIFO(waiting_t, MaxFrames, i_wait, wait_in, wait_out)
  // Both readies come from registers, so taking them together closes no loop.
  assign meta.ready = req_in.ready && wait_in.ready;
  assign req_in.valid = meta.valid && meta.ready && !(Coalesce && meta.data.join_as inside {Follows, Closes});
  wire [13:0] granules = ((meta.data.len + 14'd15) >> 4) + 14'd1;
  assign req_in.data = '{
          queue: meta.data.queue,
          max: 4'd1,
          granules: meta.data.recorded ? granules[9:0] : '0
      };
  assign wait_in.valid = meta.valid && meta.ready;
  wire [7:0] header = 8'd14 + {1'b0, meta.data.info.header, 2'b00};
  wire header_known = (Split || Coalesce) && meta.data.info.header != '0 && 14'(header) <= meta.data.len;
  rx_meta_t waits;
  always_comb begin
    waits = meta.data;
    if (!Coalesce) {waits.join_as, waits.aggregate} = {Alone, aggregate_t'(0)};
    waits.info.follow = '0;
  end
  assign wait_in.data = '{
          one_row: recorded_len(meta.data.len) <= 15'(UnitBytes),
          header: header_known ? header : '0,
          meta: waits
      };

  // Step 2: one descriptor a clock becomes a DMA request, or a frame that follows does.
  `STREAM(dma_req_t, dma_in)
  `STREAM(flight_t, flight_in)
  `STREAM(flight_t, flight)
  `STREAM(rx_piece_t, part_in)
  `SPILL(dma_req_t, i_dma, dma_in, dma)
  `SPILL(rx_piece_t, i_part, part_in, part)
  `DEEP_FIFO(flight_t, MaxFrames, i_flight, flight_in, flight)

  desc_beat_t d;
  rx_meta_t m;
  logic [13:0] written_q;  // bytes of the frame that found a place
  logic [3:0] requests_q;  // DMA requests of the frame so far
  error_e code_q, code;
  logic answer_room;  // for the status of one more request
  logic later_q, split_q;  // the slot's descriptor is not its first, and that was for headers,
  header_words_t header_q;  // which lie there
  assign d = desc.data;
  assign m = wait_out.data.meta;
  wire unused = &{1'b0, m.queue};  // the descriptor names it again

  wire [13:0] left = m.len - written_q;
  wire found = d.status == DeqOk;
  wire stream = found && d.stream;
  wire splits = Split && found && !d.stream && d.desc.headers && !later_q && !d.last;
  wire fits = wait_out.data.header != '0 && 16'(wait_out.data.header) <= d.desc.len;
  wire [13:0] piece = (d.desc.len < 16'(left)) ? d.desc.len[13:0] : left;
  wire done = d.last || !found;
  // Of a buffer for headers only what `splits` says counts: it is never the last.
  wire writes = found && code == ErrNone && (stream || (d.desc.len != '0 && m.len != written_q));
  wire issue = writes && (!splits || fits);
  // Of a stream the record goes to the address given, the frame ends below it.
  wire [14:0] both = recorded_len(m.len);
  wire [11:0] words = both[13:2] - 12'd4;  // of the frame
  wire moves = stream && wait_out.data.one_row;
  wire [13:0] written = writes ? written_q + piece : written_q;

  always_comb begin
    code = code_q;
    if (code_q == ErrNone && found) begin
      if (d.result != DmaOk) code = error_of(d.result);
      else if (stream ? d.desc.addr[63:19] == '0 : d.desc.len != '0 && d.desc.addr == '0)
        code = ErrNullAddress;
    end
  end

  // Of each open aggregate, what the next frame needs; `kept_q` is that of the frame at hand.
  localparam int Places = aggregates_of(Functions);
  typedef logic [$clog2(Places)-1:0] place_t;
  typedef struct packed {
    rx_fate_e      fate;
    error_e        code;
    logic          split;
    header_words_t header;
    queue_t        queue;
    queue_t        cq;
    logic [63:0]   addr;
    logic [15:0]   room;
  } kept_t;
  kept_t kept_q;
  logic kept_valid_q;
  wire joined = Coalesce && wait_out.valid && m.join_as inside {Follows, Closes};
  wire behind = joined && kept_valid_q && dma_in.ready && flight_in.ready && answer_room;
  wire [13:0] rest = m.len - 14'(wait_out.data.header);
  wire [13:0] rest_fits = (kept_q.room < 16'(rest)) ? kept_q.room[13:0] : rest;
  wire adds = m.join_as == Follows && kept_q.room != '0 && m.len != 14'(wait_out.data.header);

  wire step = !joined && desc.valid && wait_out.valid && dma_in.ready && part_in.ready && flight_in.ready && answer_room;
  assign desc.ready = step;
  assign wait_out.ready = (step && done) || behind;
  assign dma_in.valid = (step && issue && !moves) || (behind && adds);
  assign part_in.valid = step && issue && moves;
  `STREAM_DATA(part_in, '{queue: d.queue, place: d.desc.addr[63:4], row: m.addr[RamAddrW-1:
                                                                      UnitLaneW], dws: both[7:2]})
  dma_req_t dma_data;
  `WHILE(dma_in.valid, dma_data, '{host_addr: stream ? {d.desc.addr[63:2] - 62'(words), 2'b00} :
                                   d.desc.addr, sel: Sel, ram_addr: m.addr + ram_addr_t'(
                                                           written_q),
                                 len: stream ? 16'(both) : splits ? 16'(wait_out.data.header)
                                 : 16'(piece), relaxed: !stream})
  `STREAM_DATA(dma_in, !joined ? dma_data : '{host_addr: kept_q.addr, sel: Sel,
                                            ram_addr: m.addr + ram_addr_t'(wait_out.data.header),
                                            len: 16'(rest_fits), relaxed: 1'b1})
  assign flight_in.valid = (step && done) || behind;
  always_comb begin
    flight_in.data = '{
        fate: Whole,
        stream: stream,
        moved: writes && moves,
        recorded: m.recorded,
        split: split_q,
        join_as: m.join_as,
        aggregate: m.aggregate,
        code: code,
        requests: requests_q + 4'(writes && !moves),
        queue: d.queue,
        cq: d.cq,
        len: m.len,
        info: m.info
    };
    flight_in.data.info.header = header_q;
    if (!found && d.status == DeqEmpty) flight_in.data.fate = NoDescriptor;
    else if (!found) flight_in.data.fate = QueueStopped;
    else if (code != ErrNone) flight_in.data.fate = BadDescriptor;
    else if (!stream && written != m.len) flight_in.data.fate = Truncated;
    if (joined) begin
      flight_in.data.fate = kept_q.fate;
      if (m.join_as == Follows && kept_q.fate == Whole && rest_fits != rest)
        flight_in.data.fate = Truncated;
      flight_in.data.stream = 1'b0;
      flight_in.data.moved = 1'b0;
      flight_in.data.split = kept_q.split;
      flight_in.data.code = kept_q.code;
      flight_in.data.requests = 4'(adds);
      flight_in.data.queue = kept_q.queue;
      flight_in.data.cq = kept_q.cq;
      flight_in.data.info.header = kept_q.header;
    end
  end

  if (Coalesce) begin : g_coalesce
    // What a frame leaves for the next is written a clock later, for speed.
    kept_t kept[Places];
    kept_t late_q, late;
    logic late_valid_q;
    place_t late_at_q;
    logic [63:0] end_addr_q;  // of the descriptor where the frame ended
    logic [15:0] end_room_q;
    logic [13:0] end_bytes_q, late_bytes_q;
    logic ended_q;
    wire  ends = writes && !splits && written == m.len;
    always_comb begin
      late = late_q;
      late.addr = late_q.addr + 64'(late_bytes_q);
      late.room = late_q.fate == Whole ? late_q.room - 16'(late_bytes_q) : '0;
    end
    always_ff @(posedge clk_i) begin
      if (step && ends && !ended_q) begin
        end_addr_q  <= d.desc.addr;
        end_room_q  <= d.desc.len;
        end_bytes_q <= piece;
      end
      if (step) ended_q <= !done && (ended_q || ends);
      late_valid_q <= (step && done && m.join_as == Opens) || behind;
      late_at_q <= place_t'(m.aggregate);
      late_q <= '{
          fate: flight_in.data.fate,
          code: flight_in.data.code,
          split: flight_in.data.split,
          header: flight_in.data.info.header,
          queue: flight_in.data.queue,
          cq: flight_in.data.cq,
          addr: joined ? kept_q.addr : ended_q ? end_addr_q : d.desc.addr,
          room: joined ? kept_q.room : ended_q ? end_room_q : d.desc.len
      };
      late_bytes_q <= joined ? (adds ? rest_fits : '0) : ended_q ? end_bytes_q : piece;
      if (late_valid_q) kept[late_at_q] <= late;
      kept_q <= kept[place_t'(m.aggregate)];
      slotless_o <= '{valid: step && m.join_as == Opens && !found, aggregate: m.aggregate};
      kept_valid_q <= joined && !behind && !late_valid_q;
      if (rst_i) {ended_q, late_valid_q, kept_valid_q, slotless_o.valid} <= '0;
    end
  end else begin : g_alone
    assign kept_q = '0;
    assign kept_valid_q = 1'b0;
    assign slotless_o = '0;
  end

  always_ff @(posedge clk_i) begin
    if (step) begin
      written_q  <= done ? '0 : !splits ? written : issue ? 14'(wait_out.data.header) : '0;
      requests_q <= done ? '0 : requests_q + 4'(issue);
      code_q     <= done ? ErrNone : code;
      later_q    <= !done;
      if (!later_q) split_q <= splits;
      if (!later_q) header_q <= splits && issue ? m.info.header : '0;
      if (done) {split_q, header_q} <= '0;
    end
    if (rst_i) begin
      {later_q, split_q, header_q} <= '0;
      written_q                    <= '0;
      requests_q                   <= '0;
      code_q                       <= ErrNone;
    end
  end

  // Step 3: the statuses come in the order of the requests; the last of a frame's finishes it.
  `STREAM(record_t, record_in)
  `STREAM(commit_t, commit_in)
  `STREAM(queue_error_t, stop_in)
  `STREAM(queue_count_t, counted_in)
  `SPILL(record_t, i_record, record_in, record)
  `SPILL(commit_t, i_commit, commit_in, commit)
  `SPILL(queue_error_t, i_stop, stop_in, stop)
  `SPILL(queue_count_t, i_counted, counted_in, counted)

  flight_t f;
  error_e  failure;
  logic gathered, moved_some_q;
  typedef logic [$clog2(MaxFrames+1)-1:0] moved_t;
  moved_t moved_q;  // and not yet finished
  assign f = flight.data;
  wire finish = flight.valid && record_in.ready && commit_in.ready && stop_in.ready && counted_in.ready && gathered && (!f.moved || moved_some_q);
  wire moved_t moved = moved_q + moved_t'(moved_i) - moved_t'(finish && f.moved);
  dma_gather #(
      .Sel  (Sel),
      .Depth(MaxFrames)
  ) i_gather (
      .clk_i,
      .rst_i,
      .status_i,
      .room_o(answer_room),
      .request_i(dma_in.valid),
      .valid_i(flight.valid),
      .requests_i(f.requests),
      .done_o(gathered),
      .error_o(failure),
      .take_i(finish)
  );
  wire has_slot = f.fate inside {Whole, Truncated, BadDescriptor};
  // What failed of an aggregate is told when it closes.
  error_e earlier;
  wire error_e broken = (earlier != ErrNone) ? earlier : failure;
  wire error_e final_code = (f.code != ErrNone) ? f.code : broken;
  wire is_frame = !Coalesce || f.join_as != Closes;
  wire completes = finish && has_slot && (!Coalesce || f.join_as inside {Alone, Closes});
  if (Coalesce) begin : g_failed
    error_e failed[Places];
    wire place_t at = place_t'(f.aggregate);
    assign earlier = f.join_as inside {Follows, Closes} ? failed[at] : ErrNone;
    always_ff @(posedge clk_i) if (finish && f.join_as != Alone) failed[at] <= final_code;
  end else begin : g_none_failed
    assign earlier = ErrNone;
  end

  assign flight.ready = finish;
  assign record_in.valid = completes && !f.stream;
  assign commit_in.valid = completes;
  assign commit_in.data = '{queue: f.queue, count: 9'd1};
  assign stop_in.valid = completes && final_code != ErrNone;
  assign stop_in.data = '{queue: f.queue, code: final_code};

  wire good = f.fate == Whole && broken == ErrNone;
  assign counted_in.valid = finish && is_frame;
  `STREAM_DATA(counted_in, '{queue: f.queue, packets: 16'(good), bytes: good ? queue_bytes_t'(
                                                                                  f.len) : '0,
                           error: has_slot && !good, drop: !has_slot})

  cpl_t cpl;
  always_comb begin
    cpl = record_of(f.info, Port, f.len);
    cpl.error = f.fate != Whole || final_code != ErrNone;
    cpl.queue = f.queue;
    if (f.split) cpl.timestamp = split_stamp_t'{words: f.info.header, ns: f.info.stamp[34:0]};
  end
  `STREAM_DATA(record_in, '{cq: f.cq, record: cpl})

  always_ff @(posedge clk_i) begin
    moved_q <= moved;
    moved_some_q <= moved != '0;
    free_o.valid <= finish && is_frame;
    free_o.count <= 9'(units_of(f.recorded ? 16'(recorded_len(f.len)) : 16'(f.len)));
    count_o <= '0;
    if (finish && is_frame) begin
      unique case (f.fate)
        NoDescriptor:  count_o.no_descriptor <= 1'b1;
        QueueStopped:  count_o.queue_stopped <= 1'b1;
        BadDescriptor: count_o.descriptor_error <= 1'b1;
        default: begin
          if (broken != ErrNone) count_o.dma_error <= 1'b1;
          else if (f.fate == Truncated) count_o.truncated <= 1'b1;
          else count_o.delivered <= 1'b1;
        end
      endcase
    end
    if (rst_i) begin
      moved_q <= '0;
      moved_some_q <= 1'b0;
      free_o.valid <= 1'b0;
      count_o <= '0;
    end
  end

endmodule
