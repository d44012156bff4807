#include "analysis/source_regions.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <string.h>

enum {
    NESTED_MAX = 200,
    REGIONS_MAX = 20000, /* the time is the square of this */
};

static const uint32_t NO_TOKEN = UINT32_MAX;

/* How control may leave a statement otherwise than to the next one, and what may enter it. */
enum {
    WAY_BREAK = 1,
    WAY_CONTINUE = 2,
    WAY_LEAVE = 4,
    WAY_IN = 8,
};

typedef struct region_parser {
    const ntr_source_token *tokens;
    ntr_source_regions *regions;
    uint32_t *stack; /* regions that are open */
    size_t depth, capacity;
    uint32_t limit; /* the closing brace around the statements */
    unsigned nested;
    unsigned ways; /* of the statements since it was cleared */
    ntr_text_place last; /* the end of the last statement */
    bool leaves; /* the end of the last selected statement is not reached */
    uint32_t around; /* the region of the expression around; NO_TOKEN: a part can be executed more often */
    uint32_t jump; /* the region that began with the last jump, which the gap before a label counts as; or NO_TOKEN */
    uint32_t after_try; /* the region that began after the last `try` statement */
    const ntr_source_code *code;
    const ntr_allocator *allocator;
} region_parser;

static ntr_status statement(region_parser *p, uint32_t i, uint32_t *next);
static ntr_status expression(region_parser *p, uint32_t i, uint32_t end);

/* ---- regions ----------------------------------------------------------------------------------- */

static ntr_status add_region(region_parser *p, uint32_t *id) {
    ntr_source_regions *r = p->regions;
    if (r->count == REGIONS_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(p->allocator, (void **)&r->items, &r->capacity, r->count + 1, sizeof *r->items))
        return NTR_E_MEMORY;
    *id = (uint32_t)r->count;
    r->items[r->count++] = (ntr_source_region){.counted = *id, .within = *id};
    return NTR_OK;
}

static void set_begin(ntr_source_region *region, ntr_text_place begin) {
    region->begin = begin;
    region->begun = true;
}

static void set_end(ntr_source_region *region, ntr_text_place end) {
    if (!region->ended) region->end = end;
    region->ended = true;
}

static void set_count(ntr_source_region *region, uint64_t count) {
    region->count = count;
    region->known = true;
}

/* Tokens [i, end) are an expression with a region of its own, which counts as its first code. */
static ntr_status range(region_parser *p, uint32_t i, uint32_t end) {
    const uint32_t around = p->around;
    uint32_t id;
    if (i >= end) return NTR_OK;
    TRY(add_region(p, &id));
    ntr_source_region *region = &p->regions->items[id];
    set_begin(region, p->tokens[i].at);
    set_end(region, p->tokens[end - 1].end);
    region->known = p->code->count(p->code->user, region->begin, region->end, &region->count);
    if (around != NO_TOKEN) region->within = around;
    p->around = id;
    TRY(expression(p, i, end));
    p->around = around;
    return NTR_OK;
}

/* Adds a gap that counts as the region `counted`, or not at all. */
static ntr_status add_gap(region_parser *p, ntr_text_place begin, ntr_text_place end, uint32_t counted) {
    uint32_t id;
    if (!begin.line || ntr_text_place_compare(begin, end) >= 0) return NTR_OK;
    TRY(add_region(p, &id));
    ntr_source_region *region = &p->regions->items[id];
    set_begin(region, begin);
    set_end(region, end);
    region->gap = true;
    if (counted != NO_TOKEN)
        region->counted = counted;
    else
        set_count(region, 0);
    return NTR_OK;
}

/* Opens a region that neither begins nor ends yet. */
static ntr_status push(region_parser *p) {
    if (ntr_reserve(p->allocator, (void **)&p->stack, &p->capacity, p->depth + 1, sizeof *p->stack))
        return NTR_E_MEMORY;
    return add_region(p, &p->stack[p->depth++]);
}

static ntr_source_region *top(const region_parser *p) {
    return &p->regions->items[p->stack[p->depth - 1]];
}

/* Closes the regions from number `index` of the stack on. They end where that one ends, unless they have ended. */
static void pop(region_parser *p, size_t index) {
    const ntr_text_place end = p->regions->items[p->stack[index]].end;
    for (; p->depth > index; p->depth--) set_end(top(p), end);
}

