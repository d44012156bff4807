#include <ntrace/coverage.h>

#include "analysis/line_flow.h"
#include "base/allocator.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    struct text *next;
    char characters[];
} text;

struct ntr_coverage {
    const ntr_allocator *allocator;
    text *texts; /* file and function names, each once */
    ntr_cover_line *lines;
    size_t line_count, line_capacity;
    ntr_cover_branch *branches;
    size_t branch_count, branch_capacity;
    ntr_cover_function *functions;
    size_t function_count, function_capacity;
    uint64_t gaps;
    const char *last_given, *last_kept; /* names come in runs */
};

ntr_coverage *ntr_coverage_new(const ntr_allocator *allocator) {
    ntr_coverage *c = ntr_alloc(allocator, 1, sizeof *c);
    if (c) c->allocator = allocator;
    return c;
}

void ntr_coverage_free(ntr_coverage *c) {
    if (!c) return;
    while (c->texts) {
        text *t = c->texts;
        c->texts = t->next;
        ntr_dealloc(c->allocator, t);
    }
    ntr_dealloc(c->allocator, c->lines);
    ntr_dealloc(c->allocator, c->branches);
    ntr_dealloc(c->allocator, c->functions);
    ntr_dealloc(c->allocator, c);
}

/* The coverage's own copy of a name, or NULL. */
static const char *keep(ntr_coverage *c, const char *name) {
    if (!name) name = "";
    if (c->last_given == name) return c->last_kept;
    text *t = c->texts;
    while (t && strcmp(t->characters, name) != 0) t = t->next;
    if (!t) {
        size_t size = strlen(name) + 1;
        t = ntr_alloc(c->allocator, 1, sizeof *t + size);
        if (!t) return NULL;
        memcpy(t->characters, name, size);
        t->next = c->texts;
        c->texts = t;
    }
    c->last_given = name;
    c->last_kept = t->characters;
    return t->characters;
}

/* ---- adding a run ------------------------------------------------------------------------------ */

static ntr_status add_line(ntr_coverage *c, const ntr_line_insn *insn, bool known) {
    const char *file = keep(c, insn->file);
    if (!file || ntr_reserve(c->allocator, (void **)&c->lines, &c->line_capacity, c->line_count + 1, sizeof *c->lines))
        return NTR_E_MEMORY;
    uint64_t executed = insn->count.executed;
    c->lines[c->line_count++] = (ntr_cover_line){
        .file = file,
        .line = insn->line,
        .known = known || executed,
        .count = executed > insn->inside ? executed - insn->inside : 0,
    };
    return NTR_OK;
}

static ntr_status add_branch(ntr_coverage *c, const ntr_line_insn *insn, uint64_t bias) {
    const char *file = keep(c, insn->file);
    if (!file || ntr_reserve(c->allocator, (void **)&c->branches, &c->branch_capacity, c->branch_count + 1,
                             sizeof *c->branches))
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
    const ntr_line_flow *flow;
    bool known;
} function_adder;

