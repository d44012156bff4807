// Format of messages between the modules of the example: packed fixed fields, then variable fields.
package message_pkg;

  typedef enum logic [5:0] {
    DIRECT_BRANCH             = 3,
    INDIRECT_BRANCH           = 4,
    PROG_TRACE_SYNC           = 9,
    DIRECT_BRANCH_SYNC        = 11,
    INDIRECT_BRANCH_SYNC      = 12,
    RESOURCE_FULL             = 27,
    INDIRECT_BRANCH_HIST      = 28,
    INDIRECT_BRANCH_HIST_SYNC = 29,
    PROG_TRACE_CORRELATION    = 33
  } tcode_t;

  typedef struct packed {
    logic             valid;
    logic [23:0]      fixed;     // TCODE, SRC, ... from bit 0 on
    logic [4:0]       fixed_bits;
    logic [1:0]       count;     // number of variable fields
    logic [2:0][62:0] variable;  // [0] is sent first
  } message_t;

  localparam message_t NONE = '0;

  function automatic message_t fixed(message_t m, logic [11:0] value, int unsigned bits);
    fixed = m;
    fixed.fixed = m.fixed | (24'(value) << m.fixed_bits);
    fixed.fixed_bits = m.fixed_bits + 5'(bits);
  endfunction

  function automatic message_t variable(message_t m, logic [62:0] value);
    variable = m;
    variable.variable[m.count] = value;
    variable.count = m.count + 1;
  endfunction

  // Seeded defects, to test that each one is found. `SEEDED(n) is 0 unless the build defines SEEDED_DEFECTS.
`ifdef SEEDED_DEFECTS
  int unsigned seeded = 0;
  `define SEEDED(n) (message_pkg::seeded == n)
`else
  `define SEEDED(n) 1'b0
`endif

endpackage
