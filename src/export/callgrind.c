/* callgrind.out: costs per instruction and line, calls with inclusive costs, conditional jumps. */
#include "export/stacks.h"

#include "analysis/sums.h"

#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

/* The counts of one instruction, with its function and line. */
typedef struct cost {
    ntr_insn_count count;
    uint64_t target;  /* target of a conditional branch */
    uint32_t function, line;
    const char *file;
} cost;

typedef struct callgrind_writer {
    ntr_export *x;
    cost *costs; /* sorted by (function, address) */
    size_t cost_count;
    ntr_arcs arcs;
    bool *named;  /* functions whose name has been written */
    size_t functions;
} callgrind_writer;

static int compare_costs(const void *a, const void *b) {
    const cost *x = a, *y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return x->count.address < y->count.address ? -1 : x->count.address > y->count.address;
}

static uint32_t line_at(ntr_export *x, ntr_place place, const char **file) {
    ntr_frame frames[NTR_FRAMES_MAX];
    size_t count = ntr_debug_info_frames(x->analysis.debug, place, frames, NTR_FRAMES_MAX);
    *file = count ? frames[0].file : NULL;
    return count ? frames[0].line : 0;
}

static ntr_status collect(callgrind_writer *w) {
    ntr_export *x = w->x;
    ntr_insn_count *counts;
    ntr_status status =
        ntr_tally_instructions(x->analysis.tally, x->analysis.program, UINT32_MAX, &counts, &w->cost_count);
    if (status) return status;
    w->costs = ntr_alloc(x->allocator, w->cost_count, sizeof *w->costs);
    for (size_t i = 0; w->costs && i < w->cost_count; i++) {
        cost *c = &w->costs[i];
        ntr_insn insn;
        const ntr_place place = ntr_tally_count_place(x->analysis.tally, &counts[i]);
        c->count = counts[i];
        c->function = ntr_functions_at(x->analysis.functions, place);
        c->line = line_at(x, place, &c->file);
        if (counts[i].flow == NTR_FLOW_BRANCH && ntr_program_insn(x->analysis.program, place, &insn) == NTR_OK)
            c->target = insn.target;
    }
    ntr_tally_free_counts(x->analysis.tally, counts);
    if (!w->costs) return NTR_E_MEMORY;
    if (w->cost_count) qsort(w->costs, w->cost_count, sizeof *w->costs, compare_costs);
    while (ntr_functions_get(x->analysis.functions, (uint32_t)w->functions)) w->functions++;
    w->named = ntr_alloc(x->allocator, w->functions, sizeof *w->named);
    return w->named ? ntr_arcs_make(&w->arcs, x) : NTR_E_MEMORY;
}

/* Names are compressed to numbers. The first occurrence in the file includes the name. */
static void write_function(callgrind_writer *w, const char *key, uint32_t function) {
    ntr_out_format(&w->x->out, "%s=(%u)", key, function + 1);
    if (!w->named[function]) {
        ntr_out_char(&w->x->out, ' ');
        ntr_out_line(&w->x->out, ntr_functions_get(w->x->analysis.functions, function)->name);
        w->named[function] = true;
    }
    ntr_out_char(&w->x->out, '\n');
}

static void write_file(callgrind_writer *w, const char *key, const char *file) {
    ntr_out_format(&w->x->out, "%s=", key);
    ntr_out_line(&w->x->out, file ? file : "???");
    ntr_out_char(&w->x->out, '\n');
}

static void write_object(callgrind_writer *w, const char *key, uint32_t function) {
    const char *image = ntr_functions_get(w->x->analysis.functions, function)->image;
    ntr_out_format(&w->x->out, "%s=", key);
    ntr_out_line(&w->x->out, image ? image : "???");
    ntr_out_char(&w->x->out, '\n');
}

static void write_position(callgrind_writer *w, uint64_t address, uint32_t line) {
    ntr_out_text(&w->x->out, "0x");
    ntr_out_hex(&w->x->out, address);
    ntr_out_char(&w->x->out, ' ');
    ntr_out_dec(&w->x->out, line);
}

