#include "decision/walk.h"

enum { NESTING_MAX = 1500 };

void ntr_walk_all(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth) {
    for (size_t i = 0; i < children->count; i++) ntr_walk(w, children->items[i], depth + 1);
}

/* Visits a statement: if it is an expression, its value is not used. */
static void walk_body(ntr_unit_walk *w, CXCursor cursor, unsigned depth) {
    w->unused = true;
    ntr_walk(w, cursor, depth + 1);
    w->unused = false;
}

static void walk_operand(ntr_unit_walk *w, CXCursor cursor, unsigned depth) {
    ntr_walk(w, cursor, depth + 1);
}

/* Visits what belongs to a label, and its statement, which is the last part. */
static void walk_labelled(ntr_unit_walk *w, const ntr_cursors *c, unsigned depth) {
    for (size_t i = 0; i < c->count; i++) (i + 1 < c->count ? walk_operand : walk_body)(w, c->items[i], depth);
    if (c->count) ntr_walk_call(w, c->items[c->count - 1]);
}

/* Follows which values are not used: those of statements, of what is converted to void, and of the first operands of
 * commas. */
static void walk_parts(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    const bool comma = ntr_cursor_is_comma(w, cursor), unused = w->unused;
    const bool never = kind == CXCursor_CompoundStmt || ntr_cursor_is_void_cast(w, cursor);
    const bool same = comma || kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr;
    const ntr_rest rest = w->rest;
    for (size_t i = 0; i < children->count; i++) {
        if (kind == CXCursor_CompoundStmt) w->rest = ntr_rest_in_block(w, children, i, &rest);
        w->unused = never || (comma && i == 0) || (same && unused);
        ntr_walk(w, children->items[i], depth + 1);
        if (kind == CXCursor_CompoundStmt) ntr_walk_call(w, children->items[i]);
    }
    w->unused = false;
    w->rest = rest;
}

static void walk_statement(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    switch ((int)kind) {
    case CXCursor_IfStmt: ntr_walk_if(w, cursor, c, depth, false); break;
    case CXCursor_ConditionalOperator: ntr_walk_if(w, cursor, c, depth, true); break;
    case CXCursor_WhileStmt: ntr_walk_loop(w, cursor, c, c->count - 1, 0, true, depth); break;
    case CXCursor_DoStmt: ntr_walk_loop(w, cursor, c, 0, c->count - 1, false, depth); break;
    case CXCursor_ForStmt: ntr_walk_for(w, cursor, c, depth); break;
    case CXCursor_SwitchStmt: ntr_walk_switch(w, cursor, c, depth); break;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_CXXThrowExpr:
        ntr_walk_all(w, c, depth);
        ntr_walk_jump(w, kind);
        break;
    case CXCursor_LabelStmt:
        w->jumps++;
        w->now = ntr_flow_unknown();
        walk_labelled(w, c, depth);
        break;
    case CXCursor_CXXForRangeStmt: ntr_walk_range(w, c, depth); break;
    case CXCursor_CXXTryStmt: ntr_walk_try(w, c, depth); break;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        w->now = ntr_flow_unknown();
        walk_labelled(w, c, depth);
        break;
    default: walk_parts(w, cursor, c, depth);
    }
}

static bool is_function(enum CXCursorKind kind) {
    return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod || kind == CXCursor_Constructor ||
           kind == CXCursor_Destructor || kind == CXCursor_ConversionFunction || kind == CXCursor_LambdaExpr ||
           kind == CXCursor_FunctionTemplate;
}

/* Follows the largest expression around what is visited. Statements inside of an expression, ({ }), begin anew. */
static void enter_expression(ntr_unit_walk *w, CXCursor cursor, enum CXCursorKind kind) {
    bool expression = kind >= CXCursor_FirstExpr && kind <= CXCursor_LastExpr;
    if (kind == CXCursor_StmtExpr || kind == CXCursor_CompoundStmt || is_function(kind))
        w->whole.line = 0;
    else if (!w->whole.line && (expression || kind == CXCursor_VarDecl || kind == CXCursor_ReturnStmt))
        w->whole = ntr_cursor_extent(w, cursor);
}

/* Returns whether the values of the parts of a cursor are returned or stored as they are. */
static bool passes_values(const ntr_unit_walk *w, CXCursor cursor, bool direct) {
    switch ((int)w->clang->getCursorKind(cursor)) {
    case CXCursor_ReturnStmt:
    case CXCursor_VarDecl: return true;
    case CXCursor_BinaryOperator: return w->clang->getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr: return direct;
    default: return false;
    }
}

