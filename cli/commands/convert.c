#include "options/options.h"
#include "io/convert.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ID = 0x10 };

static const struct cli_option general_table[] = {
    CLI_STRING(0, "input-format", "NAME", struct convert_options, from,
               "transport of the input, or tmc, the memory of an ETR, ETF or ETB (default raw)"),
    CLI_STRING(0, "to", "NAME", struct convert_options, to, "transport of the output (default raw)"),
    CLI_STRING('o', "output", "FILE", struct convert_options, path,
               "write to FILE (default: standard output); with a % in the name, one file per trace ID"),
    CLI_FLAG(0, "aligned", struct convert_options, aligned,
             "the input begins at the start of a message or frame (default for transports without pins)"),
    CLI_FLAG(0, "cut", struct convert_options, cut,
             "the input begins at any beat; find the alignment (default for transports with pins)"),
    {0},
};

static const struct cli_option pin_table[] = {
    CLI_FLAG(0, "vcd", struct convert_options, vcd, "pin recordings are VCD, both input and output"),
    CLI_FLAG(0, "vcd-in", struct convert_options, vcd_in, "the input is VCD"),
    CLI_FLAG(0, "vcd-out", struct convert_options, vcd_out, "the output is VCD"),
    CLI_NUMBER(0, "samples", "N", struct convert_options, samples, 1, 64, 0,
               "the input is raw samples of N channels (sigrok's 'binary'), data channels first, then the clock"),
    CLI_STRING(0, "clock-wire", "WIRE", struct convert_options, clock,
               "clock: signal name (VCD) or channel number (samples) (default TRC_CLK)"),
    CLI_STRING(0, "data-wires", "WIRE,...", struct convert_options, data,
               "data pins: signal names or channel numbers, TRC_DATA[0] first"),
    CLI_FLAG(0, "clk-center", struct convert_options, clock_center,
             "TRC_CLK edges are in the middle of a beat (trPibClkCenter)"),
    CLI_NUMBER(0, "beat-ticks", "N", struct convert_options, beat_ticks, 1, UINT32_MAX, 0,
               "serial input: length of a beat in ticks (default: measured from the edges)"),
    CLI_NUMBER(0, "beat-ns", "N", struct convert_options, beat_ns, 2, 1000000000, 20,
               "VCD output: length of a beat in nanoseconds, even (default 20)"),
    CLI_NUMBER(0, "calibrate", "N", struct convert_options, calibrate, 1, 1000000, 0,
               "pin output: begin with N calibration patterns (default 0)"),
    CLI_NUMBER(0, "idle-every", "N", struct convert_options, idle_every, 1, UINT32_MAX, 0,
               "pib1 to pib4: idle at least every N bytes (default: only before synchronizing messages)"),
    {0},
};

static const struct cli_option id_table[] = {
    CLI_NUMBER(0, "trace-id", "N", struct convert_options, id, 1, 0x6f, -1,
               "input with trace IDs: keep only ID N; input without: assign ID N (default: keep all; count from 0x10)"),
    CLI_STRING(0, "trace-ids", "N,...", struct convert_options, ids,
               "several inputs: the trace ID of each one (default: counted from 0x10)"),
    CLI_NUMBER(0, "atb-bytes", "N", struct convert_options, atb_bytes, 1, 16, 0,
               "width of the ATB in bytes, a power of two (default 4)"),
    CLI_NUMBER(0, "sync-every", "N", struct convert_options, sync_every, 1, UINT32_MAX, 0,
               "coresight: TPIU full synchronization every N frames; atb: alignment mark every N transfers"),
    {0},
};

static const struct cli_option ram_table[] = {
    CLI_NUMBER(0, "ram-start", "ADDR", struct convert_options, start, 0, INT64_MAX, 0,
               "start address of the buffer, trRamStart (default 0)"),
    CLI_NUMBER(0, "ram-limit", "ADDR", struct convert_options, limit, 0, INT64_MAX, -1,
               "end of the buffer, trRamLimit (default: from the size of the input; output: 64 KiB)"),
    CLI_NUMBER(0, "ram-wp", "ADDR", struct convert_options, wp, 0, INT64_MAX, -1,
               "write pointer, trRamWP; bit 0 is trRamWrap"),
    CLI_FLAG(0, "ram-wrapped", struct convert_options, wrapped, "the buffer has wrapped (trRamWrap = 1)"),
    CLI_NUMBER(0, "ram-access", "N", struct convert_options, access, 4, 128, 0,
               "size of a memory write of the sink in bytes, a power of two (default 4)"),
    {0},
};

static const struct cli_option tmc_table[] = {CLI_TMC_OPTIONS(struct convert_options, tmc), {0}};

static const struct cli_group groups[] = {
    CLI_OWN("options", general_table),
    CLI_OWN("pins", pin_table),
    CLI_OWN("trace IDs", id_table),
    CLI_OWN("the buffer of a RAM sink", ram_table),
    CLI_OWN("--input-format tmc: the registers of an ETR, ETF or ETB", tmc_table),
    {0},
};

static const ntr_transport *find(const char *option, const char *name) {
    const ntr_transport *transport = ntr_transport_find(name ? name : "raw");
    if (transport) return transport;
    for (size_t i = 0; (transport = ntr_transport_at(i)); i++)
        if (cli_looks_like(name, transport->name)) {
            cli_note("%s: no transport '%s'; did you mean '%s'?", option, name, transport->name);
            return NULL;
        }
    cli_note("%s: no transport '%s'; expected one of:", option, name);
    for (size_t i = 0; (transport = ntr_transport_at(i)); i++)
        cli_note("  %-15s %s", transport->name, transport->summary);
    return NULL;
}

