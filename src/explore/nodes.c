#include "explore/nodes.h"

#include "base/allocator.h"

static size_t slot_of(const ntr_nodes *nodes, uint32_t parent, uint32_t function, uint8_t kind) {
    uint64_t hash = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15) + kind;
    hash ^= hash >> 29;
    return (size_t)(hash * UINT64_C(0xbf58476d1ce4e5b9) >> 32) & (nodes->slot_count - 1);
}

static size_t find_slot(const ntr_nodes *nodes, uint32_t parent, uint32_t function, uint8_t kind) {
    size_t slot = slot_of(nodes, parent, function, kind);
    for (; nodes->slots[slot]; slot = (slot + 1) & (nodes->slot_count - 1)) {
        const ntr_node *node = &nodes->items[nodes->slots[slot] - 1];
        if (node->parent == parent && node->function == function && node->kind == kind) break;
    }
    return slot;
}

static ntr_status grow(ntr_nodes *nodes) {
    const size_t count = nodes->slot_count ? 2 * nodes->slot_count : 1024;
    uint32_t *old = nodes->slots, *slots = ntr_alloc(nodes->allocator, count, sizeof *slots);
    if (!slots) return NTR_E_MEMORY;
    nodes->slots = slots;
    nodes->slot_count = count;
    for (size_t i = 0; i < nodes->count; i++) {
        const ntr_node *node = &nodes->items[i];
        slots[find_slot(nodes, node->parent, node->function, node->kind)] = (uint32_t)i + 1;
    }
    ntr_dealloc(nodes->allocator, old);
    return NTR_OK;
}

static uint32_t get(ntr_nodes *nodes, const ntr_node *wanted) {
    if (2 * nodes->count >= nodes->slot_count && grow(nodes) != NTR_OK) return NTR_NODE_NONE;
    const size_t slot = find_slot(nodes, wanted->parent, wanted->function, wanted->kind);
    if (nodes->slots[slot]) return nodes->slots[slot] - 1;
    if (nodes->count >= NTR_EXPLORE_NODES_MAX && wanted->parent != NTR_NODE_NONE) {
        nodes->left_out++;
        return wanted->parent;
    }
    if (ntr_reserve(nodes->allocator, (void **)&nodes->items, &nodes->capacity, nodes->count + 1, sizeof *nodes->items))
        return NTR_NODE_NONE;
    nodes->items[nodes->count] = *wanted;
    nodes->slots[slot] = (uint32_t)++nodes->count;
    return (uint32_t)nodes->count - 1;
}

uint32_t ntr_nodes_hart(ntr_nodes *nodes, uint16_t src) {
    const ntr_node node = {.parent = NTR_NODE_NONE, .function = src, .src = src, .kind = NTR_NODE_HART};
    return get(nodes, &node);
}

uint32_t ntr_nodes_call(ntr_nodes *nodes, uint32_t parent, uint32_t function, uint8_t kind) {
    const ntr_node *above = &nodes->items[parent];
    if (above->depth >= NTR_NODE_DEPTH_MAX) return parent;
    const ntr_node node = {
        .parent = parent, .function = function, .src = above->src, .depth = (uint16_t)(above->depth + 1), .kind = kind};
    return get(nodes, &node);
}

void ntr_nodes_release(ntr_nodes *nodes) {
    ntr_dealloc(nodes->allocator, nodes->items);
    ntr_dealloc(nodes->allocator, nodes->slots);
    *nodes = (ntr_nodes){.allocator = nodes->allocator};
}
