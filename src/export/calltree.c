/* The complete calling context tree: one JSON object per line and node, parents before children. */
#include "export/export.h"

static const char *const kinds[] = {
    [NTR_FRAME_ROOT] = "root",
    [NTR_FRAME_CALL] = "call",
    [NTR_FRAME_EXCEPTION] = "exception",
    [NTR_FRAME_INTERRUPT] = "interrupt",
};

static void text(ntr_out *out, const char *key, const char *value) {
    if (!value) return;
    ntr_out_format(out, ",\"%s\":", key);
    ntr_out_json(out, value);
}

static void write_node(ntr_export *x, size_t number, const ntr_call_node *node) {
    const ntr_function *function = ntr_functions_get(x->analysis.functions, node->function);
    ntr_out *out = &x->out;

    ntr_out_format(out, "{\"id\":%zu,\"parent\":%u,\"depth\":%u,\"kind\":\"%s\"", number, node->parent, node->depth,
                   kinds[node->kind]);
    text(out, "function", function->name);
    text(out, "linkage", function->linkage);
    text(out, "file", function->file);
    if (function->file) ntr_out_format(out, ",\"line\":%u", function->line);
    text(out, "image", function->image);
    if (node->kind != NTR_FRAME_ROOT) ntr_out_format(out, ",\"site\":\"0x%llx\"", (unsigned long long)node->site);
    ntr_out_format(out, ",\"calls\":%llu,\"self\":%llu,\"total\":%llu", (unsigned long long)node->calls,
                   (unsigned long long)node->instructions, (unsigned long long)node->total_instructions);
    if (node->total_ticks)
        ntr_out_format(out, ",\"self_ticks\":%llu,\"total_ticks\":%llu", (unsigned long long)node->ticks,
                       (unsigned long long)node->total_ticks);
    ntr_out_text(out, "}\n");
}

static ntr_status end(ntr_export *x) {
    size_t count;
    const ntr_call_node *nodes = ntr_calltree_nodes(x->analysis.tree, &count);

    for (size_t i = 1; i < count; i++) write_node(x, i, &nodes[i]);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_calltree = {
    .name = "calltree",
    .family = "export",
    .summary = "JSON lines: calling context tree with call sites and counts",
    .aliases = {"tree"},
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
