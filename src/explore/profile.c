/* The call tree of a range, and its functions. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

/* ---- order: by a number, then by function */

typedef struct ranked {
    uint64_t key;
    const ntr_function *named;
    uint32_t number; /* of the node, or of the function */
} ranked;

static int by_key(const void *left, const void *right) {
    const ranked *x = left, *y = right;
    if (x->key != y->key) return x->key > y->key ? -1 : 1;
    if (x->named && y->named) {
        if (x->named->low != y->named->low) return x->named->low < y->named->low ? -1 : 1;
        const int order = strcmp(x->named->name, y->named->name);
        if (order) return order;
    }
    return NTR_COMPARE(x->number, y->number);
}

/* ---- the tree */

typedef struct tree {
    ntr_explorer *x;
    const ntr_sums *sums;
    uint64_t least;
    ranked *rows;           /* the nodes that are shown, grouped by their parent */
    uint32_t *first;     /* by node: index of its first child in `rows`; */
    uint32_t *children;  /* and their number */
    size_t count;
} tree;

static bool is_shown(const tree *t, size_t node) {
    return t->sums->total[node] && t->sums->total[node] >= t->least;
}

/* Groups the shown nodes by parent; a parent is shown if its child is. The roots come first. */
static ntr_status group(tree *t) {
    const ntr_node *nodes = t->x->nodes.items;
    t->children = ntr_alloc(t->x->allocator, t->sums->count + 1, sizeof *t->children);
    t->first = ntr_alloc(t->x->allocator, t->sums->count + 1, sizeof *t->first);
    t->rows = ntr_alloc(t->x->allocator, t->count + 1, sizeof *t->rows);
    if (!t->children || !t->first || !t->rows) return NTR_E_MEMORY;
    uint32_t *const roots = &t->children[t->sums->count], used = 0;
    for (size_t i = 0; i < t->sums->count; i++)
        if (is_shown(t, i)) (*(nodes[i].parent == NTR_NODE_NONE ? roots : &t->children[nodes[i].parent]))++;
    t->first[t->sums->count] = 0;
    used = *roots;
    for (size_t i = 0; i < t->sums->count; i++) {
        t->first[i] = used;
        used += t->children[i];
    }
    memset(t->children, 0, (t->sums->count + 1) * sizeof *t->children);
    for (size_t i = 0; i < t->sums->count; i++) {
        if (!is_shown(t, i)) continue;
        const size_t parent = nodes[i].parent == NTR_NODE_NONE ? t->sums->count : nodes[i].parent;
        const bool hart = nodes[i].kind == NTR_NODE_HART;
        t->rows[t->first[parent] + t->children[parent]++] =
            (ranked){.key = hart ? 0 : t->sums->total[i],
                     .named = hart ? NULL : ntr_functions_get(t->x->config.functions, nodes[i].function),
                     .number = (uint32_t)i};
    }
    return NTR_OK;
}

static void write_node(const tree *t, ntr_answer *a, uint32_t number) {
    const ntr_node *node = &t->x->nodes.items[number];
    ntr_answer_open(a, NULL, '{');
    ntr_answer_number(a, "depth", node->depth);
    if (node->kind == NTR_NODE_HART)
        ntr_answer_number(a, "src", node->src);
    else
        ntr_answer_function(a, "function", node->function);
    if (node->kind != NTR_FRAME_CALL) ntr_answer_text(a, "kind", ntr_frame_kind_text(node->kind));
    ntr_answer_number(a, "self", t->sums->self[number]);
    ntr_answer_number(a, "total", t->sums->total[number]);
    ntr_answer_number(a, "calls", t->sums->calls[number]);
    ntr_answer_close(a, '}');
}

/* Writes the children of a node, each before its own children. Nodes are at most NTR_NODE_DEPTH_MAX deep. */
static void write_children(const tree *t, ntr_answer *a, size_t parent) {
    ranked *rows = t->rows + t->first[parent];
    if (t->children[parent] > 1) qsort(rows, t->children[parent], sizeof *rows, by_key);
    for (uint32_t i = 0; i < t->children[parent]; i++) {
        write_node(t, a, rows[i].number);
        write_children(t, a, rows[i].number);
    }
}

static size_t count_shown(const tree *t) {
    size_t count = 0;
    for (size_t i = 0; i < t->sums->count; i++) count += is_shown(t, i);
    return count;
}

static ntr_status write_tree(tree *t, ntr_answer *a, uint64_t limit) {
    while ((t->count = count_shown(t)) > limit) t->least = t->least ? 2 * t->least : 2;
    TRY(group(t));
    ntr_answer_number(a, "from", t->sums->from);
    ntr_answer_number(a, "to", t->sums->to);
    ntr_answer_open(a, "tree", '[');
    write_children(t, a, t->sums->count);
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "least", t->least);
    ntr_answer_number(a, "left_out_contexts", t->x->nodes.left_out);
    return NTR_OK;
}

