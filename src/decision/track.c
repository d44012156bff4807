#include "decision/track.h"

#include "decision/witness.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

/* An evaluation that has begun. */
typedef struct evaluation {
    uint32_t frame, copy;
    int16_t expected; /* the condition that is evaluated next, or the result that is still tested */
    char values[NTR_CONDITIONS_MAX];
    int64_t operands[NTR_GROUPED_MAX]; /* of groups */
    uint32_t operands_known;           /* bit I: the group I */
} evaluation;

struct ntr_tracker {
    const ntr_allocator *allocator;
    ntr_code_map *map;
    ntr_callstack *stack;
    ntr_witness *witness;
    evaluation *open; /* in the order of `frame` */
    size_t open_count, open_capacity;
    uint32_t frames;  /* number of the last frame */
    uint64_t run;
    uint64_t times; /* executions that the current event stands for */
    uint64_t seen_low, seen_high; /* the last range of addresses, of a function or between two, */
    ntr_decision_function *seen;  /* ... and that function */
    ntr_event last;
    ntr_status status; /* of evaluations that a frame left open */
    bool check_image; /* several images may have code at the same addresses */
};

/* ---- frames ------------------------------------------------------------------------------------ */

static uint32_t enter(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool tail) {
    ntr_tracker *t = user;
    return moment->resumed && !tail && frame->handle ? frame->handle : ++t->frames;
}

static ntr_status leave_open(ntr_tracker *t, evaluation *e, bool lost);

/* Closes the evaluations of a frame. One that was left in another way than by its result, for example by longjmp, has
 * no result; one that a gap interrupts is unknown. */
static void leave(void *user, const ntr_stack_moment *moment, const ntr_stack_frame *frame, bool lost) {
    ntr_tracker *t = user;
    if (moment->waits) return;
    for (size_t i = t->open_count; i-- > 0 && t->open[i].frame >= frame->handle;) {
        evaluation *e = &t->open[i];
        if (e->frame != frame->handle) continue;
        if (lost) t->map->copies[e->copy].unknown++;
        const ntr_status status = leave_open(t, e, lost);
        if (status) t->status = status;
    }
}

/* ---- evaluations ------------------------------------------------------------------------------- */

static evaluation *find_open(ntr_tracker *t, uint32_t frame, uint32_t copy) {
    for (size_t i = t->open_count; i-- > 0;) {
        if (t->open[i].frame == frame && t->open[i].copy == copy) return &t->open[i];
        if (t->open[i].frame < frame) break; /* an outer frame */
    }
    return NULL;
}

static void close(ntr_tracker *t, evaluation *e) {
    size_t index = (size_t)(e - t->open);
    memmove(e, e + 1, (t->open_count - index - 1) * sizeof *e);
    t->open_count--;
}

/* Returns NULL when out of memory. */
static evaluation *begin(ntr_tracker *t, uint32_t frame, const ntr_decision_branch *branch) {
    const ntr_decision_record *r = t->map->copies[branch->copy].record;
    if (ntr_reserve(t->allocator, (void **)&t->open, &t->open_capacity, t->open_count + 1, sizeof *t->open))
        return NULL;
    evaluation *e = &t->open[t->open_count++];
    for (; e > t->open && e[-1].frame > frame; e--) *e = e[-1]; /* of coroutines that wait */
    e->frame = frame;
    e->copy = branch->copy;
    e->expected = (int16_t)branch->condition;
    e->operands_known = 0;
    memset(e->values, '-', r->shown.condition_count);
    return e;
}

/* Sets the values of the constants that the evaluation has passed. Returns the value of a node, or -1. */
static int fill_constants(const ntr_decision_record *r, unsigned node, char *values) {
    const ntr_expression *e = &r->tree[node];
    if (e->operator== NTR_LEAF) {
        const ntr_condition *c = &r->conditions[e->condition];
        if (c->constant) values[e->condition] = c->value ? 'T' : 'F';
        return values[e->condition] == '-' ? -1 : values[e->condition] == 'T';
    }
    int left = fill_constants(r, e->left, values);
    if (e->operator== NTR_NOT) return left < 0 ? -1 : !left;
    if (left < 0 || left == (e->operator== NTR_OR)) return left;
    return fill_constants(r, e->right, values);
}

static uint64_t run_bit(const ntr_tracker *t) {
    return UINT64_C(1) << (t->run < 63 ? t->run : 63);
}

