#include "analysis/constant_code.h"
#include "base/allocator.h"
#include "base/config.h"
#include "base/macros.h"
#include "decision/builder.h"
#include "decision/code_map.h"
#include "decision/sources.h"
#include "decision/track.h"

#include <ntrace/decision.h>

#include <stdlib.h>
#include <string.h>

/* The copies of one function by the ids of their decisions. */
typedef struct audit {
    ntr_code_map *map;
    ntr_decision_copy **copies; /* of the function, not inlined, sorted by id */
    size_t count;
} audit;

static int compare_ids(const void *a, const void *b) {
    const ntr_decision_copy *x = *(ntr_decision_copy *const *)a, *y = *(ntr_decision_copy *const *)b;
    NTR_COMPARE_BY(record->id);
    return 0;
}

static const ntr_decision_copy *find(const audit *a, uint32_t id) {
    for (size_t low = 0, high = a->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        const ntr_decision_copy *copy = a->copies[middle];
        if (copy->record->id == id) return copy;
        if (copy->record->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static int64_t count_evaluations(const ntr_decision_copy *copy) {
    int64_t count = (int64_t)(copy->results[0] + copy->results[1]);
    for (size_t i = 0; i < copy->vector_count; i++) count += (int64_t)copy->vectors[i].count;
    return count;
}

/* Number of vectors with the result true (`what` NTR_FLOW_TRUE), or in which a condition was evaluated. */
static int64_t count_vectors(const ntr_decision_copy *copy, int what) {
    int64_t count = 0;
    if (what == NTR_FLOW_EVALUATED) return count_evaluations(copy);
    for (size_t i = 0; i < copy->vector_count; i++) {
        const ntr_vector *v = &copy->vectors[i];
        if (what == NTR_FLOW_TRUE ? v->result : v->values[what] != '-') count += (int64_t)v->count;
    }
    return what == NTR_FLOW_TRUE ? count + (int64_t)copy->results[1] : count;
}

/* Stores the executions of the copies of a call in the function. Returns whether there are any copies: it may be
 * inlined. */
static bool count_calls(const audit *a, uint32_t id, const ntr_decision_function *function, int64_t *count) {
    const ntr_code_map *m = a->map;
    bool found = false;
    *count = 0;
    for (size_t i = ntr_code_map_call_at(m, function->low); i < m->call_count && m->calls[i].address < function->high;
         i++) {
        if (m->calls[i].id != id) continue;
        *count += (int64_t)m->calls[i].executed;
        found = true;
    }
    return found;
}

/* Stores the value of a term. Returns whether it is known. */
static bool value_of(const audit *a, const ntr_decision_copy *copy, const ntr_flow_term *term, int64_t *value) {
    const ntr_decision_function *function = &a->map->functions[copy->function];
    if (term->what == NTR_FLOW_CALL) return count_calls(a, term->id, function, value);
    if (term->id == 0) {
        *value = (int64_t)function->entries;
        return true;
    }
    const ntr_decision_copy *other = find(a, term->id);
    if (!other || other->reason || other->misfits || other->changed || other->unknown) return false;
    if (term->what >= 0 && (other->results[0] || other->results[1])) return false; /* its conditions are not known */
    *value = count_vectors(other, term->what);
    return true;
}

/* Returns whether the decision was evaluated as often as a sum says. */
static bool agrees_with(const audit *a, const ntr_decision_copy *copy, const ntr_flow_sum *expected) {
    int64_t sum = 0, value = 0;
    if (expected->unknown) return false;
    for (unsigned i = 0; i < expected->count; i++) {
        if (!value_of(a, copy, &expected->terms[i], &value)) return false;
        sum += expected->terms[i].factor * value;
    }
    return sum == count_evaluations(copy);
}

static bool agrees(const audit *a, const ntr_decision_copy *copy) {
    const ntr_flow_count *expected = copy->record->expected;
    return expected && !copy->unknown &&
           (agrees_with(a, copy, &expected->far) || agrees_with(a, copy, &expected->near));
}

/* A copy that does not agree is not used for others, so the comparison is repeated until nothing changes. */
static void audit_function(const audit *a) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < a->count; i++) {
            ntr_decision_copy *copy = a->copies[i];
            if (copy->unoptimized || copy->complete || copy->reason || agrees(a, copy)) continue;
            copy->reason = "it cannot be shown that each evaluation executes its branches: the code is optimized";
            changed = true;
        }
    }
}

