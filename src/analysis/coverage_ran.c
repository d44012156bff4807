/* What was executed beside the code of lines: functions, and lines that call inlined functions.
 *
 * Optimized code may leave a line no instruction of its own: all code of `~text() { release(); }` can be that of the
 * inlined release(). The line is executed when the inlined code is. It counts as often as that was entered, unless
 * instructions of the line have a count. The range of source lines of a function follows from the same frames. */
#include "analysis/coverage_state.h"
#include "analysis/names.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>
#include <string.h>

/* A call of an inlined copy. */
typedef struct inlined_call {
    const char *file;
    uint32_t line;
    bool executed;
    uint64_t entry, size; /* of the copy */
} inlined_call;

/* State of ntr_coverage_add_ran. */
typedef struct ran_adder {
    ntr_coverage *coverage;
    const ntr_line_flow *flow;
    const char *last_file, *last_kept; /* a file of the debug information, and its copy */
    inlined_call *calls;
    size_t call_count, call_capacity;
    source_line *counted; /* lines with instructions that have a count, sorted */
    size_t counted_count;
} ran_adder;

/* Consecutive instructions mostly are of the same file. */
bool ntr_coverage_selects(ntr_coverage *c, const char *file) {
    if (!c->only_count) return true;
    if (file != c->compared_file) c->last_selected = ntr_path_selected(file, c->only, c->only_count);
    c->compared_file = file;
    return c->last_selected;
}

static const char *keep_file(ran_adder *a, const char *file) {
    if (a->last_kept && file == a->last_file) return a->last_kept;
    a->last_file = file;
    return a->last_kept = ntr_texts_keep(&a->coverage->texts, file);
}

/* ---- functions --------------------------------------------------------------------------------- */

static ntr_status add_function(ran_adder *a, const ntr_frame *frame) {
    ntr_coverage *c = a->coverage;
    const ran_function ran = {
        .file = keep_file(a, frame->declared_in),
        .linkage = ntr_texts_keep(&c->texts, frame->linkage),
        .line = frame->declared_line,
    };
    const ran_function *last = c->ran_count ? &c->ran[c->ran_count - 1] : NULL;
    if (last && last->file == ran.file && last->linkage == ran.linkage && last->line == ran.line) return NTR_OK;
    if (!ran.file || !ran.linkage ||
        ntr_reserve(c->allocator, (void **)&c->ran, &c->ran_capacity, c->ran_count + 1, sizeof *c->ran))
        return NTR_E_MEMORY;
    c->ran[c->ran_count++] = ran;
    return NTR_OK;
}

/* Extends the range of the function's lines. */
static ntr_status add_extent(ran_adder *a, const ntr_frame *frame) {
    ntr_coverage *c = a->coverage;
    if (!frame->file || frame->line < frame->declared_line || strcmp(frame->file, frame->declared_in) != 0)
        return NTR_OK;
    const cover_extent extent = {
        .file = keep_file(a, frame->declared_in),
        .linkage = ntr_texts_keep(&c->texts, frame->linkage),
        .line = frame->declared_line,
        .end = frame->line,
    };
    cover_extent *last = c->extent_count ? &c->extents[c->extent_count - 1] : NULL;
    if (last && last->file == extent.file && last->linkage == extent.linkage && last->line == extent.line) {
        if (last->end < extent.end) last->end = extent.end;
        return NTR_OK;
    }
    if (!extent.file || !extent.linkage ||
        ntr_reserve(c->allocator, (void **)&c->extents, &c->extent_capacity, c->extent_count + 1, sizeof *c->extents))
        return NTR_E_MEMORY;
    c->extents[c->extent_count++] = extent;
    return NTR_OK;
}

/* ---- lines that call inlined functions ---------------------------------------------------------- */

