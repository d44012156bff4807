#include "options/command.h"
#include "io/convert.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ID = 0x10 };

static const struct cli_option what_table[] = {
    CLI_STRING(0, "from", "NAME", struct convert_options, from, "transport of the input, 'raw' when not given"),
    CLI_STRING(0, "to", "NAME", struct convert_options, to, "transport of the output, 'raw' when not given"),
    CLI_STRING('o', "output", "FILE", struct convert_options, path,
               "write there instead of to standard output; a % in the name makes one file for each trace ID"),
    CLI_FLAG(0, "aligned", struct convert_options, aligned, "the input begins between two messages (frames)"),
    CLI_FLAG(0, "cut", struct convert_options, cut, "the input begins anywhere: find the alignment first"),
    {0},
};

static const struct cli_option pin_table[] = {
    CLI_FLAG(0, "vcd", struct convert_options, vcd, "files of pins are VCD, on both sides"),
    CLI_FLAG(0, "vcd-in", struct convert_options, vcd_in, "the input is VCD"),
    CLI_FLAG(0, "vcd-out", struct convert_options, vcd_out, "the output is VCD"),
    CLI_NUMBER(0, "samples", "N", struct convert_options, samples, 1, 64, 0,
               "the input is raw samples of N channels (sigrok's 'binary'), the clock after the data"),
    CLI_STRING(0, "clock", "WIRE", struct convert_options, clock,
               "name of the clock in VCD, number of its channel in samples; TRC_CLK when not given"),
    CLI_STRING(0, "data", "WIRE,...", struct convert_options, data, "the data pins, TRC_DATA[0] first"),
    CLI_FLAG(0, "clk-center", struct convert_options, clock_center,
             "TRC_CLK edges are in the middle of a beat (trPibClkCenter)"),
    CLI_NUMBER(0, "beat-ticks", "N", struct convert_options, beat_ticks, 1, UINT32_MAX, 0,
               "serial input: ticks of a beat; found from the edges when not given"),
    CLI_NUMBER(0, "beat-ns", "N", struct convert_options, beat_ns, 2, 1000000000, 20,
               "VCD output: nanoseconds of a beat, even"),
    CLI_NUMBER(0, "calibrate", "N", struct convert_options, calibrate, 1, 1000000, 0,
               "output of pins: begin with N calibration patterns"),
    CLI_NUMBER(0, "idle-every", "N", struct convert_options, idle_every, 1, UINT32_MAX, 0,
               "pib1 to pib4: idle at least every N bytes, not only before synchronizing messages"),
    {0},
};

static const struct cli_option id_table[] = {
    CLI_NUMBER(0, "id", "N", struct convert_options, id, 1, 0x6f, -1,
               "input with trace IDs: take only this one; input without: give it this one"),
    CLI_STRING(0, "ids", "N,...", struct convert_options, ids, "several inputs: the trace ID of each"),
    CLI_NUMBER(0, "atb-bytes", "N", struct convert_options, atb_bytes, 1, 16, 0,
               "width of the ATB in bytes, a power of two, 4 when not given"),
    CLI_NUMBER(0, "sync-every", "N", struct convert_options, sync_every, 1, UINT32_MAX, 0,
               "full synchronization every N frames as a TPIU sends it; atb: a mark every N transfers"),
    {0},
};

static const struct cli_option ram_table[] = {
    CLI_NUMBER(0, "start", "ADDR", struct convert_options, start, 0, INT64_MAX, 0, "trRamStart"),
    CLI_NUMBER(0, "limit", "ADDR", struct convert_options, limit, 0, INT64_MAX, -1,
               "trRamLimit; when not given, as the size of the input says, or 64 KiB of output"),
    CLI_NUMBER(0, "wp", "ADDR", struct convert_options, wp, 0, INT64_MAX, -1, "trRamWP; bit 0 is trRamWrap"),
    CLI_FLAG(0, "wrapped", struct convert_options, wrapped, "trRamWrap is 1"),
    CLI_NUMBER(0, "access", "N", struct convert_options, access, 4, 128, 0,
               "bytes that the sink writes at once, a power of two, 4 when not given"),
    {0},
};

static const struct cli_group groups[] = {
    CLI_OWN("options", what_table),
    CLI_OWN("pins", pin_table),
    CLI_OWN("trace IDs", id_table),
    CLI_OWN("the buffer of a RAM sink", ram_table),
    {0},
};

