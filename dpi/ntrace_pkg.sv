// The reference model of N-Trace encoders for testbenches: the imported functions (described in dpi/ntrace_dpi.h) and a
// scoreboard that uses them. docs/dpi.md describes how to build and use it.
package ntrace_pkg;

  import "DPI-C" function chandle ntr_dpi_encoder_new(input string options);
  import "DPI-C" function void ntr_dpi_encoder_free(input chandle encoder);
  import "DPI-C" function string ntr_dpi_encoder_error(input chandle encoder);
  import "DPI-C" function int ntr_dpi_encoder_push(input chandle encoder, input longint unsigned iaddr,
      input int unsigned iretire, input int unsigned ilastsize, input int unsigned itype, input int unsigned privilege,
      input int unsigned flags, input longint unsigned stamp);
  import "DPI-C" function int ntr_dpi_encoder_context(input chandle encoder, input int unsigned ctype,
      input longint unsigned scontext, input longint unsigned hcontext);
  import "DPI-C" function int ntr_dpi_encoder_tracing(input chandle encoder, input int unsigned on);
  import "DPI-C" function int ntr_dpi_encoder_request_sync(input chandle encoder, input int unsigned sync);
  import "DPI-C" function int ntr_dpi_encoder_stop(input chandle encoder, input longint unsigned next,
      input int unsigned evcode);
  import "DPI-C" function int ntr_dpi_encoder_take(input chandle encoder);
  import "DPI-C" function string ntr_dpi_encoder_describe(input chandle encoder, input string bytes);

  import "DPI-C" function chandle ntr_dpi_compare_new(input string program_file, input string options,
      input string model_options);
  import "DPI-C" function void ntr_dpi_compare_free(input chandle compare);
  import "DPI-C" function string ntr_dpi_compare_error(input chandle compare);
  import "DPI-C" function int ntr_dpi_compare_byte(input chandle compare, input int unsigned side,
      input int unsigned value);
  import "DPI-C" function int ntr_dpi_compare_finish(input chandle compare);
  import "DPI-C" function string ntr_dpi_compare_difference(input chandle compare);

  import "DPI-C" function chandle ntr_dpi_check_new(input string program_file, input string options);
  import "DPI-C" function void ntr_dpi_check_free(input chandle check);
  import "DPI-C" function string ntr_dpi_check_error(input chandle check);
  import "DPI-C" function int ntr_dpi_check_byte(input chandle check, input int unsigned value);
  import "DPI-C" function int ntr_dpi_check_finish(input chandle check);
  import "DPI-C" function string ntr_dpi_check_take(input chandle check, output int unsigned severity);

  import "DPI-C" function chandle ntr_dpi_replay_new(input string path);
  import "DPI-C" function void ntr_dpi_replay_free(input chandle replay);
  import "DPI-C" function string ntr_dpi_replay_error(input chandle replay);
  import "DPI-C" function int ntr_dpi_replay_next(input chandle replay, output longint unsigned iaddr,
      output int unsigned iretire, output int unsigned ilastsize, output int unsigned itype,
      output int unsigned privilege, output int unsigned flags, output longint unsigned stamp);

  // `flags` of a block.
  localparam int unsigned SIJUMP = 1, HALTED = 2, RESET = 4, NO_IADDR = 8, SAME_CYCLE = 16;

  localparam int unsigned SEVERITY_NOTE = 0, SEVERITY_WARNING = 1, SEVERITY_ERROR = 2;

  // Compares the stream of the design with the stream of the model, and checks it against the specification. Call
  // block() for every block that the design accepts, and sent() for every byte that the design sends. Three checks:
  //   exact     the messages are equal byte by byte, except idle bytes; checked with each message
  //   semantic  the executions are equal, independent of their division into messages; checked by finish(), requires
  //             the program
  //   rules     the stream follows the rules of the specification (`ntrace check`); with the program also the rules
  //             about the execution
  // Where the specification leaves a choice, a correct design may differ from the model in the exact check only.
  class ntrace_scoreboard;
    typedef bit [7:0] byte_queue[$];

    int unsigned messages;    // complete messages of the design
    int unsigned mismatches;  // messages that differ from the model
    bit different;            // the executions differ
    int unsigned errors;      // number of violations of rules (severity error)
    string problem;           // the first problem, or ""
    bit verbose = 1;          // print problems

    local chandle model, comparison, conformance;
    local bit exact;
    local byte_queue message, expected;
    local bit last_idle = 1;

    // `options`: of the model. `program_file`: ELF file; "" disables the semantic check. `bytes`: enable the exact
    // check. `design_options`: options to decode the stream of the design, if they differ from `options`.
    function new(string options, string program_file = "", bit bytes = 1,
                 string design_options = "");
      exact = bytes;
      model = ntr_dpi_encoder_new(options);
      if (ntr_dpi_encoder_error(model) != "") fail(ntr_dpi_encoder_error(model));
      if (design_options == "") design_options = options;
      conformance = ntr_dpi_check_new(program_file, design_options);
      if (ntr_dpi_check_error(conformance) != "") fail(ntr_dpi_check_error(conformance));
      if (program_file == "") return;
      comparison = ntr_dpi_compare_new(program_file, design_options, options);
      if (ntr_dpi_compare_error(comparison) != "") fail(ntr_dpi_compare_error(comparison));
    endfunction

    // A block of the ingress port; docs/ingress.md describes the parameters.
    function void block(longint unsigned iaddr, int unsigned iretire, int unsigned ilastsize, int unsigned itype,
                        int unsigned privilege = 3, int unsigned flags = 0, longint unsigned stamp = 0);
      check_status(ntr_dpi_encoder_push(model, iaddr, iretire, ilastsize, itype, privilege, flags, stamp));
    endfunction

    // Sets the contexts from the next block on, and the ctype of the next block.
    function void hart_context(int unsigned ctype, longint unsigned scontext, longint unsigned hcontext = 0);
      check_status(ntr_dpi_encoder_context(model, ctype, scontext, hcontext));
    endfunction

    // Sets trTeInstTracing from the next block on.
    function void tracing(bit on);
      check_status(ntr_dpi_encoder_tracing(model, int'(on)));
    endfunction

    function void request_sync(bit [3:0] sync);
      check_status(ntr_dpi_encoder_request_sync(model, int'(sync)));
    endfunction

    // Ends tracing at the address `next`.
    function void stop(longint unsigned next, bit [3:0] evcode);
      check_status(ntr_dpi_encoder_stop(model, next, int'(evcode)));
    endfunction

    // Adds a byte of the stream of the design.
    function void sent(bit [7:0] value);
      if (comparison != null) void'(ntr_dpi_compare_byte(comparison, 0, int'(value)));
      void'(ntr_dpi_check_byte(conformance, int'(value)));
      if (last_idle && value == 8'hff) return;
      message.push_back(value);
      last_idle = value[1:0] == 2'b11;
      if (!last_idle) return;
      messages++;
      if (exact) compare_message();
      take_findings();
      message.delete();
    endfunction

    // Ends the streams. Returns whether all checks passed.
    function bit finish();
      fetch();
      if (message.size() != 0) mismatch({"ends inside a message: ", hex(message)});
      else if (exact && expected.size() != 0) begin
        take_expected();
        mismatch({"does not send ", describe(message)});
      end
      while (expected.size() != 0) take_expected();
      void'(ntr_dpi_check_finish(conformance));
      take_findings();
      if (comparison != null) compare_execution();
      ntr_dpi_check_free(conformance);
      ntr_dpi_encoder_free(model);
      ntr_dpi_compare_free(comparison);
      return problem == "";
    endfunction

    local function void fail(string what);
      if (problem == "") problem = what;
      if (verbose) $display("%0t: ntrace: %s", $time, what);
    endfunction

    local function void mismatch(string what);
      mismatches++;
      if (mismatches == 1) fail({"the design ", what});
    endfunction

    local function void check_status(int status);
      if (status < 0) fail(ntr_dpi_encoder_error(model));
    endfunction

    // Reads the bytes that the model has sent since the last call.
    local function void fetch();
      int value = ntr_dpi_encoder_take(model);
      while (value >= 0) begin
        if (comparison != null) void'(ntr_dpi_compare_byte(comparison, 1, value));
        expected.push_back(value[7:0]);
        value = ntr_dpi_encoder_take(model);
      end
    endfunction

    // Moves the next message of the model to `message`.
    local function void take_expected();
      bit [7:0] value;
      message.delete();
      do begin
        value = expected.pop_front();
        message.push_back(value);
      end while (value[1:0] != 2'b11 && expected.size() != 0);
    endfunction

    local function void compare_message();
      byte_queue actual = message;
      fetch();
      if (expected.size() == 0) begin
        mismatch($sformatf("sends message %0d, %s; the model none", messages, describe(actual)));
        return;
      end
      take_expected();
      if (hex(actual) != hex(message))
        mismatch($sformatf("sends message %0d as %s; the model as %s", messages, describe(actual), describe(message)));
    endfunction

    local function void take_findings();
      int unsigned severity;
      string finding = ntr_dpi_check_take(conformance, severity);
      while (finding != "") begin
        if (severity == SEVERITY_ERROR) begin
          errors++;
          if (errors == 1) fail({"the design breaks ", finding});
        end
        finding = ntr_dpi_check_take(conformance, severity);
      end
    endfunction

    local function void compare_execution();
      int result = ntr_dpi_compare_finish(comparison);
      if (result < 0) fail({"comparison: ", ntr_dpi_compare_error(comparison)});
      different = result != 0;
      if (result > 0) fail(ntr_dpi_compare_difference(comparison));
    endfunction

    local function string hex(byte_queue bytes);
      hex = "";
      foreach (bytes[i]) hex = {hex, $sformatf("%02x", bytes[i])};
    endfunction

    local function string describe(byte_queue bytes);
      return {ntr_dpi_encoder_describe(model, hex(bytes)), " (", hex(bytes), ")"};
    endfunction
  endclass

endpackage
