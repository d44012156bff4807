/* File format of speedscope: sampled stacks; the weights are instructions. */
#include "export/stacks.h"

static void write_frames(ntr_export *x) {
    const ntr_function *function;
    for (uint32_t i = 0; (function = ntr_functions_get(x->analysis.functions, i)); i++) {
        ntr_out_text(&x->out, i ? ",\n{\"name\":" : "\n{\"name\":");
        ntr_out_json(&x->out, function->name);
        if (function->file) {
            ntr_out_text(&x->out, ",\"file\":");
            ntr_out_json(&x->out, function->file);
            ntr_out_format(&x->out, ",\"line\":%u", function->line);
        }
        ntr_out_char(&x->out, '}');
    }
}

static void write_samples(ntr_export *x, const ntr_stacks *stacks) {
    uint32_t path[NTR_CALLTREE_DEPTH_MAX + 1];
    bool first = true;
    for (uint32_t node = 1; node < stacks->count; node++) {
        if (stacks->nodes[node].self == 0) continue;
        ntr_out_text(&x->out, first ? "\n[" : ",\n[");
        first = false;
        for (size_t depth = ntr_stacks_path(stacks, node, path); depth-- > 0;) {
            ntr_out_dec(&x->out, stacks->nodes[path[depth]].function);
            if (depth) ntr_out_char(&x->out, ',');
        }
        ntr_out_char(&x->out, ']');
    }
}

static void write_weights(ntr_export *x, const ntr_stacks *stacks) {
    bool first = true;
    for (uint32_t node = 1; node < stacks->count; node++) {
        if (stacks->nodes[node].self == 0) continue;
        if (!first) ntr_out_char(&x->out, ',');
        first = false;
        ntr_out_dec(&x->out, stacks->nodes[node].self);
    }
}

static ntr_status end(ntr_export *x) {
    ntr_stacks stacks;
    ntr_status status = ntr_stacks_make(&stacks, x);
    if (status) return status;
    ntr_out_text(&x->out,
                 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ntrace\",");
    ntr_out_text(&x->out, "\"activeProfileIndex\":0,\"name\":");
    ntr_out_json(&x->out, x->analysis.title);
    ntr_out_text(&x->out, ",\n\"shared\":{\"frames\":[");
    write_frames(x);
    ntr_out_text(&x->out, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"instructions\",\"unit\":\"none\",");
    ntr_out_text(&x->out, "\"startValue\":0,\"endValue\":");
    ntr_out_dec(&x->out, stacks.nodes[0].total);
    ntr_out_text(&x->out, ",\n\"samples\":[");
    write_samples(x, &stacks);
    ntr_out_text(&x->out, "],\n\"weights\":[");
    write_weights(x, &stacks);
    ntr_out_text(&x->out, "]}]}\n");
    ntr_stacks_release(&stacks);
    return NTR_OK;
}

const ntr_exporter ntr_exporter_speedscope = {
    .name = "speedscope",
    .family = "flame",
    .summary = "speedscope JSON",
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
