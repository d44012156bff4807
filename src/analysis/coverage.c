#include <ntrace/coverage.h>

#include "analysis/constant_code.h"
#include "analysis/coverage_state.h"
#include "analysis/line_copies.h"
#include "analysis/line_passes.h"
#include "analysis/names.h"
#include "base/allocator.h"
#include "base/macros.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

ntr_status ntr_coverage_new(const ntr_allocator *allocator, ntr_coverage **out) {
    *out = NULL;
    ntr_coverage *c = ntr_alloc(allocator, 1, sizeof *c);
    if (!c) return NTR_E_MEMORY;
    c->allocator = allocator;
    c->texts.allocator = allocator;
    *out = c;
    return NTR_OK;
}

void ntr_coverage_free(ntr_coverage *c) {
    if (!c) return;
    ntr_texts_release(&c->texts);
    ntr_dealloc(c->allocator, c->added);
    ntr_dealloc(c->allocator, c->lines);
    ntr_dealloc(c->allocator, c->branches);
    ntr_dealloc(c->allocator, c->functions);
    ntr_dealloc(c->allocator, c->listed);
    ntr_dealloc(c->allocator, c->ran);
    ntr_dealloc(c->allocator, c->copied);
    ntr_dealloc(c->allocator, c->hidden);
    ntr_dealloc(c->allocator, c->ends);
    ntr_dealloc(c->allocator, c->extents);
    ntr_dealloc(c->allocator, c);
}

void ntr_coverage_set_rule(ntr_coverage *c, ntr_cover_rule rule) {
    c->rule = rule;
}

void ntr_coverage_set_sources(ntr_coverage *c, ntr_read_source read, void *user) {
    c->sources = (ntr_line_sources){.read = read, .user = user, .allocator = c->allocator};
}

unsigned ntr_coverage_rules(const ntr_coverage *c) {
    return c->rules;
}

void ntr_coverage_only(ntr_coverage *c, const char *const *only, size_t count) {
    c->only = only;
    c->only_count = count;
    c->compared_file = NULL;
}

/* ---- adding a run ------------------------------------------------------------------------------ */

/* Returns the copy of a file name, or NULL when out of memory. Consecutive instructions mostly have the same file. */
static const char *keep_file(ntr_coverage *c, const char *file) {
    if (c->last_kept && file == c->last_file) return c->last_kept;
    c->last_file = file;
    return c->last_kept = ntr_texts_keep(&c->texts, file);
}

/* gcov does not count ends of functions: they count only where a line contains nothing else. */
static void merge_line(void *to, const void *from) {
    ntr_cover_line *x = to;
    const ntr_cover_line *y = from;
    if (x->only_end != y->only_end) {
        if (x->only_end) *x = *y;
        return;
    }
    x->count += y->count;
    x->known = x->count || (x->known && y->known);
}

static ntr_status add_line(ntr_coverage *c, const ntr_line_insn *insn, const char *owner, uint32_t declared,
                           bool known) {
    const added_line added = {
        .line = {.file = keep_file(c, insn->file),
                 .line = insn->line,
                 .known = !insn->open && (known || insn->count.executed),
                 .only_end = insn->only_end,
                 .count = insn->passes},
        .owner = insn->by_llvm ? owner : NULL,
        .by_llvm = insn->by_llvm,
        .contained = insn->contained,
        .function = insn->function,
        .declared = declared,
    };
    return added.line.file ? ntr_coverage_add_line(c, &added) : NTR_E_MEMORY;
}

static ntr_status add_branch(ntr_coverage *c, const ntr_line_insn *insn, uint64_t bias) {
    const char *file = keep_file(c, insn->file);
    if (!file ||
        ntr_reserve(c->allocator, (void **)&c->branches, &c->branch_capacity, c->branch_count + 1, sizeof *c->branches))
        return NTR_E_MEMORY;
    c->branches[c->branch_count++] = (ntr_cover_branch){
        .file = file,
        .line = insn->line,
        .address = insn->count.address - bias,
        .taken = insn->count.taken,
        .not_taken = insn->count.not_taken,
    };
    return NTR_OK;
}

typedef struct function_adder {
    ntr_coverage *coverage;
    const ntr_program *program;
    size_t image;
    const ntr_line_flow *flow;
    bool known;
} function_adder;

/* Whether the compiler may have left out all calls of the function. */
static bool is_constant(const function_adder *adder, const ntr_frame *frame) {
    const ntr_line_insn *first = ntr_line_flow_find(adder->flow, frame->entry);
    if (!first || !(first->optimized || first->by_llvm)) return false;
    return ntr_code_is_constant(adder->program, ntr_program_image_place(adder->program, adder->image, frame->entry),
                                frame->size);
}

