#include <ntrace/decision.h>

#include "base/allocator.h"
#include "base/config.h"
#include "base/macros.h"
#include "decision/audit.h"
#include "decision/code_map.h"
#include "decision/sources.h"
#include "decision/track.h"

#include <string.h>

ntr_decisions *ntr_decisions_new(const ntr_allocator *allocator) {
    ntr_decisions *d = ntr_alloc(allocator, 1, sizeof *d);
    if (!d) return NULL;
    d->allocator = allocator;
    d->texts.allocator = allocator;
    return d;
}

static void end_run(ntr_decisions *d) {
    ntr_tracker_free(d->tracker);
    d->tracker = NULL;
    if (d->map) ntr_code_map_release(d->map);
    ntr_dealloc(d->allocator, d->map);
    d->map = NULL;
}

void ntr_decisions_free(ntr_decisions *d) {
    if (!d) return;
    end_run(d);
    for (size_t i = 0; i < d->count; i++) ntr_record_free(d->allocator, d->records[i]);
    for (size_t i = 0; i < d->unparsed_count; i++) ntr_dealloc(d->allocator, d->unparsed[i]);
    ntr_dealloc(d->allocator, d->records);
    ntr_dealloc(d->allocator, d->list);
    ntr_dealloc(d->allocator, d->unparsed);
    ntr_dealloc(d->allocator, d->calls);
    ntr_dealloc(d->allocator, d->units);
    ntr_dealloc(d->allocator, d->files);
    ntr_texts_release(&d->texts);
    ntr_dealloc(d->allocator, d);
}

const char *ntr_decisions_error(const ntr_decisions *d) {
    return d->error;
}

const char *ntr_decisions_parser(const ntr_decisions *d) {
    return d->parser;
}

size_t ntr_decisions_unparsed(const ntr_decisions *d, size_t index, const char **text) {
    if (text && index < d->unparsed_count) *text = d->unparsed[index];
    return d->unparsed_count;
}

/* ---- runs -------------------------------------------------------------------------------------- */

ntr_status ntr_decisions_begin(ntr_decisions *d, const ntr_source_options *given, const ntr_program *program,
                               ntr_debug_info *debug, ntr_functions *functions) {
    ntr_source_options options;
    TRY(ntr_config_load(&options, sizeof options, given));
    end_run(d);
    d->map = ntr_alloc(d->allocator, 1, sizeof *d->map);
    if (!d->map) return NTR_E_MEMORY;
    d->map->allocator = d->allocator;
    TRY(ntr_sources_parse(d, &options, program, debug, &d->map->ranges));
    TRY(ntr_decisions_sort(d));
    TRY(ntr_code_map_make(d->map, d, &options, program, debug));
    d->tracker = ntr_tracker_new(d->map, functions, d->runs++, d->allocator);
    return d->tracker ? NTR_OK : NTR_E_MEMORY;
}

ntr_status ntr_decisions_feed(ntr_decisions *d, const ntr_event *events, size_t count) {
    return d->tracker ? ntr_tracker_feed(d->tracker, events, count) : NTR_OK;
}

static void leave_undetermined(ntr_decision_record *r, const char *reason) {
    if (r->undetermined) return;
    r->undetermined = true;
    r->shown.reason = reason;
}

/* Adds what a copy has shown to its decision. A copy whose branches are not known leaves the decision undetermined, if
 * its function was executed and other copies do not cover the decision. So does one that may not be the only one. */
static ntr_status add_copy(ntr_decisions *d, const ntr_decision_copy *copy) {
    ntr_decision_record *r = copy->record;
    const char *reason = copy->reason;
    r->has_code = true;
    r->shown.copies++;
    if (!reason && copy->misfits)
        reason =
            "its branches were executed in an order that the source does not have: the compiler has changed them, or "
            "tasks were switched in between";
    if (reason && d->map->functions[copy->function].executed) leave_undetermined(r, reason);
    if (copy->unseen)
        leave_undetermined(r,
                           "its function was inlined in optimized code, and debug information may lack copies of it");
    if (reason) return NTR_OK;
    r->shown.unknown += copy->unknown;
    for (unsigned result = 0; result < 2; result++) {
        if (!copy->results[result]) continue;
        r->results[result] = r->incomplete = true;
        if (!r->undetermined)
            r->shown.reason =
                "the compiler computed several of its conditions together: of some evaluations only the result is known";
    }
    for (size_t i = 0; i < copy->vector_count; i++)
        TRY(ntr_vectors_add(d->allocator, &r->vectors, &r->vector_count, &r->vector_capacity, &copy->vectors[i]));
    return NTR_OK;
}

static ntr_status make_list(ntr_decisions *d) {
    ntr_dealloc(d->allocator, d->list);
    d->list = ntr_alloc(d->allocator, d->count + 1, sizeof *d->list);
    if (!d->list) return NTR_E_MEMORY;
    for (size_t i = 0; i < d->count; i++) {
        ntr_decision_record *r = d->records[i];
        bool undetermined = r->undetermined;
        if (!r->has_code) {
            r->undetermined = true;
            r->shown.reason = "it has no branches: it was not compiled, or the compiler folded or computed it";
        }
        ntr_record_states(r);
        r->undetermined = undetermined;
        d->list[i] = r->shown;
    }
    return NTR_OK;
}

ntr_status ntr_decisions_end(ntr_decisions *d) {
    if (!d->tracker) return NTR_OK;
    TRY(ntr_tracker_finish(d->tracker));
    TRY(ntr_audit(d->map));
    for (size_t i = 0; i < d->map->copy_count; i++) {
        d->map->copies[i].record->shown.copies = 0;
    }
    for (size_t i = 0; i < d->map->copy_count; i++) TRY(add_copy(d, &d->map->copies[i]));
    end_run(d);
    return make_list(d);
}

/* ---- results ----------------------------------------------------------------------------------- */

const ntr_decision *ntr_decisions_list(const ntr_decisions *d, size_t *count) {
    *count = d->list ? d->count : 0;
    return d->list;
}

void ntr_decisions_sums(const ntr_decisions *d, ntr_decision_level level, const char *file, ntr_decision_sums *sums) {
    size_t count;
    const ntr_decision *list = ntr_decisions_list(d, &count);
    *sums = (ntr_decision_sums){0};
    for (size_t i = 0; i < count; i++) {
        const ntr_decision *x = &list[i];
        if (file && strcmp(file, x->file) != 0) continue;
        if (level != NTR_LEVEL_DECISION && x->condition_count < 2) continue;
        uint8_t state = level == NTR_LEVEL_DECISION ? x->decision_state
                        : level == NTR_LEVEL_MCDC   ? x->state
                                                    : x->masking_state;
        sums->decisions[state]++;
        for (size_t k = 0; k < x->condition_count && state != NTR_COVER_NOT_DETERMINABLE; k++) {
            const ntr_condition *c = &x->conditions[k];
            if (c->constant) continue;
            sums->conditions++;
            sums->conditions_covered += level == NTR_LEVEL_MASKING ? c->masking : c->covered;
        }
    }
}
