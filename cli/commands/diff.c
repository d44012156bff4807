#include "options/command.h"
#include "io/diff_side.h"
#include "io/memory.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/result.h"
#include "text/symbol_text.h"

#include <inttypes.h>
#include <ntrace/debug_info.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW  1024 /* steps looked through on each side for where two executions meet again */
#define AGREE   8    /* equal steps in a row that make a meeting place */
#define SOURCES 4096

struct diff_options {
    struct cli_stream stream;
    struct cli_images images;
    struct cli_result result;
    int64_t src, most;
    int pc, no_time;
};

#define S struct diff_options
static const struct cli_option diff_table[] = {
    CLI_FLAG(0, "pc", S, pc, "B is a list of program counters, one a line, as 'decode --output pc' writes it"),
    CLI_FLAG(0, "no-time", S, no_time, "do not compare times"),
    CLI_NUMBER(0, "src", "N", S, src, 0, SOURCES - 1, -1, "compare only this source"),
    CLI_NUMBER(0, "max", "N", S, most, 1, 1000000, 100, "stop after this many differences (default 100)"),
    CLI_CHOICE(0, "format", "text|jsonl", S, result.format, CLI_FORMAT_TEXT, "form of the output"),
    {0},
};
#undef S

static const struct cli_group groups[] = {
    CLI_OWN("options", diff_table),
    CLI_GROUP("program", cli_image_options, struct diff_options, images),
    CLI_GROUP("output", cli_path_options, struct diff_options, result),
    CLI_GROUP("the streams (both)", cli_stream_options, struct diff_options, stream),
    {0},
};

/* Steps read ahead of one side: a ring. */
struct ahead {
    struct cli_side side;
    struct cli_step steps[WINDOW + AGREE];
    size_t first, count;
};

struct diff {
    const struct diff_options *options;
    char **paths;
    struct cli_output out;
    struct ahead a, b;
    ntr_debug_info *source;
    int hart; /* -1: the stream has one */
    uint64_t differences, equal;
};

/* ---- the two sides */

static const struct cli_step *peek(struct ahead *h, size_t i) {
    const size_t size = sizeof h->steps / sizeof *h->steps;

    while (h->count <= i) {
        h->steps[(h->first + h->count) % size] = cli_side_next(&h->side);
        h->count++;
    }
    return &h->steps[(h->first + i) % size];
}

static void drop(struct ahead *h, size_t n) {
    h->first = (h->first + n) % (sizeof h->steps / sizeof *h->steps);
    h->count -= n;
}

/* ECALL and EBREAK do not retire: a list of what a simulator went through may hold them all the same. */
static bool does_not_retire(const struct diff *d, uint64_t address) {
    ntr_insn insn;
    uint8_t bytes[4];
    const ntr_program *program = d->a.side.trace.program;

    if (ntr_program_insn(program, NULL, 0, address, &insn) != NTR_OK) return false;
    size_t got = ntr_program_read(program, NULL, 0, address, bytes, insn.size);
    return (got == 4 && (!memcmp(bytes, "\x73\0\0\0", 4) || !memcmp(bytes, "\x73\0\x10\0", 4))) ||
           (got == 2 && !memcmp(bytes, "\x02\x90", 2));
}

/* ---- what is a difference */

static bool same_end(const struct cli_step *a, const struct cli_step *b) {
    bool traps = a->end >= NTR_END_EXCEPTION && b->end >= NTR_END_EXCEPTION;

    /* B-TYPE 1 says "a trap" where 2 and 3 tell more. */
    return a->end == b->end || (traps && (a->end == NTR_END_TRAP || b->end == NTR_END_TRAP));
}

static bool same_execution(const struct cli_step *a, const struct cli_step *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == CLI_STEP_END) return true;
    if (a->kind != CLI_STEP_RUN) return a->address == b->address;
    return a->address == b->address && a->instructions == b->instructions && a->target == b->target && same_end(a, b);
}

static bool same_context(const ntr_context *a, const ntr_context *b) {
    bool prv = a->prv == NTR_PRV_UNKNOWN || b->prv == NTR_PRV_UNKNOWN || (a->prv == b->prv && a->v == b->v);
    bool s = !a->has_scontext || !b->has_scontext || a->scontext == b->scontext;

    return prv && s && (!a->has_hcontext || !b->has_hcontext || a->hcontext == b->hcontext);
}

/* NULL: none. */
static const char *kind_of_difference(const struct diff *d, const struct cli_step *a, const struct cli_step *b) {
    if (!same_execution(a, b)) return a->kind == CLI_STEP_GAP || b->kind == CLI_STEP_GAP ? "gap" : "execution";
    if (a->kind != CLI_STEP_RUN) return NULL;
    if (!same_context(&a->context, &b->context)) return "context";
    return a->timed && b->timed && !d->options->no_time && a->time != b->time ? "time" : NULL;
}

/* ---- telling it */

