#include "decision/walk.h"

#include "decision/draft.h"

/* How often what follows a condition is executed: when it is true, and when it is false. */
typedef struct control_flow {
    ntr_flow_count when[2];
} control_flow;

/* The flow after a decision that is evaluated `in` times. */
static control_flow outcome_of(const ntr_flow_count *in, ntr_draft_result result, uint32_t id, bool negated) {
    control_flow o;
    ntr_flow_count none = ntr_flow_none(), yes = ntr_flow_of(id, NTR_FLOW_TRUE),
                   here = ntr_flow_restart(in, id, NTR_FLOW_EVALUATED);
    switch (result) {
    case NTR_DRAFT_ADDED:
        o.when[!negated] = yes;
        o.when[negated] = ntr_flow_add(&here, &yes, -1);
        break;
    case NTR_DRAFT_FALSE:
    case NTR_DRAFT_TRUE:
        o.when[result == NTR_DRAFT_TRUE] = *in;
        o.when[result != NTR_DRAFT_TRUE] = none;
        break;
    case NTR_DRAFT_LEFT_OUT: o.when[0] = o.when[1] = ntr_flow_unknown(); break;
    }
    return o;
}

/* The head of a statement is an expression with a keyword before it. */
static void enter_head(ntr_unit_walk *w, CXCursor statement, CXCursor condition) {
    if (w->whole.line) return; /* ?: in an expression */
    ntr_extent end = ntr_cursor_extent(w, condition);
    w->whole = ntr_cursor_extent(w, statement);
    w->whole.end_line = end.end_line;
    w->whole.end_column = end.end_column;
}

/* A condition of a statement or of ?:, evaluated w->now times. */
static control_flow control(ntr_unit_walk *w, CXCursor condition, const ntr_control *about, unsigned depth) {
    bool negated = false;
    const ntr_extent outer = w->whole;
    enter_head(w, about->keyword_before ? *about->statement : condition, condition);
    const ntr_flow_count in = w->now;
    CXCursor cursor = ntr_cursor_strip_not(w, condition, &negated);
    if (!ntr_cursor_is_logical(w, cursor)) {
        cursor = condition;
        negated = false;
    }
    ntr_draft_result result = ntr_draft_add(w, cursor, about, negated, depth);
    w->whole = outer;
    return outcome_of(&in, result, about->id, negated);
}

void ntr_walk_if(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth, bool expression) {
    if (c->count < 2 || c->count > 3) {
        ntr_walk_all(w, c, depth);
        w->now = ntr_flow_unknown();
        return;
    }
    const ntr_rest rest = w->rest;
    bool rest_when = false,
         depends =
             !expression && ntr_rest_depends(w, c->items[1], c->count > 2 ? &c->items[2] : NULL, &rest, &rest_when);
    const ntr_control about = {
        .statement = &cursor,
        .keyword_before = true,
        .id = ++w->decisions->last_id,
        .until = expression ? &c->items[c->count - 1] : NULL,
        .rest = depends ? &rest.extent : NULL,
        .rest_when = rest_when,
        .falls = !expression && c->count == 2 && !ntr_rest_jumps(w, c->items[1]),
        .when = {c->count > 2 ? &c->items[2] : NULL, &c->items[1]},
    };
    control_flow o = control(w, c->items[0], &about, depth);
    w->now = o.when[1];
    ntr_walk(w, c->items[1], depth + 1);
    ntr_flow_count after = w->now;
    w->now = o.when[0];
    if (c->count > 2) ntr_walk(w, c->items[2], depth + 1);
    w->now = ntr_flow_add(&after, &w->now, 1);
}

/* The state of the loop or switch around a statement. */
typedef struct enclosing {
    ntr_flow_count breaks, continues, in;
    uint32_t jumps;
    ntr_rest rest;
} enclosing;

static enclosing enter_loop(ntr_unit_walk *w) {
    enclosing outer = {w->breaks, w->continues, w->now, w->jumps, w->rest};
    w->rest.extent.line = 0;
    w->breaks = w->continues = ntr_flow_none();
    return outer;
}

/* Control leaves a loop as often as it enters it, if nothing in it jumps further. */
static void leave_loop(ntr_unit_walk *w, const enclosing *outer, const ntr_flow_count *ends) {
    ntr_flow_count after = ntr_flow_add(ends, &w->breaks, 1);
    w->now = w->jumps == outer->jumps ? outer->in : after;
    w->breaks = outer->breaks;
    w->continues = outer->continues;
    w->rest = outer->rest;
}

/* while, do and for. `body` and `condition` are indexes of children. The decision of the condition has an id before its
 * body is visited, because the body is executed as often as it is true. */
