/* Statistics of interrupts and exceptions, as text and as JSON; of a whole machine, first its system calls, interrupts
 * and exceptions by name. */
#include <ntrace/interrupts.h>

#include "export/traps.h"
#include "analysis/followers.h"
#include "analysis/functions.h"

#include <stddef.h>

struct state {
    ntr_interrupts *interrupts;
    ntr_machine *machine; /* NULL: not the trace of a machine */
    bool begun;
    bool follows; /* the call stacks are those of the tree */
};

typedef unsigned long long ull;

static const char *trap_name(const ntr_interrupt *i) {
    return i->end == NTR_SPAN_TRAP ? "trap" : ntr_span_end_name(i->end);
}

static const char *name_of(const ntr_export *x, uint32_t function) {
    const ntr_function *f = ntr_functions_get(x->analysis.functions, function);
    return f ? f->name : "[unknown]";
}

static double mean(const ntr_histogram *s) {
    return s->count ? (double)s->sum / (double)s->count : 0;
}

/* The histograms of a handler. Those in ticks are empty without timestamps. */
static const struct {
    const char *name, *title, *unit;
    size_t at;
} histograms[] = {
    {"ticks", "duration", "ticks", offsetof(ntr_interrupt, ticks)},
    {"instructions", "duration", "instructions", offsetof(ntr_interrupt, instructions)},
    {"before", "message before", "ticks", offsetof(ntr_interrupt, before)},
    {"after", "message after", "ticks", offsetof(ntr_interrupt, after)},
};
#define HISTOGRAMS (sizeof histograms / sizeof histograms[0])

static const ntr_histogram *histogram_of(const ntr_interrupt *i, size_t which) {
    return (const ntr_histogram *)((const char *)i + histograms[which].at);
}

static ntr_status finish(const ntr_export *x) {
    struct state *state = x->state;

    if (state->follows) ntr_calltree_end_following(x->analysis.tree, true);
    state->follows = false;
    ntr_status status = ntr_interrupts_finish(state->interrupts);
    return status || !state->machine ? status : ntr_machine_finish(state->machine);
}

/* ---- text */

static void histogram(ntr_out *out, const ntr_histogram *s) {
    enum { BAR_WIDTH = 40 };
    static const char bar[BAR_WIDTH + 1] = "########################################";
    uint64_t longest = 1;
    unsigned low = 64, high = 0;

    for (unsigned power = 0; power < 64; power++) {
        uint64_t count = ntr_histogram_octave(s, power);
        if (!count) continue;
        if (low == 64) low = power;
        high = power;
        if (count > longest) longest = count;
    }
    for (unsigned power = low; power <= high; power++) {
        uint64_t count = ntr_histogram_octave(s, power);
        double share = (double)count / (double)longest * BAR_WIDTH;
        ntr_out_format(out, "    %12llu .. %-12llu %10llu  %.*s\n", power ? 1ull << power : 0ull, (2ull << power) - 1,
                       (ull)count, (int)(share + (share > 0 && share < 1)), bar);
    }
}

static void write_text(ntr_export *x, const ntr_interrupt *i) {
    ntr_out *out = &x->out;

    ntr_out_format(out, "\nhart %u: %s to 0x%llx ", i->src, trap_name(i), (ull)i->address);
    ntr_out_text(out, name_of(x, i->function));
    if (i->handler != i->function) {
        ntr_out_text(out, " -> ");
        ntr_out_text(out, name_of(x, i->handler));
    }
    ntr_out_format(out, "\n  entered %llu times, %llu of them inside another handler, %llu unfinished\n", (ull)i->count,
                   (ull)i->nested, (ull)i->unfinished);
    for (size_t k = 0; k < HISTOGRAMS; k++) {
        const ntr_histogram *s = histogram_of(i, k);
        if (!s->count) continue;
        ntr_out_format(out, "  %-15s  min %llu  median %llu  p99 %llu  max %llu  mean %.1f %s\n", histograms[k].title,
                       (ull)s->least, (ull)ntr_histogram_percentile(s, 50), (ull)ntr_histogram_percentile(s, 99),
                       (ull)s->most, mean(s), histograms[k].unit);
    }
    const ntr_histogram *s = i->ticks.count ? &i->ticks : &i->instructions;
    if (!s->count) return;
    ntr_out_format(out, "  distribution of %s:\n", i->ticks.count ? "ticks" : "instructions");
    histogram(out, s);
}

static ntr_status end_text(ntr_export *x) {
    struct state *state = x->state;
    size_t count;
    uint64_t entered = 0;
    ntr_status status = finish(x);
    if (status) return status;
    const ntr_interrupt *const *list = ntr_interrupts_list(state->interrupts, &count);
    uint64_t left_out = ntr_interrupts_left_out(state->interrupts);

    if (state->machine) ntr_traps_text(x, state->machine);
    for (size_t i = 0; i < count; i++) entered += list[i]->count;
    ntr_out_format(&x->out, "%llu traps, %zu handlers", (ull)(entered + left_out), count);
    if (x->analysis.ticks_per_second)
        ntr_out_format(&x->out, ", %llu ticks a second", (ull)x->analysis.ticks_per_second);
    if (left_out) ntr_out_format(&x->out, "; %llu traps to further handlers are not listed", (ull)left_out);
    ntr_out_char(&x->out, '\n');
    for (size_t i = 0; i < count; i++) write_text(x, list[i]);
    return NTR_OK;
}

/* ---- JSON */