static void tell_place(struct diff *d, const struct cli_step *s, uint64_t address) {
    char symbol[CLI_SYMBOL_MAX + 8];
    ntr_frame frame = {0};

    char *end = cli_put_symbol(symbol, " <", ">", d->a.side.trace.program, &s->context, address);
    cli_output_print(&d->out, "0x%" PRIx64 "%.*s", address, (int)(end - symbol), symbol);
    if (d->source && ntr_debug_info_frames(d->source, &s->context, address, &frame, 1) && frame.file)
        cli_output_print(&d->out, " %s:%u", frame.file, (unsigned)frame.line);
}

static void tell_text(struct diff *d, const char *name, const struct cli_side *side, const struct cli_step *s) {
    static const char *const kinds[] = {"", "a gap after ", "tracing stops at ", ""};

    cli_output_print(&d->out, "  %s ", name);
    if (s->kind == CLI_STEP_END) {
        cli_output_text(&d->out, "is at its end\n");
        return;
    }
    if (side->is_list)
        cli_output_print(&d->out, "line %" PRIu64 "  ", s->message);
    else
        cli_output_print(&d->out, "#%" PRIu64 " @0x%" PRIx64 "  ", s->message, s->offset);
    cli_output_text(&d->out, kinds[s->kind]);
    tell_place(d, s, s->address);
    if (s->kind == CLI_STEP_RUN) {
        cli_output_print(&d->out, ", %" PRIu64 " instructions, %s -> ", s->instructions, ntr_end_name(s->end));
        tell_place(d, s, s->target);
        if (s->timed) cli_output_print(&d->out, ", time %" PRIu64, s->time);
        if (s->context.has_scontext) cli_output_print(&d->out, ", scontext 0x%" PRIx64, s->context.scontext);
        if (s->context.prv != NTR_PRV_UNKNOWN) cli_output_print(&d->out, ", prv %u", s->context.prv);
    }
    cli_output_text(&d->out, "\n");
}

static void tell_json(struct diff *d, const char *name, const struct cli_step *s) {
    static const char *const kinds[] = {"run", "gap", "stop", "pc", "end"};

    cli_output_print(&d->out, ",\"%s\":{\"kind\":\"%s\"", name, kinds[s->kind]);
    if (s->kind != CLI_STEP_END)
        cli_output_print(&d->out, ",\"message\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"address\":\"0x%" PRIx64 "\"",
                         s->message, s->offset, s->address);
    if (s->kind == CLI_STEP_RUN)
        cli_output_print(&d->out, ",\"instructions\":%" PRIu64 ",\"end\":\"%s\",\"target\":\"0x%" PRIx64 "\"",
                         s->instructions, ntr_end_name(s->end), s->target);
    if (s->kind == CLI_STEP_RUN && s->timed) cli_output_print(&d->out, ",\"time\":%" PRIu64, s->time);
    cli_output_text(&d->out, "}");
}

static void tell(struct diff *d, const char *kind, const struct cli_step *a, const struct cli_step *b) {
    d->differences++;
    if (d->options->result.format == CLI_FORMAT_JSONL) {
        cli_output_print(&d->out, "{\"difference\":%" PRIu64 ",\"kind\":\"%s\",\"src\":%d,\"after\":%" PRIu64,
                         d->differences, kind, d->hart < 0 ? 0 : d->hart, d->equal);
        tell_json(d, "a", a);
        tell_json(d, "b", b);
        cli_output_text(&d->out, "}\n");
        return;
    }
    cli_output_print(&d->out, "difference %" PRIu64 ": %s", d->differences, kind);
    if (d->hart >= 0) cli_output_print(&d->out, " of source %d", d->hart);
    cli_output_print(&d->out, ", after %" PRIu64 " equal instructions\n", d->equal);
    tell_text(d, "A", &d->a.side, a);
    tell_text(d, "B", &d->b.side, b);
}

/* ---- comparing */

/* Whether both sides go on alike from here; their common end counts. */
static bool agree(struct diff *d, size_t i, size_t j) {
    for (size_t k = 0; k < AGREE; k++) {
        const struct cli_step *a = peek(&d->a, i + k), *b = peek(&d->b, j + k);
        if (!same_execution(a, b)) return false;
        if (a->kind == CLI_STEP_END) return true;
    }
    return true;
}

/* The nearest place where both executions meet again. */
static bool meet(struct diff *d) {
    for (size_t sum = 1; sum < WINDOW; sum++) {
        for (size_t i = 0; i <= sum; i++) {
            if (!agree(d, i, sum - i)) continue;
            drop(&d->a, i);
            drop(&d->b, sum - i);
            return true;
        }
    }
    return false;
}

static bool goes_on(const struct diff *d) {
    return !d->out.done && d->differences < (uint64_t)d->options->most && !d->a.side.failed && !d->b.side.failed;
}

