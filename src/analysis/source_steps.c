#include "analysis/source_steps.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <stdlib.h>

enum {
    NESTED_STEPS_MAX = 200,
    SOURCE_STEPS_MAX = 20000,
};

static const uint32_t NO_STEP_TOKEN = UINT32_MAX;

typedef struct step_parser {
    const ntr_source_token *tokens;
    ntr_source_steps *steps;
    uint32_t limit; /* the closing brace around the statements */
    unsigned nested;
    const ntr_allocator *allocator;
} step_parser;

static ntr_status step_statement(step_parser *p, uint32_t i, uint32_t *next);

/* ---- tokens ------------------------------------------------------------------------------------ */

static bool is_name(const step_parser *p, uint32_t i, const char *name) {
    return i < p->limit && p->tokens[i].kind == NTR_TOKEN_NAME && ntr_source_token_is(&p->tokens[i], name);
}

static bool is_any(const step_parser *p, uint32_t i, const char *const *names) {
    while (*names && !is_name(p, i, *names)) names++;
    return *names != NULL;
}

static bool is_kind(const step_parser *p, uint32_t i, char kind) {
    return i < p->limit && p->tokens[i].kind == kind;
}

/* Returns the token after a token and its brackets. */
static uint32_t skip(const step_parser *p, uint32_t i) {
    return (p->tokens[i].match > i ? p->tokens[i].match : i) + 1;
}

/* Returns the first token of a kind outside of brackets in [i, end), or `end`. */
static uint32_t first_of(const step_parser *p, uint32_t i, uint32_t end, char kind) {
    while (i < end && p->tokens[i].kind != kind) i = skip(p, i);
    return i < end ? i : end;
}

/* Returns the colon of a label that begins at `i`, or NO_STEP_TOKEN. */
static uint32_t colon_of(const step_parser *p, uint32_t i) {
    unsigned open = 0;
    for (uint32_t k = i + 1; is_name(p, i, "case") && k < p->limit; k = skip(p, k)) {
        if (p->tokens[k].kind == '?') open++;
        if (p->tokens[k].kind == ':' && open-- == 0) return k;
    }
    return is_kind(p, i, NTR_TOKEN_NAME) && is_kind(p, i + 1, ':') ? i + 1 : NO_STEP_TOKEN;
}

/* Returns the jump of the statement at `i`, after its labels, or NO_STEP_TOKEN. */
static uint32_t jump_at(const step_parser *p, uint32_t i) {
    static const char *const jumps[] = {"break", "continue", "goto", "return", NULL};
    for (uint32_t colon; (colon = colon_of(p, i)) != NO_STEP_TOKEN;) i = colon + 1;
    return is_any(p, i, jumps) ? i : NO_STEP_TOKEN;
}

/* The same for a statement [i, end) that is only a jump, and may be in braces. */
static uint32_t only_jump(const step_parser *p, uint32_t i, uint32_t end) {
    for (; i + 1 < end && p->tokens[i].kind == '{' && p->tokens[i].match + 1 == end; end--) i++;
    const uint32_t jump = i < end ? jump_at(p, i) : NO_STEP_TOKEN;
    return jump == NO_STEP_TOKEN || first_of(p, jump, end, ';') + 1 != end ? NO_STEP_TOKEN : jump;
}

/* ---- statements -------------------------------------------------------------------------------- */

/* Tokens [i, end) are a step to the jump at token `jump`, or to none. */
static ntr_status add_step(step_parser *p, ntr_source_step_kind kind, uint32_t i, uint32_t end, uint32_t jump) {
    ntr_source_steps *s = p->steps;
    if (s->count == SOURCE_STEPS_MAX) return NTR_E_LIMIT;
    if (ntr_reserve(p->allocator, (void **)&s->items, &s->capacity, s->count + (size_t)1, sizeof *s->items))
        return NTR_E_MEMORY;
    ntr_source_step step = {.begin = p->tokens[i].at, .end = p->tokens[end - 1].end, .kind = kind, .parent = s->count};
    if (jump != NO_STEP_TOKEN) {
        step.jump = p->tokens[jump].at;
        step.way = p->tokens[jump].text[0];
    } else if (kind == NTR_SOURCE_STEP_NEXT) {
        step.next = p->tokens[end].at;
    }
    s->items[s->count++] = step;
    return NTR_OK;
}

