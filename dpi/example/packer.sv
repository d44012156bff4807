// Messages to bytes: six bits of fields (MDO) over two that tell where fields and messages end (MSEO).
// N-Trace 1.0 section 2. One byte a cycle.
module packer
  import message_pkg::*;
(
    input  logic       clk,
    input  logic       rst_n,
    input  message_t   message,  // valid until taken
    output logic       taken,
    output logic       out_valid,
    output logic [7:0] out_data,
    input  logic       out_ready
);

  // A piece is a variable field with the fixed ones in front of it (only the first has any). At least one of its
  // bits is the variable field's: a value of 0 takes a bit, too.
  logic [1:0]  piece;
  logic [4:0]  done;  // groups of six bits of this piece that have been sent
  logic [86:0] bits, rest;
  logic [7:0]  least;
  logic        piece_ends, message_ends;

  always_comb begin
    bits  = piece == 0 ? 87'(message.fixed) | 87'(message.variable[0]) << message.fixed_bits
                       : 87'(message.variable[piece]);
    least = piece == 0 ? 8'(message.fixed_bits) + 1 : 1;
    if (`SEEDED(1)) least = least - 1;  // a zero behind full bytes is left out
    rest         = bits >> (6 * (32'(done) + 1));
    piece_ends   = rest == 0 && 8'(6 * (32'(done) + 1)) >= least;
    message_ends = piece_ends && piece + 1 == message.count;
    out_valid    = message.valid;
    out_data     = {6'(bits >> (6 * 32'(done))), message_ends ? 2'b11 : piece_ends ? 2'b01 : 2'b00};
    if (`SEEDED(2) && piece_ends && !message_ends && out_data[7]) out_data[1:0] = 2'b00;
    taken = out_valid && out_ready && message_ends;
  end

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      piece <= 0;
      done  <= 0;
    end else if (out_valid && out_ready) begin
      done  <= piece_ends ? 0 : done + 1;
      piece <= message_ends ? 0 : piece_ends ? piece + 1 : piece;
    end

endmodule
