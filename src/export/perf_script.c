/* llvm-profgen --perfscript: branch stacks as `perf script -F ip,brstack` prints them, newest branch first. */
#include "export/ranges.h"

enum { DEPTH = 32 };

typedef struct branch {
    uint64_t from, to; /* as linked */
} branch;

/* Branches of each source since its last sample. */
typedef struct perf_state {
    branch branches[1 << 12][DEPTH];
    uint8_t count[1 << 12];
} perf_state;

static void write_sample(ntr_export *x, perf_state *state, uint16_t src) {
    unsigned count = state->count[src];
    state->count[src] = 0;
    if (count < 2) return; /* a range needs two branches */
    ntr_out_hex(&x->out, state->branches[src][count - 1].to);
    while (count-- > 0) {
        ntr_out_text(&x->out, " 0x");
        ntr_out_hex(&x->out, state->branches[src][count].from);
        ntr_out_text(&x->out, "/0x");
        ntr_out_hex(&x->out, state->branches[src][count].to);
        ntr_out_text(&x->out, "/P/-/-/0");
    }
    ntr_out_char(&x->out, '\n');
}

static bool is_branch(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && !(e->flags & NTR_EVENT_TARGET_UNKNOWN) && e->end != NTR_SPAN_CUT &&
           e->end != NTR_SPAN_NOT_TAKEN && e->end < NTR_SPAN_TRAP_RETURN;
}

/* Consecutive samples share a branch, so that the range between them is not lost. A discontinuity of the flow ends a
 * sample. */
static ntr_status events(ntr_export *x, const ntr_event *events_, size_t count) {
    perf_state *state = x->state;
    for (size_t i = 0; i < count; i++) {
        const ntr_event *e = &events_[i];
        uint16_t src = e->src & 0xfff;
        bool breaks = e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_STOP ||
                      (e->kind == NTR_EVENT_SPAN && e->end >= NTR_SPAN_TRAP_RETURN);
        if (breaks) write_sample(x, state, src);
        if (breaks || !is_branch(e)) continue;
        branch last;
        const bool leaves = ntr_export_link(x, ntr_event_place(e, e->last), &last.from);
        if (!ntr_export_link(x, ntr_event_place(e, e->target), &last.to) && !leaves) continue; /* in another file */
        state->branches[src][state->count[src]++] = last;
        if (state->count[src] < DEPTH) continue;
        write_sample(x, state, src);
        state->branches[src][state->count[src]++] = last;
    }
    return NTR_OK;
}

static ntr_status end(ntr_export *x) {
    for (unsigned src = 0; src < 1 << 12; src++) write_sample(x, x->state, (uint16_t)src);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_perf_script = {
    .name = "perf-script",
    .family = "export",
    .summary = "branch stacks as perf script prints them (llvm-profgen --perfscript)",
    .aliases = {"perf", "lbr"},
    .needs = NTR_NEEDS_EVENTS | NTR_NEEDS_IMAGE,
    .state_size = sizeof(perf_state),
    .events = events,
    .end = end,
};