/* A statement begins, of which the first code is in [at, end). */
static ntr_status begin_statement(region_parser *p, ntr_text_place at, ntr_text_place end) {
    uint64_t count;
    const bool known = p->code->count(p->code->user, at, end, &count);
    if (known && top(p)->begun && top(p)->known && top(p)->count != count) TRY(push(p));
    const bool begins = !top(p)->begun;
    if (begins) {
        set_begin(top(p), at);
        TRY(add_gap(p, p->last, at, p->stack[p->depth - 1]));
    }
    if (known && (begins || !top(p)->known)) set_count(top(p), count);
    p->around = p->stack[p->depth - 1];
    return NTR_OK;
}

/* The statement that ends at `end` does not continue at the next one. */
static ntr_status terminate(region_parser *p, ntr_text_place end, unsigned way) {
    set_end(top(p), end);
    p->ways |= way;
    TRY(push(p));
    top(p)->left = true;
    return NTR_OK;
}

/* ---- expressions ------------------------------------------------------------------------------- */

static bool is(const region_parser *p, uint32_t i, const char *name) {
    return p->tokens[i].kind == NTR_TOKEN_NAME && ntr_source_token_is(&p->tokens[i], name);
}

static bool is_one_of(const region_parser *p, uint32_t i, const char *const *names) {
    while (*names && !is(p, i, *names)) names++;
    return *names != NULL;
}

/* Returns the token after a token and its brackets. */
static uint32_t after(const region_parser *p, uint32_t i) {
    return (p->tokens[i].match > i ? p->tokens[i].match : i) + 1;
}

/* Returns the first or the last token of a kind outside of brackets in [i, end), or `end`. */
static uint32_t find(const region_parser *p, uint32_t i, uint32_t end, char kind, bool last) {
    uint32_t found = end;
    for (; i < end && (last || found == end); i = after(p, i))
        if (p->tokens[i].kind == kind) found = i;
    return found;
}

/* Returns the colon of `?`. */
static uint32_t find_colon(const region_parser *p, uint32_t i, uint32_t end) {
    unsigned open = 0;
    for (i++; i < end; i = after(p, i)) {
        if (p->tokens[i].kind == '?') open++;
        if (p->tokens[i].kind == ':' && open-- == 0) break;
    }
    return i;
}

/* Returns whether a brace begins the body of a lambda. */
static bool is_lambda(const region_parser *p, uint32_t brace, uint32_t first) {
    uint32_t i = brace;
    while (i > first && strchr("aS<>*&,R", p->tokens[i - 1].kind)) i--;
    if (i == first) return false;
    const char kind = p->tokens[--i].kind;
    if (kind == ')') {
        i = p->tokens[i].match;
        return i > first && p->tokens[i - 1].kind == ']';
    }
    if (kind != ']' || i + 1 != brace) return false;
    i = p->tokens[i].match;
    return i == first || !strchr("a)]", p->tokens[i - 1].kind);
}

/* The body of a lambda is the text of another function. The members of a class have no code here. */
static ntr_status in_brackets(region_parser *p, uint32_t i, uint32_t first) {
    static const char *const classes[] = {"struct", "class", "union", "typedef", NULL};
    const uint32_t match = p->tokens[i].match;
    const bool statements = p->tokens[i].kind == '{' && find(p, i + 1, match, ';', false) != match;
    if (p->tokens[i].kind == '{' && is_lambda(p, i, first))
        return add_gap(p, p->tokens[i].at, p->tokens[match].end, NO_TOKEN);
    if (!statements) return expression(p, i + 1, match);
    while (is(p, first, "static") || is(p, first, "const")) first++;
    return is_one_of(p, first, classes) ? NTR_OK : NTR_E_SYNTAX; /* otherwise they are those of a macro */
}

static ntr_status choice(region_parser *p, uint32_t i, uint32_t question, uint32_t end) {
    const uint32_t colon = find_colon(p, question, end);
    TRY(expression(p, i, question));
    if (colon >= end) return NTR_OK;
    const uint32_t selected = (uint32_t)p->regions->count;
    TRY(range(p, question + 1, colon));
    if (question + 1 < colon) TRY(add_gap(p, p->tokens[question].end, p->tokens[question + 1].at, selected));
    return range(p, colon + 1, end);
}

