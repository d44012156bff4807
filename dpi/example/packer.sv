// Converts messages to bytes, one per cycle: six bits of field data (MDO) and two bits that mark the end of fields and
// messages (MSEO). N-Trace 1.0, section 2.
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

  // A message is sent in segments: each is a variable field, the first one with the fixed fields before it. A variable
  // field has at min_bits one bit, also for the value 0.
  logic [1:0]  segment;
  logic [4:0]  done;  // number of groups of six bits of this segment that have been sent
  logic [86:0] bits, rest;
  logic [7:0]  min_bits;
  logic        segment_ends, message_ends;

  always_comb begin
    bits  = segment == 0 ? 87'(message.fixed) | 87'(message.variable[0]) << message.fixed_bits
                       : 87'(message.variable[segment]);
    min_bits = segment == 0 ? 8'(message.fixed_bits) + 1 : 1;
    if (`SEEDED(1)) min_bits = min_bits - 1;  // omits a field of value 0 that follows complete groups
    rest         = bits >> (6 * (32'(done) + 1));
    segment_ends   = rest == 0 && 8'(6 * (32'(done) + 1)) >= min_bits;
    message_ends = segment_ends && segment + 1 == message.count;
    out_valid    = message.valid;
    out_data     = {6'(bits >> (6 * 32'(done))), message_ends ? 2'b11 : segment_ends ? 2'b01 : 2'b00};
    if (`SEEDED(2) && segment_ends && !message_ends && out_data[7]) out_data[1:0] = 2'b00;
    taken = out_valid && out_ready && message_ends;
  end

  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) begin
      segment <= 0;
      done  <= 0;
    end else if (out_valid && out_ready) begin
      done  <= segment_ends ? 0 : done + 1;
      segment <= message_ends ? 0 : segment_ends ? segment + 1 : segment;
    end

endmodule
