/* Call graph for Graphviz: one box per function, one arrow per pair of caller and callee. */
#include "export/stacks.h"

#include "base/allocator.h"

static void write_quoted(ntr_out *out, const char *text) {
    ntr_out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') ntr_out_char(out, '\\');
        ntr_out_char(out, (unsigned char)*text < 0x20 ? ' ' : *text);
    }
    ntr_out_char(out, '"');
}

static double percent(uint64_t part, uint64_t total) {
    return total ? 100.0 * (double)part / (double)total : 0;
}

static void write_nodes(ntr_export *x, const ntr_call_sum *sums, size_t count, uint64_t total) {
    for (uint32_t i = 0; i < count; i++) {
        if (sums[i].calls == 0 && sums[i].self_instructions == 0) continue;
        ntr_out_format(&x->out, "  f%u [label=", i);
        write_quoted(&x->out, ntr_functions_get(x->analysis.functions, i)->name);
        ntr_out_format(&x->out, ", tooltip=\"total %.2f %%, self %.2f %%, %llu calls\"];\n",
                       percent(sums[i].total_instructions, total), percent(sums[i].self_instructions, total),
                       (unsigned long long)sums[i].calls);
    }
}

static void write_edges(ntr_export *x, const ntr_arcs *arcs, uint64_t total) {
    for (size_t i = 0; i < arcs->count;) {
        const ntr_arc *arc = &arcs->items[i];
        uint64_t calls = 0, inclusive = 0;
        for (; i < arcs->count && arcs->items[i].caller == arc->caller && arcs->items[i].callee == arc->callee; i++) {
            calls += arcs->items[i].calls;
            inclusive += arcs->items[i].inclusive;
        }
        if (arc->caller == UINT32_MAX) continue;
        ntr_out_format(&x->out, "  f%u -> f%u [label=\"%llu\", penwidth=%.2f];\n", arc->caller, arc->callee,
                       (unsigned long long)calls, 1 + percent(inclusive, total) / 25);
    }
}

static ntr_status end(ntr_export *x) {
    size_t functions = 0;
    while (ntr_functions_get(x->analysis.functions, (uint32_t)functions)) functions++;
    ntr_call_sum *sums = ntr_alloc(x->allocator, functions, sizeof *sums);
    ntr_arcs arcs = {0};
    ntr_status status = sums ? ntr_arcs_make(&arcs, x) : NTR_E_MEMORY;
    if (!status) {
        size_t nodes;
        uint64_t total = ntr_calltree_nodes(x->analysis.tree, &nodes)->total_instructions;
        ntr_calltree_sums(x->analysis.tree, sums, functions);
        ntr_out_text(&x->out, "digraph calls {\n  node [shape=box];\n");
        write_nodes(x, sums, functions, total);
        write_edges(x, &arcs, total);
        ntr_out_text(&x->out, "}\n");
        ntr_arcs_release(&arcs);
    }
    ntr_dealloc(x->allocator, sums);
    return status;
}

const ntr_exporter ntr_exporter_dot = {
    .name = "dot",
    .family = "export",
    .summary = "call graph for Graphviz",
    .aliases = {"graphviz"},
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
