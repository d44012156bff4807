/* Walks the syntax tree of a unit. Children are visited in the order in which a compiler that does not optimize lays out
 * their code: the condition of a loop comes after its body (`order` of a decision). */
#include <stdbool.h>

#include "decision/parse.h"

#include "base/allocator.h"
#include "decision/cursor.h"
#include "decision/draft.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 1500 };

struct ntr_parser {
    const ntr_allocator *allocator;
    ntr_libclang clang;
};

ntr_parser *ntr_parser_new(const ntr_allocator *allocator) {
    ntr_parser *p = ntr_alloc(allocator, 1, sizeof *p);
    if (!p) return NULL;
    p->allocator = allocator;
    if (ntr_libclang_load(&p->clang)) return p;
    ntr_dealloc(allocator, p);
    return NULL;
}

void ntr_parser_free(ntr_parser *p) {
    if (!p) return;
    ntr_libclang_unload(&p->clang);
    ntr_dealloc(p->allocator, p);
}

void ntr_parser_version(ntr_parser *p, char *text, size_t size) {
    CXString version = p->clang.getClangVersion();
    snprintf(text, size, "%s", p->clang.getCString(version));
    p->clang.disposeString(version);
}

/* ---- the walk ---------------------------------------------------------------------------------- */

static void walk(ntr_unit_walk *w, CXCursor cursor, unsigned depth);

static void walk_all(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth) {
    for (size_t i = 0; i < children->count; i++) walk(w, children->items[i], depth + 1);
}

/* Follows which values are not used: those of statements, of what is converted to void, and of the first operands of commas. */
static void walk_parts(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    const bool comma = ntr_cursor_is_comma(w, cursor), unused = w->unused;
    const bool never = kind == CXCursor_CompoundStmt || ntr_cursor_is_void_cast(w, cursor);
    const bool same = comma || kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr;
    for (size_t i = 0; i < children->count; i++) {
        w->unused = never || (comma && i == 0) || (same && unused);
        walk(w, children->items[i], depth + 1);
    }
    w->unused = false;
}

/* How often what follows a condition is executed: when it is true, and when it is false. */
typedef struct control_flow {
    ntr_flow_count when[2];
} control_flow;