/* Tokens [i, end) without a comma outside of brackets. */
static ntr_status operand(region_parser *p, uint32_t i, uint32_t end) {
    const uint32_t question = find(p, i, end, '?', false);
    if (question < end) return choice(p, i, question, end);
    static const char operators[] = {NTR_TOKEN_OR, NTR_TOKEN_AND};
    for (size_t k = 0; k < sizeof operators; k++) {
        const uint32_t at = find(p, i, end, operators[k], true);
        if (at == end) continue;
        TRY(expression(p, i, at));
        return range(p, at + 1, end);
    }
    for (uint32_t k = i; k < end; k = after(p, k))
        if (p->tokens[k].match > k) TRY(in_brackets(p, k, i));
    return NTR_OK;
}

static ntr_status expression(region_parser *p, uint32_t i, uint32_t end) {
    if (++p->nested > NESTED_MAX) return NTR_E_LIMIT;
    for (uint32_t k = i; k < end; k++) {
        uint32_t stop = k;
        while (stop < end && p->tokens[stop].kind != ',' && p->tokens[stop].kind != ';') stop = after(p, stop);
        TRY(operand(p, k, stop));
        k = stop;
    }
    p->nested--;
    return NTR_OK;
}

/* ---- statements -------------------------------------------------------------------------------- */

/* A statement that a condition selects: a region of its own. `gap`: the token before the gap, or NO_TOKEN. */
static ntr_status selected(region_parser *p, uint32_t i, uint32_t gap, uint32_t *next) {
    const size_t index = p->depth;
    if (i >= p->limit) return NTR_E_SYNTAX;
    TRY(push(p));
    const uint32_t id = p->stack[index];
    set_begin(top(p), p->tokens[i].at);
    top(p)->ended = true;
    if (gap != NO_TOKEN) TRY(add_gap(p, p->tokens[gap].end, p->tokens[i].at, id));
    TRY(statement(p, i, next));
    ntr_source_region *region = &p->regions->items[id];
    region->end = p->tokens[*next - 1].end;
    if (!region->known) region->known = p->code->count(p->code->user, region->begin, region->end, &region->count);
    p->leaves = top(p)->left && !top(p)->begun;
    pop(p, index);
    return NTR_OK;
}

/* After a statement that control may leave otherwise, a region begins. */
static ntr_status end_statement(region_parser *p, unsigned before, unsigned ways) {
    p->ways = before | ways;
    return ways ? push(p) : NTR_OK;
}

/* Returns the closing bracket of the condition that begins at or after `i`, or NO_TOKEN. */
static uint32_t condition(const region_parser *p, uint32_t i) {
    if (i < p->limit && is(p, i, "constexpr")) i++;
    return i < p->limit && p->tokens[i].kind == '(' ? p->tokens[i].match : NO_TOKEN;
}

/* Counts a region without code: what the other branch of an `if` leaves of the region around. */
static void set_rest(ntr_source_region *rest, const ntr_source_region *around, const ntr_source_region *branch) {
    if (!rest->known && around->known && branch->known && around->count >= branch->count)
        set_count(rest, around->count - branch->count);
}

/* A branch of `if`: it is executed as often as the condition at most. */
static ntr_status branch(region_parser *p, uint32_t i, uint32_t gap, uint32_t *next) {
    const uint32_t around = p->stack[p->depth - 1], id = (uint32_t)p->regions->count;
    TRY(selected(p, i, gap, next));
    p->regions->items[id].within = around;
    return NTR_OK;
}

static ntr_status if_statement(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    const uint32_t close = condition(p, i + 1);
    if (close == NO_TOKEN) return NTR_E_SYNTAX;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[close].end));
    TRY(expression(p, p->tokens[close].match + 1, close));
    const uint32_t around = p->stack[p->depth - 1], first = (uint32_t)p->regions->count;
    TRY(branch(p, close + 1, close, next));
    const bool leaves = p->leaves, other = *next < p->limit && is(p, *next, "else");
    const uint32_t second = (uint32_t)p->regions->count;
    if (other) TRY(branch(p, *next + 1, *next - 1, next));
    TRY(end_statement(p, before, p->ways));
    ntr_source_region *items = p->regions->items;
    if (other) set_rest(&items[second], &items[around], &items[first]);
    if (leaves && !other) set_rest(top(p), &items[around], &items[first]);
    return NTR_OK;
}

