#include "decision/cleanups.h"

#include <string.h>

enum { SKIPPED_MAX = 16, CALL_MAX = 2 };

/* Returns whether a linkage name is that of a destructor: ...D0Ev to ...D5Ev. Names of functions in shared libraries
 * may have a version. */
static bool is_destructor(const char *name) {
    const size_t size = strcspn(name, "@");
    const char *end = name + size;
    return size > 6 && strncmp(name, "_ZN", 3) == 0 && strncmp(end - 2, "Ev", 2) == 0 && end[-4] == 'D' &&
           end[-3] >= '0' && end[-3] <= '5';
}

/* Returns the number of instructions of the call of a destructor that begins at an instruction, or 0. */
static uint32_t destructor_at(const ntr_graph *g, uint32_t at) {
    ntr_insn insn;
    ntr_symbol symbol;
    uint64_t called = 0;
    for (uint32_t i = at; i < g->count && i < at + CALL_MAX && !called; i++) {
        if (i > at && (g->insns[i].is_target || g->insns[at].flow != NTR_FLOW_LINEAR)) return 0;
        if (ntr_program_insn(g->program, ntr_graph_place(g, g->insns[i].address), &insn) != NTR_OK) return 0;
        if (i == at && insn.flow == NTR_FLOW_DIRECT_CALL) called = insn.target;
        if (i > at) called = ntr_graph_called(g, i);
        if (!called) continue;
        if (ntr_program_symbol(g->program, ntr_graph_place(g, called), &symbol) != NTR_OK || symbol.address != called)
            return 0;
        return is_destructor(symbol.name) ? i + 1 - at : 0;
    }
    return 0;
}

/* Returns whether a branch does nothing but skip straight code with one call of a destructor. */
static bool skips_destructor(const ntr_graph *g, uint32_t branch) {
    const uint32_t target = g->insns[branch].target;
    unsigned calls = 0;
    if (target == NTR_GRAPH_OUTSIDE || target <= branch || target - branch > SKIPPED_MAX) return false;
    for (uint32_t at = branch + 1; at < target;) {
        const ntr_graph_insn *insn = &g->insns[at];
        const uint32_t call = destructor_at(g, at);
        const bool to_next = insn->flow == NTR_FLOW_DIRECT_JUMP && insn->target == at + 1;
        if (insn->is_target && !(at && g->insns[at - 1].target == at)) return false;
        if (!call && !to_next && insn->flow != NTR_FLOW_LINEAR) return false;
        calls += call != 0;
        at += call ? call : 1;
    }
    return calls == 1;
}

static bool same_place(const ntr_graph *g, ntr_debug_info *debug, uint32_t a, uint32_t b) {
    ntr_frame first[NTR_FRAMES_MAX], second[NTR_FRAMES_MAX];
    return ntr_debug_info_frames(debug, ntr_graph_place(g, g->insns[a].address), first, NTR_FRAMES_MAX) &&
           ntr_debug_info_frames(debug, ntr_graph_place(g, g->insns[b].address), second, NTR_FRAMES_MAX) &&
           first->line == second->line && first->column == second->column;
}

static void jump_to(ntr_graph *g, uint32_t from, uint32_t target) {
    g->insns[from].flow = NTR_FLOW_DIRECT_JUMP;
    g->insns[from].target = target;
}

/* The statement `if (c) x.~T();` has the branch of a condition there: the call has a place of its own. */
void ntr_cleanups_skip(ntr_graph *g, ntr_debug_info *debug) {
    for (uint32_t at = 0; at < g->count; at++)
        if (g->insns[at].flow == NTR_FLOW_BRANCH && skips_destructor(g, at) &&
            same_place(g, debug, at, g->insns[at].target - 1))
            jump_to(g, at, g->insns[at].target);
    for (uint32_t at = 0; at < g->count; at++) {
        const uint32_t call = destructor_at(g, at);
        if (call && at + call < g->count) jump_to(g, at, at + call);
    }
}