void ntr_walk_loop(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, size_t body, size_t condition,
                   bool keyword_before, unsigned depth) {
    const ntr_control about = {.statement = &cursor,
                               .keyword_before = keyword_before,
                               .loop = true,
                               .id = ++w->decisions->last_id,
                               .when = {NULL, &c->items[body]},
                               .repeats = body < condition && c->count == 2,
                               .body = body < condition ? &c->items[body] : NULL};
    bool negated = false, is_do = about.repeats;
    int64_t value = 0;
    CXCursor stripped = ntr_cursor_strip_not(w, c->items[condition], &negated);
    if (!ntr_cursor_is_logical(w, stripped)) negated = false;
    for (size_t i = 0; i < condition && !is_do; i++) ntr_walk(w, c->items[i], depth + 1); /* the first part of for */
    enclosing outer = enter_loop(w);
    bool constant = ntr_cursor_constant(w, c->items[condition], &value);
    ntr_flow_count yes = ntr_flow_of(about.id, NTR_FLOW_TRUE);
    if (constant)
        w->now = is_do && !value ? outer.in : ntr_flow_unknown();
    else if (negated)
        w->now = ntr_flow_unknown(); /* the number of evaluations depends on the body itself */
    else
        w->now = is_do ? ntr_flow_add(&outer.in, &yes, 1) : yes;
    w->rest = constant && value ? ntr_rest_of_endless(w, c->items[body]) : ntr_rest_of_loop(w, c, body, condition);
    ntr_walk(w, c->items[body], depth + 1);
    w->now = ntr_flow_add(&w->now, &w->continues, 1);
    for (size_t i = condition + 1; i < body; i++) ntr_walk(w, c->items[i], depth + 1); /* the last part of for */
    if (!is_do) w->now = ntr_flow_add(&w->now, &outer.in, 1);
    control_flow o = control(w, c->items[condition], &about, depth);
    leave_loop(w, &outer, &o.when[0]);
}

void ntr_walk_for(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    size_t condition = ntr_cursor_for_condition(w, cursor, c);
    if (condition < c->count) {
        ntr_walk_loop(w, cursor, c, c->count - 1, condition, false, depth);
        return;
    }
    enclosing outer = enter_loop(w);
    w->now = ntr_flow_unknown();
    if (c->count) w->rest = ntr_rest_of_endless(w, c->items[c->count - 1]);
    ntr_walk_all(w, c, depth);
    const ntr_flow_count none = ntr_flow_none();
    leave_loop(w, &outer, &none);
}

void ntr_walk_range(ntr_unit_walk *w, const ntr_cursors *c, unsigned depth) {
    enclosing outer = enter_loop(w);
    const ntr_flow_count unknown = ntr_flow_unknown();
    w->now = unknown;
    ntr_walk_all(w, c, depth);
    leave_loop(w, &outer, &unknown);
}

/* Where a function that is called throws, what follows the call is executed less often than the source says, and then
 * what is counted does not agree. How often the handlers are executed is not known. */
void ntr_walk_try(ntr_unit_walk *w, const ntr_cursors *c, unsigned depth) {
    for (size_t i = 0; i < c->count; i++) {
        ntr_walk(w, c->items[i], depth + 1);
        w->now = ntr_flow_unknown();
    }
}

/* How often each case is executed is not known. */
void ntr_walk_switch(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    const ntr_flow_count breaks = w->breaks;
    const uint32_t jumps = w->jumps, continues = w->continue_count;
    const ntr_rest rest = w->rest;
    if (c->count) {
        enter_head(w, cursor, c->items[0]);
        ntr_walk(w, c->items[0], depth + 1);
        w->whole.line = 0;
    }
    const ntr_flow_count in = w->now;
    w->now = ntr_flow_unknown();
    w->rest.extent.line = 0; /* of the cases */
    for (size_t i = 1; i < c->count; i++) ntr_walk(w, c->items[i], depth + 1);
    w->now = w->jumps == jumps && w->continue_count == continues ? in : ntr_flow_unknown();
    w->breaks = breaks;
    w->rest = rest;
}

void ntr_walk_jump(ntr_unit_walk *w, enum CXCursorKind kind) {
    if (kind == CXCursor_BreakStmt) w->breaks = ntr_flow_add(&w->breaks, &w->now, 1);
    if (kind == CXCursor_ContinueStmt) {
        w->continues = ntr_flow_add(&w->continues, &w->now, 1);
        w->continue_count++;
    }
    if (kind != CXCursor_BreakStmt && kind != CXCursor_ContinueStmt) w->jumps++;
    w->now = ntr_flow_none();
}