/* The three parts of `for (;;)`. A loop over a range counts as often as it begins. */
static ntr_status loop_head(region_parser *p, uint32_t open, uint32_t close) {
    const uint32_t first = find(p, open + 1, close, ';', false);
    const uint32_t second = first < close ? find(p, first + 1, close, ';', false) : close;
    TRY(expression(p, open + 1, first));
    if (second == close) return NTR_OK;
    p->around = NO_TOKEN;
    TRY(range(p, first + 1, second));
    return range(p, second + 1, close);
}

static ntr_status loop(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    const uint32_t close = condition(p, i + 1);
    if (close == NO_TOKEN) return NTR_E_SYNTAX;
    const uint32_t open = p->tokens[close].match;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[p->limit].at));
    if (is(p, i, "for")) {
        TRY(loop_head(p, open, close));
    } else {
        p->around = NO_TOKEN;
        TRY(range(p, open + 1, close));
    }
    TRY(selected(p, close + 1, close, next));
    return end_statement(p, before, p->ways & ~(unsigned)(WAY_BREAK | WAY_CONTINUE));
}

static ntr_status do_statement(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[p->limit].at));
    TRY(selected(p, i + 1, NO_TOKEN, next));
    const uint32_t close = *next < p->limit && is(p, *next, "while") ? condition(p, *next + 1) : NO_TOKEN;
    if (close == NO_TOKEN) return NTR_E_SYNTAX;
    p->around = NO_TOKEN;
    TRY(range(p, p->tokens[close].match + 1, close));
    *next = close + 1;
    if (*next < p->limit && p->tokens[*next].kind == ';') ++*next;
    return end_statement(p, before, p->ways & ~(unsigned)(WAY_BREAK | WAY_CONTINUE));
}

/* The cases end with the last statement, so that the brace after them counts as the switch. */
static ntr_status switch_statement(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    const uint32_t close = condition(p, i + 1), body = close + 1;
    if (close == NO_TOKEN || body >= p->limit || p->tokens[body].kind != '{') return NTR_E_SYNTAX;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[close].end));
    TRY(expression(p, p->tokens[close].match + 1, close));
    const size_t index = p->depth;
    TRY(push(p));
    set_begin(top(p), p->tokens[body].at);
    set_count(top(p), 0);
    top(p)->gap = true;
    TRY(statement(p, body, next));
    p->regions->items[p->stack[index]].end = p->tokens[*next - 2].end;
    pop(p, index);
    return end_statement(p, before, (p->ways & ~(unsigned)WAY_BREAK) | WAY_IN);
}

static ntr_status try_statement(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[after(p, i + 1) - 1].at));
    TRY(selected(p, i + 1, NO_TOKEN, next));
    while (*next < p->limit && (is(p, *next, "catch") || is(p, *next, "__catch"))) {
        const uint32_t close = condition(p, *next + 1);
        if (close == NO_TOKEN) return NTR_E_SYNTAX;
        TRY(selected(p, close + 1, NO_TOKEN, next));
    }
    TRY(end_statement(p, before, p->ways | WAY_IN));
    p->after_try = p->stack[p->depth - 1];
    return NTR_OK;
}

/* `case 1:`, `default:` or `label:`, and the statement after it. */
static ntr_status labelled(region_parser *p, uint32_t i, uint32_t colon, uint32_t *next) {
    const ntr_text_place at = p->tokens[i].at;
    if (!top(p)->begun) TRY(add_gap(p, p->last, at, p->jump));
    if (top(p)->begun) TRY(push(p));
    set_begin(top(p), at);
    top(p)->known = false;
    p->ways |= is(p, i, "case") || is(p, i, "default") ? 0 : WAY_IN;
    *next = colon + 1;
    return *next < p->limit ? statement(p, *next, next) : NTR_OK;
}

