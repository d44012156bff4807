#include "decision/audit.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

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
    if (!other || other->reason || other->misfits || other->unknown) return false;
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
            if (copy->plain || copy->complete || copy->reason || agrees(a, copy)) continue;
            copy->reason = "it cannot be shown that each evaluation executes its branches: the code is optimized";
            changed = true;
        }
    }
}

ntr_status ntr_audit(ntr_code_map *map) {
    audit a = {.map = map};
    a.copies = ntr_alloc(map->allocator, map->copy_count + 1, sizeof(void *));
    if (!a.copies) return NTR_E_MEMORY;
    for (size_t i = 0, next; i < map->copy_count; i = next) {
        a.count = 0;
        for (next = i; next < map->copy_count && map->copies[next].function == map->copies[i].function; next++) {
            ntr_decision_copy *copy = &map->copies[next];
            if (!copy->inlined)
                a.copies[a.count++] = copy;
            else if (!copy->plain && !copy->reason)
                copy->reason = "it cannot be shown that each evaluation executes its branches: the code is optimized "
                               "and inlined";
        }
        if (a.count) qsort(a.copies, a.count, sizeof(void *), compare_ids);
        audit_function(&a);
    }
    ntr_dealloc(map->allocator, a.copies);
    return NTR_OK;
}
