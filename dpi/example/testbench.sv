// Compares the example encoder with the model on recorded blocks.
//   +blocks=FILE    ingress records (docs/ingress.md)
//   +program=FILE   ELF file of the executed program
//   +mode=btm|htm   +empty_hist the design sends HIST=1, the model omits it
//   +exact=0        disable the exact check
//   +window=N       tracing is disabled for N of every 4 N blocks
//   +slow=N         the sink accepts one byte every N cycles
//   +seeded=N       the design has seeded defect N
// The last line is "PASS N messages" or "FAIL exact=M semantic=D rules=E" with the results of the three checks.
module testbench;
  import ntrace_pkg::*;

  localparam int unsigned ICNT_BITS = 8, HIST_BITS = 8, SYNC_MESSAGES = 16, SRC_BITS = 2, SRC = 1;

  logic clk = 0, rst_n = 0, htm, empty_hist, tracing = 1, out_ready = 0;
  logic block_valid = 0, block_ready, iaddr_valid, ilastsize, halted, out_valid, empty;
  logic [63:0] iaddr;
  logic [15:0] iretire;
  logic [3:0]  itype;
  logic [7:0]  out_data;

  always #5 clk = !clk;

  ntrace_encoder #(
      .ICNT_BITS, .HIST_BITS, .SYNC_MESSAGES, .SRC_BITS, .SRC
  ) encoder (
      .clk, .rst_n, .htm, .empty_hist, .tracing, .block_valid, .block_ready, .iaddr, .iaddr_valid, .iretire,
      .ilastsize, .itype, .halted, .out_valid, .out_data, .out_ready, .empty
  );

  ntrace_scoreboard score;
  int unsigned cycle = 0, slow = 1;

  always @(posedge clk) begin
    cycle <= cycle + 1;
    out_ready <= cycle % slow == 0;
  end
  always @(negedge clk) if (rst_n && out_valid && out_ready) score.sent(out_data);

  // ---- the hart

  typedef struct {
    longint unsigned iaddr, stamp;
    int unsigned iretire, ilastsize, itype, privilege, flags;
  } block_t;

  task automatic drive(block_t b);
    bit taken;
    iaddr = b.iaddr;
    iaddr_valid = (b.flags & NO_IADDR) == 0;
    iretire = 16'(b.iretire);
    ilastsize = b.ilastsize[0];
    itype = 4'(b.itype);
    halted = (b.flags & HALTED) != 0;
    block_valid = 1;
    do begin
      #1 taken = block_ready;
      if (taken) begin
        score.tracing(tracing);
        score.block(b.iaddr, b.iretire, b.ilastsize, b.itype, b.privilege, b.flags, b.stamp);
      end
      @(negedge clk);
    end while (!taken);
    block_valid = 0;
  endtask

  task automatic replay(string path, int unsigned window);
    chandle records = ntr_dpi_replay_new(path);
    int unsigned count = 0;
    block_t b;
    while (ntr_dpi_replay_next(records, b.iaddr, b.iretire, b.ilastsize, b.itype, b.privilege, b.flags, b.stamp) > 0)
    begin
      tracing = window == 0 || count / window % 4 != 3;
      drive(b);
      count++;
    end
    if (ntr_dpi_replay_error(records) != "") $fatal(1, "%s: %s", path, ntr_dpi_replay_error(records));
    ntr_dpi_replay_free(records);
  endtask

  function automatic string argument(string name, string otherwise);
    if (!$value$plusargs({name, "=%s"}, argument)) argument = otherwise;
  endfunction

  function automatic int unsigned number(string name, int unsigned otherwise);
    if (!$value$plusargs({name, "=%d"}, number)) number = otherwise;
  endfunction

  initial begin
    string mode = argument("mode", "htm");
    bit exact = number("exact", 1) != 0, right;
    slow = number("slow", 1);
    htm = mode == "htm";
    empty_hist = $test$plusargs("empty_hist") != 0;
`ifdef SEEDED_DEFECTS
    message_pkg::seeded = number("seeded", 0);
`endif
    score = new($sformatf("mode=%s icnt-bits=%0d hist-bits=%0d sync-mode=messages sync-max=0 src-bits=%0d src-id=%0d announce=off",
                          mode, ICNT_BITS, HIST_BITS, SRC_BITS, SRC), argument("program", ""), exact);
    repeat (2) @(negedge clk);
    rst_n = 1;
    replay(argument("blocks", ""), number("window", 0));
    while (!empty) @(negedge clk);
    right = score.finish();
    if (right) $display("PASS %0d messages", score.messages);
    else $display("FAIL exact=%0d semantic=%0d rules=%0d", score.mismatches, score.different, score.errors);
    $finish;
  end

endmodule