/* Returns the colon of a label that begins at `i`, or NO_TOKEN. */
static uint32_t label_colon(const region_parser *p, uint32_t i) {
    if (is(p, i, "case"))
        for (uint32_t k = i + 1; k < p->limit; k = after(p, k)) {
            if (p->tokens[k].kind == ':') return k;
            if (p->tokens[k].kind == '?') k = find_colon(p, k, p->limit);
        }
    return p->tokens[i].kind == NTR_TOKEN_NAME && i + 1 < p->limit && p->tokens[i + 1].kind == ':' ? i + 1 : NO_TOKEN;
}

/* Returns the end of a statement without a structure of its own: after its semicolon, or where the next one begins
 * after a macro that has it inside. */
static uint32_t simple_end(const region_parser *p, uint32_t i) {
    static const char *const keywords[] = {"if",   "for",      "while", "do",      "switch", "return", "break",
                                           "goto", "continue", "case",  "default", "try",    NULL};
    const bool name = i + 1 < p->limit && p->tokens[i].kind == NTR_TOKEN_NAME;
    const bool call = name && p->tokens[i + 1].kind == '(';
    const uint32_t next = call ? after(p, i + 1) : name ? i + 1 : p->limit;
    if (next < p->limit && is_one_of(p, next, keywords)) return next;
    if (call && next < p->limit && p->tokens[next].kind == NTR_TOKEN_NAME &&
        p->tokens[next].at.line > p->tokens[next - 1].at.line)
        return next;
    const uint32_t end = find(p, i, p->limit, ';', false);
    return end < p->limit ? end + 1 : end;
}

/* An expression. A macro may contain a condition or a loop, and what follows it may be selected: `CHECK(x) << "text";`,
 * `EACH(i) n += i;`. */
static ntr_status macro_operand(region_parser *p, uint32_t i, uint32_t end) {
    const bool call = i + 1 < end && p->tokens[i].kind == NTR_TOKEN_NAME && p->tokens[i + 1].kind == '(';
    const uint32_t rest = call ? after(p, i + 1) : end;
    const bool statement = rest < end && p->tokens[rest].kind == NTR_TOKEN_NAME;
    uint64_t count;
    if (rest >= end || !(statement || p->tokens[rest].kind == '<') ||
        !p->code->count(p->code->user, p->tokens[rest].at, p->tokens[end - 1].end, &count) || !top(p)->known ||
        (!statement && count >= top(p)->count))
        return expression(p, i, end);
    TRY(expression(p, i, rest));
    return range(p, rest, end);
}

static ntr_status simple(region_parser *p, uint32_t i, uint32_t *next) {
    static const char *const leaving[] = {"return", "goto", "throw", "co_return", NULL};
    const bool leaves = is_one_of(p, i, leaving);
    const unsigned way = is(p, i, "break") ? WAY_BREAK : is(p, i, "continue") ? WAY_CONTINUE : leaves ? WAY_LEAVE : 0;
    *next = simple_end(p, i);
    const uint32_t end = p->tokens[*next - 1].kind == ';' ? *next - 1 : *next;
    if (end == i) return top(p)->begun ? NTR_OK : begin_statement(p, p->tokens[i].at, p->tokens[i].at); /* empty */
    const bool pending = !top(p)->begun && p->stack[p->depth - 1] != p->after_try;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[end - 1].end));
    p->jump = pending && end == i + 1 ? p->stack[p->depth - 1] : NO_TOKEN;
    TRY(macro_operand(p, i, end));
    const ntr_source_exit exit =
        way ? NTR_SOURCE_EXIT_NEVER : p->code->exit(p->code->user, p->tokens[i].at, p->tokens[end - 1].end);
    if (exit == NTR_SOURCE_EXIT_NEVER) return terminate(p, p->tokens[end - 1].end, way ? way : WAY_LEAVE);
    return exit == NTR_SOURCE_EXIT_MAYBE ? end_statement(p, p->ways, WAY_LEAVE) : NTR_OK;
}

