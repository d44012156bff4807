/* Differential flame graph: the call paths of two executions in one graph. The width of a box is that of the larger of
 * both executions, so that code that only one of them has is visible. Red: more instructions in B; blue: fewer. */
#include "base/allocator.h"
#include "base/config.h"
#include "export/pages/flame_layout.h"

#include <inttypes.h>
#include <stdio.h>

static const char *name_of(const void *user, uint32_t node) {
    const ntr_cost_changes *c = user;
    return node ? c->functions[c->paths[node].function].name : "all";
}

static double share(uint64_t part, uint64_t all) {
    return all ? 100 * (double)part / (double)all : 0;
}

static void describe(ntr_out *out, const void *user, uint32_t node) {
    const ntr_cost_changes *c = user;
    const ntr_cost_path *p = &c->paths[node];
    const int64_t change = (int64_t)(p->total[1] - p->total[0]);
    ntr_out_format(out, "%+" PRId64 " instructions, %" PRIu64 " to %" PRIu64, change, p->total[0], p->total[1]);
    if (p->total[0]) ntr_out_format(out, ", %+.2f %%", 100 * (double)change / (double)p->total[0]);
    if (!node) return;
    ntr_out_format(
        out, "; %.2f %% to %.2f %% of all; itself %" PRIu64 " to %" PRIu64 "; entered %" PRIu64 " to %" PRIu64 " times",
        share(p->total[0], c->paths[0].total[0]), share(p->total[1], c->paths[0].total[1]), p->self[0], p->self[1],
        p->calls[0], p->calls[1]);
}

/* The colour is stronger, the larger the change is in relation to the larger count. */
static void colour(ntr_out *out, const void *user, uint32_t node, const char *name) {
    const ntr_cost_changes *c = user;
    const uint64_t a = c->paths[node].total[0], b = c->paths[node].total[1];
    const double most = a > b ? (double)a : (double)b;
    const double change = most > 0 ? ((double)b - (double)a) / most : 0;
    (void)name;
    if (a == b)
        ntr_out_text(out, "hsl(0,0%,88%)");
    else
        ntr_out_format(out, "hsl(%d,75%%,%.0f%%)", b > a ? 5 : 215, 84 - 26 * (change < 0 ? -change : change));
}

/* Makes the stacks of the graph: a node has the larger count of both executions. */
static ntr_status make_stacks(ntr_stacks *s, const ntr_cost_changes *c, const ntr_allocator *allocator) {
    *s = (ntr_stacks){allocator, ntr_alloc(allocator, c->path_count, sizeof *s->nodes), c->path_count};
    if (!s->nodes) return NTR_E_MEMORY;
    for (size_t i = 0; i < c->path_count; i++) {
        const ntr_cost_path *p = &c->paths[i];
        const uint64_t self = p->self[0] > p->self[1] ? p->self[0] : p->self[1];
        s->nodes[i] = (ntr_stack_node){.parent = p->parent, .kind = p->kind, .self = self, .total = self};
    }
    for (size_t i = s->count; i-- > 1;) s->nodes[s->nodes[i].parent].total += s->nodes[i].total;
    return NTR_OK;
}

ntr_status ntr_export_changes(const ntr_cost_changes *c, const char *title, const ntr_output *output) {
    ntr_out *out = ntr_alloc(c->allocator, 1, sizeof *out);
    ntr_flame flame = {0};
    char summary[80];
    if (!out) return NTR_E_MEMORY;
    ntr_status status = c->path_count ? ntr_config_load(&out->output, sizeof out->output, output) : NTR_E_INVALID;
    if (!status) status = make_stacks(&flame.stacks, c, c->allocator);
    if (!status) status = ntr_flame_lay_out(&flame, name_of, c, NTR_FLAME_PARTS, NTR_FLAME_MOST);
    if (!status) {
        snprintf(summary, sizeof summary, "%" PRIu64 " to %" PRIu64 " instructions", c->instructions[0],
                 c->instructions[1]);
        const ntr_flame_look look = {c, name_of, describe, colour, title, summary};
        ntr_flame_write(out, &flame, &look, true);
        status = ntr_out_flush(out);
        ntr_flame_release(&flame);
    }
    ntr_dealloc(c->allocator, out);
    return status;
}