static ntr_status add_function(void *user, const ntr_frame *frame) {
    const function_adder *adder = user;
    ntr_coverage *c = adder->coverage;
    if (!frame->declared_in || !frame->declared_line || !ntr_coverage_selects(c, frame->declared_in)) return NTR_OK;
    if (frame->artificial && !frame->inlined) return NTR_OK;
    const char *file = ntr_texts_keep(&c->texts, frame->declared_in);
    const char *name = ntr_texts_keep(&c->texts, frame->function);
    const char *linkage = ntr_texts_keep(&c->texts, frame->linkage);
    if (!file || !name || !linkage ||
        ntr_reserve(c->allocator, (void **)&c->functions, &c->function_capacity, c->function_count + 1,
                    sizeof *c->functions))
        return NTR_E_MEMORY;
    const uint64_t count = frame->part ? 0 : ntr_line_flow_entries(adder->flow, frame->entry, frame->size);
    const ntr_line_insn *first = frame->inlined ? NULL : ntr_line_flow_find(adder->flow, frame->entry);
    c->functions[c->function_count++] = (ntr_cover_function){
        .name = name,
        .linkage = linkage,
        .file = file,
        .line = frame->declared_line,
        .known = adder->known || count,
        .source = first ? first->source : NTR_COVER_SOURCE_NOT_NEEDED,
        .count = count,
        .returned = frame->inlined ? count : ntr_line_flow_returns(adder->flow, frame->entry, frame->size, count),
    };
    const bool constant = !count && !frame->inlined && is_constant(adder, frame);
    return ntr_coverage_add_copies(c, frame, &c->functions[c->function_count - 1], constant);
}

/* The function of the instructions that are added. */
typedef struct function_code {
    ntr_debug_info *debug;
    const ntr_program *program;
    size_t image;
    const ntr_line_insn *insn; /* of the last one, and what it is */
    bool known;
    bool artificial; /* the source does not have it, such as a constructor made by the compiler */
    uint32_t declared; /* its line */
    const char *name; /* without arguments, in the texts of the coverage */
} function_code;

/* Returns whether code is a thunk, which adjusts `this` and has the place of the function to which it leads. */
static bool is_thunk(const function_code *code, ntr_place place) {
    static const char begin[] = "_ZT"; /* _ZTh, _ZTv, _ZTc */
    ntr_symbol symbol;
    return ntr_program_symbol(code->program, place, &symbol) == NTR_OK &&
           strncmp(symbol.name, begin, sizeof begin - 1) == 0;
}

static ntr_status find_code(ntr_coverage *c, function_code *code, const ntr_line_insn *insn) {
    char name[NTR_NAME_PLAIN_MAX];
    ntr_frame frame;
    if (code->known && ntr_line_copies_same(code->insn, insn)) return NTR_OK;
    const ntr_place place = ntr_program_image_place(code->program, code->image, insn->count.address);
    const bool found = ntr_line_copies_frame(code->debug, code->program, code->image, insn, &frame);
    code->artificial = found && frame.declared_line ? frame.artificial : is_thunk(code, place);
    code->declared = found ? frame.declared_line : 0;
    code->name = NULL;
    code->insn = insn;
    code->known = found;
    if (!found || !insn->by_llvm || !frame.function) return NTR_OK;
    ntr_name_plain(frame.function, name);
    code->name = ntr_texts_keep(&c->texts, name);
    return code->name ? NTR_OK : NTR_E_MEMORY;
}

/* Returns whether a function is the deleting destructor of a class (D0 of the C++ ABI). */
static bool deletes(const ntr_frame *frame) {
    static const char ending[] = "D0Ev";
    const size_t size = frame->linkage ? strlen(frame->linkage) : 0;
    return size >= sizeof ending && strcmp(frame->linkage + size - (sizeof ending - 1), ending) == 0 &&
           frame->function && strchr(frame->function, '~');
}

/* A function, and its lines without code. */
typedef struct empty_lines {
    ntr_coverage *coverage;
    const char *file, *owner;
    uint32_t declared;
} empty_lines;

static ntr_status add_empty(void *user, uint32_t line, uint64_t count, bool brace) {
    const empty_lines *e = user;
    const added_line added = {.line = {.file = e->file, .line = line, .known = true, .count = count},
                              .owner = e->owner,
                              .by_llvm = true,
                              .empty = true,
                              .brace = brace,
                              .declared = e->declared};
    return ntr_coverage_add_line(e->coverage, &added);
}