/* Sets the reason of the copies, in optimized code, of which it is not certain that every evaluation was seen. Errors:
 * NTR_E_MEMORY. */
static ntr_status ntr_audit(ntr_code_map *map) {
    audit a = {.map = map};
    a.copies = ntr_alloc(map->allocator, map->copy_count + 1, sizeof(void *));
    if (!a.copies) return NTR_E_MEMORY;
    for (size_t i = 0, next; i < map->copy_count; i = next) {
        a.count = 0;
        for (next = i; next < map->copy_count && map->copies[next].function == map->copies[i].function; next++) {
            ntr_decision_copy *copy = &map->copies[next];
            if (!copy->inlined)
                a.copies[a.count++] = copy;
            else if (!copy->unoptimized && !copy->reason)
                copy->reason = "it cannot be shown that each evaluation executes its branches: the code is optimized "
                               "and inlined";
        }
        if (a.count) qsort(a.copies, a.count, sizeof(void *), compare_ids);
        audit_function(&a);
    }
    ntr_dealloc(map->allocator, a.copies);
    return NTR_OK;
}

ntr_status ntr_decisions_new(const ntr_allocator *allocator, ntr_decisions **out) {
    *out = NULL;
    ntr_decisions *d = ntr_alloc(allocator, 1, sizeof *d);
    if (!d) return NTR_E_MEMORY;
    d->allocator = allocator;
    d->texts.allocator = allocator;
    *out = d;
    return NTR_OK;
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

size_t ntr_decisions_failed(const ntr_decisions *d) {
    return d->failed;
}

/* Finds the branches of all decisions in all images. Errors: NTR_E_MEMORY. */
static ntr_status make_code_map(ntr_code_map *map, ntr_decisions *decisions, const ntr_source_options *options,
                                const ntr_program *program, ntr_debug_info *debug) {
    ntr_map_builder b = {.map = map,
                         .decisions = decisions,
                         .options = options,
                         .debug = debug,
                         .extents.allocator = map->allocator,
                         .graph.allocator = map->allocator,
                         .statements.allocator = map->allocator};
    map->program = program;
    ntr_status status = ntr_code_map_choose(map, decisions, options, debug);
    if (!status) status = ntr_extents_make(&b.extents, decisions);
    if (!status) status = ntr_builder_find(&b);
    if (!status) status = ntr_builder_match(&b);
    if (!status) status = ntr_code_map_index(map);
    ntr_extents_release(&b.extents);
    ntr_graph_release(&b.graph);
    ntr_statements_release(&b.statements);
    ntr_dealloc(map->allocator, b.found);
    ntr_dealloc(map->allocator, b.codes);
    return status;
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
    TRY(make_code_map(d->map, d, &options, program, debug));
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

/* Whether a function was executed, or the compiler may have left out its calls. */
static bool may_have_run(const ntr_code_map *map, const ntr_decision_function *f) {
    return f->executed || ntr_code_is_constant(map->program, ntr_code_map_place(map, f->low), f->high - f->low);
}

/* Adds what a copy has shown to its decision. A copy whose branches are not known leaves the decision undetermined, if
 * its function was executed and other copies do not cover the decision. So does one that may not be the only one. */
static ntr_status add_copy(ntr_decisions *d, const ntr_decision_copy *copy) {
    ntr_decision_record *r = copy->record;
    const char *reason = copy->reason;
    r->has_code = true;
    r->shown.copies++;
    if (!reason && copy->changed) reason = "its branches were changed while the program ran";
    if (!reason && copy->misfits)
        reason =
            "its branches were executed in an order that the source does not have: the compiler has changed them, or "
            "tasks were switched in between";
    if (reason && may_have_run(d->map, &d->map->functions[copy->function])) leave_undetermined(r, reason);
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

ntr_status ntr_decisions_finish(ntr_decisions *d) {
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
        for (size_t k = 0; k < x->condition_count && (state != NTR_COVER_NOT_DETERMINABLE || x->partly); k++) {
            const ntr_condition *c = &x->conditions[k];
            if (c->constant || (level == NTR_LEVEL_MASKING ? c->open_masking : c->open)) continue;
            sums->conditions++;
            sums->conditions_covered += level == NTR_LEVEL_MASKING ? c->masking : c->covered;
        }
    }
}
