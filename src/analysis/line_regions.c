#include "analysis/line_regions.h"

#include "analysis/line_jumps.h"
#include "analysis/never_returns.h"
#include "analysis/source_regions.h"
#include "base/allocator.h"
#include "base/macros.h"
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

struct ntr_line_source {
    char *file, *text;
    ntr_source_tokens tokens;
};

/* A function and its source. */
typedef struct counted_function {
    const ntr_line_function *of;
    ntr_line_insn **places; /* the instructions of the file, by their place */
    size_t place_count;
    uint32_t *stamps, *queue; /* of exit_of, by instruction: the last statement in which it was reached */
    uint32_t stamp;
    bool whole; /* groups of conditional directives without code are taken, too */
} counted_function;

/* ---- sources ----------------------------------------------------------------------------------- */

/* Other languages of LLVM have other statements. */
static bool is_c(const char *file) {
    static const char *const endings[] = {".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".h",   ".hh",
                                          ".hpp", ".hxx", ".inl", ".ipp", ".inc", ".tcc", ".def", ".impl"};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < NTR_COUNT(endings); i++)
        if (strcmp(dot, endings[i]) == 0) return true;
    return false;
}

static ntr_status read_source(ntr_line_sources *s, struct ntr_line_source *source, const char *file) {
    ntr_bytes text;
    const size_t size = strlen(file) + 1;
    source->file = ntr_alloc(s->allocator, size, 1);
    if (!source->file) return NTR_E_MEMORY;
    memcpy(source->file, file, size);
    if (!is_c(file) || !s->read(s->user, file, &text) || !text.size) return NTR_OK;
    source->text = ntr_alloc(s->allocator, text.size, 1);
    if (!source->text) return NTR_E_MEMORY;
    memcpy(source->text, text.data, text.size);
    const ntr_bytes kept = {(const uint8_t *)source->text, text.size};
    return ntr_source_tokens_read(&source->tokens, kept, s->allocator);
}