/* Stores the token after the condition in brackets that begins at or after `i`. */
static ntr_status step_condition(const step_parser *p, uint32_t i, uint32_t *body) {
    if (is_name(p, i, "constexpr")) i++;
    if (!is_kind(p, i, '(')) return NTR_E_SYNTAX;
    *body = skip(p, i);
    return NTR_OK;
}

static ntr_status step_if(step_parser *p, uint32_t i, uint32_t *next) {
    uint32_t body, middle, no = NO_STEP_TOKEN;
    TRY(step_condition(p, i + 1, &body));
    TRY(step_statement(p, body, next));
    middle = *next;
    const uint32_t yes = only_jump(p, body, middle);
    if (is_name(p, middle, "else")) {
        TRY(step_statement(p, middle + 1, next));
        no = only_jump(p, middle + 1, *next);
    }
    const ntr_source_step_kind kind = middle < *next ? NTR_SOURCE_STEP_CHOICE : NTR_SOURCE_STEP_TEST;
    if (yes != NO_STEP_TOKEN) TRY(add_step(p, kind, i, body, yes));
    return no == NO_STEP_TOKEN ? NTR_OK : add_step(p, kind, i, body, no);
}

/* `for (;;)`, `while (1)`, `while (true)`; the brackets end before `body`. */
static bool is_endless(const step_parser *p, uint32_t i, uint32_t body) {
    const uint32_t close = body - 1, open = p->tokens[close].match;
    const uint32_t first = first_of(p, open + 1, close, ';');
    if (is_name(p, i, "for")) return first + 2 == close && p->tokens[first + 1].kind == ';';
    return open + 2 == close && (is_name(p, open + 1, "true") || p->tokens[open + 1].kind == NTR_TOKEN_VALUE);
}

static ntr_status step_loop(step_parser *p, uint32_t i, uint32_t *next) {
    uint32_t body;
    TRY(step_condition(p, i + 1, &body));
    TRY(step_statement(p, body, next));
    const bool endless = is_endless(p, i, body);
    if (endless) TRY(add_step(p, NTR_SOURCE_STEP_NEXT, i, body, i));
    return add_step(p, NTR_SOURCE_STEP_LOOP, body, *next, endless ? i : NO_STEP_TOKEN);
}

static ntr_status step_do(step_parser *p, uint32_t i, uint32_t *next) {
    TRY(step_statement(p, i + 1, next));
    TRY(add_step(p, NTR_SOURCE_STEP_LOOP, i + 1, *next, NO_STEP_TOKEN));
    if (!is_name(p, *next, "while")) return NTR_E_SYNTAX;
    TRY(step_condition(p, *next + 1, next));
    *next += is_kind(p, *next, ';');
    return NTR_OK;
}

static ntr_status step_switch(step_parser *p, uint32_t i, uint32_t *next) {
    uint32_t body;
    TRY(step_condition(p, i + 1, &body));
    TRY(step_statement(p, body, next));
    return add_step(p, NTR_SOURCE_STEP_SWITCH, body, *next, NO_STEP_TOKEN);
}

static ntr_status step_try(step_parser *p, uint32_t i, uint32_t *next) {
    TRY(step_statement(p, i + 1, next));
    while (is_name(p, *next, "catch")) {
        uint32_t body;
        TRY(step_condition(p, *next + 1, &body));
        TRY(step_statement(p, body, next));
    }
    return NTR_OK;
}

static ntr_status step_block(step_parser *p, uint32_t i, uint32_t *next) {
    const uint32_t around = p->limit;
    p->limit = p->tokens[i].match;
    for (uint32_t at = i + 1, end; at < p->limit; at = end) {
        TRY(step_statement(p, at, &end));
        if (end < p->limit) TRY(add_step(p, NTR_SOURCE_STEP_NEXT, at, end, jump_at(p, end)));
    }
    *next = p->limit + 1;
    p->limit = around;
    return NTR_OK;
}

