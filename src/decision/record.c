#include "decision/record.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t ntr_integer_of(ntr_integer_type type, uint64_t bits) {
    const unsigned above = 64 - 8u * type.size;
    return type.is_signed ? (int64_t)(bits << above) >> above : (int64_t)(bits << above >> above);
}

bool ntr_compared_value(const ntr_compared *c, int64_t operand) {
    const int64_t a = ntr_integer_of(c->common, (uint64_t)operand), b = c->constant;
    const bool less = c->common.is_signed ? a < b : (uint64_t)a < (uint64_t)b;
    switch ((enum ntr_relation)c->relation) {
    case NTR_EQUAL: return a == b;
    case NTR_NOT_EQUAL: return a != b;
    case NTR_LESS: return less;
    case NTR_LESS_EQUAL: return less || a == b;
    case NTR_GREATER: return !less && a != b;
    default: return !less;
    }
}

static void add_term(ntr_flow_sum *sum, const ntr_flow_term *term, int factor) {
    for (unsigned i = 0; i < sum->count; i++) {
        ntr_flow_term *own = &sum->terms[i];
        if (own->id != term->id || own->what != term->what) continue;
        own->factor = (int16_t)(own->factor + factor * term->factor);
        if (own->factor == 0) *own = sum->terms[--sum->count];
        return;
    }
    if (sum->count == NTR_FLOW_TERMS_MAX)
        sum->unknown = true;
    else
        sum->terms[sum->count++] = (ntr_flow_term){term->id, term->what, (int16_t)(factor * term->factor)};
}

static ntr_flow_sum add_sums(const ntr_flow_sum *a, const ntr_flow_sum *b, int factor) {
    ntr_flow_sum sum = *a;
    sum.unknown |= b->unknown;
    for (unsigned i = 0; i < b->count && !sum.unknown; i++) add_term(&sum, &b->terms[i], factor);
    if (sum.unknown) sum.count = 0;
    return sum;
}

ntr_flow_count ntr_flow_none(void) {
    return (ntr_flow_count){.far = {.count = 0}, .near = {.count = 0}};
}

ntr_flow_count ntr_flow_unknown(void) {
    return (ntr_flow_count){.far = {.unknown = true}, .near = {.unknown = true}};
}

ntr_flow_count ntr_flow_of(uint32_t id, int what) {
    const ntr_flow_sum sum = {.count = 1, .terms[0] = {id, (int16_t)what, 1}};
    return (ntr_flow_count){sum, sum};
}

ntr_flow_count ntr_flow_add(const ntr_flow_count *a, const ntr_flow_count *b, int factor) {
    return (ntr_flow_count){add_sums(&a->far, &b->far, factor), add_sums(&a->near, &b->near, factor)};
}

ntr_flow_count ntr_flow_restart(const ntr_flow_count *now, uint32_t id, int what) {
    const ntr_flow_count here = ntr_flow_of(id, what);
    return (ntr_flow_count){now->far.unknown ? here.far : now->far, here.near};
}

/* ---- flow -------------------------------------------------------------------------------------- */

/* Sets what the conditions below `node` lead to, when the value of `node` leads to next[]. Returns where the evaluation
 * of `node` begins. */
static int16_t link_node(ntr_decision_record *r, unsigned node, int16_t when_false, int16_t when_true) {
    const ntr_expression *e = &r->tree[node];
    switch ((enum ntr_operator)e->operator) {
    case NTR_AND: return link_node(r, e->left, when_false, link_node(r, e->right, when_false, when_true));
    case NTR_OR: return link_node(r, e->left, link_node(r, e->right, when_false, when_true), when_true);
    case NTR_NOT: return link_node(r, e->left, when_true, when_false);
    case NTR_LEAF: break;
    }
    const ntr_condition *condition = &r->conditions[e->condition];
    if (condition->constant) return condition->value ? when_true : when_false;
    r->flow[e->condition].next[0] = when_false;
    r->flow[e->condition].next[1] = when_true;
    return (int16_t)e->condition;
}

void ntr_record_flow(ntr_decision_record *r) {
    r->start = link_node(r, r->root, NTR_RESULT_FALSE, NTR_RESULT_TRUE);
}

/* ---- vectors ----------------------------------------------------------------------------------- */

