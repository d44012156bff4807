/* Spans end where functions change (ntr_decoder_set_division). The decoder does this; events that were decoded
 * elsewhere, for an output that needs no functions, are divided here.
 *
 * The table of functions for it is not analysis->functions, whose numbers remain in the order of execution, which some
 * outputs show. */
#include "analyzer/state.h"

#include <ntrace/callstack.h>

bool ntr_analyzer_divides(const ntr_analyzer *a) {
    return !a->counting && a->analysis->debug && !(a->config.needs & NTR_TAKE_WHOLE);
}

static ntr_status find_places(ntr_analyzer *a) {
    return a->places ? NTR_OK : ntr_functions_new(a->analysis->debug, a->config.allocator, &a->places);
}

ntr_status ntr_analyzer_divide(ntr_analyzer *a) {
    const ntr_status status = ntr_analyzer_divides(a) ? find_places(a) : NTR_OK;
    if (status == NTR_OK && a->places) ntr_decoder_set_division(a->decoder, ntr_functions_same, a->places);
    return status;
}

/* Returns whether all instructions of the span are in one function. */
static bool is_whole(ntr_analyzer *a, const ntr_event *e) {
    const uint64_t ends[2] = {e->address, e->last};
    return e->kind != NTR_EVENT_SPAN || e->instructions < 2 || e->flags & NTR_EVENT_ADDRESS_UNKNOWN ||
           ntr_functions_same(a->places, &e->context, e->offset, ends, 2);
}

/* Cuts off the first part of *rest, up to the function of another instruction. Returns false when the code is not
 * known. */
static bool cut_off(ntr_analyzer *a, ntr_event *rest, ntr_event *part) {
    const ntr_program *program = a->analysis->program;
    uint64_t at[2] = {rest->address, rest->address};
    ntr_insn insn;
    *part = *rest;
    part->instructions = 0;
    while (part->instructions < rest->instructions - 1 &&
           ntr_program_insn(program, ntr_event_place(rest, at[1]), &insn) == NTR_OK) {
        part->instructions++;
        part->last = at[1];
        at[1] += insn.size;
        if (ntr_functions_same(a->places, &rest->context, rest->offset, at, 2)) continue;
        part->end = NTR_SPAN_CUT;
        part->flags = (uint8_t)((rest->flags & NTR_EVENT_TIME) | NTR_EVENT_RUNS_ON);
        part->target = rest->address = at[1];
        part->halfwords = (uint32_t)((at[1] - at[0]) / 2);
        rest->halfwords -= part->halfwords;
        rest->instructions -= part->instructions;
        return true;
    }
    return false;
}

static ntr_status feed_divided(ntr_analyzer *a, const ntr_event *event) {
    ntr_event rest = *event, part;
    ntr_status status = NTR_OK;
    while (status == NTR_OK && !is_whole(a, &rest) && cut_off(a, &rest, &part))
        status = ntr_analyzer_consume(a, &part, 1);
    return status == NTR_OK ? ntr_analyzer_consume(a, &rest, 1) : status;
}

ntr_status ntr_analyzer_feed(ntr_analyzer *a, const ntr_event *events, size_t count) {
    size_t first = 0;
    if (!ntr_analyzer_divides(a)) return ntr_analyzer_consume(a, events, count);
    ntr_status status = find_places(a);
    for (size_t i = 0; i < count && status == NTR_OK; i++) {
        if (is_whole(a, &events[i])) continue;
        status = ntr_analyzer_consume(a, &events[first], i - first);
        if (status == NTR_OK) status = feed_divided(a, &events[i]);
        first = i + 1;
    }
    return status == NTR_OK ? ntr_analyzer_consume(a, &events[first], count - first) : status;
}