static ntr_status find_source(ntr_line_sources *s, const char *file, const ntr_source_tokens **tokens) {
    for (size_t i = s->count; i-- > 0;)
        if (strcmp(s->items[i].file, file) == 0) {
            *tokens = &s->items[i].tokens;
            return NTR_OK;
        }
    if (ntr_reserve(s->allocator, (void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items))
        return NTR_E_MEMORY;
    struct ntr_line_source *source = &s->items[s->count];
    *source = (struct ntr_line_source){0};
    const ntr_status status = read_source(s, source, file);
    s->count += source->file != NULL;
    *tokens = &source->tokens;
    return status;
}

void ntr_line_sources_release(ntr_line_sources *s) {
    for (size_t i = 0; i < s->count; i++) {
        ntr_dealloc(s->allocator, s->items[i].file);
        ntr_dealloc(s->allocator, s->items[i].text);
        ntr_dealloc(s->allocator, s->items[i].tokens.items);
    }
    ntr_dealloc(s->allocator, s->items);
    *s = (ntr_line_sources){.read = s->read, .user = s->user, .allocator = s->allocator};
}

/* ---- places ------------------------------------------------------------------------------------ */

static int compare_places(const void *a, const void *b) {
    const ntr_line_insn *x = *(const ntr_line_insn *const *)a, *y = *(const ntr_line_insn *const *)b;
    NTR_COMPARE_BY(line);
    NTR_COMPARE_BY(column);
    return NTR_COMPARE(x, y);
}

static ntr_text_place place_of(const ntr_line_insn *insn) {
    return (ntr_text_place){insn->line, insn->column};
}

/* Returns the number of the first place at or after another one. */
static size_t find_place(const counted_function *f, ntr_text_place place) {
    size_t low = 0, high = f->place_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ntr_text_place_compare(place_of(f->places[middle]), place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Without optimization, what is executed first has the lowest address. */
static bool count_range(void *user, ntr_text_place begin, ntr_text_place end, uint64_t *count) {
    const counted_function *f = user;
    const ntr_line_insn *first = NULL;
    for (size_t i = find_place(f, begin); i < f->place_count; i++) {
        const ntr_line_insn *insn = f->places[i];
        if (ntr_text_place_compare(place_of(insn), end) >= 0) break;
        if (insn->column && !insn->implicit && (!first || insn < first)) first = insn;
    }
    if (first) *count = first->count.executed;
    return first != NULL;
}

/* How control leaves the code of a statement. */
typedef struct statement_exit {
    ntr_text_place begin, end;
    uint32_t stamp;
    size_t queued;
    uint64_t exit; /* where it goes on, if `left` */
    unsigned calls;
    bool left, again; /* at another place too */
    bool stopped, asserts; /* by a call that never returns, of `assert` */
} statement_exit;

static bool is_inside(const statement_exit *s, const ntr_line_insn *insn) {
    const ntr_text_place place = place_of(insn);
    if (!insn->line || !insn->column) return true; /* no place of its own */
    return ntr_text_place_compare(place, s->begin) >= 0 && ntr_text_place_compare(place, s->end) < 0;
}

/* Control goes to an address from code of the statement. */
static void go_to(const counted_function *f, statement_exit *s, uint64_t address) {
    size_t low = 0, high = f->of->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->of->insns[middle]->count.address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->of->count && f->of->insns[low]->count.address == address && is_inside(s, f->of->insns[low])) {
        if (f->stamps[low] != s->stamp) f->queue[s->queued++] = (uint32_t)low;
        f->stamps[low] = s->stamp;
    } else {
        s->again |= s->left && s->exit != address;
        s->left = true;
        s->exit = address;
    }
}

/* Returns whether an instruction calls what never returns. clang does not know it of functions of C++: the attribute
 * `[[noreturn]]` is not a part of their type. */
static bool stops(const counted_function *f, statement_exit *s, const ntr_line_insn *insn) {
    static const char prefix[] = "__assert";
    const bool call = insn->count.flow == NTR_FLOW_DIRECT_CALL || insn->count.flow == NTR_FLOW_INDIRECT_CALL;
    const ntr_place place = ntr_program_image_place(f->of->program, f->of->image, insn->target);
    ntr_frame frame;
    ntr_symbol symbol;
    if (!call || !insn->target || !ntr_never_returns(f->of->program, f->of->debug, place)) return false;
    const bool declared = ntr_debug_info_function(f->of->debug, place, &frame) == NTR_OK && frame.declared_line;
    if (!declared || !frame.linkage || strncmp(frame.linkage, "_Z", 2) != 0) s->stopped = true;
    if (!declared && ntr_program_symbol(f->of->program, place, &symbol) == NTR_OK)
        s->asserts |= strncmp(symbol.name, prefix, sizeof prefix - 1) == 0;
    return true;
}

static void leave(const counted_function *f, statement_exit *s, const ntr_line_insn *insn) {
    const ntr_flow flow = (ntr_flow)insn->count.flow;
    s->calls += flow == NTR_FLOW_DIRECT_CALL || flow == NTR_FLOW_INDIRECT_CALL;
    if (flow == NTR_FLOW_BRANCH || flow == NTR_FLOW_DIRECT_JUMP) go_to(f, s, insn->target);
    const bool jumps = flow == NTR_FLOW_DIRECT_JUMP || flow == NTR_FLOW_INDIRECT_JUMP || flow == NTR_FLOW_RETURN;
    if (!jumps && !stops(f, s, insn)) go_to(f, s, insn->count.address + insn->count.size);
}

/* Code that is left at two places, or calls what does not return; what only an exception reaches is left out. A macro
 * of several calls at one place is a statement that ends inside of the macro. `assert(0)` is a condition for clang. */
static ntr_source_exit exit_of(void *user, ntr_text_place begin, ntr_text_place end) {
    counted_function *f = user;
    const size_t first = find_place(f, begin), after = find_place(f, end);
    statement_exit s = {.begin = begin, .end = end, .stamp = ++f->stamp};
    const ntr_line_insn *low = NULL;
    for (size_t i = first; i < after; i++)
        if (!low || f->places[i] < low) low = f->places[i];
    if (!low) return NTR_SOURCE_EXIT_NEXT;
    go_to(f, &s, low->count.address);
    while (s.queued) leave(f, &s, f->of->insns[f->queue[--s.queued]]);
    const bool whole =
        s.calls > 1 && !ntr_text_place_compare(place_of(f->places[first]), place_of(f->places[after - 1]));
    if (s.stopped && !s.left && !whole && !s.asserts) return NTR_SOURCE_EXIT_NEVER;
    return s.stopped || s.again ? NTR_SOURCE_EXIT_MAYBE : NTR_SOURCE_EXIT_NEXT;
}

/* Returns whether a group of a conditional directive is taken: one that has code, and if the braces do not fit then,
 * also one without (`try {`). */
static bool has_code(void *user, uint32_t first, uint32_t last) {
    const counted_function *f = user;
    const size_t at = find_place(f, (ntr_text_place){first, 0});
    return f->whole || (at < f->place_count && f->places[at]->line <= last);
}

/* Returns a place near the end of the function: where it returns, else the last one. */
static ntr_text_place end_place(const counted_function *f) {
    ntr_text_place returns = {0}, last = {0};
    for (size_t i = 0; i < f->place_count; i++) {
        if (f->places[i]->column) last = place_of(f->places[i]);
        if (f->places[i]->column && f->places[i]->count.flow == NTR_FLOW_RETURN) returns = last;
    }
    return returns.line ? returns : last;
}

/* Returns the number of the brace that begins the body: the first one outside of brackets that is closed at or
 * after the end of the function, otherwise (a lambda in the arguments of a call) the last one. Returns SIZE_MAX if
 * there is none, and for a function whose body is a `try` block. */
static size_t find_body(const ntr_source_tokens *tokens, ntr_text_place end) {
    size_t inside = SIZE_MAX;
    for (size_t i = 0; i < tokens->count; i++) {
        const ntr_source_token *token = &tokens->items[i];
        if (ntr_text_place_compare(token->at, end) > 0) break;
        if (token->kind == '{' && ntr_text_place_compare(tokens->items[token->match].at, end) >= 0) inside = i;
    }
    for (size_t i = 0; i < tokens->count && inside != SIZE_MAX; i++) {
        const ntr_source_token *token = &tokens->items[i];
        if (token->kind == '{' && ntr_text_place_compare(tokens->items[token->match].at, end) >= 0) return i;
        if (token->kind == NTR_TOKEN_NAME && ntr_source_token_is(token, "try")) return SIZE_MAX;
        if (token->match <= i) continue;
        if (token->match > inside) break;
        i = token->match;
    }
    return inside;
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Returns whether a brace that closes is the first token on a line. Its code is what leaves the function. */
static bool is_brace(const ntr_source_tokens *tokens, uint32_t line) {
    size_t i = 0;
    while (i < tokens->count && tokens->items[i].at.line < line) i++;
    return i < tokens->count && tokens->items[i].kind == '}';
}

static bool is_executed(ntr_line_insn *const *places, size_t count) {
    size_t i = 0;
    while (i < count && !places[i]->count.executed) i++;
    return i < count;
}

/* Returns whether the body of a lambda begins on a line: it is a gap of the function around it. */
static bool begins_lambda(const ntr_source_regions *regions, uint32_t line) {
    for (size_t i = 0; i < regions->count; i++) {
        const ntr_source_region *r = &regions->items[i];
        if (r->gap && r->counted == i && r->begin.line == line) return true;
    }
    return false;
}

/* Sets the counts of the lines of a function. A macro may contain `case`: then its first code says nothing of the
 * others. */
static ntr_status set_lines(const counted_function *f, const ntr_source_regions *regions,
                            const ntr_source_tokens *tokens, const ntr_source_token *body) {
    const uint32_t last = tokens->items[body->match].at.line;
    size_t i = 0, end = 0;
    for (uint32_t line = f->places[0]->line; line <= last; line++, i = end) {
        uint64_t count;
        while (end < f->place_count && f->places[end]->line == line) end++;
        const bool shared = i == end && (line == last || begins_lambda(regions, line)); /* with a lambda */
        if (i == end && (line < body->at.line || !(shared || f->of->instance))) continue;
        if (!ntr_source_regions_line(regions, line, &count)) continue;
        if (i == end) TRY(f->of->add_empty(f->of->user, line, count, shared));
        if (!count && is_executed(&f->places[i], end - i) && !is_brace(tokens, line)) continue;
        for (size_t k = i; k < end; k++) f->places[k]->passes = k == i ? count : 0;
    }
    return NTR_OK;
}

static bool is_defaulted(const ntr_source_tokens *tokens, uint32_t declared) {
    size_t i = 0;
    while (i < tokens->count && tokens->items[i].at.line < declared) i++;
    while (i < tokens->count && tokens->items[i].kind != ';' && tokens->items[i].kind != '{') i++;
    return i && i < tokens->count && tokens->items[i].kind == ';' &&
           ntr_source_token_is(&tokens->items[i - 1], "default");
}

/* Returns whether a macro defines the function: all its code has the place of the macro. */
static bool is_of_macro(const counted_function *f) {
    const ntr_line_insn *last = f->places[f->place_count - 1];
    size_t i = 0;
    while (!f->places[i]->column && i + 1 < f->place_count) i++;
    return f->places[0]->line == last->line && f->places[i]->column == last->column;
}

static ntr_status count_body(counted_function *f, const ntr_source_tokens *file, const ntr_allocator *allocator) {
    ntr_source_tokens tokens = {0};
    ntr_source_regions regions = {0};
    const ntr_text_place end = end_place(f);
    ntr_status status = ntr_source_tokens_select(&tokens, file, f->of->declared, end.line, has_code, f, allocator);
    const size_t body = status ? SIZE_MAX : find_body(&tokens, end);
    if (body == SIZE_MAX && !status) status = NTR_E_SYNTAX;
    if (!status) {
        const ntr_source_code code = {f, count_range, exit_of};
        status = ntr_source_regions_find(&regions, &tokens, (uint32_t)body, &code, allocator);
        if (!status) status = set_lines(f, &regions, &tokens, &tokens.items[body]);
    }
    ntr_dealloc(allocator, tokens.items);
    ntr_dealloc(allocator, regions.items);
    return status;
}

static ntr_status count_with(counted_function *f, const ntr_source_tokens *file, const ntr_allocator *allocator) {
    ntr_status status = count_body(f, file, allocator);
    if (status == NTR_E_SYNTAX) {
        const bool defaulted = is_defaulted(file, f->of->declared), of_macro = !defaulted && is_of_macro(f);
        f->whole = true;
        for (size_t i = 0; of_macro && i < f->place_count; i++) f->places[i]->contained = true;
        status = defaulted || of_macro ? NTR_OK : count_body(f, file, allocator);
    }
    f->of->insns[0]->source = status ? NTR_COVER_SOURCE_NOT_UNDERSTOOD : NTR_COVER_SOURCE_USED;
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

/* Finds the instructions of the function's file. */
static ntr_status find_places(counted_function *f, const ntr_allocator *allocator) {
    const ntr_line_function *of = f->of;
    f->places = ntr_alloc(allocator, of->count, sizeof *f->places);
    if (!f->places) return NTR_E_MEMORY;
    for (size_t i = 0; i < of->count; i++)
        if (of->insns[i]->line >= of->declared && of->insns[i]->file && strcmp(of->insns[i]->file, of->file) == 0)
            f->places[f->place_count++] = of->insns[i];
    if (f->place_count) qsort(f->places, f->place_count, sizeof *f->places, compare_places);
    return NTR_OK;
}

static ntr_status count_steps(const counted_function *f, const ntr_source_tokens *file, const ntr_line_jumps *jumps,
                              const ntr_allocator *allocator) {
    ntr_source_tokens tokens = {0};
    ntr_source_steps steps = {0};
    const ntr_text_place end = end_place(f);
    ntr_status status =
        ntr_source_tokens_select(&tokens, file, f->of->declared, end.line, has_code, (void *)f, allocator);
    const size_t body = status ? SIZE_MAX : find_body(&tokens, end);
    if (body != SIZE_MAX) status = ntr_source_steps_find(&steps, &tokens, (uint32_t)body, allocator);
    if (body != SIZE_MAX && !status) ntr_line_jumps_count(jumps, &steps);
    ntr_dealloc(allocator, tokens.items);
    ntr_dealloc(allocator, steps.items);
    return status == NTR_E_MEMORY ? status : NTR_OK;
}

ntr_status ntr_line_regions_jumps(ntr_line_sources *sources, const ntr_line_function *of) {
    counted_function f = {.of = of};
    const ntr_source_tokens *tokens = NULL;
    bool found = false;
    ntr_status status = find_places(&f, sources->allocator);
    ntr_line_jumps jumps = {of->flow, of->program, of->image, f.places, f.place_count, NULL, 0, 0};
    const size_t first = (size_t)(of->insns[0] - of->flow->insns);
    if (!status && f.place_count) status = ntr_line_jumps_find(&jumps, first, first + of->count, &found);
    if (!status && found && sources->read) status = find_source(sources, of->file, &tokens);
    if (!status && tokens && tokens->count) status = count_steps(&f, tokens, &jumps, sources->allocator);
    ntr_line_jumps_release(&jumps);
    ntr_dealloc(sources->allocator, f.places);
    return status;
}

ntr_status ntr_line_regions_count(ntr_line_sources *sources, const ntr_line_function *of) {
    counted_function f = {.of = of};
    const ntr_source_tokens *tokens;
    if (!sources->read || !of->file || !of->declared) return NTR_OK;
    TRY(find_source(sources, of->file, &tokens));
    if (!tokens->count) return NTR_OK;
    ntr_status status = find_places(&f, sources->allocator);
    f.stamps = ntr_alloc(sources->allocator, of->count, sizeof *f.stamps);
    f.queue = ntr_alloc(sources->allocator, of->count, sizeof *f.queue);
    if (!f.stamps || !f.queue) status = NTR_E_MEMORY;
    for (size_t i = 0; of->deletes && i < f.place_count; i++) f.places[i]->passes = 0;
    if (!status && f.place_count && !of->deletes) status = count_with(&f, tokens, sources->allocator);
    if (!f.place_count) of->insns[0]->source = NTR_COVER_SOURCE_NOT_UNDERSTOOD;
    if (of->deletes) of->insns[0]->source = NTR_COVER_SOURCE_USED;
    ntr_dealloc(sources->allocator, f.places);
    ntr_dealloc(sources->allocator, f.stamps);
    ntr_dealloc(sources->allocator, f.queue);
    return status;
}
