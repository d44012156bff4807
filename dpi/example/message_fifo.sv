// FIFO of messages to send. It accepts up to two messages per cycle while `room` is set.
module message_fifo
  import message_pkg::*;
#(
    parameter int unsigned LOG_DEPTH = 3
) (
    input  logic     clk,
    input  logic     rst_n,
    input  message_t in[2],
    output logic     room,
    output message_t head,  // not valid: empty
    input  logic     head_taken
);

  localparam int unsigned DEPTH = 1 << LOG_DEPTH;

  message_t store[DEPTH];
  logic [LOG_DEPTH-1:0] first;
  logic [LOG_DEPTH:0]   used;
  logic [1:0]           added;

  assign added = 2'(in[0].valid) + 2'(in[1].valid);
  assign room  = 32'(used) + 2 <= DEPTH;

  always_comb begin
    head = store[first];
    head.valid = used != 0;
  end

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      first <= 0;
      used  <= 0;
    end else begin
      if (in[0].valid) store[first+LOG_DEPTH'(used)] <= in[0];
      if (in[1].valid) store[first+LOG_DEPTH'(used)+LOG_DEPTH'(in[0].valid)] <= in[1];
      if (head_taken) first <= first + 1;
      used <= used + (LOG_DEPTH + 1)'(added) - (LOG_DEPTH + 1)'(head_taken);
    end

endmodule
