#include "options/options.h"
#include "io/defects.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "io/trace.h"

#include <inttypes.h>
#include <ntrace/clock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct merge_options {
    struct cli_stream stream;
    struct cli_result result;
};

static const struct cli_group groups[] = {
    CLI_GROUP("output", cli_path_options, struct merge_options, result),
    CLI_GROUP("stream", cli_stream_options, struct merge_options, stream),
    {0},
};

/* One input stream and its next message. Messages are ordered by time, then by the number of messages already taken
 * from the stream, so that streams without timestamps alternate. */
struct merge_input {
    struct cli_trace trace;
    struct cli_defects defects;
    ntr_message message;
    ntr_clock *clocks;    /* indexed by SRC */
    uint64_t time, taken; /* time of `message`; number of messages written */
    uint32_t index;
};

struct merge {
    struct merge_input *inputs;
    struct merge_input **heap; /* min-heap of the inputs that have a message, the earliest at index 0 */
    size_t count, heap_size; /* number of inputs; size of the heap */
    const struct merge_input **owners; /* by SRC: the input with its messages */
};

/* ---- the heap */

static bool before(const struct merge_input *a, const struct merge_input *b) {
    if (a->time != b->time) return a->time < b->time;
    if (a->taken != b->taken) return a->taken < b->taken;
    return a->index < b->index;
}

static void sift_down(struct merge *m, size_t at) {
    for (;;) {
        size_t first = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < m->heap_size; i++) {
            if (before(m->heap[i], m->heap[first])) first = i;
        }
        if (first == at) return;
        struct merge_input *moved = m->heap[at];
        m->heap[at] = m->heap[first];
        m->heap[first] = moved;
        at = first;
    }
}

/* ---- inputs */

/* Reads the next undamaged message of an input. Returns false at its end. Damaged messages are reported and skipped. */
static bool advance(struct merge_input *p) {
    while (cli_trace_message(&p->trace, &p->message) == NTR_OK) {
        if (p->message.defect) {
            cli_defect_add(&p->defects, &p->trace.params, &p->message);
            continue;
        }
        ntr_clock *clock = &p->clocks[NTR_HAS(&p->message, SRC) ? p->message.src % NTR_SOURCES_MAX : 0];
        ntr_clock_follow(clock, &p->trace.params, &p->message);
        if (clock->known && clock->time > p->time) p->time = clock->time;
        return true;
    }
    return false;
}

static int open_input(struct merge *m, const struct merge_options *o, const char *path) {
    struct merge_input *p = &m->inputs[m->count];

    *p = (struct merge_input){
        .trace.input.fd = -1, .index = (uint32_t)m->count, .clocks = calloc(NTR_SOURCES_MAX, sizeof *p->clocks)};
    m->count++;
    if (!p->clocks) return cli_fail("out of memory");
    if (cli_trace_open(&p->trace, path, &o->stream, NULL) != CLI_OK) return CLI_FAILED;
    p->defects.file = p->trace.input.name;
    if (advance(p)) m->heap[m->heap_size++] = p;
    return CLI_OK;
}

static int close_input(struct merge_input *p, int status) {
    if (status != CLI_FAILED) {
        int own = cli_trace_status(&p->trace, p->trace.reader.number != 0, cli_defect_summary(&p->defects));
        if (own > status) status = own;
    }
    cli_trace_close(&p->trace);
    free(p->clocks);
    return status;
}

/* ---- merging */

/* Messages of one source in two inputs cannot be separated again. Returns CLI_FAILED after reporting it. */
static int check_owner(struct merge *m, const struct merge_input *p) {
    const bool has_src = NTR_HAS(&p->message, SRC);
    const struct merge_input **owner = &m->owners[has_src ? p->message.src % NTR_SOURCES_MAX : 0];

    if (!*owner) *owner = p;
    if (*owner == p) return CLI_OK;
    if (!has_src && !p->trace.params.src_bits)
        return cli_fail("%s, %s: expected messages with SRC, which say whose they are, found none; --src-bits says how "
                        "wide SRC is, and 'ntrace run' and 'ntrace encode' write it with --src-bits and --src-id",
                        (*owner)->trace.input.name, p->trace.input.name);
    return cli_fail("%s, %s: expected different sources, found source %" PRIu64
                    " in both; their messages cannot be told apart",
                    (*owner)->trace.input.name, p->trace.input.name, p->message.src);
}

static int merge_messages(struct merge *m, struct cli_output *out) {
    for (size_t i = m->heap_size / 2; i-- > 0;) sift_down(m, i);
    while (m->heap_size && !out->done) {
        struct merge_input *p = m->heap[0];
        if (check_owner(m, p) != CLI_OK) return CLI_FAILED;
        cli_output_write(out, p->message.raw.data, p->message.raw.size);
        p->taken++;
        if (!advance(p)) m->heap[0] = m->heap[--m->heap_size];
        sift_down(m, 0);
    }
    return CLI_OK;
}

static int open_inputs(struct merge *m, const struct merge_options *o, char **operands) {
    size_t count = 0;

    while (operands[count]) count++;
    m->inputs = calloc(count + 1, sizeof *m->inputs);
    m->heap = calloc(count + 1, sizeof(struct merge_input *));
    m->owners = calloc(NTR_SOURCES_MAX, sizeof *m->owners);
    if (!m->inputs || !m->heap || !m->owners) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        if (open_input(m, o, operands[i]) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

/* Raises the soft limit of open files to the hard limit: there may be one input per source. */
static void allow_many_files(void) {
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int merge_run(const void *options, char **operands) {
    const struct merge_options *o = options;
    struct merge m = {0};
    struct cli_output out;

    if (!o->result.path && cli_writes_to_terminal()) return cli_refuse_terminal();
    allow_many_files();
    int status = open_inputs(&m, o, operands);
    bool opened = status == CLI_OK && cli_output_open(&out, o->result.path) == CLI_OK;
    if (!opened || merge_messages(&m, &out) != CLI_OK) status = CLI_FAILED;
    for (size_t i = 0; i < m.count; i++) status = close_input(&m.inputs[i], status);
    free(m.inputs);
    free(m.heap);
    free(m.owners);
    return opened ? cli_output_close(&out, status) : status;
}

const struct cli_command cli_merge = {
    .operands = "TRACE...",
    .min_operands = 1,
    .max_operands = -1,
    .groups = groups,
    .size = sizeof(struct merge_options),
    .run = merge_run,
    .about = "Merges the messages of several streams into one, as a funnel does: ordered by time if they have\n"
             "timestamps, otherwise alternating. The order within each stream is kept. All streams must have the\n"
             "same parameters (--src-bits, ...) and different SRC values. 'ntrace split' is the inverse. Idle bytes\n"
             "are dropped.",
    .examples = "  ntrace merge --src-bits 4 trace-src0.nex trace-src1.nex -o trace.nex",
};
