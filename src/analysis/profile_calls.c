/* Profiles of groups of functions in the call tree: images, callers and callees.
 *
 * Idea: each function belongs to at most one group, and a row is the sum over the nodes of the group. `self` and
 * `calls` are plain sums. `total` counts the nodes that are not below a node of the same group, because the total of
 * that one includes them: one depth-first traversal counts the open nodes of each group.
 *
 * Example: main of the program calls qsort of libc, which calls compare of the program, which calls memcmp of libc. By
 * image, the total of libc is that of qsort alone. */
#include "analysis/profile_rows.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* Called for each node except the root: `enter` before its descendants, otherwise after them. */
typedef void tree_visit(void *user, uint32_t node, bool enter);

/* Depth first, without recursion. */
static void walk_tree(const ntr_call_node *nodes, tree_visit *visit, void *user) {
    uint32_t at = nodes[NTR_CALLTREE_ROOT].child;
    while (at != NTR_CALLTREE_NONE && at != NTR_CALLTREE_ROOT) {
        visit(user, at, true);
        if (nodes[at].child != NTR_CALLTREE_NONE) {
            at = nodes[at].child;
            continue;
        }
        visit(user, at, false);
        while (nodes[at].sibling == NTR_CALLTREE_NONE && nodes[at].parent != NTR_CALLTREE_ROOT) {
            at = nodes[at].parent;
            visit(user, at, false);
        }
        at = nodes[at].sibling;
    }
}

/* A group and the number of its open nodes. */
typedef struct call_group {
    ntr_profile_row row;
    uint32_t open;
} call_group;

typedef struct group_sums {
    const ntr_call_node *nodes;
    uint32_t *of; /* group of each function */
    call_group *groups;
    bool *wanted; /* callers, callees: functions with the name */
    bool callers;
} group_sums;

static size_t function_count(const ntr_functions *functions) {
    size_t count = 0;
    while (ntr_functions_get(functions, (uint32_t)count)) count++;
    return count;
}

/* Adds a node to a group. */
static void add_node(call_group *group, const ntr_call_node *node, uint64_t calls) {
    group->row.self += node->instructions;
    group->row.self_ticks += node->ticks;
    group->row.calls += calls;
    if (group->open++) return;
    group->row.total += node->total_instructions;
    group->row.total_ticks += node->total_ticks;
}

/* Appends the groups that have a node to the rows. */
static ntr_status add_rows(ntr_profile *profile, const call_group *groups, size_t count) {
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        if (!groups[i].row.calls && !groups[i].row.self) continue;
        ntr_profile_row *row = ntr_profile_add(profile, &capacity);
        if (!row) return NTR_E_MEMORY;
        *row = groups[i].row;
    }
    return NTR_OK;
}

/* ---- images ------------------------------------------------------------------------------------ */

/* A function and the name of its image, to be sorted by that name. */
typedef struct image_key {
    const char *image;
    uint32_t function;
} image_key;

static int compare_images(const void *a, const void *b) {
    const image_key *x = a, *y = b;
    if (x->image == y->image) return 0;
    if (!x->image || !y->image) return !x->image - !y->image;
    return strcmp(x->image, y->image);
}

/* Numbers the images. Returns their number. */
static size_t number_images(group_sums *s, image_key *keys, size_t count) {
    size_t images = 0;
    if (count) qsort(keys, count, sizeof *keys, compare_images);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_images(&keys[i - 1], &keys[i])) s->groups[images++].row.image = keys[i].image;
        s->of[keys[i].function] = (uint32_t)(images - 1);
    }
    return images;
}

static void visit_image(void *user, uint32_t number, bool enter) {
    group_sums *s = user;
    const ntr_call_node *node = &s->nodes[number];
    call_group *group = &s->groups[s->of[node->function]];
    if (!enter) {
        group->open--;
        return;
    }
    const ntr_call_node *parent = &s->nodes[node->parent];
    bool entered = node->parent == NTR_CALLTREE_ROOT || s->of[parent->function] != s->of[node->function];
    add_node(group, node, entered ? node->calls : 0);
}