static ntr_status count_function(ntr_coverage *c, ntr_line_function *of, const ntr_frame *frame) {
    char name[NTR_NAME_PLAIN_MAX];
    ntr_name_plain(frame->function, name);
    empty_lines empty = {c, ntr_texts_keep(&c->texts, frame->declared_in), ntr_texts_keep(&c->texts, name),
                         frame->declared_line};
    if (!empty.owner || !empty.file) return NTR_E_MEMORY;
    of->file = empty.file;
    of->declared = frame->declared_line;
    of->deletes = deletes(frame);
    of->instance = strchr(frame->function, '<') != NULL;
    of->add_empty = add_empty;
    of->user = &empty;
    return ntr_line_regions_count(&c->sources, of);
}

/* Counts the lines of functions of which the source is known. */
static ntr_status count_regions(ntr_coverage *c, ntr_debug_info *debug, const ntr_line_counts *counts, size_t index,
                                const ntr_line_flow *flow) {
    ntr_line_insn **insns;
    size_t count;
    ntr_status status = ntr_line_copies_sort(flow, &insns, &count);
    for (size_t i = 0, end; !status && i < count; i = end) {
        ntr_frame frame;
        for (end = i + 1; end < count && ntr_line_copies_same(insns[i], insns[end]);) end++;
        if (insns[i]->source == NTR_COVER_SOURCE_OPTIMIZED) continue;
        if (!ntr_line_copies_frame(debug, counts->program, index, insns[i], &frame) || frame.artificial) continue;
        if (!frame.declared_in || !frame.function || !ntr_coverage_selects(c, frame.declared_in)) continue;
        ntr_line_function of = {
            .program = counts->program, .debug = debug, .image = index, .insns = &insns[i], .count = end - i};
        status = count_function(c, &of, &frame);
    }
    ntr_dealloc(c->allocator, insns);
    return status;
}

/* Counts the lines of gcc's functions that are only a jump. */
static ntr_status count_jumps(ntr_coverage *c, ntr_debug_info *debug, const ntr_line_counts *counts, size_t index,
                              ntr_line_flow *flow) {
    ntr_line_insn **insns = ntr_alloc(c->allocator, flow->count + 1, sizeof *insns);
    ntr_status status = insns ? NTR_OK : NTR_E_MEMORY;
    for (size_t i = 0; !status && i < flow->count; i++) insns[i] = &flow->insns[i];
    for (size_t i = 0, end; !status && i < flow->count; i = end) {
        ntr_frame frame;
        const ntr_line_insn *first = insns[i];
        const ntr_place place = ntr_program_image_place(counts->program, index, first->count.address);
        bool counted = true;
        for (end = i; end < flow->count && insns[end]->function == first->function; end++)
            counted &= !insns[end]->by_llvm && !insns[end]->optimized;
        if (!counted || ntr_debug_info_function(debug, place, &frame) != NTR_OK || frame.artificial) continue;
        if (!frame.declared_in || !frame.declared_line || !ntr_coverage_selects(c, frame.declared_in)) continue;
        const ntr_line_function of = {.program = counts->program,
                                      .debug = debug,
                                      .image = index,
                                      .insns = &insns[i],
                                      .count = end - i,
                                      .flow = flow,
                                      .file = frame.declared_in,
                                      .declared = frame.declared_line};
        status = ntr_line_regions_jumps(&c->sources, &of);
    }
    ntr_dealloc(c->allocator, insns);
    return status;
}

