/* The system calls of a range, by name.
 *
 * A system call is a function of an operating system that its handler of exceptions calls (analysis/roles.def). Its
 * wrappers, such as __riscv_sys_read and __se_sys_read, have one name, and jump to each other: of those with one
 * caller, the one with the most calls tells how often the system call was made. */
#include "explore/state.h"

#include "analysis/functions.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

/* A wrapper below one caller. */
typedef struct syscall_node {
    const char *name;
    uint32_t parent, function;
    uint64_t calls, total;
} syscall_node;

typedef enum syscall_place { OUTSIDE, IN_EXCEPTION, IN_SYSCALL } syscall_place;

static int by_name(const void *left, const void *right) {
    const syscall_node *x = left, *y = right;
    const int order = strcmp(x->name, y->name);
    return order ? order : NTR_COMPARE(x->parent, y->parent);
}

static int by_total(const void *left, const void *right) {
    const syscall_node *x = left, *y = right;
    if (x->total != y->total) return x->total > y->total ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Finds the outermost system calls of each stack. */
static ntr_status find_nodes(ntr_explorer *x, const ntr_sums *sums, syscall_node **found, size_t *count) {
    uint8_t *places = ntr_alloc(x->allocator, sums->count + 1, 1);
    size_t capacity = 0;
    ntr_status status = places ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; i < sums->count && status == NTR_OK; i++) {
        const ntr_node *node = &x->nodes.items[i];
        places[i] = node->parent == NTR_NODE_NONE ? OUTSIDE : places[node->parent];
        if (node->kind == NTR_FRAME_EXCEPTION) places[i] = IN_EXCEPTION;
        if (node->kind == NTR_FRAME_INTERRUPT) places[i] = OUTSIDE;
        if (places[i] != IN_EXCEPTION || node->kind == NTR_NODE_HART) continue;
        const ntr_role_info role = ntr_functions_role(x->config.functions, node->function);
        if (role.role != NTR_OS_SYSCALL || !role.shown) continue;
        places[i] = IN_SYSCALL;
        if (!sums->total[i] && !sums->calls[i]) continue;
        if (ntr_reserve(x->allocator, (void **)found, &capacity, *count + 1, sizeof **found))
            status = NTR_E_MEMORY;
        else
            (*found)[(*count)++] =
                (syscall_node){role.shown, node->parent, node->function, sums->calls[i], sums->total[i]};
    }
    ntr_dealloc(x->allocator, places);
    return status;
}

/* Makes one row of all nodes with a name; they are sorted. Returns the number of rows. */
static size_t join(syscall_node *nodes, size_t count) {
    size_t rows = 0;
    for (size_t i = 0; i < count;) {
        syscall_node row = nodes[i];
        row.calls = row.total = 0;
        while (i < count && strcmp(nodes[i].name, row.name) == 0) {
            const uint32_t parent = nodes[i].parent;
            uint64_t most = 0;
            for (; i < count && nodes[i].parent == parent && strcmp(nodes[i].name, row.name) == 0; i++) {
                if (nodes[i].calls > most) most = nodes[i].calls;
                row.total += nodes[i].total;
            }
            row.calls += most;
        }
        nodes[rows++] = row;
    }
    return rows;
}

ntr_status ntr_answer_syscalls(ntr_explorer *x, ntr_question *q) {
    uint64_t from, to, limit;
    ntr_sums sums = {0};
    syscall_node *nodes = NULL;
    size_t count = 0;
    TRY(ntr_question_range(x, q, &from, &to));
    TRY(ntr_question_number(q, "limit", 500, 1, NTR_ROWS_MOST, &limit));
    ntr_status status = ntr_sums_take(x, q, from, to, &sums);
    if (status == NTR_OK) status = find_nodes(x, &sums, &nodes, &count);
    if (status == NTR_OK) {
        ntr_answer *a = q->answer;
        if (nodes) qsort(nodes, count, sizeof *nodes, by_name);
        count = nodes ? join(nodes, count) : 0;
        if (nodes) qsort(nodes, count, sizeof *nodes, by_total);
        ntr_answer_number(a, "from", sums.from);
        ntr_answer_number(a, "to", sums.to);
        ntr_answer_open(a, "rows", '[');
        for (size_t i = 0; nodes && i < count && i < limit; i++) {
            ntr_answer_open(a, NULL, '{');
            ntr_answer_text(a, "name", nodes[i].name);
            ntr_answer_number(a, "times", nodes[i].calls);
            ntr_answer_number(a, "instructions", nodes[i].total);
            ntr_answer_function(a, "function", nodes[i].function);
            ntr_answer_close(a, '}');
        }
        ntr_answer_close(a, ']');
        ntr_answer_number(a, "left_out", count > limit ? count - limit : 0);
    }
    ntr_dealloc(x->allocator, nodes);
    ntr_sums_release(x, &sums);
    return status;
}
