#include "options/options.h"
#include "io/debug_files.h"
#include "io/encode_source.h"
#include "options/stream_options.h"
#include "io/images.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct encode_options {
    struct cli_encoder encoder;
    struct cli_images images;
    struct cli_result result;
    struct cli_list inputs;
    int64_t hart;
    int show;
    int strict;
};

enum { SHOW_MESSAGES, SHOW_INGRESS };

#define S struct encode_options
static const struct cli_option encode_table[] = {
    CLI_LIST(0, "pc", "FILE", S, inputs,
             "read the execution as program counters, one per line, 0x...; requires the program"),
    CLI_LIST(0, "ingress", "FILE", S, inputs,
             "read the execution as records of the trace ingress port (docs/ingress.md)"),
    CLI_LIST(0, "spike-log", "FILE", S, inputs, "read the execution from a log of Spike (-l, --log-commits, or both)"),
    CLI_LIST(0, "rvvi", "FILE", S, inputs, "read the execution from a log of a core in RVVI-TEXT"),
    CLI_LIST(
        0, "rvfi", "FILE", S, inputs,
        "read the execution from a table of RVFI signals (rvfi_pc_rdata, rvfi_insn, ...), or a log of Ibex or CVA6"),
    CLI_NUMBER(0, "hart", "N", S, hart, 0, UINT32_MAX, 0, "of logs: number of the hart to encode (default 0)"),
    CLI_CHOICE(0, "show", "messages|ingress", S, show, SHOW_MESSAGES,
               "messages (default), or the ingress records of the execution as text"),
    CLI_FLAG(0, "strict", S, strict,
             "refuse lists and logs in which an instruction neither follows the one before it nor a trap; without it, "
             "these are interrupts"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", encode_table),
    CLI_GROUP("program", cli_image_options, struct encode_options, images),
    CLI_GROUP("output", cli_path_options, struct encode_options, result),
    CLI_GROUP_ROWS("encoder", cli_encoder_rows, struct encode_options, encoder),
    {0},
};

static const struct encode_source {
    const char *name;
    cli_encode_source read;
    bool program; /* requires a program image */
} sources[] = {
    {"pc", cli_encode_pcs, true},     {"ingress", cli_encode_ingress, false}, {"spike-log", cli_encode_spike, false},
    {"rvvi", cli_encode_rvvi, false}, {"rvfi", cli_encode_rvfi, false},
};

static const struct encode_source *find_source(const char *name) {
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (strcmp(sources[i].name, name) == 0) return &sources[i];
    }
    return NULL;
}

/* State of one run of the command. */
struct encode_run {
    const struct encode_options *options;
    const struct encode_source *source;
    ntr_program *program;
    ntr_encoder_config config;
    struct cli_output out;
    struct cli_encode encode;
};

/* ---- sinks of encoder and classifier */

static ntr_status take_message(void *user, const uint8_t *bytes, size_t size) {
    cli_output_write(user, bytes, size);
    return NTR_OK;
}

static ntr_status take_block(void *user, const ntr_ingress *block) {
    struct cli_output *out = user;
    char *line = cli_output_reserve(out, NTR_INGRESS_TEXT_MAX);
    int size = ntr_ingress_format(block, line, NTR_INGRESS_TEXT_MAX);

    if (size < 0) return (ntr_status)size;
    line[size] = '\n';
    cli_output_commit(out, (size_t)size + 1);
    return NTR_OK;
}

/* ---- opening */

static int open_program(struct encode_run *r) {
    r->program = cli_program_new();
    if (!r->program) return cli_fail("out of memory");
    const char *xlen = cli_encoder_value(&r->options->encoder, "xlen");
    if (cli_images_load(&r->options->images, xlen, r->program) != CLI_OK) return CLI_FAILED;
    const char *dialect = cli_encoder_value(&r->options->encoder, "dialect");
    if (cli_images_isa(&r->options->images, xlen, dialect ? ntr_dialect_find(dialect) : NULL, r->program) != CLI_OK)
        return CLI_FAILED;
    if (r->source->program && r->options->images.list.count == 0)
        return cli_fail("--%s requires the program (-e)", r->source->name);
    return CLI_OK;
}