/* A statement without a structure of its own. A macro may have the semicolon inside, or a statement after it. */
static ntr_status step_simple(step_parser *p, uint32_t i, uint32_t *next) {
    static const char *const keywords[] = {"if",   "for",      "while", "do",      "switch", "return", "break",
                                           "goto", "continue", "case",  "default", "try",    NULL};
    const bool call = is_kind(p, i, NTR_TOKEN_NAME) && is_kind(p, i + 1, '(');
    const uint32_t after = call ? skip(p, i + 1) : p->limit;
    if (is_kind(p, after, '{')) return step_statement(p, after, next);
    if (is_any(p, after, keywords)) {
        *next = after;
        return NTR_OK;
    }
    const uint32_t end = first_of(p, i, p->limit, ';');
    *next = end < p->limit ? end + 1 : end;
    return jump_at(p, i) == i ? add_step(p, NTR_SOURCE_STEP_NEXT, i, *next, i) : NTR_OK;
}

static ntr_status any_step(step_parser *p, uint32_t i, uint32_t *next) {
    static const struct {
        const char *name;
        ntr_status (*parse)(step_parser *p, uint32_t i, uint32_t *next);
    } kinds[] = {{"if", step_if}, {"for", step_loop},      {"while", step_loop},
                 {"do", step_do}, {"switch", step_switch}, {"try", step_try}};
    while (is_kind(p, i, '[')) i = skip(p, i); /* attributes */
    if (i >= p->limit || is_name(p, i, "else") || is_name(p, i, "catch")) return NTR_E_SYNTAX;
    if (p->tokens[i].kind == '{') return step_block(p, i, next);
    for (size_t k = 0; k < NTR_COUNT(kinds); k++)
        if (is_name(p, i, kinds[k].name)) return kinds[k].parse(p, i, next);
    const uint32_t colon = colon_of(p, i);
    if (colon == NO_STEP_TOKEN) return step_simple(p, i, next);
    *next = colon + 1;
    return *next < p->limit ? step_statement(p, *next, next) : NTR_OK;
}

static ntr_status step_statement(step_parser *p, uint32_t i, uint32_t *next) {
    if (++p->nested > NESTED_STEPS_MAX) return NTR_E_LIMIT;
    TRY(any_step(p, i, next));
    p->nested--;
    return NTR_OK;
}

/* ---- questions --------------------------------------------------------------------------------- */

static bool equal(ntr_text_place a, ntr_text_place b) {
    return a.line && ntr_text_place_compare(a, b) == 0;
}

static bool contains(const ntr_source_step *step, ntr_text_place place) {
    return ntr_text_place_compare(step->begin, place) <= 0 && ntr_text_place_compare(place, step->end) < 0;
}

static int compare_steps(const void *a, const void *b) {
    const ntr_source_step *x = a, *y = b;
    const int end = ntr_text_place_compare(x->end, y->end), begin = ntr_text_place_compare(y->begin, x->begin);
    return end ? end : begin ? begin : NTR_COMPARE(x->parent, y->parent);
}

static void sort_steps(ntr_source_steps *steps) {
    if (steps->count) qsort(steps->items, steps->count, sizeof *steps->items, compare_steps);
    for (uint32_t i = steps->count; i-- > 0;) {
        uint32_t around = i + 1 < steps->count ? i + 1 : NTR_SOURCE_STEP_NONE;
        while (around != NTR_SOURCE_STEP_NONE && !contains(&steps->items[around], steps->items[i].begin))
            around = steps->items[around].parent;
        steps->items[i].parent = around;
    }
}

ntr_status ntr_source_steps_find(ntr_source_steps *steps, const ntr_source_tokens *tokens, uint32_t body,
                                 const ntr_allocator *allocator) {
    step_parser p = {tokens->items, steps, tokens->items[body].match + 1, 0, allocator};
    uint32_t next;
    TRY(step_statement(&p, body, &next));
    sort_steps(steps);
    return NTR_OK;
}

uint32_t ntr_source_steps_at(const ntr_source_steps *steps, ntr_text_place place) {
    uint32_t low = 0, high = steps->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ntr_text_place_compare(steps->items[middle].end, place) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == steps->count) return NTR_SOURCE_STEP_NONE;
    while (low != NTR_SOURCE_STEP_NONE && !contains(&steps->items[low], place)) low = steps->items[low].parent;
    return low;
}

ntr_text_place ntr_source_steps_jump(const ntr_source_steps *steps, ntr_text_place place) {
    for (uint32_t i = ntr_source_steps_at(steps, place); i != NTR_SOURCE_STEP_NONE; i = steps->items[i].parent) {
        const ntr_source_step *step = &steps->items[i];
        if (step->jump.line != place.line) continue;
        if (step->kind == NTR_SOURCE_STEP_LOOP || equal(step->jump, step->begin)) return step->jump;
    }
    return (ntr_text_place){0};
}