static ntr_status add_image(ntr_coverage *c, ntr_debug_info *debug, ntr_line_counts *counts, size_t index) {
    ntr_line_flow flow;
    ntr_image_info info;
    bool known = ntr_tally_gaps(counts->tally) == 0;
    c->last_kept = NULL;
    ntr_status status = ntr_line_flow_make(&flow, debug, counts, index, c->allocator);
    if (status) return status;
    ntr_line_copies_find(&flow, debug, counts->program, index);
    status = ntr_line_passes_count(&flow, debug, counts, index);
    if (!status) status = count_regions(c, debug, counts, index, &flow);
    if (!status) status = count_jumps(c, debug, counts, index, &flow);
    if (ntr_program_image(counts->program, index, &info) != NTR_OK) info.bias = 0;
    function_code code = {.debug = debug, .program = counts->program, .image = index};
    for (size_t i = 0; !status && i < flow.count; i++) {
        const ntr_line_insn *insn = &flow.insns[i];
        if (!insn->line || !ntr_coverage_selects(c, insn->file)) continue;
        status = find_code(c, &code, insn);
        if (status || code.artificial) continue;
        c->rules |= 1u << (insn->by_llvm ? NTR_COVER_RULE_LLVM : NTR_COVER_RULE_GCOV);
        status = add_line(c, insn, code.name, code.declared, known);
        if (!status && flow.insns[i].count.flow == NTR_FLOW_BRANCH) status = add_branch(c, &flow.insns[i], info.bias);
    }
    if (!status) status = ntr_coverage_add_ran(c, counts->program, index, debug, &flow, known);
    function_adder adder = {c, counts->program, index, &flow, known};
    if (!status) status = ntr_debug_info_functions(debug, index, add_function, &adder);
    ntr_line_flow_release(&flow);
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------- */

#define COMPARE_BY_TEXT(member)                                                                                        \
    do {                                                                                                               \
        int order = x->member == y->member ? 0 : strcmp(x->member, y->member);                                         \
        if (order) return order;                                                                                       \
    } while (0)

static int compare_lines(const void *a, const void *b) {
    const ntr_cover_line *x = a, *y = b;
    COMPARE_BY_TEXT(file);
    NTR_COMPARE_BY(line);
    return 0;
}

static int compare_branches(const void *a, const void *b) {
    const ntr_cover_branch *x = a, *y = b;
    COMPARE_BY_TEXT(file);
    NTR_COMPARE_BY(line);
    NTR_COMPARE_BY(address);
    return 0;
}

static int compare_functions(const void *a, const void *b) {
    const ntr_cover_function *x = a, *y = b;
    COMPARE_BY_TEXT(file);
    NTR_COMPARE_BY(line);
    COMPARE_BY_TEXT(linkage);
    return 0;
}

/* Sorts the items and merges equal ones. `add` adds the second item to the first. */
static size_t merge(void *items, size_t count, size_t size, int (*compare)(const void *, const void *),
                    void (*add)(void *to, const void *from)) {
    char *base = items;
    size_t kept = 0;
    if (count) qsort(items, count, size, compare);
    for (size_t i = 0; i < count; i++) {
        const char *item = base + i * size;
        if (kept && compare(base + (kept - 1) * size, item) == 0)
            add(base + (kept - 1) * size, item);
        else
            memmove(base + kept++ * size, item, size);
    }
    return kept;
}

static void merge_branch(void *to, const void *from) {
    ntr_cover_branch *x = to;
    const ntr_cover_branch *y = from;
    x->taken += y->taken;
    x->not_taken += y->not_taken;
}

static void merge_function(void *to, const void *from) {
    ntr_cover_function *x = to;
    const ntr_cover_function *y = from;
    x->count += y->count;
    x->returned += y->returned;
    x->known = x->count || (x->known && y->known);
    if (y->source > x->source) x->source = y->source;
}

static int compare_positions(const char *file, uint32_t line, const ntr_cover_line *other) {
    int order = file == other->file ? 0 : strcmp(file, other->file);
    return order ? order : line < other->line ? -1 : line > other->line;
}

static bool same_position(const ntr_cover_function *a, const ntr_cover_function *b) {
    return a->file == b->file && a->line == b->line;
}

/* Lists the functions that have a line before the next function begins. A function that only calls others may have no
 * code left after optimization. Functions at the same position (instances of a template) are consecutive. */
static ntr_status list_functions(ntr_coverage *c) {
    size_t line = 0;
    if (ntr_reserve(c->allocator, (void **)&c->listed, &c->listed_capacity, c->function_count, sizeof *c->listed) ||
        ntr_reserve(c->allocator, (void **)&c->ends, &c->end_capacity, c->function_count, sizeof *c->ends))
        return NTR_E_MEMORY;
    c->listed_count = 0;
    for (size_t i = 0, next; i < c->function_count; i = next) {
        const ntr_cover_function *f = &c->functions[i];
        for (next = i + 1; next < c->function_count && same_position(&c->functions[next], f);) next++;
        while (line < c->line_count && compare_positions(f->file, f->line, &c->lines[line]) > 0) line++;
        if (line == c->line_count || c->lines[line].file != f->file) continue;
        bool last = next == c->function_count || c->functions[next].file != f->file;
        if (!last && c->lines[line].line >= c->functions[next].line) continue;
        memcpy(c->listed + c->listed_count, f, (next - i) * sizeof *f);
        c->listed_count += next - i;
    }
    for (size_t i = 0; i < c->listed_count; i++) c->ends[i] = ntr_coverage_extent(c, &c->listed[i]);
    return NTR_OK;
}

static void join_branches(ntr_coverage *c) {
    size_t at = 0;
    for (size_t i = 0; i < c->line_count; i++) {
        ntr_cover_line *line = &c->lines[i];
        line->first_branch = at;
        while (at < c->branch_count && c->branches[at].file == line->file && c->branches[at].line == line->line) at++;
        line->branches = at - line->first_branch;
    }
}

ntr_status ntr_coverage_settle(ntr_coverage *c) {
    c->line_count = merge(c->lines, c->line_count, sizeof *c->lines, compare_lines, merge_line);
    c->branch_count = merge(c->branches, c->branch_count, sizeof *c->branches, compare_branches, merge_branch);
    c->function_count = merge(c->functions, c->function_count, sizeof *c->functions, compare_functions, merge_function);
    ntr_coverage_count_ran(c);
    join_branches(c);
    return list_functions(c);
}

ntr_status ntr_coverage_add(ntr_coverage *c, const ntr_program *program, ntr_debug_info *debug, ntr_tally *tally) {
    ntr_line_counts counts = {.program = program, .tally = tally, .rule = c->rule};
    ntr_status status = NTR_OK;
    c->compared_file = NULL; /* the names belong to `debug` */
    for (size_t i = 0; status == NTR_OK; i++) status = add_image(c, debug, &counts, i);
    ntr_line_counts_release(&counts);
    ntr_line_sources_release(&c->sources);
    if (status == NTR_END && ntr_coverage_join_lines(c)) status = NTR_E_MEMORY;
    c->added_count = 0;
    c->gaps += ntr_tally_gaps(tally);
    if (status != NTR_END) return status;
    return ntr_coverage_settle(c);
}
/* ---- results ----------------------------------------------------------------------------------- */

const ntr_cover_line *ntr_coverage_lines(ntr_coverage *c, size_t *count) {
    *count = c->line_count;
    return c->lines;
}

const ntr_cover_branch *ntr_coverage_branches(ntr_coverage *c, size_t *count) {
    *count = c->branch_count;
    return c->branches;
}

const ntr_cover_function *ntr_coverage_functions(ntr_coverage *c, size_t *count) {
    *count = c->listed_count;
    return c->listed;
}

const uint32_t *ntr_coverage_function_ends(ntr_coverage *c) {
    return c->ends;
}

uint64_t ntr_coverage_gaps(const ntr_coverage *c) {
    return c->gaps;
}

/* Narrows [*first, *end) of an array that is sorted by file to the elements of one file; NULL: all. `text` is the
 * offset of the member with the file. A report asks for each of thousands of files. */
static void find_file(const void *items, size_t size, size_t text, const char *file, size_t *first, size_t *end) {
    for (unsigned after = 0; file && after < 2; after++) {
        size_t low = *first, high = *end;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            const char *name;
            memcpy(&name, (const char *)items + middle * size + text, sizeof name);
            int order = strcmp(name, file);
            if (order < 0 || (after && order == 0))
                low = middle + 1;
            else
                high = middle;
        }
        *(after ? end : first) = low;
    }
}

void ntr_coverage_sums(ntr_coverage *c, const char *file, ntr_cover_sums *sums) {
    size_t i = 0, end = c->line_count;
    *sums = (ntr_cover_sums){0};
    find_file(c->lines, sizeof *c->lines, offsetof(ntr_cover_line, file), file, &i, &end);
    for (; i < end; i++) {
        sums->lines++;
        sums->lines_hit += c->lines[i].count != 0;
        sums->lines_unknown += !c->lines[i].known;
    }
    i = 0;
    end = c->branch_count;
    find_file(c->branches, sizeof *c->branches, offsetof(ntr_cover_branch, file), file, &i, &end);
    for (; i < end; i++) {
        sums->branches += 2;
        sums->branches_hit += (uint64_t)(c->branches[i].taken != 0) + (c->branches[i].not_taken != 0);
    }
    i = 0;
    end = c->listed_count;
    find_file(c->listed, sizeof *c->listed, offsetof(ntr_cover_function, file), file, &i, &end);
    for (; i < end; i++) {
        sums->functions++;
        sums->functions_hit += c->listed[i].count != 0;
        sums->functions_unknown += !c->listed[i].known;
        sums->by_source[c->listed[i].source]++;
    }
}