ntr_status ntr_profile_images(ntr_profile *profile, const ntr_functions *functions, const ntr_calltree *tree) {
    size_t nodes, images = 0, count = function_count(functions);
    const ntr_allocator *allocator = profile->allocator;
    group_sums s = {.nodes = ntr_calltree_nodes(tree, &nodes)};
    image_key *keys = ntr_alloc(allocator, count, sizeof *keys);
    s.of = ntr_alloc(allocator, count, sizeof *s.of);
    s.groups = ntr_alloc(allocator, count, sizeof *s.groups);
    ntr_status status = count && (!keys || !s.of || !s.groups) ? NTR_E_MEMORY : NTR_OK;
    if (!status) {
        for (uint32_t i = 0; i < count; i++) keys[i] = (image_key){ntr_functions_get(functions, i)->image, i};
        images = number_images(&s, keys, count);
        walk_tree(s.nodes, visit_image, &s);
        status = add_rows(profile, s.groups, images);
    }
    ntr_dealloc(allocator, keys);
    ntr_dealloc(allocator, s.of);
    ntr_dealloc(allocator, s.groups);
    return status;
}

/* ---- callers and callees ----------------------------------------------------------------------- */

/* The edge that leads to a node belongs to the group of the function at its other end. */
static void visit_edge(void *user, uint32_t number, bool enter) {
    group_sums *s = user;
    const ntr_call_node *node = &s->nodes[number], *parent = &s->nodes[node->parent];
    if (node->parent == NTR_CALLTREE_ROOT) return;
    if (!s->wanted[s->callers ? node->function : parent->function]) return;
    call_group *group = &s->groups[s->callers ? parent->function : node->function];
    if (enter)
        add_node(group, node, node->calls);
    else
        group->open--;
}

static bool has_name(const ntr_function *function, const char *name) {
    return strcmp(function->name, name) == 0 || (function->linkage && strcmp(function->linkage, name) == 0);
}

/* Prepares a group for each function. Returns whether one has the name. */
static bool find_named(group_sums *s, const ntr_functions *functions, size_t count, const char *name) {
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        const ntr_function *function = ntr_functions_get(functions, i);
        s->wanted[i] = has_name(function, name);
        found |= s->wanted[i];
        s->groups[i].row = ntr_profile_function_row(function);
    }
    return found;
}

ntr_status ntr_profile_relatives(ntr_profile *profile, ntr_profile_relation relation, const char *name,
                                 const ntr_functions *functions, const ntr_calltree *tree,
                                 const ntr_allocator *allocator) {
    size_t nodes, count = function_count(functions);
    *profile = (ntr_profile){.allocator = allocator};
    group_sums s = {.nodes = ntr_calltree_nodes(tree, &nodes), .callers = relation == NTR_PROFILE_CALLERS};
    s.groups = ntr_alloc(allocator, count, sizeof *s.groups);
    s.wanted = ntr_alloc(allocator, count, sizeof *s.wanted);
    ntr_status status = count && (!s.groups || !s.wanted) ? NTR_E_MEMORY : NTR_OK;
    if (!status && !find_named(&s, functions, count, name)) status = NTR_END;
    if (!status) {
        walk_tree(s.nodes, visit_edge, &s);
        status = add_rows(profile, s.groups, count);
        profile->instructions = s.nodes[NTR_CALLTREE_ROOT].total_instructions;
        profile->ticks = s.nodes[NTR_CALLTREE_ROOT].total_ticks;
    }
    ntr_dealloc(allocator, s.groups);
    ntr_dealloc(allocator, s.wanted);
    if (status)
        ntr_profile_release(profile);
    else
        ntr_profile_sort(profile, NTR_PROFILE_KEY_TOTAL);
    return status;
}
