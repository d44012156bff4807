#include "decision/builder.h"

#include "base/allocator.h"
#include "base/macros.h"
#include "decision/cleanups.h"

ntr_status ntr_builder_add_copy(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *found,
                                const char *reason) {
    ntr_code_map *m = b->map;
    if (ntr_reserve(m->allocator, (void **)&m->copies, &m->copy_capacity, m->copy_count + 1, sizeof *m->copies))
        return NTR_E_MEMORY;
    uint32_t function = (uint32_t)(m->function_count - 1);
    m->copies[m->copy_count++] = (ntr_decision_copy){
        .record = record,
        .reason = reason,
        .function = function,
        .inlined = found->scope != 0,
        .unoptimized = b->kind.unoptimized,
        .debug = b->kind.gnu && b->kind.debug,
        .unseen = found->inlined && !b->kind.unoptimized && !(b->kind.gnu && b->kind.debug),
    };
    return NTR_OK;
}

static ntr_status add_matched(ntr_map_builder *b, uint64_t address, const ntr_match *match, size_t index) {
    const ntr_matched *matched = &match->matched[index];
    const ntr_operand_root *root = &match->operands[index];
    ntr_code_map *m = b->map;
    if (ntr_reserve(m->allocator, (void **)&m->branches, &m->branch_capacity, m->branch_count + 1, sizeof *m->branches))
        return NTR_E_MEMORY;
    m->branches[m->branch_count++] = (ntr_decision_branch){
        .address = address,
        .copy = (uint32_t)(m->copy_count - 1),
        .condition = matched->condition,
        .taken_is = matched->taken_is,
        .first = matched->first,
        .retested = {matched->retested[0], matched->retested[1]},
        .goes_on = {matched->goes_on[0], matched->goes_on[1]},
        .load = index + 1 == match->stored,
        .root_reg = match->grouping.alternatives == 1 || index + 1 == match->stored ? root->reg : 0,
        .root = b->graph.insns[root->at].address,
    };
    return NTR_OK;
}

ntr_status ntr_builder_enter(ntr_map_builder *b, const ntr_found_branch *branch) {
    ntr_code_map *m = b->map;
    const ntr_decision_function *last = m->function_count ? &m->functions[m->function_count - 1] : NULL;
    if (last && last->low == branch->low && last->high == branch->high) return NTR_OK;
    if (ntr_reserve(m->allocator, (void **)&m->functions, &m->function_capacity, m->function_count + 1,
                    sizeof *m->functions))
        return NTR_E_MEMORY;
    m->functions[m->function_count++] = (ntr_decision_function){.low = branch->low, .high = branch->high};
    TRY(ntr_graph_make(&b->graph, m->program, b->debug, ntr_code_map_place(m, branch->low), branch->high));
    b->kind = ntr_code_ranges_at(&m->ranges, branch->address);
    if (b->kind.unknown) b->kind.unoptimized = ntr_graph_unoptimized(&b->graph);
    if (b->kind.unoptimized) ntr_cleanups_skip(&b->graph, b->debug);
    return NTR_OK;
}

/* Adds a branch to a match. Returns NULL, or why it is not possible. */
static const char *add_candidate(ntr_map_builder *b, ntr_match *match, ntr_candidate *candidates,
                                 const ntr_found_branch *found) {
    uint32_t at = ntr_graph_at(&b->graph, found->address);
    if (match->count == NTR_CANDIDATES_MAX) return "it has more than 64 branches";
    if (at == NTR_GRAPH_OUTSIDE) return "its code is not in one piece";
    candidates[match->count++] = (ntr_candidate){at, found->line, found->column};
    return NULL;
}

static ntr_match new_match(ntr_map_builder *b, const ntr_decision_record *record, const ntr_candidate *candidates,
                           const ntr_operand_part *parts) {
    return (ntr_match){.graph = &b->graph,
                       .debug = b->debug,
                       .record = record,
                       .candidates = candidates,
                       .parts = parts,
                       .statements = &b->statements,
                       .kind = b->kind};
}

/* Returns whether a decision controls a statement and is no part of a larger expression. A compiler may evaluate a part
 * less often: (a || b) && (a || c) is a || (b && c). */