static void json_histogram(ntr_out *out, const char *name, const ntr_histogram *s) {
    bool first = true;

    if (!s->count) return;
    ntr_out_format(out, ",\"%s\":{\"count\":%llu,\"min\":%llu,\"median\":%llu,\"p99\":%llu,\"max\":%llu,\"mean\":%.3f",
                   name, (ull)s->count, (ull)s->least, (ull)ntr_histogram_percentile(s, 50),
                   (ull)ntr_histogram_percentile(s, 99), (ull)s->most, mean(s));
    ntr_out_text(out, ",\"histogram\":[");
    for (unsigned power = 0; power < 64; power++) {
        uint64_t count = ntr_histogram_octave(s, power);
        if (!count) continue;
        ntr_out_format(out, "%s{\"from\":%llu,\"to\":%llu,\"count\":%llu}", first ? "" : ",",
                       power ? 1ull << power : 0ull, (2ull << power) - 1, (ull)count);
        first = false;
    }
    ntr_out_text(out, "]}");
}

static void write_json(ntr_export *x, const ntr_interrupt *i, bool first) {
    ntr_out *out = &x->out;

    ntr_out_format(out, "%s\n{\"src\":%u,\"kind\":\"%s\",\"address\":\"0x%llx\",\"function\":", first ? "" : ",",
                   i->src, trap_name(i), (ull)i->address);
    ntr_out_json(out, name_of(x, i->function));
    ntr_out_text(out, ",\"handler\":");
    ntr_out_json(out, name_of(x, i->handler));
    ntr_out_format(out, ",\"count\":%llu,\"nested\":%llu,\"unfinished\":%llu", (ull)i->count, (ull)i->nested,
                   (ull)i->unfinished);
    for (size_t k = 0; k < HISTOGRAMS; k++) json_histogram(out, histograms[k].name, histogram_of(i, k));
    ntr_out_char(out, '}');
}

static ntr_status end_json(ntr_export *x) {
    struct state *state = x->state;
    size_t count;
    ntr_status status = finish(x);
    if (status) return status;
    const ntr_interrupt *const *list = ntr_interrupts_list(state->interrupts, &count);

    ntr_out_text(&x->out, "{\"format\":\"ntrace-interrupts\",\"version\":1,\"ticks_per_second\":");
    if (x->analysis.ticks_per_second)
        ntr_out_dec(&x->out, x->analysis.ticks_per_second);
    else
        ntr_out_text(&x->out, "null");
    ntr_out_format(&x->out, ",\"left_out\":%llu,\"handlers\":[", (ull)ntr_interrupts_left_out(state->interrupts));
    for (size_t i = 0; i < count; i++) write_json(x, list[i], i == 0);
    ntr_out_char(&x->out, ']');
    if (state->machine) ntr_traps_json(x, state->machine);
    ntr_export_quality(x);
    ntr_out_text(&x->out, "}\n");
    return NTR_OK;
}

/* ---- */

static ntr_status begin(ntr_export *x) {
    struct state *state = x->state;

    ntr_interrupts_new(x->analysis.functions, x->allocator, &state->interrupts);
    if (!state->interrupts) return NTR_E_MEMORY;
    if (!x->analysis.has_stacks) return NTR_OK;
    const ntr_follower interrupts = ntr_interrupts_follower(state->interrupts);
    state->follows = ntr_calltree_follow(x->analysis.tree, &interrupts);
    return state->follows ? NTR_OK : NTR_E_INVALID;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    struct state *state = x->state;

    for (size_t i = 0; i < count && !state->begun; i++) {
        if (list[i].kind != NTR_EVENT_SPAN) continue;
        state->begun = true;
        if (!ntr_traps_wanted(x, &list[i])) continue;
        ntr_machine_new(x->analysis.program, x->analysis.functions, x->allocator, &state->machine);
        if (!state->machine || (ntr_functions_tasks(x->analysis.functions) && ntr_machine_watch(state->machine)))
            return NTR_E_MEMORY;
        ntr_machine_set_clocks(state->machine, x->analysis.own_clocks);
    }
    ntr_status status = state->follows ? NTR_OK : ntr_interrupts_feed(state->interrupts, list, count);
    return status || !state->machine ? status : ntr_machine_feed(state->machine, list, count);
}

static void release(ntr_export *x) {
    struct state *state = x->state;

    if (state->follows) ntr_calltree_end_following(x->analysis.tree, false);
    ntr_interrupts_free(state->interrupts);
    ntr_machine_free(state->machine);
}

/* The events of a machine are needed. */
static bool follows(const ntr_export *x) {
    const struct state *state = x->state;

    return state->follows && state->begun && !state->machine;
}

const ntr_exporter ntr_exporter_interrupts = {
    .name = "summary",
    .family = "timeline",
    .summary = "system calls, interrupts and exceptions: counts, durations, latencies",
    .aliases = {"interrupts", "text"},
    .needs = NTR_NEEDS_EVENTS | NTR_NEEDS_CALLS | NTR_NEEDS_STRETCHES | NTR_NEEDS_STACKS,
    .state_size = sizeof(struct state),
    .begin = begin,
    .events = events,
    .end = end_text,
    .release = release,
    .follows = follows,
};

const ntr_exporter ntr_exporter_interrupts_json = {
    .name = "json",
    .family = "timeline",
    .summary = "the same as JSON",
    .needs = NTR_NEEDS_EVENTS | NTR_NEEDS_CALLS | NTR_NEEDS_STRETCHES | NTR_NEEDS_STACKS,
    .state_size = sizeof(struct state),
    .begin = begin,
    .events = events,
    .end = end_json,
    .release = release,
    .follows = follows,
};