/* The flow after a decision that is evaluated `in` times. */
static control_flow outcome_of(const ntr_flow_count *in, ntr_draft_result result, uint32_t id, bool negated) {
    control_flow o;
    ntr_flow_count none = ntr_flow_none(), yes = ntr_flow_of(id, NTR_FLOW_TRUE);
    switch (result) {
    case NTR_DRAFT_ADDED:
        o.when[!negated] = yes;
        o.when[negated] = ntr_flow_add(in, &yes, -1);
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

static void walk_if(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth, bool expression) {
    if (c->count < 2 || c->count > 3) {
        walk_all(w, c, depth);
        w->now = ntr_flow_unknown();
        return;
    }
    const ntr_control about = {
        .statement = &cursor,
        .keyword_before = true,
        .id = ++w->decisions->last_id,
        .until = expression ? &c->items[c->count - 1] : NULL,
        .when = {c->count > 2 ? &c->items[2] : NULL, &c->items[1]},
    };
    control_flow o = control(w, c->items[0], &about, depth);
    w->now = o.when[1];
    walk(w, c->items[1], depth + 1);
    ntr_flow_count after = w->now;
    w->now = o.when[0];
    if (c->count > 2) walk(w, c->items[2], depth + 1);
    w->now = ntr_flow_add(&after, &w->now, 1);
}

/* The state of the loop or switch around a statement. */
typedef struct enclosing {
    ntr_flow_count breaks, continues, in;
    uint32_t jumps;
} enclosing;

static enclosing enter_loop(ntr_unit_walk *w) {
    enclosing outer = {w->breaks, w->continues, w->now, w->jumps};
    w->breaks = w->continues = ntr_flow_none();
    return outer;
}

/* Control leaves a loop as often as it enters it, if nothing in it jumps further. */
static void leave_loop(ntr_unit_walk *w, const enclosing *outer, const ntr_flow_count *ends) {
    ntr_flow_count after = ntr_flow_add(ends, &w->breaks, 1);
    w->now = w->jumps == outer->jumps ? outer->in : after;
    w->breaks = outer->breaks;
    w->continues = outer->continues;
}

/* while, do and for. `body` and `condition` are indexes of children. The decision of the condition has an id before its
 * body is visited, because the body is executed as often as it is true. */
static void walk_loop(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, size_t body, size_t condition,
                      bool keyword_before, unsigned depth) {
    const ntr_control about = {.statement = &cursor, .keyword_before = keyword_before, .loop = true,
                               .id = ++w->decisions->last_id, .when = {NULL, &c->items[body]}};
    bool negated = false, is_do = body < condition && c->count == 2, value;
    CXCursor stripped = ntr_cursor_strip_not(w, c->items[condition], &negated);
    if (!ntr_cursor_is_logical(w, stripped)) negated = false;
    for (size_t i = 0; i < condition && !is_do; i++) walk(w, c->items[i], depth + 1); /* the first part of for */
    enclosing outer = enter_loop(w);
    bool constant = ntr_cursor_constant(w, c->items[condition], &value);
    ntr_flow_count yes = ntr_flow_of(about.id, NTR_FLOW_TRUE);
    if (constant)
        w->now = is_do && !value ? outer.in : ntr_flow_unknown();
    else if (negated)
        w->now = ntr_flow_unknown(); /* the number of evaluations depends on the body itself */
    else
        w->now = is_do ? ntr_flow_add(&outer.in, &yes, 1) : yes;
    walk(w, c->items[body], depth + 1);
    w->now = ntr_flow_add(&w->now, &w->continues, 1);
    for (size_t i = condition + 1; i < body; i++) walk(w, c->items[i], depth + 1); /* the last part of for */
    if (!is_do) w->now = ntr_flow_add(&w->now, &outer.in, 1);
    control_flow o = control(w, c->items[condition], &about, depth);
    leave_loop(w, &outer, &o.when[0]);
}

static void walk_for(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    size_t condition = ntr_cursor_for_condition(w, cursor, c);
    if (condition < c->count) {
        walk_loop(w, cursor, c, c->count - 1, condition, false, depth);
        return;
    }
    enclosing outer = enter_loop(w);
    w->now = ntr_flow_unknown();
    walk_all(w, c, depth);
    const ntr_flow_count none = ntr_flow_none();
    leave_loop(w, &outer, &none);
}

/* How often each case is executed is not known. */
static void walk_switch(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    const ntr_flow_count breaks = w->breaks;
    const uint32_t jumps = w->jumps, continues = w->continue_count;
    if (c->count) {
        enter_head(w, cursor, c->items[0]);
        walk(w, c->items[0], depth + 1);
        w->whole.line = 0;
    }
    const ntr_flow_count in = w->now;
    w->now = ntr_flow_unknown();
    for (size_t i = 1; i < c->count; i++) walk(w, c->items[i], depth + 1);
    w->now = w->jumps == jumps && w->continue_count == continues ? in : ntr_flow_unknown();
    w->breaks = breaks;
}

static void walk_jump(ntr_unit_walk *w, enum CXCursorKind kind) {
    if (kind == CXCursor_BreakStmt) w->breaks = ntr_flow_add(&w->breaks, &w->now, 1);
    if (kind == CXCursor_ContinueStmt) {
        w->continues = ntr_flow_add(&w->continues, &w->now, 1);
        w->continue_count++;
    }
    if (kind != CXCursor_BreakStmt && kind != CXCursor_ContinueStmt) w->jumps++;
    w->now = ntr_flow_none();
}

static void walk_statement(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    switch ((int)kind) {
    case CXCursor_IfStmt: walk_if(w, cursor, c, depth, false); break;
    case CXCursor_ConditionalOperator: walk_if(w, cursor, c, depth, true); break;
    case CXCursor_WhileStmt: walk_loop(w, cursor, c, c->count - 1, 0, true, depth); break;
    case CXCursor_DoStmt: walk_loop(w, cursor, c, 0, c->count - 1, false, depth); break;
    case CXCursor_ForStmt: walk_for(w, cursor, c, depth); break;
    case CXCursor_SwitchStmt: walk_switch(w, cursor, c, depth); break;
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
        walk_all(w, c, depth);
        walk_jump(w, kind);
        break;
    case CXCursor_LabelStmt:
        w->jumps++;
        w->now = ntr_flow_unknown();
        walk_all(w, c, depth);
        break;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_CXXForRangeStmt:
    case CXCursor_CXXTryStmt:
    case CXCursor_CXXThrowExpr:
        w->now = ntr_flow_unknown();
        walk_all(w, c, depth);
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

/* What is not evaluated when the program runs. */
static bool is_unevaluated(enum CXCursorKind kind) {
    return kind == CXCursor_UnaryExpr || kind == CXCursor_StaticAssert || kind == CXCursor_EnumDecl;
}

static void walk(ntr_unit_walk *w, CXCursor cursor, unsigned depth) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    if (w->status || is_unevaluated(kind)) return;
    if (depth > NESTING_MAX) {
        w->too_deep = true;
        return;
    }
    const ntr_flow_count outer = w->now;
    const ntr_extent around = w->whole;
    enter_expression(w, cursor, kind);
    if (is_function(kind)) ntr_walk_enter_function(w, cursor);
    if (ntr_cursor_is_logical(w, cursor)) {
        ntr_draft_add(w, cursor, NULL, false, depth);
        w->whole = around;
        return;
    }
    ntr_cursors children = ntr_cursor_children(w, cursor);
    bool whole = (kind != CXCursor_WhileStmt && kind != CXCursor_DoStmt) || children.count == 2;
    if (kind >= CXCursor_FirstStmt && kind <= CXCursor_LastStmt) w->unused = false;
    if (whole)
        walk_statement(w, cursor, &children, depth);
    else
        walk_all(w, &children, depth);
    ntr_cursors_release(w, &children);
    if (is_function(kind)) w->now = outer;
    w->whole = around;
}

/* Declarations of system headers are not visited. */
static void walk_unit(ntr_unit_walk *w, CXCursor unit) {
    ntr_cursors children = ntr_cursor_children(w, unit);
    for (size_t i = 0; i < children.count && !w->status; i++) {
        if (ntr_cursor_selected(w, children.items[i])) walk(w, children.items[i], 0);
    }
    ntr_cursors_release(w, &children);
}

/* ---- units ------------------------------------------------------------------------------------- */

/* Stores the first error of the unit, without its place. */
static bool find_error(const ntr_libclang *clang, CXTranslationUnit unit, char *why, size_t size) {
    unsigned count = clang->getNumDiagnostics(unit);
    for (unsigned i = 0; i < count; i++) {
        CXDiagnostic diagnostic = clang->getDiagnostic(unit, i);
        bool error = clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        if (error) {
            CXString text = clang->formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation);
            snprintf(why, size, "%s", clang->getCString(text));
            clang->disposeString(text);
        }
        clang->disposeDiagnostic(diagnostic);
        if (error) return true;
    }
    return false;
}

static ntr_status parse(ntr_parser *p, CXIndex index, ntr_decisions *d, const ntr_parse_unit *unit, char *why,
                        size_t size) {
    CXTranslationUnit tu = NULL;
    enum CXErrorCode code =
        p->clang.parseTranslationUnit2(index, unit->file, unit->arguments, (int)unit->argument_count, NULL, 0,
                                       CXTranslationUnit_KeepGoing, &tu);
    if (code != CXError_Success || !tu) {
        snprintf(why, size, "libclang cannot parse it");
        return NTR_E_FORMAT;
    }
    ntr_unit_walk w = {.clang = &p->clang, .decisions = d, .unit = tu, .walk = walk, .only = unit->only, .only_count = unit->only_count};
    w.status = find_error(&p->clang, tu, why, size) ? NTR_E_FORMAT : NTR_OK;
    if (!w.status) walk_unit(&w, p->clang.getTranslationUnitCursor(tu));
    if (!w.status && w.too_deep) {
        snprintf(why, size, "statements are nested too deeply");
        w.status = NTR_E_FORMAT;
    }
    p->clang.disposeTranslationUnit(tu);
    return w.status;
}

ntr_status ntr_parser_parse(ntr_parser *p, ntr_decisions *d, const ntr_parse_unit *unit, char *why, size_t size) {
    CXIndex index = p->clang.createIndex(0, 0);
    if (!index) return NTR_E_MEMORY;
    ntr_status status = parse(p, index, d, unit, why, size);
    p->clang.disposeIndex(index);
    return status;
}