uint64_t ntr_record_evaluated(const ntr_decision_record *r) {
    uint64_t reached = r->start < 0 || r->start >= NTR_CONDITIONS_MAX ? 0 : UINT64_C(1) << r->start;
    for (size_t i = 0; i < r->shown.condition_count; i++) /* conditions lead to later ones */
        for (unsigned value = 0; value < 2 && reached >> i & 1; value++)
            if (r->flow[i].next[value] >= 0) reached |= UINT64_C(1) << r->flow[i].next[value];
    return reached;
}

ntr_status ntr_vectors_add(const ntr_allocator *allocator, ntr_vector **vectors, size_t *count, size_t *capacity,
                           const ntr_vector *vector) {
    size_t at = 0;
    int order = 1;
    while (at < *count && (order = strcmp((*vectors)[at].values, vector->values)) < 0) at++;
    if (at < *count && order == 0) {
        (*vectors)[at].count += vector->count;
        (*vectors)[at].runs |= vector->runs;
        return NTR_OK;
    }
    if (ntr_reserve(allocator, (void **)vectors, capacity, *count + 1, sizeof **vectors)) return NTR_E_MEMORY;
    memmove(*vectors + at + 1, *vectors + at, (*count - at) * sizeof **vectors);
    (*vectors)[at] = *vector;
    ++*count;
    return NTR_OK;
}

/* ---- the list ---------------------------------------------------------------------------------- */

static int compare_text(const char *a, const char *b) {
    return a == b ? 0 : strcmp(a ? a : "", b ? b : "");
}

static int compare_records(const void *a, const void *b) {
    const ntr_decision_record *x = *(ntr_decision_record *const *)a, *y = *(ntr_decision_record *const *)b;
    int order = compare_text(x->path, y->path);
    if (order) return order;
    order = compare_text(x->group, y->group);
    if (order) return order;
    NTR_COMPARE_BY(shown.line);
    NTR_COMPARE_BY(shown.column);
    order = compare_text(x->shown.spelled.file, y->shown.spelled.file);
    if (order) return order;
    NTR_COMPARE_BY(shown.spelled.line);
    NTR_COMPARE_BY(shown.spelled.column);
    NTR_COMPARE_BY(shown.kind);
    NTR_COMPARE_BY(shown.condition_count);
    NTR_COMPARE_BY(order);
    return 0;
}

static int compare_calls(const void *a, const void *b) {
    const ntr_call_site *x = a, *y = b;
    int order = compare_text(x->path, y->path);
    if (order) return order;
    NTR_COMPARE_BY(extent.line);
    NTR_COMPARE_BY(extent.column);
    NTR_COMPARE_BY(id);
    return 0;
}

static bool is_identifier(const char *name) {
    return name && *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == 0;
}

/* Returns whether a record before records[i] has the same place in another function. */
static bool shares_place(ntr_decision_record *const *records, size_t i) {
    const ntr_decision_record *r = records[i];
    for (size_t k = i; k && records[k - 1]->shown.line == r->shown.line; k--)
        if (ntr_extent_equal(&records[k - 1]->extent, &r->extent) &&
            strcmp(records[k - 1]->shown.function, r->shown.function) != 0)
            return true;
    return false;
}

/* Returns whether the file of these records is included several times, with other names of its functions each time. */
static bool is_repeated(ntr_decision_record *const *records, size_t count) {
    bool repeated = false;
    for (size_t i = 0; i < count; i++) {
        if (!is_identifier(records[i]->shown.function)) return false;
        repeated = repeated || shares_place(records, i);
    }
    return repeated;
}

const char *ntr_decisions_group(ntr_decisions *d, const char *path, const char *function) {
    const int length = (int)strcspn(function, ".");
    const size_t size = strlen(path) + (size_t)length + sizeof NTR_GROUP_MARK;
    char *name = ntr_alloc(d->allocator, size, 1);
    if (name) snprintf(name, size, "%s" NTR_GROUP_MARK "%.*s", path, length, function);
    const char *kept = name ? ntr_texts_keep(&d->texts, name) : NULL;
    ntr_dealloc(d->allocator, name);
    return kept;
}

/* Records of one file that follow each other. */
static ntr_status divide(ntr_decisions *d, ntr_decision_record **records, size_t count) {
    if (!is_repeated(records, count)) return NTR_OK;
    for (size_t i = 0; i < count; i++) {
        records[i]->group = ntr_decisions_group(d, records[i]->path, records[i]->shown.function);
        if (!records[i]->group) return NTR_E_MEMORY;
    }
    qsort(records, count, sizeof *records, compare_records);
    return NTR_OK;
}