/* Returns whether only the last condition is not evaluated, and it has no branch. */
static bool awaits_load(const ntr_tracker *t, const evaluation *e) {
    const ntr_decision_copy *copy = &t->map->copies[e->copy];
    return copy->stored && e->expected + 1 == (int)copy->record->shown.condition_count;
}

/* Returns whether this condition is not evaluated where its value can be seen. */
static bool stays_open(const ntr_tracker *t, const evaluation *e) {
    return awaits_load(t, e) && (t->map->copies[e->copy].lost || !ntr_witness_active(t->witness));
}

/* Values of operands are certain only when all accesses of the trace fit its instructions. */
static ntr_status finish_with_operands(ntr_tracker *t, evaluation *e, ntr_vector *vector) {
    ntr_decision_copy *copy = &t->map->copies[e->copy];
    const ntr_decision_record *r = copy->record;
    const bool known =
        ntr_grouping_expand_with(r, copy->grouping, e->values, e->operands, e->operands_known, vector->values);
    if (known) fill_constants(r, r->root, vector->values);
    close(t, e);
    if (known)
        return ntr_vectors_add(t->allocator, &copy->witnessed, &copy->witnessed_count, &copy->witnessed_capacity,
                               vector);
    copy->results[vector->result] += vector->count;
    return NTR_OK;
}

static ntr_status finish(ntr_tracker *t, evaluation *e, bool result) {
    ntr_decision_copy *copy = &t->map->copies[e->copy];
    const ntr_decision_record *r = copy->record;
    ntr_vector vector = {.result = result, .count = t->times, .runs = run_bit(t)};
    if (!copy->grouping) {
        memcpy(vector.values, e->values, r->shown.condition_count);
    } else if (!ntr_grouping_expand(r, copy->grouping, e->values, vector.values)) {
        return finish_with_operands(t, e, &vector);
    }
    fill_constants(r, r->root, vector.values);
    close(t, e);
    return ntr_vectors_add(t->allocator, &copy->vectors, &copy->vector_count, &copy->vector_capacity, &vector);
}

/* Ends an evaluation of which the value of the last condition is not known. */
static ntr_status finish_unknown(ntr_tracker *t, evaluation *e) {
    ntr_decision_copy *copy = &t->map->copies[e->copy];
    const ntr_decision_record *r = copy->record;
    ntr_vector vector = {.open = true, .count = t->times, .runs = run_bit(t)};
    memcpy(vector.values, e->values, r->shown.condition_count);
    fill_constants(r, r->root, vector.values);
    vector.values[e->expected] = '?';
    close(t, e);
    return ntr_vectors_add(t->allocator, &copy->vectors, &copy->vector_count, &copy->vector_capacity, &vector);
}

/* Closes an evaluation without a result. Where accesses do not fit the code any more, one that waits for the load of
 * its result may have been completed. */
static ntr_status leave_open(ntr_tracker *t, evaluation *e, bool lost) {
    if (!lost && stays_open(t, e)) return finish_unknown(t, e);
    close(t, e);
    return NTR_OK;
}

static int16_t next_of(const ntr_tracker *t, const ntr_decision_branch *branch, bool value) {
    const ntr_decision_copy *copy = &t->map->copies[branch->copy];
    return copy->grouping ? copy->grouping->next[branch->condition][value]
                          : copy->record->flow[branch->condition].next[value];
}

static void take_operand(const ntr_tracker *t, evaluation *e, const ntr_decision_branch *branch) {
    const ntr_decision_copy *copy = &t->map->copies[branch->copy];
    const uint8_t first = copy->grouping->groups[0][branch->condition].first;
    uint64_t bits;
    if (!ntr_witness_operand(t->witness, branch, &bits)) return;
    e->operands[branch->condition] = ntr_integer_of(copy->record->flow[first].compared.type, bits);
    e->operands_known |= UINT32_C(1) << branch->condition;
}

static ntr_status step(ntr_tracker *t, evaluation *e, const ntr_decision_branch *branch, bool taken) {
    bool value = taken == branch->taken_is;
    int16_t next = next_of(t, branch, value);
    if (branch->goes_on[taken]) return NTR_OK;
    e->values[branch->condition] = value ? 'T' : 'F';
    if (branch->root_reg) take_operand(t, e, branch);
    e->expected = next;
    if (stays_open(t, e)) return finish_unknown(t, e);
    if (t->map->copies[branch->copy].stored && next < 0) return finish(t, e, next == NTR_RESULT_TRUE);
    return next < 0 && !branch->retested[taken] ? finish(t, e, next == NTR_RESULT_TRUE) : NTR_OK;
}