static void compare(struct diff *d) {
    while (goes_on(d)) {
        const struct cli_step *a = peek(&d->a, 0), *b = peek(&d->b, 0);
        const char *kind = kind_of_difference(d, a, b);

        if (d->a.side.failed || d->b.side.failed) return; /* an end that is none */
        if (!kind && a->kind == CLI_STEP_END) return;
        if (kind && b->kind == CLI_STEP_PC && does_not_retire(d, b->address)) {
            drop(&d->b, 1);
            continue;
        }
        if (kind) tell(d, kind, a, b);
        if (!same_execution(a, b)) {
            if (meet(d)) continue;
            cli_note("no common execution within %d steps of difference %" PRIu64 ": the rest is not compared", WINDOW,
                     d->differences);
            return;
        }
        d->equal += a->kind == CLI_STEP_PC ? 1 : a->instructions;
        drop(&d->a, 1);
        drop(&d->b, 1);
    }
}

static int open_sides(struct diff *d) {
    const struct diff_options *o = d->options;

    d->a = (struct ahead){.side.expand = o->pc, .side.context.prv = NTR_PRV_UNKNOWN};
    d->b = (struct ahead){.side.context.prv = NTR_PRV_UNKNOWN};
    int status = cli_side_open(&d->a.side, d->paths[0], &o->stream, &o->images, d->hart);
    if (status != CLI_OK) return status;
    d->source = ntr_debug_info_new(d->a.side.trace.program, &cli_memory);
    return o->pc ? cli_side_open_list(&d->b.side, d->paths[1])
                 : cli_side_open(&d->b.side, d->paths[1], &o->stream, &o->images, d->hart);
}

static int compare_source(struct diff *d, int hart) {
    d->hart = hart;
    int status = open_sides(d);
    if (status == CLI_OK) {
        compare(d);
        cli_side_report(&d->a.side);
        cli_side_report(&d->b.side);
    }
    if (d->a.side.failed || d->b.side.failed) status = CLI_FAILED;
    ntr_debug_info_free(d->source);
    d->source = NULL;
    cli_side_close(&d->a.side);
    cli_side_close(&d->b.side);
    return status;
}

/* ---- sources */

/* Mark the sources that a trace has. */
static int find_sources(const struct diff *d, const char *path, bool *found, bool *many) {
    struct cli_trace trace;
    ntr_message message;

    int status = cli_trace_open(&trace, path, &d->options->stream);
    if (status == CLI_OK) status = cli_trace_program(&trace, &d->options->images, &d->options->stream, true);
    if (status == CLI_OK && cli_trace_many_sources(&trace)) {
        *many = true;
        if (!strcmp(path, "-")) status = cli_fail("-: several sources: choose one with --src");
        while (status == CLI_OK && cli_trace_message(&trace, &message) == NTR_OK)
            if (NTR_HAS(&message, SRC)) found[message.src % SOURCES] = true;
    }
    cli_trace_close(&trace);
    return status;
}

static int compare_sources(struct diff *d) {
    bool found[SOURCES] = {false}, many = false;
    int status = CLI_OK;

    if (d->options->src >= 0) return compare_source(d, (int)d->options->src);
    for (int i = 0; i < (d->options->pc ? 1 : 2) && status == CLI_OK; i++)
        if (strcmp(d->paths[i], "-") != 0) status = find_sources(d, d->paths[i], found, &many);
    if (status != CLI_OK) return status;
    if (!many) return compare_source(d, -1);
    for (int i = 0; i < SOURCES && status == CLI_OK; i++)
        if (found[i]) status = compare_source(d, i);
    return status;
}

static int diff_run(const void *options, char **operands) {
    struct diff *d = calloc(1, sizeof *d);

    if (!d) return cli_fail("out of memory");
    d->options = options;
    d->paths = operands;
    int status = cli_output_open(&d->out, d->options->result.path);
    if (status == CLI_OK) {
        status = compare_sources(d);
        if (status == CLI_OK && !d->differences && d->options->result.format == CLI_FORMAT_TEXT)
            cli_output_print(&d->out, "same: %" PRIu64 " instructions\n", d->equal);
        if (status == CLI_OK && d->differences) status = CLI_DEFECTS;
        status = cli_output_close(&d->out, status);
    }
    free(d);
    return status;
}

const struct cli_command cli_diff = {
    .operands = "A B",
    .least = 2,
    .most = 2,
    .groups = groups,
    .size = sizeof(struct diff_options),
    .run = diff_run,
    .about = "Compares two traces by what they mean: how an execution was cut into messages is no difference; another\n"
             "execution, another context, or another time at the same moment is. Times are compared where every\n"
             "encoder sends a message at once: at uninferable jumps, returns that were not inferred, and traps.\n"
             "\n"
             "After a difference the nearest place is sought where both go on alike, up to 1024 steps away; a step is\n"
             "straight code up to where flow went elsewhere. Each source is compared by itself. The exit status is 0\n"
             "when both are the same, 1 when they differ, 2 when one cannot be read.\n"
             "\n"
             "Stream options hold for both; capture bundles and --auto let each say its own.",
    .examples = "  ntrace diff rtl.nex model.nex -e program.elf\n"
                "  ntrace diff trace.nex expected.pc --pc -e program.elf\n",
};