static ntr_status add_call(ran_adder *a, const ntr_frame *caller, const ntr_frame *copy, bool executed) {
    if (!caller->file || !caller->line || !ntr_coverage_selects(a->coverage, caller->file)) return NTR_OK;
    const inlined_call call = {
        .file = keep_file(a, caller->file),
        .line = caller->line,
        .executed = executed,
        .entry = copy->entry,
        .size = copy->size,
    };
    inlined_call *last = a->call_count ? &a->calls[a->call_count - 1] : NULL;
    if (last && last->file == call.file && last->line == call.line && last->entry == call.entry) {
        last->executed |= executed;
        return NTR_OK;
    }
    if (!call.file ||
        ntr_reserve(a->coverage->allocator, (void **)&a->calls, &a->call_capacity, a->call_count + 1, sizeof *a->calls))
        return NTR_E_MEMORY;
    a->calls[a->call_count++] = call;
    return NTR_OK;
}

static int compare_lines(const void *a, const void *b) {
    const source_line *x = a, *y = b;
    if (x->file != y->file) return strcmp(x->file, y->file);
    NTR_COMPARE_BY(line);
    return 0;
}

static int compare_calls(const void *a, const void *b) {
    const inlined_call *x = a, *y = b;
    if (x->file != y->file) return strcmp(x->file, y->file);
    NTR_COMPARE_BY(line);
    NTR_COMPARE_BY(entry);
    return 0;
}

static ntr_status list_counted(ran_adder *a) {
    a->counted = ntr_alloc(a->coverage->allocator, a->flow->count + 1, sizeof *a->counted);
    if (!a->counted) return NTR_E_MEMORY;
    for (size_t i = 0; i < a->flow->count; i++) {
        const ntr_line_insn *insn = &a->flow->insns[i];
        if (!insn->passes || insn->only_end || !insn->line) continue;
        const source_line line = {keep_file(a, insn->file), insn->line};
        if (!line.file) return NTR_E_MEMORY;
        a->counted[a->counted_count++] = line;
    }
    if (a->counted_count) qsort(a->counted, a->counted_count, sizeof *a->counted, compare_lines);
    return NTR_OK;
}

/* Appends the lines. Each copy is counted once. */
static ntr_status add_call_lines(ran_adder *a, bool known) {
    ntr_coverage *c = a->coverage;
    ntr_status status = list_counted(a);
    if (!status && a->call_count) qsort(a->calls, a->call_count, sizeof *a->calls, compare_calls);
    for (size_t i = 0, next; !status && i < a->call_count; i = next) {
        const source_line line = {a->calls[i].file, a->calls[i].line};
        uint64_t count = 0;
        bool executed = false;
        for (next = i; next < a->call_count && a->calls[next].file == line.file && a->calls[next].line == line.line;
             next++) {
            executed |= a->calls[next].executed;
            if (next > i && a->calls[next].entry == a->calls[next - 1].entry) continue;
            count += ntr_line_flow_entries(a->flow, a->calls[next].entry, a->calls[next].size);
        }
        if (a->counted_count && bsearch(&line, a->counted, a->counted_count, sizeof line, compare_lines)) continue;
        if (ntr_reserve(c->allocator, (void **)&c->lines, &c->line_capacity, c->line_count + 1, sizeof *c->lines))
            return NTR_E_MEMORY;
        c->lines[c->line_count++] = (ntr_cover_line){
            .file = line.file,
            .line = line.line,
            .known = known || executed,
            .count = count || !executed ? count : 1,
        };
    }
    return status;
}

/* ---- */

/* Takes the frames at an instruction. `same`: the function that contains the inlined ones is known already. */
static ntr_status add_frames(ran_adder *a, const ntr_frame *frames, size_t count, bool executed, bool same) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; !status && i < count; i++) {
        const ntr_frame *frame = &frames[i];
        if (i && !frame->artificial) status = add_call(a, frame, &frames[i - 1], executed);
        if (!frame->declared_in || !frame->declared_line) continue;
        if (!status) status = add_extent(a, frame);
        if (!status && executed && (!same || frame->inlined)) status = add_function(a, frame);
    }
    return status;
}

