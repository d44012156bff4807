/* File format of speedscope: sampled stacks; the weights are instructions. A tree that is divided (--per) has a profile
 * for each hart, context or process. */
#include "export/stacks.h"

#include "base/allocator.h"

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

/* The nodes of each profile: lists of nodes with instructions of their own, in their order. */
typedef struct scope_lists {
    const ntr_allocator *allocator;
    uint32_t *first, *last; /* by the node of a profile */
    uint32_t *next; /* by node; 0 ends a list */
    uint32_t *of; /* node of the profile */
    bool divided; /* a profile for each child of the root, otherwise one for the root */
} scope_lists;

static void release_lists(scope_lists *lists) {
    ntr_dealloc(lists->allocator, lists->first);
    ntr_dealloc(lists->allocator, lists->last);
    ntr_dealloc(lists->allocator, lists->next);
    ntr_dealloc(lists->allocator, lists->of);
}

static ntr_status make_lists(scope_lists *lists, const ntr_export *x, const ntr_stacks *stacks) {
    const size_t count = stacks->count;
    *lists = (scope_lists){
        .allocator = x->allocator,
        .first = ntr_alloc(x->allocator, count, sizeof(uint32_t)),
        .last = ntr_alloc(x->allocator, count, sizeof(uint32_t)),
        .next = ntr_alloc(x->allocator, count, sizeof(uint32_t)),
        .of = ntr_alloc(x->allocator, count, sizeof(uint32_t)),
        .divided = ntr_calltree_divided(x->analysis.tree) != NTR_CALLTREE_TOGETHER,
    };
    if (!lists->first || !lists->last || !lists->next || !lists->of) return NTR_E_MEMORY;
    for (uint32_t node = 1; node < count; node++) {
        const uint32_t parent = stacks->nodes[node].parent;
        const uint32_t of = !lists->divided ? 0 : parent ? lists->of[parent] : node;
        lists->of[node] = of;
        if (stacks->nodes[node].self == 0) continue;
        if (lists->first[of])
            lists->next[lists->last[of]] = node;
        else
            lists->first[of] = node;
        lists->last[of] = node;
    }
    return NTR_OK;
}

/* The frame that names the profile is no frame of its stacks, unless it is the only one. */
static void write_samples(ntr_export *x, const ntr_stacks *stacks, const scope_lists *lists, uint32_t of) {
    uint32_t path[NTR_CALLTREE_DEPTH_MAX + 1];
    for (uint32_t node = lists->first[of]; node; node = lists->next[node]) {
        ntr_out_text(&x->out, node == lists->first[of] ? "\n[" : ",\n[");
        size_t depth = ntr_stacks_path(stacks, node, path);
        if (lists->divided && depth > 1) depth--;
        while (depth-- > 0) {
            ntr_out_dec(&x->out, stacks->nodes[path[depth]].function);
            if (depth) ntr_out_char(&x->out, ',');
        }
        ntr_out_char(&x->out, ']');
    }
}

static void write_weights(ntr_export *x, const ntr_stacks *stacks, const scope_lists *lists, uint32_t of) {
    for (uint32_t node = lists->first[of]; node; node = lists->next[node]) {
        if (node != lists->first[of]) ntr_out_char(&x->out, ',');
        ntr_out_dec(&x->out, stacks->nodes[node].self);
    }
}

static void write_profile(ntr_export *x, const ntr_stacks *stacks, const scope_lists *lists, uint32_t of) {
    ntr_out_text(&x->out, "{\"type\":\"sampled\",\"name\":");
    ntr_out_json(&x->out, of ? ntr_stacks_name(x, &stacks->nodes[of]) : "instructions");
    ntr_out_text(&x->out, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":");
    ntr_out_dec(&x->out, stacks->nodes[of].total);
    ntr_out_text(&x->out, ",\n\"samples\":[");
    write_samples(x, stacks, lists, of);
    ntr_out_text(&x->out, "],\n\"weights\":[");
    write_weights(x, stacks, lists, of);
    ntr_out_text(&x->out, "]}");
}

static void write_file(ntr_export *x, const ntr_stacks *stacks, const scope_lists *lists) {
    bool first = true;
    ntr_out_text(&x->out,
                 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"ntrace\",");
    ntr_out_text(&x->out, "\"activeProfileIndex\":0,\"name\":");
    ntr_out_json(&x->out, x->analysis.title);
    ntr_out_text(&x->out, ",\n\"shared\":{\"frames\":[");
    write_frames(x);
    ntr_out_text(&x->out, "]},\n\"profiles\":[");
    for (uint32_t node = 1; lists->divided && node < stacks->count; node++) {
        if (stacks->nodes[node].parent || !lists->first[node]) continue;
        if (!first) ntr_out_text(&x->out, ",\n");
        first = false;
        write_profile(x, stacks, lists, node);
    }
    if (first) write_profile(x, stacks, lists, 0);
    ntr_out_text(&x->out, "]}\n");
}

static ntr_status end(ntr_export *x) {
    ntr_stacks stacks;
    scope_lists lists;
    ntr_status status = ntr_stacks_make(&stacks, x);
    if (status) return status;
    status = make_lists(&lists, x, &stacks);
    if (!status) write_file(x, &stacks, &lists);
    release_lists(&lists);
    ntr_stacks_release(&stacks);
    return status;
}

const ntr_exporter ntr_exporter_speedscope = {
    .name = "speedscope",
    .family = "flame",
    .summary = "speedscope JSON",
    .needs = NTR_NEEDS_TREE,
    .end = end,
};