static int open_encoder(struct encode_run *r) {
    ntr_status status;

    ntr_encoder_config_init(&r->config);
    if (ntr_program_xlen(r->program)) r->config.params.xlen = (uint8_t)ntr_program_xlen(r->program);
    if (cli_encoder_configure(&r->options->encoder, &r->config) != CLI_OK) return CLI_FAILED;
    r->config.sink = take_message;
    r->config.sink_user = &r->out;
    status = ntr_encoder_new(&r->config, &r->encode.encoder);
    return r->encode.encoder ? CLI_OK : cli_fail("%s", ntr_status_text(status));
}

/* Returns the bounds of all address filters. The classifier splits blocks there, because a filter decides by the first
 * address of a block. */
static size_t filter_bounds(const ntr_encoder_config *config, uint64_t bounds[2 * NTR_FILTERS_MAX]) {
    size_t count = 0;

    for (unsigned i = 0; i < config->filter_count; i++) {
        if (!config->filters[i].match_address) continue;
        bounds[count++] = config->filters[i].first;
        bounds[count++] = config->filters[i].last + 1;
    }
    return count;
}

static int open_classifier(struct encode_run *r) {
    ntr_classifier_config config;
    uint64_t bounds[2 * NTR_FILTERS_MAX];
    ntr_status status;

    ntr_classifier_config_init(&config);
    config.program = r->program;
    config.itype_width = r->config.itype_width;
    config.all_jumps = r->config.params.all_jumps;
    config.cut_count = filter_bounds(&r->config, bounds);
    config.cuts = bounds;
    if (r->options->show == SHOW_MESSAGES) {
        config.encoder = r->encode.encoder;
    } else {
        config.sink = take_block;
        config.sink_user = &r->out;
    }
    status = ntr_classifier_new(&config, &r->encode.classifier);
    return r->encode.classifier ? CLI_OK : cli_fail("%s", ntr_status_text(status));
}

/* ---- encoding */

/* Ends the execution: flushes the classifier, then the encoder. */
static int finish(struct encode_run *r) {
    uint64_t next = NTR_ADDRESS_UNKNOWN;
    ntr_status status = ntr_classifier_finish(r->encode.classifier, &next);

    if (status == NTR_OK && r->options->show == SHOW_MESSAGES) {
        status = ntr_encoder_stop(r->encode.encoder, next, r->config.stop_evcode);
        if (status == NTR_OK) status = ntr_encoder_flush(r->encode.encoder);
    }
    if (status == NTR_OK) return CLI_OK;
    const char *detail = ntr_classifier_error(r->encode.classifier), *path = r->options->inputs.items[0].value;
    if (!*detail) detail = ntr_encoder_error(r->encode.encoder);
    return cli_fail("%s: at the end of the input: %s", path, *detail ? detail : ntr_status_text(status));
}

static void report_losses(const struct encode_run *r) {
    ntr_encoder_status status;

    ntr_encoder_status_get(r->encode.encoder, &status);
    if (status.overflows)
        cli_note("FIFO overflowed %" PRIu64 " times: %" PRIu64 " messages (%" PRIu64 " bytes) and %" PRIu64
                 " halfwords of execution are lost",
                 status.overflows, status.lost_messages, status.lost_bytes, status.lost_halfwords);
    if (status.stall_cycles) cli_note("FIFO full: the hart was stalled for %" PRIu64 " cycles", status.stall_cycles);
}

/* An encoder that counts calls sends nothing for a return that goes elsewhere: a decoder would go to the call. */
static int check_returns(const struct encode_run *r) {
    ntr_encoder_status status;

    ntr_encoder_status_get(r->encode.encoder, &status);
    if (!status.misplaced_returns) return CLI_OK;
    cli_note("--implicit-return count: expected returns to go to the instruction after their call, found %" PRIu64
             " that do not; no decoder could follow the stream, use --implicit-return full",
             status.misplaced_returns);
    return CLI_DEFECTS;
}

/* A list of program counters does not say where a trap came: each is an interrupt in the trace. No execution has a trap
 * at every MISFIT_RATIO-th instruction: that is another program. */