static uint64_t executed_at(const ntr_line_flow *flow, uint64_t address) {
    size_t low = 0, high = flow->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (flow->insns[middle].count.address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < flow->count && flow->insns[low].count.address == address ? flow->insns[low].count.executed : 0;
}

static ntr_status add_function(void *user, const ntr_frame *frame) {
    const function_adder *adder = user;
    ntr_coverage *c = adder->coverage;
    if (!frame->declared_in || !frame->declared_line) return NTR_OK;
    const char *file = keep(c, frame->declared_in), *name = keep(c, frame->function);
    const char *linkage = keep(c, frame->linkage);
    if (!file || !name || !linkage ||
        ntr_reserve(c->allocator, (void **)&c->functions, &c->function_capacity, c->function_count + 1,
                    sizeof *c->functions))
        return NTR_E_MEMORY;
    uint64_t count = executed_at(adder->flow, frame->entry);
    c->functions[c->function_count++] = (ntr_cover_function){
        .name = name,
        .linkage = linkage,
        .file = file,
        .line = frame->declared_line,
        .known = adder->known || count,
        .count = count,
    };
    return NTR_OK;
}

static ntr_status add_image(ntr_coverage *c, const ntr_program *program, ntr_source *source, ntr_tally *tally,
                            size_t index) {
    ntr_line_flow flow;
    ntr_image_info info;
    bool known = ntr_tally_gaps(tally) == 0;
    ntr_status status = ntr_line_flow_make(&flow, program, source, tally, index, c->allocator);
    if (status) return status;
    if (ntr_program_image(program, index, &info) != NTR_OK) info.bias = 0;
    for (size_t i = 0; !status && i < flow.count; i++) {
        status = add_line(c, &flow.insns[i], known);
        if (!status && flow.insns[i].count.flow == NTR_FLOW_BRANCH) status = add_branch(c, &flow.insns[i], info.bias);
    }
    function_adder adder = {c, &flow, known};
    if (!status) status = ntr_source_functions(source, index, add_function, &adder);
    ntr_line_flow_release(&flow);
    return status;
}

/* ---- merging ----------------------------------------------------------------------------------- */

#define ORDER(member) \
    if (x->member != y->member) return x->member < y->member ? -1 : 1
#define ORDER_TEXT(member)                                            \
    do {                                                              \
        int order = x->member == y->member ? 0 : strcmp(x->member, y->member); \
        if (order) return order;                                      \
    } while (0)

static int compare_lines(const void *a, const void *b) {
    const ntr_cover_line *x = a, *y = b;
    ORDER_TEXT(file);
    ORDER(line);
    return 0;
}

static int compare_branches(const void *a, const void *b) {
    const ntr_cover_branch *x = a, *y = b;
    ORDER_TEXT(file);
    ORDER(line);
    ORDER(address);
    return 0;
}

static int compare_functions(const void *a, const void *b) {
    const ntr_cover_function *x = a, *y = b;
    ORDER_TEXT(file);
    ORDER(line);
    ORDER_TEXT(linkage);
    return 0;
}

/* Sort, and make one of each run of equals: `add` adds the second to the first. */
static size_t merge(void *items, size_t count, size_t size, int (*compare)(const void *, const void *),
                    void (*add)(void *to, const void *from)) {
    char *base = items;
    size_t kept = 0;
    if (count) qsort(items, count, size, compare);
    for (size_t i = 0; i < count; i++) {
        char *item = base + i * size, *last = base + (kept - 1) * size;
        if (kept && compare(last, item) == 0)
            add(last, item);
        else
            memmove(base + kept++ * size, item, size);
    }
    return kept;
}

static void merge_line(void *to, const void *from) {
    ntr_cover_line *x = to;
    const ntr_cover_line *y = from;
    x->count += y->count;
    x->known = x->count || (x->known && y->known);
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
    x->known = x->count || (x->known && y->known);
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

ntr_status ntr_coverage_add(ntr_coverage *c, const ntr_program *program, ntr_source *source, ntr_tally *tally) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; status == NTR_OK; i++) status = add_image(c, program, source, tally, i);
    c->last_given = NULL; /* it pointed into the source */
    c->gaps += ntr_tally_gaps(tally);
    c->line_count = merge(c->lines, c->line_count, sizeof *c->lines, compare_lines, merge_line);
    c->branch_count = merge(c->branches, c->branch_count, sizeof *c->branches, compare_branches, merge_branch);
    c->function_count = merge(c->functions, c->function_count, sizeof *c->functions, compare_functions, merge_function);
    join_branches(c);
    return status == NTR_END ? NTR_OK : status;
}

/* ---- answers ----------------------------------------------------------------------------------- */

const ntr_cover_line *ntr_coverage_lines(ntr_coverage *c, size_t *count) {
    *count = c->line_count;
    return c->lines;
}

const ntr_cover_branch *ntr_coverage_branches(ntr_coverage *c, size_t *count) {
    *count = c->branch_count;
    return c->branches;
}

const ntr_cover_function *ntr_coverage_functions(ntr_coverage *c, size_t *count) {
    *count = c->function_count;
    return c->functions;
}

uint64_t ntr_coverage_gaps(const ntr_coverage *c) {
    return c->gaps;
}

static bool of_file(const char *file, const char *wanted) {
    return !wanted || strcmp(file, wanted) == 0;
}

void ntr_coverage_sums(ntr_coverage *c, const char *file, ntr_cover_sums *sums) {
    *sums = (ntr_cover_sums){0};
    for (size_t i = 0; i < c->line_count; i++) {
        if (!of_file(c->lines[i].file, file)) continue;
        sums->lines++;
        sums->lines_hit += c->lines[i].count != 0;
        sums->lines_unknown += !c->lines[i].known;
    }
    for (size_t i = 0; i < c->branch_count; i++) {
        if (!of_file(c->branches[i].file, file)) continue;
        sums->branches += 2;
        sums->branches_hit += (uint64_t)(c->branches[i].taken != 0) + (c->branches[i].not_taken != 0);
    }
    for (size_t i = 0; i < c->function_count; i++) {
        if (!of_file(c->functions[i].file, file)) continue;
        sums->functions++;
        sums->functions_hit += c->functions[i].count != 0;
        sums->functions_unknown += !c->functions[i].known;
    }
}