/* What is not evaluated when the program runs. */
static bool is_unevaluated(enum CXCursorKind kind) {
    return kind == CXCursor_UnaryExpr || kind == CXCursor_StaticAssert || kind == CXCursor_EnumDecl;
}

void ntr_walk(ntr_unit_walk *w, CXCursor cursor, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    if (w->status || is_unevaluated(kind)) return;
    if (depth > NESTING_MAX) {
        w->too_deep = true;
        return;
    }
    const ntr_flow_count outer = w->now;
    const ntr_extent around = w->whole;
    const ntr_rest rest = w->rest;
    const bool direct = w->direct;
    enter_expression(w, cursor, kind);
    if (is_function(kind)) ntr_walk_enter_function(w, cursor);
    if (is_function(kind) || kind == CXCursor_StmtExpr) w->rest.extent.line = 0;
    if (ntr_cursor_is_logical(w, cursor)) {
        ntr_draft_add(w, cursor, NULL, false, depth);
        w->whole = around;
        w->direct = direct;
        return;
    }
    ntr_cursors children = ntr_cursor_children(w, cursor);
    bool whole = (kind != CXCursor_WhileStmt && kind != CXCursor_DoStmt) || children.count == 2;
    if (kind >= CXCursor_FirstStmt && kind <= CXCursor_LastStmt) w->unused = false;
    w->direct = passes_values(w, cursor, direct);
    if (whole)
        walk_statement(w, cursor, &children, depth);
    else
        ntr_walk_all(w, &children, depth);
    ntr_cursors_release(w, &children);
    if (is_function(kind)) w->now = outer;
    w->whole = around;
    w->rest = rest;
    w->direct = direct;
}

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

/* Visits an operand of ?:. That of a condition ?: has a place in the order of its own, if it is no ?: again. */
static void walk_choice(ntr_unit_walk *w, CXCursor cursor, unsigned depth, ntr_choice_walk *choice) {
    bool negated = false;
    const CXCursor inner = ntr_cursor_operand(w, cursor, &negated);
    const bool logical = choice && ntr_cursor_is_logical(w, inner);
    const bool again = choice && w->clang->getCursorKind(inner) == CXCursor_ConditionalOperator;
    w->choice = NULL;
    if (logical || again) {
        w->choice = choice;
        choice->negated ^= negated;
        choice->choice = choice->logical = inner;
    }
    walk_operand(w, cursor, depth);
    if (logical || again) choice->negated ^= negated;
    if (!choice || again || choice->tested.count > NTR_TESTED_MAX) return;
    const unsigned number = choice->tested.count++;
    if (number == NTR_TESTED_MAX) return;
    choice->tested.logical[number] = logical;
    choice->tested.order[number] = w->order++;
}

static bool is_constant(ntr_unit_walk *w, CXCursor cursor) {
    int64_t value;
    return ntr_cursor_constant(w, cursor, &value);
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
        .constants = expression && c->count > 2 && is_constant(w, c->items[1]) && is_constant(w, c->items[2]),
        .rest = depends ? &rest.extent : NULL,
        .rest_when = rest_when,
        .falls = !expression && c->count == 2 && !ntr_rest_jumps(w, c->items[1]),
        .when = {c->count > 2 ? &c->items[2] : NULL, &c->items[1]},
    };
    ntr_choice_walk *outer = w->choice;
    ntr_choice_walk *choice = expression && outer && w->clang->equalCursors(outer->choice, cursor) ? outer : NULL;
    w->choice = NULL;
    control_flow o = control(w, c->items[0], &about, depth);
    w->now = o.when[1];
    expression ? walk_choice(w, c->items[1], depth, choice) : walk_body(w, c->items[1], depth);
    ntr_flow_count after = w->now;
    w->now = o.when[0];
    if (c->count > 2) expression ? walk_choice(w, c->items[2], depth, choice) : walk_body(w, c->items[2], depth);
    w->now = ntr_flow_add(&after, &w->now, 1);
    w->choice = outer;
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
    for (size_t i = 0; i < condition && !is_do; i++) walk_body(w, c->items[i], depth); /* the first part of for */
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
    walk_body(w, c->items[body], depth);
    w->now = ntr_flow_add(&w->now, &w->continues, 1);
    for (size_t i = condition + 1; i < body; i++) walk_body(w, c->items[i], depth); /* the last part of for */
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

/* ---- What is executed after a statement with a condition, when the condition has one value, and is skipped when it
 * has the other.
 *
 * Example: for (...) { if (c) continue; f(); } -- f() is executed when c is false. When c is true, it cannot be
 * executed before c is evaluated again. The code of `continue` may have no instruction of its own, so that only f()
 * shows which outcome of the branch is which (match_results.c). */