ntr_status ntr_decisions_sort(ntr_decisions *d) {
    if (d->count) qsort(d->records, d->count, sizeof *d->records, compare_records);
    if (d->call_count) qsort(d->calls, d->call_count, sizeof *d->calls, compare_calls);
    for (size_t i = 0, next; i < d->count; i = next) {
        for (next = i + 1; next < d->count && d->records[next]->path == d->records[i]->path;) next++;
        TRY(divide(d, d->records + i, next - i));
    }
    return NTR_OK;
}

const ntr_call_site *ntr_decisions_call_at(const ntr_decisions *d, const char *path, uint32_t line, uint32_t column) {
    const ntr_call_site at = {.path = path, .extent = {.line = line, .column = column}, .id = UINT32_MAX};
    size_t low = 0, high = d->call_count;
    while (low < high) { /* the last one that begins at or before the place */
        size_t middle = low + (high - low) / 2;
        if (compare_calls(&d->calls[middle], &at) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const ntr_call_site *call = low ? &d->calls[low - 1] : NULL;
    return call && call->path == path && ntr_extent_has(&call->extent, line, column) ? call : NULL;
}

/* Returns whether the file belongs to the unit that is being parsed. Headers are taken from the first unit. */
static ntr_status own_file(ntr_decisions *d, const char *path, bool *own) {
    for (size_t i = d->file_count; i-- > 0;)
        if (d->files[i].path == path) {
            *own = d->files[i].unit == d->unit_count;
            return NTR_OK;
        }
    if (ntr_reserve(d->allocator, (void **)&d->files, &d->file_capacity, d->file_count + 1, sizeof *d->files))
        return NTR_E_MEMORY;
    d->files[d->file_count++] = (ntr_parsed_file){path, d->unit_count};
    *own = true;
    return NTR_OK;
}

static void *copy_of(const ntr_allocator *allocator, const void *items, size_t count, size_t size) {
    void *copy = ntr_alloc(allocator, count, size);
    if (copy) memcpy(copy, items, count * size);
    return copy;
}

ntr_status ntr_decisions_add(ntr_decisions *d, const ntr_decision_draft *draft) {
    bool own;
    ntr_status status = own_file(d, draft->record.path, &own);
    if (status || !own) return status;
    if (ntr_reserve(d->allocator, (void **)&d->records, &d->capacity, d->count + 1, sizeof(void *)))
        return NTR_E_MEMORY;
    ntr_decision_record *r = ntr_alloc(d->allocator, 1, sizeof *r);
    if (!r) return NTR_E_MEMORY;
    size_t count = draft->record.shown.condition_count;
    *r = draft->record;
    r->conditions = copy_of(d->allocator, draft->conditions, count, sizeof *r->conditions);
    r->flow = copy_of(d->allocator, draft->flow, count, sizeof *r->flow);
    r->tree = copy_of(d->allocator, draft->tree, r->tree_count, sizeof *r->tree);
    r->expected = copy_of(d->allocator, &draft->expected, 1, sizeof *r->expected);
    r->shown.conditions = r->conditions;
    if (!r->expected || !r->conditions || !r->flow || !r->tree) {
        ntr_record_free(d->allocator, r);
        return NTR_E_MEMORY;
    }
    d->records[d->count++] = r;
    return NTR_OK;
}

ntr_status ntr_decisions_add_call(ntr_decisions *d, const ntr_call_site *call) {
    bool own;
    ntr_status status = own_file(d, call->path, &own);
    if (status || !own) return status;
    if (ntr_reserve(d->allocator, (void **)&d->calls, &d->call_capacity, d->call_count + 1, sizeof *d->calls))
        return NTR_E_MEMORY;
    d->calls[d->call_count++] = *call;
    return NTR_OK;
}

void ntr_record_free(const ntr_allocator *allocator, ntr_decision_record *r) {
    if (!r) return;
    ntr_dealloc(allocator, r->conditions);
    ntr_dealloc(allocator, r->flow);
    ntr_dealloc(allocator, r->tree);
    ntr_dealloc(allocator, r->vectors);
    ntr_dealloc(allocator, r->expected);
    ntr_dealloc(allocator, r);
}
