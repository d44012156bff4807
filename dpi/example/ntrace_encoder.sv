// A small N-Trace encoder: one hart, one block per cycle (ingress port, block retirement, 4-bit itype), BTM or HTM,
// ResourceFull for both counters, periodic synchronization, debug mode. It has no timestamps, no contexts, and none of
// the optimizations of section 11. It is an example of a design to compare with the model.
module ntrace_encoder
  import message_pkg::*;
#(
    parameter int unsigned ICNT_BITS     = 22,
    parameter int unsigned HIST_BITS     = 32,  // including the stop-bit
    parameter int unsigned SYNC_MESSAGES = 0,   // period of SYNC=2; 0: none
    parameter int unsigned SRC_BITS      = 0,
    parameter int unsigned SRC           = 0
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        htm,       // trTeInstMode: 1 HTM, 0 BTM
    input  logic        tracing,   // trTeInstTracing, valid with each block
    input  logic        empty_hist,// HTM with an empty history: 1 sends HIST=1, 0 omits the field
    // ingress
    input  logic        block_valid,
    output logic        block_ready,
    input  logic [63:0] iaddr,
    input  logic        iaddr_valid,
    input  logic [15:0] iretire,
    input  logic        ilastsize,
    input  logic [3:0]  itype,
    input  logic        halted,
    // the stream
    output logic        out_valid,
    output logic [7:0]  out_data,
    input  logic        out_ready,
    output logic        empty      // trTeEmpty
);

  // The message that waits for the address of the next block.
  typedef enum logic [1:0] { IDLE, DIRECT, INDIRECT } waiting_t;

  typedef struct packed {
    logic                 active, closing, due;
    waiting_t             waiting;
    logic [1:0]           btype;
    logic [3:0]           start_sync;
    logic [23:0]          icnt;
    logic [HIST_BITS-1:0] hist;
    logic [62:0]          address;  // reference of U-ADDR, without bit 0
    logic [15:0]          messages; // since the last sync
  } state_t;

  localparam logic [HIST_BITS-1:0] NO_HIST = 1;
  localparam logic [3:0] DEBUG_EXIT = 3, TRACE_ENABLE = 5, PERIODIC = 2;  // SYNC
  localparam logic [3:0] DEBUG = 0, DISABLED = 4;                        // EVCODE

  state_t state, next;
  message_t out[2];  // messages of this block
  logic is_idle, is_branch, is_trap, is_indirect, has_address, want, must_close, in_debug, closes, room;
  logic [62:0] here;

  // ---- messages

  function automatic message_t start(tcode_t tcode);
    start = fixed(NONE, 12'(tcode), 6);
    start.valid = 1;
    if (SRC_BITS != 0) start = fixed(start, 12'(SRC), SRC_BITS);
  endfunction

  function automatic message_t branch(state_t s, logic [62:0] target);
    logic direct = s.waiting == DIRECT;
    logic history = htm && (s.hist != NO_HIST || empty_hist);
    branch = start(direct ? DIRECT_BRANCH : history ? INDIRECT_BRANCH_HIST : INDIRECT_BRANCH);
    if (!direct) branch = fixed(branch, 12'(s.btype), 2);
    branch = variable(branch, 63'(s.icnt));
    if (!direct) branch = variable(branch, `SEEDED(6) ? (target ^ s.address) << 1 : target ^ s.address);
    if (history) branch = variable(branch, 63'(s.hist));
  endfunction

  function automatic message_t sync_branch(state_t s, logic [62:0] target);
    logic direct = s.waiting == DIRECT;
    logic history = htm && (s.hist != NO_HIST || empty_hist);
    sync_branch = start(direct ? DIRECT_BRANCH_SYNC : history ? INDIRECT_BRANCH_HIST_SYNC : INDIRECT_BRANCH_SYNC);
    sync_branch = fixed(sync_branch, 12'(PERIODIC), 4);
    if (!direct) sync_branch = fixed(sync_branch, 12'(s.btype), 2);
    sync_branch = variable(sync_branch, 63'(s.icnt));
    sync_branch = variable(sync_branch, `SEEDED(14) ? s.address : target);
    if (history) sync_branch = variable(sync_branch, 63'(s.hist));
  endfunction

  function automatic message_t trace_start(logic [3:0] sync, logic [62:0] address);
    trace_start = fixed(start(PROG_TRACE_SYNC), 12'(sync), 4);
    trace_start = variable(variable(trace_start, 0), address);
  endfunction

  function automatic message_t resource_full(logic [3:0] rcode, logic [62:0] rdata);
    resource_full = variable(fixed(start(RESOURCE_FULL), 12'(rcode), 4), rdata);
  endfunction

  function automatic message_t correlation(state_t s, logic [3:0] evcode);
    logic history = htm && !`SEEDED(9);
    correlation = fixed(fixed(start(PROG_TRACE_CORRELATION), 12'(evcode), 4), history ? 1 : 0, 2);
    correlation = variable(correlation, 63'(s.icnt));
    if (history) correlation = variable(correlation, 63'(s.hist));
  endfunction

  // ---- state after a message

  function automatic state_t counted(state_t s);
    counted = s;
    counted.messages = s.messages + 1;
    if (SYNC_MESSAGES != 0 && 32'(counted.messages) >= SYNC_MESSAGES) counted.due = 1;
  endfunction

  function automatic state_t after_branch(state_t s, logic [62:0] target);
    after_branch = counted(s);
    if (s.waiting == INDIRECT) after_branch.address = target;
    after_branch.icnt = 0;
    after_branch.hist = NO_HIST;
    after_branch.waiting = IDLE;
    after_branch.btype = 0;
  endfunction

  function automatic state_t after_sync(state_t s, logic [62:0] target);
    after_sync = after_branch(s, target);
    if (!`SEEDED(5)) after_sync.address = target;
    if (`SEEDED(11)) after_sync.hist = s.hist;
    after_sync.messages = 0;
    after_sync.due = 0;
  endfunction

  // ---- a block

  always_comb begin
    here        = iaddr[63:1];
    is_idle     = iretire == 0 && itype == 0;
    is_branch   = itype == 4 || itype == 5;
    is_trap     = itype == 1 || itype == 2;
    is_indirect = itype inside {3, 6, 8, 10, 12, 13, 14};
    has_address = iaddr_valid && !is_idle;
    want        = tracing && !halted;
    must_close  = state.active && (!want || state.closing);
    in_debug    = halted && (tracing || state.waiting == INDIRECT);
    closes      = must_close && (in_debug || has_address || state.waiting != INDIRECT);
    // Tracing was disabled and enabled again while a jump waited for its target: end the old trace first.
    block_ready = (room || `SEEDED(15)) && !(closes && want && !is_idle);
  end

  // Tracing ends: send the waiting message and ProgTraceCorrelation.
  task automatic close();
    next.due = 0;
    if (next.waiting == DIRECT || (next.waiting == INDIRECT && iaddr_valid && !`SEEDED(10))) begin
      out[0] = branch(next, here);
      next = after_branch(next, here);
    end
    out[1] = correlation(next, in_debug ? DEBUG : DISABLED);
    next.active = 0;
    next.closing = 0;
    next.start_sync = in_debug ? DEBUG_EXIT : TRACE_ENABLE;
  endtask

  // The address of the block completes the waiting message, or starts the trace.
  task automatic enter();
    if (!next.active) begin
      out[0] = trace_start(`SEEDED(13) ? TRACE_ENABLE : next.start_sync, here);
      next.waiting = IDLE;
      next = after_sync(next, here);
      next.address = here;
      next.hist = NO_HIST;
      next.active = 1;
    end else if (next.waiting != IDLE) begin
      out[0] = next.due ? sync_branch(next, here) : branch(next, here);
      next = next.due ? after_sync(next, here) : after_branch(next, here);
    end
  endtask

  task automatic count_icnt();
    logic [23:0] retired = 24'(iretire) + 24'(`SEEDED(12) && !ilastsize) + (`SEEDED(8) && is_trap ? 24'd2 : 24'd0);
    if (next.icnt != 0 && 32'(next.icnt) + 32'(iretire) >= 1 << ICNT_BITS) begin
      out[0] = resource_full(0, 63'(next.icnt));
      next = counted(next);
      if (!`SEEDED(3)) next.icnt = 0;
    end
    next.icnt = next.icnt + retired;
  endtask

  task automatic count_branch(logic taken);
    if (next.hist[HIST_BITS-1]) begin
      out[1] = resource_full(1, 63'(next.hist));
      next = counted(next);
      next.hist = NO_HIST;
      if (`SEEDED(4)) return;
    end
    next.hist = {next.hist[HIST_BITS-2:0], taken};
  endtask

  task automatic count();
    count_icnt();
    if (is_branch && htm) count_branch(itype == 5);
    if (itype == 5 && !htm) next.waiting = DIRECT;
    if (is_indirect || is_trap) next.waiting = INDIRECT;
    if (is_trap) next.btype = (itype == 1) ^ `SEEDED(7) ? 2 : 3;
  endtask

  // A trap without retired instructions and without address: the next block has the address of the handler.
  task automatic trap_blind();
    if (next.btype != 0) return;
    if (next.waiting == DIRECT) begin
      out[0] = branch(next, 0);
      next = after_branch(next, 0);
    end
    next.waiting = INDIRECT;
    next.btype = 3;
  endtask

  always_comb begin
    next = state;
    out[0] = NONE;
    out[1] = NONE;
    if (block_valid && (room || `SEEDED(15))) begin
      if (closes) close();
      else if (must_close) next.closing = 1;
      else if (want && has_address) begin
        enter();
        count();
      end else if (want && !is_idle && next.active) trap_blind();
      if (!next.active && halted) next.start_sync = DEBUG_EXIT;
      else if (!next.active && !want && !is_idle) next.start_sync = TRACE_ENABLE;
    end
  end

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      state <= '0;
      state.hist <= NO_HIST;
      state.start_sync <= TRACE_ENABLE;
    end else state <= next;

  // ---- output

  message_t head;
  logic     head_taken;

  message_fifo fifo (.clk, .rst_n, .in(out), .room, .head, .head_taken);
  packer       pack (.clk, .rst_n, .message(head), .taken(head_taken), .out_valid, .out_data, .out_ready);

  assign empty = !head.valid;

endmodule
