/* The parts of a report that tell of time: the timeline's slices, and the handlers of traps. */
#include "export/report.h"

#include "base/allocator.h"

#include <string.h>

/* ---- timeline: tracks, each with [begin, length, what] for every slice; times count from the first */

typedef struct naming {
    uint32_t *of; /* function to place in the list of names, from 1 */
    uint32_t *functions;
    uint32_t count;
} naming;

/* The place of a function's name; 0 when the list is full. */
static uint32_t name_of(naming *n, uint64_t function) {
    if (n->of[function]) return n->of[function];
    if (n->count == NTR_REPORT_NAMES) return 0;
    n->functions[n->count++] = (uint32_t)function;
    return n->of[function] = n->count;
}

static void write_slice(ntr_export *x, naming *n, const ntr_timeslice *s, uint64_t base) {
    ntr_out_format(&x->out, "[%llu,%llu,", (unsigned long long)(s->begin - base), (unsigned long long)(s->end - s->begin));
    if (s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP)
        ntr_out_format(&x->out, "%u]", (unsigned)name_of(n, s->value));
    else if (s->kind == NTR_SLICE_GAP) {
        ntr_out_json(&x->out, ntr_status_text((ntr_status) - (int)s->value));
        ntr_out_char(&x->out, ']');
    } else
        ntr_out_format(&x->out, "\"0x%llx\"]", (unsigned long long)s->value);
}

static bool same_track(const ntr_timeslice *a, const ntr_timeslice *b) {
    return a->src == b->src && a->kind == b->kind && a->context == b->context;
}

static void write_tracks(ntr_export *x, naming *n, const ntr_timeslice *slices, size_t count, uint64_t base) {
    static const char *const kinds[] = {"functions", "traps", "contexts", "gaps"};
    for (size_t i = 0; i < count; i++) {
        const ntr_timeslice *s = &slices[i];
        if (i && same_track(s, &slices[i - 1])) {
            ntr_out_char(&x->out, ',');
        } else {
            ntr_out_format(&x->out, "%s{\"src\":%u,\"kind\":\"%s\",\"context\":\"%llx\",\"slices\":[", i ? "]},\n" : "", s->src,
                           kinds[s->kind], (unsigned long long)s->context);
        }
        write_slice(x, n, s, base);
    }
    ntr_out_text(&x->out, count ? "]}" : "");
}

static void write_names(ntr_export *x, const naming *n) {
    char copy[NTR_OUT_SHORT + 4];
    for (uint32_t i = 0; i < n->count; i++) {
        if (i) ntr_out_char(&x->out, ',');
        ntr_out_json(&x->out, ntr_out_shorten(ntr_functions_get(x->answers.functions, n->functions[i])->name, copy));
    }
}

static size_t function_count(const ntr_export *x) {
    size_t count = 0;
    while (ntr_functions_get(x->answers.functions, (uint32_t)count)) count++;
    return count;
}

ntr_status ntr_report_timeline(ntr_export *x) {
    const struct ntr_report *r = x->state;
    size_t count, functions = function_count(x);
    const ntr_timeslice *slices = ntr_timeline_slices(r->timeline, &count);
    naming n = {ntr_alloc(x->allocator, functions, sizeof *n.of), ntr_alloc(x->allocator, functions, sizeof *n.functions), 0};
    ntr_status status = functions && (!n.of || !n.functions) ? NTR_E_MEMORY : NTR_OK;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (slices[i].begin < low) low = slices[i].begin;
        if (slices[i].end > high) high = slices[i].end;
    }
    if (!status) {
        ntr_out_format(&x->out, "{\"timed\":%s,\"shortest\":%llu,\"base\":\"%llu\",\"length\":%llu,\"tracks\":[",
                       ntr_timeline_timed(r->timeline) ? "true" : "false",
                       (unsigned long long)ntr_timeline_shortest(r->timeline), (unsigned long long)(count ? low : 0),
                       (unsigned long long)(count ? high - low : 0));
        write_tracks(x, &n, slices, count, low);
        ntr_out_text(&x->out, "],\"names\":[");
        write_names(x, &n);
        ntr_out_text(&x->out, "]}");
    }
    ntr_dealloc(x->allocator, n.of);
    ntr_dealloc(x->allocator, n.functions);
    return status;
}

/* ---- handlers: [name, "interrupt" or "exception", times, instructions, ticks], what they called included */

typedef struct handler {
    uint64_t calls, instructions, ticks;
} handler;

static void write_handler(ntr_export *x, size_t function, bool interrupt, const handler *h) {
    char copy[NTR_OUT_SHORT + 4];
    ntr_out_char(&x->out, '[');
    ntr_out_json(&x->out, ntr_out_shorten(ntr_functions_get(x->answers.functions, (uint32_t)function)->name, copy));
    ntr_out_format(&x->out, ",\"%s\",%llu,%llu,%llu]", interrupt ? "interrupt" : "exception",
                   (unsigned long long)h->calls, (unsigned long long)h->instructions, (unsigned long long)h->ticks);
}

ntr_status ntr_report_traps(ntr_export *x) {
    size_t nodes, functions = function_count(x);
    const ntr_call_node *tree = ntr_calltree_nodes(x->answers.tree, &nodes);
    handler *handlers = ntr_alloc(x->allocator, functions, 2 * sizeof *handlers);
    const char *comma = "";
    if (!handlers && functions) return NTR_E_MEMORY;
    for (size_t i = 0; i < nodes; i++) {
        const ntr_call_node *node = &tree[i];
        if (node->kind < NTR_FRAME_EXCEPTION || node->function >= functions) continue;
        handler *h = &handlers[2 * node->function + (node->kind == NTR_FRAME_INTERRUPT)];
        h->calls += node->calls;
        h->instructions += node->total_instructions;
        h->ticks += node->total_ticks;
    }
    ntr_out_char(&x->out, '[');
    for (size_t i = 0; i < 2 * functions; i++) {
        if (!handlers[i].calls) continue;
        ntr_out_text(&x->out, comma);
        write_handler(x, i / 2, i % 2, &handlers[i]);
        comma = ",\n";
    }
    ntr_out_char(&x->out, ']');
    ntr_dealloc(x->allocator, handlers);
    return NTR_OK;
}
