#include "analysis/line_copies.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

/* Returns whether code may be optimized. Without optimization, a jump follows each branch, and one jump of the function
 * leads to the next instruction. */
static bool is_optimized(const ntr_line_insn *insns, size_t count) {
    bool branches = false;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].optimized || !insns[i].by_llvm) return true;
        branches |= insns[i].count.flow == NTR_FLOW_BRANCH;
    }
    for (size_t i = 0; branches && i < count; i++) {
        const ntr_insn_count *jump = &insns[i].count;
        if (jump->flow == NTR_FLOW_DIRECT_JUMP && insns[i].target == jump->address + jump->size) return false;
    }
    return branches;
}

void ntr_line_copies_find(ntr_line_flow *flow, ntr_debug_info *debug, const ntr_program *program, size_t image) {
    for (size_t i = 0, end; i < flow->count; i = end) {
        ntr_line_insn *insns = flow->insns;
        for (end = i + 1; end < flow->count && insns[end].function == insns[i].function;) end++;
        if (!insns[i].by_llvm) continue;
        const bool optimized = is_optimized(&insns[i], end - i);
        insns[i].source = optimized ? NTR_COVER_SOURCE_OPTIMIZED : NTR_COVER_SOURCE_UNKNOWN;
        for (size_t k = i + 1; !optimized && k < end; k++) {
            ntr_frame frames[NTR_FRAMES_MAX];
            insns[k].copy = insns[k - 1].copy;
            insns[k].depth = insns[k - 1].depth;
            if (!insns[k].begins_row) continue;
            const ntr_place place = ntr_program_image_place(program, image, insns[k].count.address);
            const size_t count = ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX);
            insns[k].depth = count ? (uint32_t)count - 1 : 0;
            insns[k].copy = insns[k].depth ? frames[0].entry : 0;
        }
    }
}

bool ntr_line_copies_same(const ntr_line_insn *a, const ntr_line_insn *b) {
    return a->function == b->function && a->depth == b->depth && a->copy == b->copy;
}

static int compare(const void *a, const void *b) {
    const ntr_line_insn *x = *(ntr_line_insn *const *)a, *y = *(ntr_line_insn *const *)b;
    NTR_COMPARE_BY(function);
    NTR_COMPARE_BY(depth);
    NTR_COMPARE_BY(copy);
    return NTR_COMPARE(x, y);
}

ntr_status ntr_line_copies_sort(const ntr_line_flow *flow, ntr_line_insn ***insns, size_t *count) {
    *count = 0;
    *insns = ntr_alloc(flow->allocator, flow->count + 1, sizeof **insns);
    if (!*insns) return NTR_E_MEMORY;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->insns[i].by_llvm) (*insns)[(*count)++] = &flow->insns[i];
    if (*count) qsort(*insns, *count, sizeof **insns, compare);
    return NTR_OK;
}

bool ntr_line_copies_frame(ntr_debug_info *debug, const ntr_program *program, size_t image, const ntr_line_insn *insn,
                           ntr_frame *frame) {
    const ntr_place place = ntr_program_image_place(program, image, insn->count.address);
    ntr_frame frames[NTR_FRAMES_MAX];
    if (!insn->depth) return ntr_debug_info_function(debug, place, frame) == NTR_OK;
    if (!ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX)) return false;
    *frame = frames[0];
    return true;
}