ntr_status ntr_answer_tree(ntr_explorer *x, ntr_question *q) {
    uint64_t from, to, limit, least;
    ntr_sums sums;
    TRY(ntr_question_range(x, q, &from, &to));
    TRY(ntr_question_number(q, "least", (to - from) / 2000, 0, UINT64_MAX, &least));
    TRY(ntr_question_number(q, "limit", 2000, 1, NTR_ROWS_MOST, &limit));
    ntr_status status = ntr_sums_take(x, q, from, to, &sums);
    tree t = {.x = x, .sums = &sums, .least = least};
    if (status == NTR_OK) status = write_tree(&t, q->answer, limit);
    ntr_dealloc(x->allocator, t.rows);
    ntr_dealloc(x->allocator, t.first);
    ntr_dealloc(x->allocator, t.children);
    ntr_sums_release(x, &sums);
    return status;
}

/* ---- functions */

typedef struct function_sum {
    uint64_t self, total, calls;
} function_sum;

/* A function below itself is counted once. */
static bool is_below_itself(const ntr_nodes *nodes, const ntr_node *node) {
    const uint32_t function = node->function;
    for (uint32_t at = node->parent; nodes->items[at].kind != NTR_NODE_HART; at = nodes->items[at].parent)
        if (nodes->items[at].function == function) return true;
    return false;
}

static size_t sum_functions(const ntr_explorer *x, const ntr_sums *sums, function_sum *by_function) {
    size_t count = 0;
    for (size_t i = 0; i < sums->count; i++) {
        const ntr_node *node = &x->nodes.items[i];
        if (node->kind == NTR_NODE_HART || !(sums->total[i] | sums->calls[i])) continue;
        function_sum *f = &by_function[node->function];
        count += !(f->self | f->total | f->calls);
        f->self += sums->self[i];
        f->calls += sums->calls[i];
        if (!is_below_itself(&x->nodes, node)) f->total += sums->total[i];
    }
    return count;
}

static void write_functions(ntr_answer *a, const function_sum *by_function, const ranked *rows, size_t count) {
    ntr_answer_open(a, "rows", '[');
    for (size_t i = 0; i < count; i++) {
        const function_sum *f = &by_function[rows[i].number];
        ntr_answer_open(a, NULL, '{');
        ntr_answer_function(a, "function", rows[i].number);
        ntr_answer_number(a, "self", f->self);
        ntr_answer_number(a, "total", f->total);
        ntr_answer_number(a, "calls", f->calls);
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
}

ntr_status ntr_answer_functions(ntr_explorer *x, ntr_question *q) {
    uint64_t from, to, limit;
    const char *sort;
    ntr_sums sums;
    TRY(ntr_question_range(x, q, &from, &to));
    TRY(ntr_question_number(q, "limit", 100, 1, NTR_ROWS_MOST, &limit));
    TRY(ntr_question_text(q, "sort", "self", &sort));
    const bool by_self = strcmp(sort, "self") == 0;
    if (!by_self && strcmp(sort, "total") != 0 && strcmp(sort, "calls") != 0)
        return ntr_question_fail(q, "sort: expected self, total or calls");
    ntr_status status = ntr_sums_take(x, q, from, to, &sums);
    size_t functions = 0, count = 0;
    for (size_t i = 0; i < x->nodes.count; i++)
        if (x->nodes.items[i].kind != NTR_NODE_HART && x->nodes.items[i].function >= functions)
            functions = (size_t)x->nodes.items[i].function + 1;
    function_sum *by_function = ntr_alloc(x->allocator, functions + 1, sizeof *by_function);
    ranked *rows = ntr_alloc(x->allocator, functions + 1, sizeof *rows);
    if (status == NTR_OK && (!by_function || !rows)) status = NTR_E_MEMORY;
    if (status == NTR_OK) {
        sum_functions(x, &sums, by_function);
        for (size_t i = 0; i < functions; i++) {
            const function_sum *f = &by_function[i];
            if (!(f->self | f->total | f->calls)) continue;
            rows[count++] = (ranked){by_self        ? f->self
                                     : *sort == 't' ? f->total
                                                    : f->calls,
                                     ntr_functions_get(x->config.functions, (uint32_t)i), (uint32_t)i};
        }
        if (count) qsort(rows, count, sizeof *rows, by_key);
        ntr_answer_number(q->answer, "from", sums.from);
        ntr_answer_number(q->answer, "to", sums.to);
        write_functions(q->answer, by_function, rows, count < limit ? count : (size_t)limit);
        ntr_answer_number(q->answer, "left_out", count > limit ? count - limit : 0);
    }
    ntr_dealloc(x->allocator, by_function);
    ntr_dealloc(x->allocator, rows);
    ntr_sums_release(x, &sums);
    return status;
}