static bool is_outermost(const ntr_map_builder *b, const ntr_decision_record *record, const ntr_found_branch *found) {
    const ntr_extent *root = &b->extents.items[found->root].extent, *whole = &b->extents.items[found->whole].extent;
    return ntr_extent_equal(root, &record->extent) && ntr_extent_equal(whole, &record->extent);
}

static const char *try(ntr_map_builder *b, const ntr_decision_record *record, const ntr_found_branch *const *found,
                       size_t count, const ntr_operand_part *parts, ntr_match *match,
                       const char *(*find)(ntr_match *match)) {
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    const char *reason = record->too_large ? record->shown.reason : NULL;
    *match = new_match(b, record, candidates, parts);
    match->kind.keeps_paths &= is_outermost(b, record, found[0]);
    for (size_t i = 0; i < count && !reason; i++) reason = add_candidate(b, match, candidates, found[i]);
    if (!reason) reason = find(match);
    match->candidates = NULL;
    match->parts = NULL;
    return reason;
}

const char *ntr_builder_try(ntr_map_builder *b, const ntr_decision_record *record, const ntr_found_branch *const *found,
                            size_t count, const ntr_operand_part *parts, ntr_match *match) {
    return try(b, record, found, count, parts, match, ntr_match_find);
}

const char *ntr_builder_try_groups(ntr_map_builder *b, const ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, ntr_match *match) {
    return try(b, record, found, count, NULL, match, ntr_match_groups);
}

const char *ntr_builder_try_lost(ntr_map_builder *b, const ntr_decision_record *record,
                                 const ntr_found_branch *const *found, size_t count, const ntr_operand_part *parts,
                                 ntr_match *match) {
    return try(b, record, found, count, parts, match, ntr_match_lost);
}

const char *ntr_builder_try_stored(ntr_map_builder *b, const ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, const ntr_operand_part *parts,
                                   ntr_match *match, uint32_t *load) {
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    const char *reason = record->too_large ? record->shown.reason : NULL;
    *match = new_match(b, record, candidates, parts);
    for (size_t i = 0; i < count && !reason; i++) reason = add_candidate(b, match, candidates, found[i]);
    if (!reason) reason = ntr_match_stored(match, load);
    match->candidates = NULL;
    match->parts = NULL;
    return reason;
}

uint64_t ntr_builder_retests(ntr_map_builder *b, const ntr_found_branch *found, size_t count) {
    ntr_candidate candidates[NTR_CANDIDATES_MAX];
    ntr_match match = new_match(b, b->decisions->records[found->record], candidates, NULL);
    for (size_t i = 0; i < count; i++)
        if (add_candidate(b, &match, candidates, &found[i])) return 0;
    return ntr_match_retests(&match);
}

ntr_status ntr_builder_keep(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *const *found,
                            size_t count, const ntr_match *match, const char *reason) {
    TRY(ntr_builder_add_copy(b, record, found[0], reason));
    ntr_decision_copy *copy = &b->map->copies[b->map->copy_count - 1];
    copy->complete = !reason && match->complete;
    if (!reason && match->grouping.count) {
        copy->grouping = ntr_alloc(b->map->allocator, 1, sizeof *copy->grouping);
        if (!copy->grouping) return NTR_E_MEMORY;
        *copy->grouping = match->grouping;
    }
    for (size_t i = 0; i < count && !reason; i++) TRY(add_matched(b, found[i]->address, match, i));
    return NTR_OK;
}

ntr_status ntr_builder_keep_stored(ntr_map_builder *b, ntr_decision_record *record,
                                   const ntr_found_branch *const *found, size_t count, const ntr_match *match,
                                   uint32_t load) {
    TRY(ntr_builder_keep(b, record, found, count, match, NULL));
    b->map->copies[b->map->copy_count - 1].stored = true;
    return add_matched(b, b->graph.insns[load].address, match, count);
}

ntr_status ntr_builder_keep_lost(ntr_map_builder *b, ntr_decision_record *record, const ntr_found_branch *const *found,
                                 size_t count, const ntr_match *match) {
    TRY(ntr_builder_keep(b, record, found, count, match, NULL));
    ntr_decision_copy *copy = &b->map->copies[b->map->copy_count - 1];
    copy->stored = copy->lost = record->lost = true;
    return NTR_OK;
}
