/* Folded stacks, one line per stack, for flamegraph.pl, inferno and speedscope. */
#include "export/export.h"

#include "export/stacks.h"

/* A space separates stack and count, and a semicolon separates frames. Semicolons and newlines in names are
 * replaced. */
static void write_frame(ntr_out *out, const char *name) {
    for (; *name; name++) ntr_out_char(out, *name == ';' || *name == '\n' ? ':' : *name);
}

static ntr_status end(ntr_export *x) {
    ntr_stacks stacks;
    ntr_status status = ntr_stacks_make(&stacks, x);
    if (status) return status;
    uint32_t path[NTR_CALLTREE_DEPTH_MAX + 1];
    for (uint32_t node = 1; node < stacks.count; node++) {
        if (stacks.nodes[node].self == 0) continue;
        size_t depth = ntr_stacks_path(&stacks, node, path);
        while (depth-- > 0) {
            const ntr_stack_node *frame = &stacks.nodes[path[depth]];
            write_frame(&x->out, ntr_stacks_name(x, frame));
            if (frame->kind >= NTR_FRAME_EXCEPTION)
                ntr_out_text(&x->out, frame->kind == NTR_FRAME_INTERRUPT ? " [interrupt]" : " [exception]");
            ntr_out_char(&x->out, depth ? ';' : ' ');
        }
        ntr_out_dec(&x->out, stacks.nodes[node].self);
        ntr_out_char(&x->out, '\n');
    }
    ntr_stacks_release(&stacks);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_folded = {
    .name = "folded",
    .family = "flame",
    .summary = "folded stacks, one per line (flamegraph.pl, inferno)",
    .aliases = {"collapsed"},
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