/* `MACRO(x) { ... }`: mostly a loop. */
static ntr_status macro_block(region_parser *p, uint32_t i, uint32_t *next) {
    const unsigned before = p->ways;
    const uint32_t close = p->tokens[i + 1].match;
    p->ways = 0;
    TRY(begin_statement(p, p->tokens[i].at, p->tokens[close].end));
    TRY(expression(p, i + 2, close));
    TRY(selected(p, close + 1, close, next));
    return end_statement(p, before, p->ways & ~(unsigned)(WAY_BREAK | WAY_CONTINUE));
}

static ntr_status block(region_parser *p, uint32_t i, uint32_t *next) {
    const uint32_t around = p->limit;
    p->limit = p->tokens[i].match;
    uint32_t at = i + 1;
    while (at < p->limit) TRY(statement(p, at, &at));
    *next = p->limit + 1;
    p->limit = around;
    return NTR_OK;
}

static ntr_status any_statement(region_parser *p, uint32_t i, uint32_t *next) {
    static const struct {
        const char *name;
        ntr_status (*parse)(region_parser *p, uint32_t i, uint32_t *next);
    } kinds[] = {{"if", if_statement},         {"for", loop},          {"while", loop},         {"do", do_statement},
                 {"switch", switch_statement}, {"try", try_statement}, {"__try", try_statement}};
    while (i < p->limit && p->tokens[i].kind == '[') i = after(p, i); /* attributes */
    if (i >= p->limit || is(p, i, "else") || is(p, i, "catch")) return NTR_E_SYNTAX;
    if (p->tokens[i].kind == '{') return block(p, i, next);
    for (size_t k = 0; k < NTR_COUNT(kinds); k++)
        if (is(p, i, kinds[k].name)) return kinds[k].parse(p, i, next);
    const uint32_t colon = label_colon(p, i);
    if (colon != NO_TOKEN) return labelled(p, i, colon, next);
    const bool call = p->tokens[i].kind == NTR_TOKEN_NAME && i + 1 < p->limit && p->tokens[i + 1].kind == '(';
    const uint32_t brace = call ? after(p, i + 1) : p->limit;
    if (brace < p->limit && p->tokens[brace].kind == '{') return macro_block(p, i, next);
    return simple(p, i, next);
}

static ntr_status statement(region_parser *p, uint32_t i, uint32_t *next) {
    if (++p->nested > NESTED_MAX) return NTR_E_LIMIT;
    TRY(any_statement(p, i, next));
    p->last = p->tokens[*next - 1].end;
    p->nested--;
    return NTR_OK;
}

ntr_status ntr_source_regions_find(ntr_source_regions *regions, const ntr_source_tokens *tokens, uint32_t body,
                                   const ntr_source_code *code, const ntr_allocator *allocator) {
    region_parser p = {.tokens = tokens->items, .regions = regions, .code = code, .allocator = allocator};
    uint32_t next;
    p.jump = p.after_try = NO_TOKEN;
    p.limit = tokens->items[body].match + 1;
    const ntr_status status = selected(&p, body, NO_TOKEN, &next);
    ntr_dealloc(allocator, p.stack);
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Returns the count of a region, or the most that it can be; UINT64_MAX: nothing is known. */
static uint64_t most_of(const ntr_source_regions *regions, const ntr_source_region *region) {
    region = &regions->items[region->counted];
    while (!region->known && &regions->items[region->within] != region) region = &regions->items[region->within];
    return region->known ? region->count : UINT64_MAX;
}

bool ntr_source_regions_line(const ntr_source_regions *regions, uint32_t line, uint64_t *count) {
    const ntr_text_place start = {line, 1};
    const ntr_source_region *around = NULL;
    uint64_t most = 0; /* of those that are not known */
    bool any = false;
    *count = 0;
    for (size_t i = 0; i <= regions->count; i++) {
        const ntr_source_region *r = i < regions->count ? &regions->items[i] : around;
        if (!r || !r->begun || r->begin.line > line) continue;
        if (r != around && r->begin.line < line) {
            if (ntr_text_place_compare(start, r->end) <= 0 &&
                (!around || ntr_text_place_compare(around->begin, r->begin) <= 0))
                around = r;
        } else if (r == around || !r->gap) {
            uint64_t *greatest = regions->items[r->counted].known ? count : &most;
            if (most_of(regions, r) > *greatest) *greatest = most_of(regions, r);
            any = true;
        }
    }
    return any && most <= *count;
}