static void write_jump(callgrind_writer *w, const cost *c) {
    const char *file;
    ntr_place target = ntr_tally_count_place(w->x->analysis.tally, &c->count);
    if (c->count.taken == 0) return;
    target.address = c->target;
    ntr_out_format(&w->x->out, "jcnd=%llu/%llu ", (unsigned long long)c->count.taken,
                   (unsigned long long)c->count.executed);
    write_position(w, c->target, line_at(w->x, target, &file));
    ntr_out_char(&w->x->out, '\n');
    write_position(w, c->count.address, c->line);
    ntr_out_char(&w->x->out, '\n');
}

static void write_call(callgrind_writer *w, const ntr_arc *arc, uint32_t line) {
    const ntr_function *callee = ntr_functions_get(w->x->analysis.functions, arc->callee);
    write_object(w, "cob", arc->callee);
    write_file(w, "cfi", callee->file);
    write_function(w, "cfn", arc->callee);
    ntr_out_format(&w->x->out, "calls=%llu ", (unsigned long long)arc->calls);
    write_position(w, callee->low, callee->line);
    ntr_out_char(&w->x->out, '\n');
    write_position(w, arc->site, line);
    ntr_out_char(&w->x->out, ' ');
    ntr_out_dec(&w->x->out, arc->inclusive);
    ntr_out_char(&w->x->out, '\n');
}

/* Writes the calls made by one function, after its own costs. */
static void write_calls(callgrind_writer *w, uint32_t function) {
    const ntr_function_place place = ntr_functions_place(w->x->analysis.functions, function);
    for (size_t i = 0; i < w->arcs.count; i++) {
        const char *file;
        if (w->arcs.items[i].caller != function || w->arcs.items[i].calls == 0) continue;
        const ntr_place site = ntr_place_at(&place.context, place.position, w->arcs.items[i].site);
        write_call(w, &w->arcs.items[i], line_at(w->x, site, &file));
    }
}

static void write_costs(callgrind_writer *w, size_t from, size_t until) {
    const char *file = ntr_functions_get(w->x->analysis.functions, w->costs[from].function)->file;
    for (size_t i = from; i < until; i++) {
        const cost *c = &w->costs[i];
        bool elsewhere = c->file && (!file || strcmp(c->file, file) != 0);
        if (elsewhere) write_file(w, "fi", c->file);
        if (elsewhere) file = c->file;
        write_position(w, c->count.address, c->line);
        ntr_out_char(&w->x->out, ' ');
        ntr_out_dec(&w->x->out, c->count.executed);
        ntr_out_char(&w->x->out, '\n');
        write_jump(w, c);
    }
}

static ntr_status end(ntr_export *x) {
    callgrind_writer w = {.x = x};
    ntr_status status = collect(&w);
    if (!status) {
        ntr_out_text(&x->out, "# callgrind format\nversion: 1\ncreator: ntrace\ncmd: ");
        ntr_out_line(&x->out, x->analysis.title ? x->analysis.title : "trace");
        ntr_out_text(&x->out, "\npositions: instr line\nevent: Ir : Instructions retired\nevents: Ir\n");
        for (size_t i = 0, next; i < w.cost_count; i = next) {
            uint32_t function = w.costs[i].function;
            for (next = i; next < w.cost_count && w.costs[next].function == function;) next++;
            ntr_out_char(&x->out, '\n');
            write_object(&w, "ob", function);
            write_file(&w, "fl", ntr_functions_get(x->analysis.functions, function)->file);
            write_function(&w, "fn", function);
            write_costs(&w, i, next);
            write_calls(&w, function);
        }
        uint64_t total = 0; /* without it, readers add inclusive costs of calls */
        for (size_t i = 0; i < w.cost_count; i++) total += w.costs[i].count.executed;
        ntr_out_format(&x->out, "\ntotals: %llu\n", (unsigned long long)total);
        ntr_arcs_release(&w.arcs);
    }
    ntr_dealloc(x->allocator, w.costs);
    ntr_dealloc(x->allocator, w.named);
    return status;
}

const ntr_exporter ntr_exporter_callgrind = {
    .name = "callgrind",
    .family = "export",
    .summary = "callgrind.out (KCachegrind, callgrind_annotate)",
    .aliases = {"kcachegrind"},
    .needs = NTR_NEEDS_TALLY | NTR_NEEDS_TREE,
    .end = end,
};
