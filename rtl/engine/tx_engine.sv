// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit engine (host-nic paper, section II-E): from descriptors to frames and completion records, all in order.
///
/// Each descriptor becomes one DMA read into the packet RAM (a ring of units of 128 bytes; segments follow each other without
/// gaps); when all statuses of a packet are there it is read out, a unit a clock without a bubble between frames, with
/// its checksum command beside it. The MAC's time stamp, one for each frame in order, closes it: record, commit, `sent`.
/// A packet with a null address, an unreadable descriptor, a failed DMA read, no bytes or more than `max_frame_i` is not
/// sent: record with `error`, commit and `sent` in its turn, and `stop` tells the queue manager. Zero-length descriptors
/// are skipped; a packet that was pushed with its descriptor (`inlined`) needs neither request nor room in that RAM and is read
/// from tx_push_ram, whose entry is then free for another (`push_release_o`, a bit each, for a clock); the record of a failed packet tells the sum of its descriptors' lengths; a beat without a descriptor (`status` not DeqOk) leaves no trace.
/// A piece of a stream queue's turn is read like a packet, lies in its units as in rows of the ring, and tx_cut cuts the frames out of it:
/// one record and commit a piece, one `sent` a turn; what fails or is no frame breaks the turn and stops its queue.
/// With `Segment` a packet with `cut`, up to 65535 bytes, becomes TCP segments (tx_segment): one record for all of them.
/// One 60-byte packet a clock through every step; up to `MaxPackets` packets in DMA and as many on their way to the wire.
/// All streams may stall. Reset forgets everything under way. `count_o`: one-clock pulses.
module tx_engine
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int RamBytes = 131072,  // a power of two, at least the longest frame
    parameter ram_sel_t Sel = '0,
    parameter int MaxPackets = 512,
    parameter bit Vlan = 0,  // descriptors may ask for tags
    parameter bit Segment = 0,  // and for TCP segments
    parameter bit Shared = 0,  // queues are of several ports: records tell slot and port,
    parameter logic [1:0] Port = '0,  // this one
    parameter int Functions = 1,  // have their shares of the queues, in their order: frames tell whose they are
    parameter int Queues = 256,  // of all of them
    parameter int ReadBytes = 32768,   // of packets under way from the host: bandwidth times round trip, and some
    localparam int Requests = MaxPackets  // DMA reads under way
) (
    input logic        clk_i,
    input logic        rst_i,
    input logic [13:0] max_frame_i, // in bytes without FCS

    // Descriptor fetch.
    stream_if.snk desc,  // desc_beat_t

    // DMA read engine; only statuses and writes with the own `Sel` count.
          stream_if.src dma,       // dma_req_t
    input dma_status_t  status_i,
    input ram_write_t   ram_i,

    // Packets that came with their descriptors.
    input  push_store_t                   push_i,
    output logic        [PushEntries-1:0] push_release_o,

    // Frames towards the MAC. csum_o belongs to the frame on offer.
           stream_if.src frame,   // wide_beat_t
    output tx_csum_t     csum_o,
           stream_if.snk stamp,   // ptp_time_t

    // Finished packets: record to the completion writer, commit and stop to the queue manager, sent to the scheduler, what to count of the queue.
           stream_if.src            record,   // record_t
           stream_if.src            commit,   // commit_t
           stream_if.src            sent,     // sent_t
           stream_if.src            stop,     // queue_error_t
           stream_if.src            counted,  // queue_count_t
    output tx_engine_count_t        count_o,
    output logic             [15:0] units_o   // of the packet RAM in use
);
  localparam int Units = RamBytes / UnitBytes;
  localparam int UnitW = $clog2(Units);
  localparam int Longest = Segment ? LongestPacket : LongestFrame;
  localparam int FlyUnits = (ReadBytes < Longest ? Longest : ReadBytes) / UnitBytes;
  if (2 ** UnitW * UnitBytes != RamBytes || UnitW + UnitLaneW > RamAddrW || MaxPackets < 16 || RamBytes < Longest) begin : g_bad_parameter
    $fatal(
        1,
        "tx_engine: RamBytes %0d is no power of two from %0d to %0d, or MaxPackets %0d is below 16",
        RamBytes,
        Longest,
        2 ** RamAddrW,
        MaxPackets
    );
  end
  if (ReadBytes < LongestFrame || ReadBytes > RamBytes || ReadBytes % UnitBytes != 0) begin : g_bad_read_bytes
    $fatal(
        1,
        "tx_engine: ReadBytes %0d is no multiple of %0d from %0d to RamBytes",
        ReadBytes,
        UnitBytes,
        LongestFrame
    );
  end

  typedef logic [$clog2(Longest)-1:0] length_t;
  typedef logic [$clog2(Longest/UnitBytes+1)-1:0] units_t;

  typedef struct packed {
    queue_t           queue;
    queue_t           cq;
    length_t          len;
    error_e           code;
    logic [3:0]       requests;  // DMA statuses to wait for
    logic [UnitW-1:0] start;
    units_t           taken;     // units, taken in the RAM, also when the packet failed
    logic             inlined;   // in tx_push_ram
    push_entry_t      entry;
    logic             stream;    // a piece of a turn
    logic             ends;
    logic [8:0]       granules;
    ring_ptr_t        index;
    logic [2:0] from;
    tx_csum_t         csum;
    tx_mss_t          mss;
  } packet_t;

  // Step 1: one descriptor a clock becomes a DMA request; space is taken segment by segment. Three clocks, each with one sum:
  // how long the packet is so far, how many units that takes, whether they are free.
  `STREAM(dma_req_t, dma_in)
  `STREAM(packet_t, packet_in)
  `STREAM(packet_t, packet)
  `SPILL(dma_req_t, i_dma, dma_in, dma)
  `FIFO(packet_t, MaxPackets, i_packets, packet_in, packet)

  /// A segment, and its packet up to it.
  typedef struct packed {
    queue_t      queue;
    queue_t      cq;
    host_addr_t  addr;
    logic [15:0] len;
    length_t     at;       // bytes before it
    logic [18:0] total;    // with it
    error_e      code;
    logic        issue;    // to be read
    logic        last;
    logic        inlined;
    push_entry_t entry;
    logic        stream;
    logic        ends;
    ring_ptr_t   index;
    tx_csum_t    csum;
    tx_mss_t     mss;
  } segment_t;

  // Sum and error.
  desc_beat_t d;
  assign d = desc.data;
  segment_t sum_q;
  logic sum_full_q, first_q, sum_moves;
  logic [18:0] total_q;  // bytes of this packet's descriptors so far
  error_e code_q, code;
  tx_csum_t csum_q;

  wire found = d.status == DeqOk;
  // A piece of a stream lies in its units as it does in rows of the ring.
  wire [18:0] prior = d.stream ? 19'(d.desc.addr[UnitLaneW-1:0]) : total_q;
  wire [18:0] total = prior + 19'(d.desc.len);
  tx_csum_t csum;
  tx_mss_t mss_q;
  wire tx_mss_t mss = !Segment || d.stream ? '0 : first_q ? mss_of(d.desc) : mss_q;
  wire [18:0] longest = mss.cut ? 19'(LongestPacket - 1) :
      19'(max_frame_i) - (csum.vlan.valid ? 19'(TagBytes) : '0);
  always_comb begin
    code = code_q;
    if (code_q == ErrNone) begin
      if (d.result != DmaOk) code = error_of(d.result);
      else if (d.desc.len != '0 && d.desc.addr == '0 && !d.inlined) code = ErrNullAddress;
      else if ((total > longest && !d.stream) || (d.last && (total == '0 || (csum.vlan.valid && total < 19'(AddrBytes)))))
        code = ErrLength;
    end
  end
  assign csum = first_q ? command_of(d.desc, Vlan && !d.stream) : csum_q;
  assign desc.ready = !found || !sum_full_q || sum_moves;
  wire take = desc.valid && desc.ready && found;

  always_ff @(posedge clk_i) begin
    if (take) begin
      sum_q <= '{
          queue: d.queue,
          cq: d.cq,
          addr: d.desc.addr,
          len: d.desc.len,
          at: length_t'(prior),
          total: total,
          code: code,
          issue: code == ErrNone && d.desc.len != '0 && !d.inlined,
          last: d.last,
          inlined: d.inlined,
          entry: d.entry,
          stream: d.stream,
          ends: d.ends,
          index: Shared && !d.stream ? d.index : d.desc.slot,
          csum: csum,
          mss: mss
      };
      first_q <= d.last;
      csum_q <= csum;
      mss_q <= mss;
      total_q <= d.last ? '0 : total;
      code_q <= d.last ? ErrNone : code;
    end
    if (take) sum_full_q <= 1'b1;
    else if (sum_moves) sum_full_q <= 1'b0;
    if (rst_i) begin
      sum_full_q <= 1'b0;
      first_q <= 1'b1;
      total_q <= '0;
      code_q <= ErrNone;
    end
  end

  // Units.
  segment_t seg_q;
  logic seg_full_q, step;
  units_t units_q;  // taken for this packet
  units_t seg_units_q, more_q;  // with this segment, and for it
  logic [3:0] requests_q, seg_requests_q;
  wire units_t with_this = sum_q.issue ? units_t'(units_of(16'(length_t'(sum_q.total)))) : units_q;
  wire [3:0] requests = requests_q + 4'(sum_q.issue);
  assign sum_moves = sum_full_q && (!seg_full_q || step);

  always_ff @(posedge clk_i) begin
    if (sum_moves) begin
      seg_q <= sum_q;
      seg_units_q <= with_this;
      seg_requests_q <= requests;
      more_q <= with_this - units_q;
      units_q <= sum_q.last ? '0 : with_this;
      requests_q <= sum_q.last ? '0 : requests;
    end
    if (sum_moves) seg_full_q <= 1'b1;
    else if (step) seg_full_q <= 1'b0;
    if (rst_i) begin
      seg_full_q <= 1'b0;
      units_q <= '0;
      requests_q <= '0;
    end
  end

  // Room in the RAM, and no more on the way than the link needs: what queues up at the host delays everybody's reads.
  packet_t p;
  assign p = packet.data;
  logic [UnitW-1:0] start_q;
  logic [UnitW:0] free_q;  // units
  logic [UnitW:0] may_fly_q;  // units that packets which are not whole yet may still take
  units_t freed;
  logic fetched;
  logic answer_room;  // for the status of one more request
  wire room = (UnitW + 1)'(more_q) <= free_q && (UnitW + 1)'(more_q) <= may_fly_q;
  // A packet that is to be dropped needs neither room nor a request.
  assign step = seg_full_q && packet_in.ready && (!seg_q.issue || (room && dma_in.ready && answer_room));
  assign dma_in.valid = step && seg_q.issue;
  `STREAM_DATA(dma_in, '{host_addr: seg_q.addr, sel: Sel,
                       ram_addr: ram_addr_t'({start_q, UnitLaneW'(0)}) + ram_addr_t'(seg_q.at),
                       len: seg_q.len, relaxed: 1'b1})
  assign packet_in.valid = step && seg_q.last;
  localparam length_t MostBytes = length_t'(LongestFrame - 1);
  wire overlong = seg_q.total > 19'(MostBytes) && !(Segment && seg_q.mss.cut);
  `STREAM_DATA(packet_in, '{queue: seg_q.queue, cq: seg_q.cq,
                          len: overlong ? MostBytes : length_t'(seg_q.total), code: seg_q.code,
                          requests: seg_requests_q, start: start_q, taken: seg_units_q,
                          inlined: seg_q.inlined, entry: seg_q.entry, stream: seg_q.stream,
                          ends: seg_q.ends, granules: seg_q.len[12:4], index: seg_q.index,
                          from : seg_q.at[6:4], csum: seg_q.csum, mss: seg_q.mss})

  // Units come back as beats are read, and all at once for a failed packet.
  always_ff @(posedge clk_i) begin
    if (step && seg_q.last) start_q <= start_q + UnitW'(seg_units_q);
    free_q <= free_q - (step ? (UnitW + 1)'(more_q) : '0) + (UnitW + 1)'(freed);
    may_fly_q <= may_fly_q - (step ? (UnitW + 1)'(more_q) : '0) + (fetched ? (UnitW + 1)'(p.taken) : '0);
    units_o <= 16'(Units) - 16'(free_q);
    if (rst_i) begin
      start_q   <= '0;
      free_q    <= (UnitW + 1)'(Units);
      may_fly_q <= (UnitW + 1)'(FlyUnits);
    end
  end

  // Step 2: the statuses come in the order of the requests; with the last of a packet's its data is there.
  `STREAM(packet_t, fetched_in)
  `STREAM(packet_t, fetched_out)
  `STREAM(queue_error_t, stop_in)
  `SPILL(packet_t, i_fetched, fetched_in, fetched_out)
  `STREAM(queue_error_t, stop_any[2])
  `SPILL(queue_error_t, i_stop_fetched, stop_in, stop_any[0])

  error_e failed;
  logic   gathered;
  assign fetched = packet.valid && fetched_in.ready && stop_in.ready && gathered;
  dma_gather #(
      .Sel  (Sel),
      .Depth(Requests)
  ) i_gather (
      .clk_i,
      .rst_i,
      .status_i,
      .room_o(answer_room),
      .request_i(dma_in.valid),
      .valid_i(packet.valid),
      .requests_i(p.requests),
      .done_o(gathered),
      .error_o(failed),
      .take_i(fetched)
  );
  assign packet.ready = fetched;
  assign fetched_in.valid = fetched;
  always_comb begin
    fetched_in.data = p;
    if (p.code == ErrNone) fetched_in.data.code = failed;
  end
  assign stop_in.valid = fetched && fetched_in.data.code != ErrNone;
  assign stop_in.data  = '{queue: p.queue, code: fetched_in.data.code};

  `STREAM(tx_token_t, token)
  `STREAM(tx_segments_t, segments)
  // Step 3: read out, one unit a clock; of a piece of a stream that failed one that says so.
  `STREAM(tx_done_t, done_in)
  packet_t r;
  assign r = fetched_out.data;
  wire unused = &{1'b0, r.requests};
  units_t unit_q;
  logic out_room;
  wire good = r.code == ErrNone;
  wire told = good || r.stream;
  wire units_t unit_count = !good ? units_t'(1) : r.inlined ? units_t'(units_of(
      16'(r.len)
  )) : r.taken;
  wire last_unit = unit_q + units_t'(1) == unit_count;
  // The first segments of a packet have left, and have time stamps, before all of it is read.
  wire closes = Segment && r.mss.cut && good ? unit_q == '0 : last_unit;
  wire read = fetched_out.valid && told && out_room && (!closes || done_in.ready);
  assign fetched_out.ready = told ? out_room && last_unit && (!closes || done_in.ready) : done_in.ready;
  assign done_in.valid = told ? read && closes : fetched_out.valid && fetched_out.ready;
  assign done_in.data = '{
          queue: r.queue,
          cq: r.cq,
          len: r.len[13:0],
          error: !good,
          cut: r.mss.cut,
          stream: r.stream,
          ends: r.ends,
          granules: r.granules,
          index: r.index
      };
  assign freed = read && good ? units_t'(!r.inlined) : (fetched_out.valid && fetched_out.ready) ? r.taken : '0;

  assign push_release_o = fetched_out.valid && fetched_out.ready && r.inlined ? PushEntries'(1) << r.entry : '0;
  always_ff @(posedge clk_i) begin
    if (read) unit_q <= last_unit ? '0 : unit_q + 1'b1;
    if (rst_i) unit_q <= '0;
  end

  tx_mark_t mark;
  tx_csum_t told_csum;
  always_comb begin
    told_csum = r.csum;
    if (Functions > 1) told_csum.owner = owner_t'(r.queue >> $clog2(Queues / Functions));
  end
  wire length_t behind = r.len - length_t'({unit_q, UnitLaneW'(0)});  // bytes from this unit on
  `WHILE(read, mark, '{sop: unit_q == '0, eop: last_unit, csum: told_csum, stream: r.stream,
                     from : r.from, len: last_unit ? behind[UnitLaneW:0] : (UnitLaneW + 1)'(
                                    UnitBytes), ends: r.ends && last_unit, fail: !good,
                     cut: r.mss.cut, mss: r.mss.bytes, total: 16'(r.len)})
  tx_frames #(
      .RamBytes(RamBytes),
      .Sel(Sel),
      .Vlan(Vlan),
      .Segment(Segment)
  ) i_frames (
      .clk_i,
      .rst_i,
      .max_frame_i,
      .ram_i,
      .push_i,
      .room_o(out_room),
      .read_i(read),
      .unit_i(r.start + UnitW'(unit_q)),
      .inlined_i(r.inlined),
      .entry_i(r.entry),
      .mark_i(mark),
      .frame,
      .csum_o,
      .token,
      .segments
  );

  // Step 4: the time stamp closes a packet.
  tx_finish #(
      .Depth  (MaxPackets),
      .Segment(Segment),
      .Shared (Shared),
      .Port   (Port)
  ) i_finish (
      .clk_i,
      .rst_i,
      .done(done_in),
      .token,
      .segments,
      .stamp,
      .record,
      .commit,
      .sent,
      .stop(stop_any[1]),
      .counted,
      .count_o
  );
  arb_rr #(
      .T(queue_error_t),
      .N(2)
  ) i_stop (
      .clk_i,
      .rst_i,
      .in(stop_any),
      .out(stop),
      .index_o()
  );

  `ASSERT(LongestFits, 32'(max_frame_i) <= RamBytes)
  `ASSERT(NeverOverfull, free_q <= (UnitW + 1)'(Units) && may_fly_q <= (UnitW + 1)'(FlyUnits))
endmodule