/* A branch that tests a result that is already known must agree with it. */
static ntr_status test_result(ntr_tracker *t, evaluation *e, const ntr_decision_branch *branch, bool taken) {
    ntr_decision_copy *copy = &t->map->copies[branch->copy];
    const int16_t result = next_of(t, branch, taken == branch->taken_is);
    if (result == e->expected) return finish(t, e, result == NTR_RESULT_TRUE);
    close(t, e);
    copy->misfits += t->times;
    return NTR_OK;
}

static ntr_status execute(ntr_tracker *t, const ntr_stack_frame *frame, const ntr_decision_branch *branch, bool taken) {
    ntr_decision_copy *copy = &t->map->copies[branch->copy];
    if (copy->reason) return NTR_OK;
    evaluation *e = find_open(t, frame->handle, branch->copy);
    if (branch->first) {
        if (e) TRY(leave_open(t, e, false)); /* the last one was left without a result */
        e = begin(t, frame->handle, branch);
        if (!e) return NTR_E_MEMORY;
    }
    if (e && e->expected < 0) return test_result(t, e, branch, taken);
    if (e && e->expected == (int16_t)branch->condition) return step(t, e, branch, taken);
    if (e) close(t, e);
    if (!e && frame->kind == NTR_FRAME_ROOT)
        copy->unknown += t->times; /* it began before the trace, or in a gap */
    else
        copy->misfits += t->times;
    return NTR_OK;
}

/* Takes the load of a stored result. One that was decided by a branch does not need it. */
static ntr_status take_load(ntr_tracker *t, const ntr_stack_frame *frame, const ntr_decision_branch *branch) {
    ntr_decision_copy *copy = &t->map->copies[branch->copy];
    evaluation *e = copy->reason ? NULL : find_open(t, frame->handle, branch->copy);
    uint64_t bits;
    if (!e || !awaits_load(t, e)) return NTR_OK;
    if (t->times != 1 || !ntr_witness_operand(t->witness, branch, &bits)) return finish_unknown(t, e);
    const bool value = (bits & 1) == branch->taken_is;
    ntr_vector vector = {.result = next_of(t, branch, value) == NTR_RESULT_TRUE, .count = t->times, .runs = run_bit(t)};
    memcpy(vector.values, e->values, copy->record->shown.condition_count);
    vector.values[e->expected] = value ? 'T' : 'F';
    fill_constants(copy->record, copy->record->root, vector.values);
    close(t, e);
    return ntr_vectors_add(t->allocator, &copy->witnessed, &copy->witnessed_count, &copy->witnessed_capacity, &vector);
}

/* ---- events ------------------------------------------------------------------------------------ */

static bool same_image(const ntr_tracker *t, const ntr_event *event, uint64_t address) {
    return !t->check_image || ntr_code_map_describes(t->map, ntr_event_place(event, address));
}

/* Notes that a function was executed, and its entries. */
static void see_function(ntr_tracker *t, const ntr_event *event) {
    const ntr_code_map *map = t->map;
    const uint64_t address = event->address;
    if (!map->functions) return;
    if (!same_image(t, event, address)) {
        t->seen = NULL;
        t->seen_low = t->seen_high = 0;
        return;
    }
    if (address >= t->seen_low && address < t->seen_high) {
        if (address == t->seen_low && t->seen) t->seen->entries += t->times;
        return;
    }
    size_t below = ntr_code_map_functions_below(map, address);
    ntr_decision_function *f = below ? &map->functions[below - 1] : NULL;
    t->seen = f && address < f->high ? f : NULL;
    if (t->seen) {
        t->seen_low = f->low;
        t->seen_high = f->high;
        f->executed = true;
        if (address == f->low) f->entries += t->times;
    } else {
        t->seen_low = f ? f->high : 0;
        t->seen_high = below < map->function_count ? map->functions[below].low : UINT64_MAX;
    }
}

static void count_call(const ntr_tracker *t, const ntr_event *event) {
    const ntr_code_map *map = t->map;
    const size_t at = ntr_code_map_call_at(map, event->last);
    if (at < map->call_count && map->calls[at].address == event->last && same_image(t, event, event->last))
        map->calls[at].executed += t->times;
}