/* Returns the trace ID of input `index`: from --trace-ids, from --trace-id, or counted from 0x10. Returns 0 after
 * reporting an error. */
static unsigned input_id(const struct convert_options *o, size_t index) {
    const char *list = o->ids;
    if (!list) return (unsigned)(o->id > 0 ? o->id : FIRST_ID) + (unsigned)index;
    for (size_t skip = index; list && skip; skip--) {
        list = strchr(list, ',');
        if (list) list++;
    }
    char *end;
    const unsigned long id = list ? strtoul(list, &end, 0) : 0;
    if (list && end != list && (!*end || *end == ',') && id > 0 && id < NTR_ATB_ID_RESERVED) return (unsigned)id;
    cli_fail("--trace-ids: expected a number from 1 to 0x6f for each input, found '%s' for input %zu", list ? list : "",
             index + 1);
    return 0;
}

static int check(const struct convert_options *o, const ntr_transport *from, const ntr_transport *to, size_t inputs) {
    const bool pins_in = o->vcd || o->vcd_in || o->samples, pins_out = o->vcd || o->vcd_out;
    if (o->aligned && o->cut) return cli_fail("--aligned and --cut exclude each other");
    if (o->samples && (o->vcd || o->vcd_in)) return cli_fail("--samples and a VCD input exclude each other");
    if (pins_in && !from->lines && !(o->vcd && to->lines)) return cli_fail("--input-format %s has no pins", from->name);
    if (pins_out && !to->lines && !(o->vcd && from->lines)) return cli_fail("--to %s has no pins", to->name);
    if (inputs > 1 && (from->ids || !to->ids))
        return cli_fail(
            "several inputs: expected --input-format without and --to with trace IDs, found --input-format %s --to %s",
            from->name, to->name);
    if (!o->path && !pins_out && cli_writes_to_terminal()) return cli_refuse_terminal();
    return CLI_OK;
}

/* Converts a part of each input in turn until all inputs have ended. */
static int convert_all(struct convert_input *inputs, size_t count) {
    for (size_t running = count; running;) {
        running = 0;
        for (size_t i = 0; i < count; i++) {
            if (inputs[i].ended) continue;
            if (convert_input_step(&inputs[i]) != CLI_OK) return CLI_FAILED;
            running += !inputs[i].ended;
        }
    }
    return CLI_OK;
}

static int convert_files(const struct convert_options *o, const ntr_transport *from, char **paths, size_t count,
                         struct convert_output *output) {
    struct convert_input *inputs = calloc(count, sizeof *inputs);
    int status = inputs ? CLI_OK : cli_fail("out of memory");
    size_t opened = 0;
    for (; status == CLI_OK && opened < count; opened++) {
        const unsigned id = output->transport->ids ? input_id(o, opened) : 0;
        status = output->transport->ids && !id
                     ? CLI_FAILED
                     : convert_input_open(&inputs[opened], o, from, paths[opened], id, output);
        if (status != CLI_OK) break;
    }
    if (status == CLI_OK) status = convert_all(inputs, count);
    for (size_t i = 0; i < opened; i++) {
        const int closed = convert_input_close(&inputs[i]);
        if (closed > status) status = closed;
    }
    free(inputs);
    return status;
}

static int convert_run(const void *options, char **operands) {
    const struct convert_options *o = options;
    const ntr_transport *from = find("--input-format", convert_from_tmc(o) ? "coresight" : o->from),
                        *to = from ? find("--to", o->to) : NULL;
    struct convert_output output;
    size_t count = 0;

    while (operands[count]) count++;
    if (!to || check(o, from, to, count) != CLI_OK) return CLI_FAILED;
    if (convert_output_open(&output, o, to) != CLI_OK) return CLI_FAILED;
    return convert_output_close(&output, convert_files(o, from, operands, count, &output));
}

const struct cli_command cli_convert = {
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct convert_options),
    .run = convert_run,
    .about =
        "Converts between transports: raw bytes; the pins of a PIB (pib1, pib2, pib4, pib8, pib16) and of a\n"
        "serial wire (swt-uart, swt-manchester); ATB transfers (atb); CoreSight frames of an ETF, ETR or TPIU\n"
        "(coresight), also from the memory of an ETR, ETF or ETB (tmc); the memory image of a RAM sink (ram); groups of 16 or 32 bits in place of 8 (mdo14, mdo30).\n\n"
        "A pin recording is a file of packed beats with the first beat in the lowest bits, a VCD file as logic\n"
        "analysers and simulators write it, or raw samples. A recording may begin anywhere: output starts where the\n"
        "alignment is certain. Calibration patterns, triggers and lost data are reported on standard error. Idle\n"
        "bytes are dropped.\n\n"
        "atb is a sequence of records: trace ID, number of bytes (1 to 16), the bytes. A trace ID of 0 is a cycle\n"
        "without transfer; a run of 0x7f is an alignment mark.\n\n"
        "Several inputs without trace IDs can be merged into one output with trace IDs.",
    .examples = "  ntrace convert --to pib4 --vcd trace.nex -o pins.vcd\n"
                "  ntrace convert --input-format pib4 --vcd recording.vcd -o trace.nex\n"
                "  ntrace convert --input-format pib1 --vcd --clock-wire D7 --data-wires D0 capture.vcd -o trace.nex\n"
                "  ntrace convert --input-format coresight etr.bin -o hart-%.nex\n"
                "  ntrace convert --input-format tmc --ram-registers mgmt/ memory.bin -o hart-%.nex\n"
                "  ntrace convert --to coresight --trace-ids 0x10,0x11 hart0.nex hart1.nex -o etr.bin",
};