static int check_discontinuities(const struct encode_run *r) {
    enum { MISFIT_RATIO = 8, MISFIT_LEAST = 16 };

    ntr_discontinuity first = {0};
    char place[40] = "";
    const uint64_t count = ntr_classifier_discontinuities(r->encode.classifier, &first);
    const bool other = count >= MISFIT_LEAST && count > r->encode.counters / MISFIT_RATIO && r->encode.counters;

    if (!count) return CLI_OK;
    if (first.number) snprintf(place, sizeof place, "program counter %" PRIu64 ", ", first.number);
    cli_note("%s: expected each instruction to follow the one before it or a trap, found %" PRIu64
             " that do not, the first at %s0x%" PRIx64 " instead of 0x%" PRIx64 "; %s",
             r->options->inputs.items[0].value, count, place, first.found, first.expected,
             r->options->strict ? "--strict refuses them"
             : other            ? "the program is not the one that ran; no trace is written"
                                : "the trace has an interrupt at each of them");
    return r->options->strict ? CLI_FAILED : other ? CLI_DEFECTS : CLI_OK;
}

static int encode_input(struct encode_run *r) {
    if (open_program(r) != CLI_OK || open_encoder(r) != CLI_OK || open_classifier(r) != CLI_OK) return CLI_FAILED;
    r->encode.hart = (unsigned)r->options->hart;
    r->encode.xlen = ntr_program_xlen(r->program);
    if (!r->encode.xlen && cli_encoder_gives(&r->options->encoder, "xlen")) r->encode.xlen = r->config.params.xlen;
    r->encode.out = &r->out;
    if (r->options->show == SHOW_INGRESS) cli_output_print(&r->out, "%s\n", ntr_ingress_header());
    if (r->source->read(&r->encode, r->options->inputs.items[0].value) != CLI_OK) return CLI_FAILED;
    if (finish(r) != CLI_OK) return CLI_FAILED;
    const int fit = check_discontinuities(r);
    if (fit != CLI_OK) return fit;
    report_losses(r);
    return r->options->show == SHOW_MESSAGES ? check_returns(r) : CLI_OK;
}

static int check_usage(const struct encode_options *o) {
    if (o->inputs.count != 1)
        return cli_fail("expected exactly one of --pc, --ingress, --spike-log, --rvvi and --rvfi, found %s",
                        o->inputs.count ? "several" : "none");
    if (o->show == SHOW_INGRESS && strcmp(o->inputs.items[0].name, "ingress") == 0)
        return cli_fail("--show ingress: the input already consists of ingress records");
    if (o->show == SHOW_MESSAGES && !o->result.path && cli_writes_to_terminal()) return cli_refuse_terminal();
    return CLI_OK;
}

static int encode_run(const void *options, char **operands) {
    struct encode_run r = {.options = options};

    (void)operands;
    if (check_usage(r.options) != CLI_OK) return CLI_FAILED;
    r.source = find_source(r.options->inputs.items[0].name);
    int status = cli_output_open(&r.out, r.options->result.path);
    if (status == CLI_OK) {
        const int encoded = encode_input(&r);
        const int closed =
            cli_output_close(&r.out, encoded == CLI_OK ? CLI_OK : CLI_FAILED); /* no file that misleads */
        status = encoded == CLI_DEFECTS ? CLI_DEFECTS : closed;
    }
    ntr_classifier_free(r.encode.classifier);
    ntr_encoder_free(r.encode.encoder);
    cli_program_close(r.program);
    return status;
}

const struct cli_command cli_encode = {
    .operands = "",
    .min_operands = 0,
    .max_operands = 0,
    .groups = groups,
    .size = sizeof(struct encode_options),
    .run = encode_run,
    .about = "Encodes an execution as the trace encoder of a hart does. The execution is a list of program counters,\n"
             "the records of a trace ingress port, a log of the simulator Spike, or the log of a core (RVVI, RVFI).\n"
             "If the input has no time, each retired halfword takes one tick (--timestamps).",
    .examples =
        "  ntrace encode -e program.elf --pc list.txt --best -o trace.nex\n"
        "  ntrace encode -e program.elf --pc list.txt --mode btm --sync-mode messages --sync-max 4 -o trace.nex\n"
        "  ntrace encode --spike-log spike.log -o trace.nex\n"
        "  ntrace encode --rvvi core.rvvi -o trace.nex\n"
        "  ntrace encode --rvfi trace_core_00000000.log -o trace.nex",
};