static ntr_status take_span(ntr_tracker *t, const ntr_event *event) {
    see_function(t, event);
    if (t->seen && (event->end == NTR_SPAN_CALL || event->end == NTR_SPAN_INDIRECT_CALL)) count_call(t, event);
    size_t loads;
    const uint32_t *load = ntr_witness_loads(t->witness, &loads);
    for (size_t i = 0; i < loads; i++) {
        const ntr_stack_frame *frame = ntr_callstack_frame(t->stack, event);
        if (!frame) return NTR_E_MEMORY;
        if (same_image(t, event, t->map->branches[load[i]].address))
            TRY(take_load(t, frame, &t->map->branches[load[i]]));
    }
    bool branch_end = event->end == NTR_SPAN_TAKEN || event->end == NTR_SPAN_NOT_TAKEN;
    const ntr_decision_branch *branch = branch_end ? ntr_code_map_find(t->map, event->last) : NULL;
    if (!branch || !same_image(t, event, event->last)) return NTR_OK;
    const ntr_stack_frame *frame = ntr_callstack_frame(t->stack, event);
    if (!frame) return NTR_E_MEMORY;
    const ntr_decision_branch *end = t->map->branches + t->map->branch_count;
    const bool differs = t->check_image && ntr_code_map_differs(t->map, ntr_event_place(event, event->last));
    for (; branch < end && branch->address == event->last; branch++)
        if (differs)
            t->map->copies[branch->copy].changed = true;
        else
            TRY(execute(t, frame, branch, event->end == NTR_SPAN_TAKEN));
    return NTR_OK;
}

ntr_status ntr_tracker_feed(ntr_tracker *t, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        t->times = ntr_event_times(&events[i]);
        TRY(ntr_witness_feed(t->witness, &events[i]));
        if (events[i].kind == NTR_EVENT_SPAN) TRY(take_span(t, &events[i]));
        TRY(ntr_callstack_feed(t->stack, &events[i]));
        TRY(t->status);
    }
    if (count) t->last = events[count - 1];
    return NTR_OK;
}

static ntr_status add_witnessed(ntr_tracker *t, ntr_decision_copy *copy) {
    const bool refused = t->check_image || ntr_witness_refused(t->witness);
    for (size_t i = 0; i < copy->witnessed_count; i++) {
        ntr_vector *v = &copy->witnessed[i];
        if (refused && copy->stored) {
            v->values[copy->record->shown.condition_count - 1] = '?';
            v->result = false;
            v->open = true;
        }
        if (refused && !copy->stored)
            copy->results[v->result] += v->count;
        else
            TRY(ntr_vectors_add(t->allocator, &copy->vectors, &copy->vector_count, &copy->vector_capacity, v));
    }
    return NTR_OK;
}

ntr_status ntr_tracker_finish(ntr_tracker *t) {
    for (size_t i = 0; i < t->open_count; i++) t->map->copies[t->open[i].copy].unknown++;
    t->open_count = 0;
    ntr_callstack_finish(t->stack, &t->last);
    for (size_t i = 0; i < t->map->copy_count; i++) TRY(add_witnessed(t, &t->map->copies[i]));
    return NTR_OK;
}

ntr_tracker *ntr_tracker_new(ntr_code_map *map, ntr_functions *functions, uint64_t run,
                             const ntr_allocator *allocator) {
    ntr_tracker *t = ntr_alloc(allocator, 1, sizeof *t);
    if (!t) return NULL;
    const ntr_stack_listener listener = {.enter = enter, .leave = leave, .user = t};
    ntr_image_info info;
    t->allocator = allocator;
    t->map = map;
    t->run = run;
    for (size_t i = 0; ntr_program_image(map->program, i, &info) == NTR_OK; i++)
        t->check_image |=
            info.options.has_scontext || info.options.has_hcontext || info.options.from || info.options.until;
    ntr_callstack_new(functions, &listener, allocator, &t->stack);
    t->witness = ntr_witness_new(map, allocator);
    if (t->stack && t->witness) return t;
    ntr_tracker_free(t);
    return NULL;
}

void ntr_tracker_free(ntr_tracker *t) {
    if (!t) return;
    ntr_callstack_free(t->stack);
    ntr_witness_free(t->witness);
    ntr_dealloc(t->allocator, t->open);
    ntr_dealloc(t->allocator, t);
}