/* Instructions are sorted by address, so consecutive ones mostly belong to the same function. */
ntr_status ntr_coverage_add_ran(ntr_coverage *c, const ntr_program *program, size_t index, ntr_debug_info *debug,
                                const ntr_line_flow *flow, bool known) {
    ran_adder a = {.coverage = c, .flow = flow};
    const ntr_line_insn *last = NULL;
    ntr_status status = NTR_OK;
    for (size_t i = 0; !status && i < flow->count; i++) {
        ntr_frame frames[NTR_FRAMES_MAX];
        const ntr_line_insn *insn = &flow->insns[i];
        const bool executed = insn->count.executed != 0;
        if (!executed && !insn->begins_row) continue;
        const ntr_place place = ntr_program_image_place(program, index, insn->count.address);
        const size_t count = ntr_debug_info_frames(debug, place, frames, NTR_FRAMES_MAX);
        if (count && frames[count - 1].artificial) continue;
        status = add_frames(&a, frames, count, executed, last && last->function == insn->function);
        if (executed) last = insn;
    }
    if (!status) status = add_call_lines(&a, known);
    ntr_dealloc(c->allocator, a.calls);
    ntr_dealloc(c->allocator, a.counted);
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------- */

#define COMPARE_FUNCTION                                                                                               \
    do {                                                                                                               \
        int order = x->file == y->file ? 0 : strcmp(x->file, y->file);                                                 \
        if (order) return order;                                                                                       \
        NTR_COMPARE_BY(line);                                                                                          \
        return x->linkage == y->linkage ? 0 : strcmp(x->linkage, y->linkage);                                          \
    } while (0)

static int compare_ran(const void *a, const void *b) {
    const ran_function *x = a;
    const ntr_cover_function *y = b;
    COMPARE_FUNCTION;
}

static int compare_extents(const void *a, const void *b) {
    const cover_extent *x = a, *y = b;
    COMPARE_FUNCTION;
}

static int compare_with_extent(const void *a, const void *b) {
    const ntr_cover_function *x = a;
    const cover_extent *y = b;
    COMPARE_FUNCTION;
}

static void merge_extents(ntr_coverage *c) {
    size_t kept = 0;
    if (c->extent_count) qsort(c->extents, c->extent_count, sizeof *c->extents, compare_extents);
    for (size_t i = 0; i < c->extent_count; i++) {
        cover_extent *last = kept ? &c->extents[kept - 1] : NULL;
        if (!last || compare_extents(last, &c->extents[i]) != 0)
            c->extents[kept++] = c->extents[i];
        else if (last->end < c->extents[i].end)
            last->end = c->extents[i].end;
    }
    c->extent_count = kept;
}

uint32_t ntr_coverage_extent(const ntr_coverage *c, const ntr_cover_function *function) {
    const cover_extent *found =
        c->extent_count ? bsearch(function, c->extents, c->extent_count, sizeof *c->extents, compare_with_extent)
                        : NULL;
    return found && found->end > function->line ? found->end : function->line;
}

/* Sets the count of executed functions without a known entry to 1. An entry is not seen when the trace began later, or
 * when the optimizer copied inlined code and DWARF does not give the entry of the copy. */
static void count_executed(ntr_coverage *c) {
    for (size_t i = 0; i < c->ran_count; i++) {
        ntr_cover_function *found =
            c->function_count ? bsearch(&c->ran[i], c->functions, c->function_count, sizeof *c->functions, compare_ran)
                              : NULL;
        if (!found) continue;
        found->known = true;
        if (found->count == 0) found->count = 1;
    }
    c->ran_count = 0;
}

static bool is_lambda(const ntr_cover_function *f) {
    const char *part;
    return (f->name && ntr_name_lambda(f->name, &part)) || (f->linkage && ntr_linkage_is_lambda(f->linkage));
}

/* A function was executed when one of its lines was: the debug information of inlined code may be gone while the line
 * table still names the line. Which of several functions at one position it was is not known. The first line of a
 * lambda is also one of the function that it is in. */
static void count_by_lines(ntr_coverage *c) {
    size_t line = 0;
    for (size_t i = 0; c->functions && i < c->function_count; i++) {
        ntr_cover_function *f = &c->functions[i];
        const ntr_cover_function *before = i ? f - 1 : NULL, *next = i + 1 < c->function_count ? f + 1 : NULL;
        const bool shares = (before && before->file == f->file && before->line == f->line) ||
                            (next && next->file == f->file && next->line == f->line);
        if (f->count || shares) continue;
        uint32_t end = ntr_coverage_extent(c, f);
        if (next && next->file == f->file && next->line <= end) end = next->line - 1;
        while (line < c->line_count && (c->lines[line].file == f->file ? c->lines[line].line < f->line
                                                                       : strcmp(c->lines[line].file, f->file) < 0))
            line++;
        for (size_t k = line; k < c->line_count && c->lines[k].file == f->file && c->lines[k].line <= end; k++)
            if (c->lines[k].count && !(c->lines[k].line == f->line && is_lambda(f))) f->count = 1;
        f->known |= f->count != 0;
    }
}

/* ---- inlined functions without a copy ---------------------------------------------------------- */

ntr_status ntr_coverage_add_copies(ntr_coverage *c, const ntr_frame *frame, const ntr_cover_function *f,
                                   bool constant) {
    const ran_function item = {.file = f->file, .linkage = f->linkage, .line = f->line};
    if (frame->inlined) {
        if (ntr_reserve(c->allocator, (void **)&c->copied, &c->copied_capacity, c->copied_count + 1, sizeof *c->copied))
            return NTR_E_MEMORY;
        c->copied[c->copied_count++] = (source_line){f->file, f->line};
    } else if ((frame->inlined_somewhere || constant) && !f->count) {
        if (ntr_reserve(c->allocator, (void **)&c->hidden, &c->hidden_capacity, c->hidden_count + 1, sizeof *c->hidden))
            return NTR_E_MEMORY;
        c->hidden[c->hidden_count++] = item;
    }
    return NTR_OK;
}

/* Returns the index of the first line of the file from `line` on; lines are sorted by file and line. */
static size_t first_line(const ntr_coverage *c, const char *file, uint32_t line) {
    size_t low = 0, high = c->line_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const ntr_cover_line *found = &c->lines[middle];
        const int order = found->file == file ? 0 : strcmp(found->file, file);
        if (order < 0 || (order == 0 && found->line < line))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void doubt_lines(ntr_coverage *c, const ntr_cover_function *f) {
    const ntr_cover_function *next = f + 1 < c->functions + c->function_count ? f + 1 : NULL;
    uint32_t end = ntr_coverage_extent(c, f);
    if (next && next->file == f->file && next->line <= end) end = next->line > f->line ? next->line - 1 : f->line;
    for (size_t i = first_line(c, f->file, f->line); i < c->line_count; i++) {
        ntr_cover_line *line = &c->lines[i];
        if (line->file != f->file || line->line > end) break;
        if (!line->count) line->known = false;
    }
}

/* A compiler that computes a call while it compiles leaves no copy of the function: operator""_k(2) is 2000. The
 * function was inlined, and its own code was not executed; whether the call was is not known. It also leaves out calls
 * of a function that returns a constant, although that is not inlined (gcc 14). */
static void doubt_hidden(ntr_coverage *c) {
    if (c->copied_count) qsort(c->copied, c->copied_count, sizeof *c->copied, compare_lines);
    for (size_t i = 0; i < c->hidden_count; i++) {
        const ran_function *item = &c->hidden[i];
        ntr_cover_function *f = c->function_count
                                    ? bsearch(item, c->functions, c->function_count, sizeof *c->functions, compare_ran)
                                    : NULL;
        if (!f || f->count) continue;
        const source_line line = {item->file, item->line};
        if (c->copied_count && bsearch(&line, c->copied, c->copied_count, sizeof line, compare_lines)) continue;
        f->known = false;
        doubt_lines(c, f);
    }
    c->copied_count = c->hidden_count = 0;
}

void ntr_coverage_count_ran(ntr_coverage *c) {
    merge_extents(c);
    count_executed(c);
    count_by_lines(c);
    doubt_hidden(c);
}
