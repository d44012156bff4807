/* Parts of the report about time: the slices of the timeline, and the handlers of traps. */
#include "export/pages/report_parts.h"

#include "analysis/functions.h"
#include "base/allocator.h"

#include <string.h>

/* ---- timeline: tracks, each with [begin, length, what] per slice; times are relative to the first slice */

typedef struct naming {
    uint32_t *of; /* index in the list of names by function, from 1 */
    uint32_t *functions;
    uint32_t count;
} naming;

/* Returns the index of a function's name, or 0 when the list is full. */
static uint32_t name_of(naming *n, uint64_t function) {
    if (n->of[function]) return n->of[function];
    if (n->count == NTR_REPORT_NAMES) return 0;
    n->functions[n->count++] = (uint32_t)function;
    return n->of[function] = n->count;
}

static void write_slice(ntr_export *x, naming *n, const ntr_timeslice *s, uint64_t base) {
    ntr_out_format(&x->out, "[%llu,%llu,", (unsigned long long)(s->begin - base),
                   (unsigned long long)(s->end - s->begin));
    if (s->kind == NTR_SLICE_FUNCTION || s->kind == NTR_SLICE_TRAP)
        ntr_out_format(&x->out, "%u]", (unsigned)name_of(n, s->value));
    else if (s->kind == NTR_SLICE_GAP) {
        ntr_out_json(&x->out, ntr_status_text((ntr_status) - (int)s->value));
        ntr_out_char(&x->out, ']');
    } else if (s->kind == NTR_SLICE_RUN && s->task) {
        ntr_out_json(&x->out, s->task->name);
        ntr_out_char(&x->out, ']');
    } else
        ntr_out_format(&x->out, "\"0x%llx\"]", (unsigned long long)s->value);
}

/* The thread of a track has the name that it has in the end. */
static void write_thread(ntr_export *x, const ntr_timeslice *s) {
    const ntr_tasks *tasks = ntr_functions_tasks(x->analysis.functions);
    const ntr_task *last = tasks && s->task->has_pid && s->task->pid ? ntr_tasks_last(tasks, s->task->pid) : NULL;
    if (s->kind == NTR_SLICE_RUN) return;
    ntr_out_text(&x->out, ",\"thread\":");
    ntr_out_json(&x->out, last ? last->name : s->task->name);
    if (s->task->has_pid) ntr_out_format(&x->out, ",\"pid\":%lu", (unsigned long)s->task->pid);
}

static void write_tracks(ntr_export *x, naming *n, const ntr_timeslice *slices, size_t count, uint64_t base) {
    static const char *const kinds[] = {"functions", "traps", "contexts", "gaps", "threads"};
    for (size_t i = 0; i < count; i++) {
        const ntr_timeslice *s = &slices[i];
        if (i && ntr_timeslice_same_track(s, &slices[i - 1])) {
            ntr_out_char(&x->out, ',');
        } else {
            ntr_out_format(&x->out, "%s{\"src\":%u,\"kind\":\"%s\",\"context\":\"%llx\"", i ? "]},\n" : "", s->src,
                           kinds[s->kind], (unsigned long long)s->context);
            if (s->task) write_thread(x, s);
            ntr_out_text(&x->out, ",\"slices\":[");
        }
        write_slice(x, n, s, base);
    }
    ntr_out_text(&x->out, count ? "]}" : "");
}

static void write_names(ntr_export *x, const naming *n) {
    char copy[NTR_OUT_SHORT + 4];
    for (uint32_t i = 0; i < n->count; i++) {
        if (i) ntr_out_char(&x->out, ',');
        ntr_out_json(&x->out, ntr_out_shorten(ntr_functions_get(x->analysis.functions, n->functions[i])->name, copy));
    }
}

static size_t function_count(const ntr_export *x) {
    size_t count = 0;
    while (ntr_functions_get(x->analysis.functions, (uint32_t)count)) count++;
    return count;
}

ntr_status ntr_report_timeline(ntr_export *x) {
    const struct ntr_report *r = x->state;
    size_t count, functions = function_count(x);
    const ntr_timeslice *slices = ntr_timeline_slices(r->timeline, &count);
    naming n = {ntr_alloc(x->allocator, functions, sizeof *n.of),
                ntr_alloc(x->allocator, functions, sizeof *n.functions), 0};
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

/* ---- handlers: {name, kind, src, address, count, nested, unfinished, and one member per histogram} */

/* [count, sum, least, median, p99, most, counts by powers of two] */
static void write_histogram(ntr_export *x, const char *name, const ntr_histogram *histogram) {
    unsigned octaves = 0;
    if (!histogram->count) return;
    ntr_out_format(&x->out, ",\"%s\":[%llu,%llu,%llu,%llu,%llu,%llu,[", name, (unsigned long long)histogram->count,
                   (unsigned long long)histogram->sum, (unsigned long long)histogram->least,
                   (unsigned long long)ntr_histogram_percentile(histogram, 50),
                   (unsigned long long)ntr_histogram_percentile(histogram, 99), (unsigned long long)histogram->most);
    while (octaves < 63 && histogram->most >> (octaves + 1)) octaves++;
    for (unsigned i = 0; i <= octaves; i++)
        ntr_out_format(&x->out, "%s%llu", i ? "," : "", (unsigned long long)ntr_histogram_octave(histogram, i));
    ntr_out_text(&x->out, "]]");
}

static void write_handler(ntr_export *x, const ntr_interrupt *trap) {
    char copy[NTR_OUT_SHORT + 4];
    const ntr_function *function = ntr_functions_get(x->analysis.functions, trap->handler);
    ntr_out_text(&x->out, "{\"name\":");
    ntr_out_json(&x->out, function ? ntr_out_shorten(function->name, copy) : "[unknown]");
    ntr_out_format(
        &x->out,
        ",\"kind\":\"%s\",\"src\":%u,\"address\":\"0x%llx\",\"count\":%llu,\"nested\":%llu,\"unfinished\":%llu",
        ntr_span_end_name(trap->end), trap->src, (unsigned long long)trap->address, (unsigned long long)trap->count,
        (unsigned long long)trap->nested, (unsigned long long)trap->unfinished);
    write_histogram(x, "instructions", &trap->instructions);
    write_histogram(x, "ticks", &trap->ticks);
    write_histogram(x, "before", &trap->before);
    write_histogram(x, "after", &trap->after);
    ntr_out_char(&x->out, '}');
}

ntr_status ntr_report_traps(ntr_export *x) {
    size_t count;
    const struct ntr_report *r = x->state;
    const ntr_interrupt *const *list = ntr_interrupts_list(r->interrupts, &count);
    ntr_out_format(&x->out, "{\"leftOut\":%llu,\"rows\":[", (unsigned long long)ntr_interrupts_left_out(r->interrupts));
    for (size_t i = 0; i < count; i++) {
        if (i) ntr_out_text(&x->out, ",\n");
        write_handler(x, list[i]);
    }
    ntr_out_text(&x->out, "]}");
    return NTR_OK;
}