static bool is_jump(enum CXCursorKind kind) {
    return kind == CXCursor_ReturnStmt || kind == CXCursor_BreakStmt || kind == CXCursor_ContinueStmt ||
           kind == CXCursor_GotoStmt;
}

static bool is_label(enum CXCursorKind kind) {
    return kind == CXCursor_LabelStmt || kind == CXCursor_CaseStmt || kind == CXCursor_DefaultStmt;
}

/* Returns the number of items from the first one on of which the code follows: up to a label, and up to a jump with it.
 */
static size_t followed(const ntr_unit_walk *w, const ntr_cursors *items, size_t first) {
    size_t end = first;
    while (end < items->count) {
        enum CXCursorKind kind = w->clang->getCursorKind(items->items[end]);
        if (is_label(kind)) break;
        end++;
        if (is_jump(kind)) break;
    }
    return end - first;
}

static ntr_rest between(const ntr_unit_walk *w, CXCursor first, CXCursor last, bool is_head) {
    const ntr_extent end = ntr_cursor_extent(w, last);
    ntr_rest rest = {ntr_cursor_extent(w, first), is_head};
    rest.extent.end_line = end.end_line;
    rest.extent.end_column = end.end_column;
    return rest;
}

ntr_rest ntr_rest_in_block(const ntr_unit_walk *w, const ntr_cursors *items, size_t at, const ntr_rest *block) {
    size_t count = followed(w, items, at + 1);
    if (count) return between(w, items->items[at + 1], items->items[at + count], false);
    return at + 1 == items->count ? *block : (ntr_rest){.is_head = false};
}

ntr_rest ntr_rest_of_endless(ntr_unit_walk *w, CXCursor body) {
    ntr_cursors items = ntr_cursor_children(w, body);
    ntr_rest rest = {.is_head = true};
    if (w->clang->getCursorKind(body) == CXCursor_CompoundStmt && items.count &&
        !is_label(w->clang->getCursorKind(items.items[0])))
        rest.extent = ntr_cursor_extent(w, items.items[0]);
    ntr_cursors_release(w, &items);
    return rest;
}

ntr_rest ntr_rest_of_loop(const ntr_unit_walk *w, const ntr_cursors *c, size_t body, size_t condition) {
    return between(w, c->items[condition], c->items[body > condition ? body - 1 : condition], true);
}

/* Returns whether a statement always skips what follows it. A goto may lead into it: then both outcomes reach it, and
 * neither is taken for the other. */
static bool skips(ntr_unit_walk *w, CXCursor statement, const ntr_rest *rest) {
    enum CXCursorKind kind = w->clang->getCursorKind(statement);
    if (kind != CXCursor_CompoundStmt) return is_jump(kind) && !(rest->is_head && kind == CXCursor_ContinueStmt);
    ntr_cursors items = ntr_cursor_children(w, statement);
    bool last = items.count && skips(w, items.items[items.count - 1], rest);
    ntr_cursors_release(w, &items);
    return last;
}

enum { JUMPS_DEPTH_MAX = 200 };

/* `loop`, `breakable`: break and continue stay inside. */
static bool jumps(ntr_unit_walk *w, CXCursor statement, bool loop, bool breakable, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(statement);
    if (kind == CXCursor_GotoStmt || kind == CXCursor_IndirectGotoStmt || kind == CXCursor_LabelStmt ||
        depth > JUMPS_DEPTH_MAX)
        return true;
    if (is_label(kind) && !breakable) return true; /* of a switch around the statement */
    if (kind == CXCursor_BreakStmt) return !breakable;
    if (kind == CXCursor_ContinueStmt) return !loop;
    const bool repeats = kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt || kind == CXCursor_ForStmt ||
                         kind == CXCursor_CXXForRangeStmt;
    ntr_cursors c = ntr_cursor_children(w, statement);
    bool found = false;
    for (size_t i = 0; i < c.count && !found; i++)
        found = jumps(w, c.items[i], loop || repeats, breakable || repeats || kind == CXCursor_SwitchStmt, depth + 1);
    ntr_cursors_release(w, &c);
    return found;
}

bool ntr_rest_jumps(ntr_unit_walk *w, CXCursor statement) {
    return jumps(w, statement, false, false, 0);
}

bool ntr_rest_depends(ntr_unit_walk *w, CXCursor then, const CXCursor *otherwise, const ntr_rest *rest, bool *when) {
    bool by_true = skips(w, then, rest), by_false = otherwise && skips(w, *otherwise, rest);
    *when = by_false;
    return rest->extent.line && by_true != by_false;
}