static const ntr_transport *find(const char *option, const char *name) {
    const ntr_transport *transport = ntr_transport_find(name ? name : "raw");
    if (transport) return transport;
    cli_note("%s %s: expected one of:", option, name);
    for (size_t i = 0; (transport = ntr_transport_at(i)); i++)
        cli_note("  %-15s %s", transport->name, transport->summary);
    return NULL;
}

/* The ID of the index-th input: from --ids, --id, or counted from 0x10. Returns 0 after telling what is wrong. */
static unsigned id_of(const struct convert_options *o, size_t index) {
    const char *list = o->ids;
    if (!list) return (unsigned)(o->id > 0 ? o->id : FIRST_ID) + (unsigned)index;
    for (size_t skip = index; list && skip; skip--) {
        list = strchr(list, ',');
        if (list) list++;
    }
    char *end;
    const unsigned long id = list ? strtoul(list, &end, 0) : 0;
    if (list && end != list && (!*end || *end == ',') && id > 0 && id < NTR_ATB_ID_RESERVED) return (unsigned)id;
    cli_fail("--ids: expected a number from 1 to 0x6f for each input, found '%s' for input %zu", list ? list : "",
             index + 1);
    return 0;
}

static int check(const struct convert_options *o, const ntr_transport *from, const ntr_transport *to, size_t inputs) {
    const bool pins_in = o->vcd || o->vcd_in || o->samples, pins_out = o->vcd || o->vcd_out;
    if (o->aligned && o->cut) return cli_fail("--aligned and --cut exclude each other");
    if (o->samples && (o->vcd || o->vcd_in)) return cli_fail("--samples and a VCD input exclude each other");
    if (pins_in && !from->lines && !(o->vcd && to->lines)) return cli_fail("--from %s has no pins", from->name);
    if (pins_out && !to->lines && !(o->vcd && from->lines)) return cli_fail("--to %s has no pins", to->name);
    if (inputs > 1 && (from->ids || !to->ids))
        return cli_fail(
            "several inputs: expected inputs without trace IDs and an output with them, found --from %s --to %s",
            from->name, to->name);
    if (!o->path && !pins_out && isatty(STDOUT_FILENO))
        return cli_fail("bytes are not for a terminal; name a file with -o");
    return CLI_OK;
}

/* A part of each input in turn, until all have ended. */
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
        const unsigned id = output->transport->ids ? id_of(o, opened) : 0;
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
    const ntr_transport *from = find("--from", o->from), *to = from ? find("--to", o->to) : NULL;
    struct convert_output output;
    size_t count = 0;

    while (operands[count]) count++;
    if (!to || check(o, from, to, count) != CLI_OK) return CLI_FAILED;
    if (convert_output_open(&output, o, to) != CLI_OK) return CLI_FAILED;
    return convert_output_close(&output, convert_files(o, from, operands, count, &output));
}

const struct cli_command cli_convert = {
    .operands = "FILE...",
    .least = 1,
    .most = -1,
    .groups = groups,
    .size = sizeof(struct convert_options),
    .run = convert_run,
    .about =
        "Between transports: raw bytes; the pins of a PIB (pib1, pib2, pib4, pib8, pib16) and of a serial wire\n"
        "(swt-uart, swt-manchester); ATB transfers (atb); CoreSight frames of an ETF, ETR or TPIU (coresight); the\n"
        "memory image of a RAM sink (ram).\n\n"
        "Recordings of pins are packed beats, the first beat in the lowest bits; or VCD, as logic analysers and\n"
        "simulators write it; or raw samples. A recording may begin anywhere: messages are read from the first\n"
        "place on at which the alignment is sure. Calibration patterns, triggers and everything lost are told on\n"
        "standard error. Idle is left out.\n\n"
        "atb is a sequence of records: trace ID, number of bytes (1 to 16), the bytes; a zero in the place of the ID\n"
        "is a cycle without transfer, a run of 0x7f is an alignment mark.\n\n"
        "Several inputs without trace IDs go into one output with them.",
    .examples = "  ntrace convert --to pib4 --vcd trace.nex -o pins.vcd\n"
                "  ntrace convert --from pib4 --vcd recording.vcd -o trace.nex\n"
                "  ntrace convert --from pib1 --vcd --clock D7 --data D0 capture.vcd -o trace.nex\n"
                "  ntrace convert --from ram --wp 0x1f40 --wrapped dump.bin -o trace.nex\n"
                "  ntrace convert --from coresight etr.bin -o hart-%.nex\n"
                "  ntrace convert --to coresight --ids 0x10,0x11 hart0.nex hart1.nex -o etr.bin",
};
