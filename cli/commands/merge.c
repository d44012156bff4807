#include "options/command.h"
#include "io/defects.h"
#include "io/output.h"
#include "options/diagnostics.h"
#include "options/result.h"
#include "io/trace.h"

#include <ntrace/clock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define SOURCES 4096

struct merge_options {
    struct cli_stream stream;
    struct cli_result result;
};

static const struct cli_group groups[] = {
    CLI_GROUP("output", cli_path_options, struct merge_options, result),
    CLI_GROUP("the stream", cli_stream_options, struct merge_options, stream),
    {0},
};

/* One stream and its next message. What comes first is decided by time, then by how many were taken already, so
 * that streams without time take turns. */
struct part {
    struct cli_trace trace;
    struct cli_defects defects;
    ntr_message message;
    ntr_clock *clocks; /* by SRC */
    uint64_t time, taken;
    uint32_t index;
};

struct merge {
    struct part *parts;
    struct part **heap; /* parts that have a message, the earliest at 0 */
    size_t count, left;
};

/* ---- the heap */

static bool before(const struct part *a, const struct part *b) {
    if (a->time != b->time) return a->time < b->time;
    if (a->taken != b->taken) return a->taken < b->taken;
    return a->index < b->index;
}

static void sink(struct merge *m, size_t at) {
    for (;;) {
        size_t first = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < m->left; i++) {
            if (before(m->heap[i], m->heap[first])) first = i;
        }
        if (first == at) return;
        struct part *moved = m->heap[at];
        m->heap[at] = m->heap[first];
        m->heap[first] = moved;
        at = first;
    }
}

/* ---- parts */

/* Read the part's next sound message; false at its end. Bytes that are no message are told and left out. */
static bool advance(struct part *p) {
    while (cli_trace_message(&p->trace, &p->message) == NTR_OK) {
        if (p->message.defect) {
            cli_defect_add(&p->defects, &p->trace.params, &p->message);
            continue;
        }
        ntr_clock *clock = &p->clocks[NTR_HAS(&p->message, SRC) ? p->message.src % SOURCES : 0];
        ntr_clock_follow(clock, &p->trace.params, &p->message);
        if (clock->known && clock->time > p->time) p->time = clock->time;
        return true;
    }
    return false;
}

static int open_part(struct merge *m, const struct merge_options *o, const char *path) {
    struct part *p = &m->parts[m->count];

    *p = (struct part){.trace.input.fd = -1, .index = (uint32_t)m->count, .clocks = calloc(SOURCES, sizeof *p->clocks)};
    m->count++;
    if (!p->clocks) return cli_fail("out of memory");
    if (cli_trace_open(&p->trace, path, &o->stream) != CLI_OK) return CLI_FAILED;
    p->defects.file = p->trace.input.name;
    if (advance(p)) m->heap[m->left++] = p;
    return CLI_OK;
}

static int close_part(struct part *p, int status) {
    if (status != CLI_FAILED) {
        int own = cli_trace_status(&p->trace, p->trace.reader.number != 0, cli_defect_summary(&p->defects));
        if (own > status) status = own;
    }
    cli_trace_close(&p->trace);
    free(p->clocks);
    return status;
}

/* ---- merging */

static void merge_messages(struct merge *m, struct cli_output *out) {
    for (size_t i = m->left / 2; i-- > 0;) sink(m, i);
    while (m->left && !out->done) {
        struct part *p = m->heap[0];
        cli_output_write(out, p->message.raw.data, p->message.raw.size);
        p->taken++;
        if (!advance(p)) m->heap[0] = m->heap[--m->left];
        sink(m, 0);
    }
}

static int open_parts(struct merge *m, const struct merge_options *o, char **operands) {
    size_t count = 0;

    while (operands[count]) count++;
    m->parts = calloc(count + 1, sizeof *m->parts);
    m->heap = calloc(count + 1, sizeof(struct part *));
    if (!m->parts || !m->heap) return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        if (open_part(m, o, operands[i]) != CLI_OK) return CLI_FAILED;
    }
    return CLI_OK;
}

/* As many files as there are sources: more than the usual soft limit. */
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

    if (!o->result.path && isatty(STDOUT_FILENO)) return cli_fail("bytes are not for a terminal; name a file with -o");
    allow_many_files();
    int status = open_parts(&m, o, operands);
    bool opened = status == CLI_OK && cli_output_open(&out, o->result.path) == CLI_OK;
    if (opened) merge_messages(&m, &out);
    if (!opened) status = CLI_FAILED;
    for (size_t i = 0; i < m.count; i++) status = close_part(&m.parts[i], status);
    free(m.parts);
    free(m.heap);
    return opened ? cli_output_close(&out, status) : status;
}

const struct cli_command cli_merge = {
    .operands = "TRACE...",
    .least = 1,
    .most = -1,
    .groups = groups,
    .size = sizeof(struct merge_options),
    .run = merge_run,
    .about =
        "Puts the messages of several streams into one, as a funnel would: by time where they have timestamps, in\n"
        "turns where not. Each stream stays in its own order. All must have the same parameters (--src-bits, ...)\n"
        "and SRC of their own; 'ntrace split' is the way back. Idle bytes are left out.",
    .examples = "  ntrace merge --src-bits 4 trace-src0.nex trace-src1.nex -o trace.nex",
};