/* Returns whether control comes to a jump after the jump of a step: `break` leads to what follows a loop or a switch,
 * which may be a jump again. */
static ntr_source_answer lead_on(const ntr_source_steps *steps, const ntr_source_step *step, ntr_text_place jump) {
    if (step->way != 'b' && step->way != 'c') return NTR_SOURCE_NO;
    for (uint32_t i = step->parent; i != NTR_SOURCE_STEP_NONE; i = steps->items[i].parent) {
        const ntr_source_step *around = &steps->items[i];
        const bool loop = around->kind == NTR_SOURCE_STEP_LOOP;
        if (step->way == 'c' && loop) return equal(around->jump, jump) ? NTR_SOURCE_YES : NTR_SOURCE_NO;
        if (step->way == 'b' && (loop || around->kind == NTR_SOURCE_STEP_SWITCH))
            return ntr_source_steps_lead(steps, around->parent, jump);
    }
    return NTR_SOURCE_NO;
}

static bool is_test(const ntr_source_step *step, ntr_text_place begin, char way) {
    return step->kind == NTR_SOURCE_STEP_TEST && step->way == way && equal(step->begin, begin);
}

/* A condition selects a jump, or control goes on after it. */
static ntr_source_answer lead_test(const ntr_source_steps *steps, const ntr_source_step *test, ntr_text_place jump) {
    const bool selected = equal(test->jump, jump) || lead_on(steps, test, jump);
    for (uint32_t i = test->parent; i != NTR_SOURCE_STEP_NONE; i = steps->items[i].parent) {
        const ntr_source_step *step = &steps->items[i];
        if (step->kind == NTR_SOURCE_STEP_TEST || step->kind == NTR_SOURCE_STEP_CHOICE) continue;
        bool same = step->jump.line && step->way == test->way;
        if (step->kind == NTR_SOURCE_STEP_LOOP) same = test->way == 'c';
        if (step->kind == NTR_SOURCE_STEP_SWITCH) same = test->way == 'b';
        if (step->kind == NTR_SOURCE_STEP_SWITCH && !same) continue;
        const uint32_t next = step->next.line ? ntr_source_steps_at(steps, step->next) : NTR_SOURCE_STEP_NONE;
        if (next != NTR_SOURCE_STEP_NONE && is_test(&steps->items[next], step->next, test->way)) {
            i = next; /* it may have the same results */
            continue;
        }
        const ntr_source_answer after = selected ? NTR_SOURCE_YES : ntr_source_steps_lead(steps, i, jump);
        return after == NTR_SOURCE_YES && same ? NTR_SOURCE_MAYBE : after;
    }
    return !selected ? NTR_SOURCE_NO : test->way == 'r' ? NTR_SOURCE_MAYBE : NTR_SOURCE_YES;
}

ntr_source_answer ntr_source_steps_lead(const ntr_source_steps *steps, uint32_t from, ntr_text_place jump) {
    for (uint32_t i = from; i != NTR_SOURCE_STEP_NONE; i = steps->items[i].parent) {
        const ntr_source_step *step = &steps->items[i];
        if (step->kind == NTR_SOURCE_STEP_SWITCH) continue;
        if (step->kind == NTR_SOURCE_STEP_TEST) return lead_test(steps, step, jump);
        if (equal(step->jump, jump)) return NTR_SOURCE_YES;
        const ntr_source_answer on = lead_on(steps, step, jump);
        const ntr_source_step *around = step->parent == NTR_SOURCE_STEP_NONE ? NULL : &steps->items[step->parent];
        const bool other = step->kind == NTR_SOURCE_STEP_CHOICE && around && around->kind == NTR_SOURCE_STEP_CHOICE &&
                           equal(around->begin, step->begin);
        if (on != NTR_SOURCE_NO || !other) return on;
    }
    return NTR_SOURCE_NO;
}

uint32_t ntr_source_steps_test(const ntr_source_steps *steps, ntr_text_place jump) {
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].kind == NTR_SOURCE_STEP_TEST && equal(steps->items[i].jump, jump)) return i;
    return NTR_SOURCE_STEP_NONE;
}
