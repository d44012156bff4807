#include "decision/walk.h"

#include "decision/draft.h"

enum { NESTING_MAX = 1500 };

void ntr_walk_all(ntr_unit_walk *w, const ntr_cursors *children, unsigned depth) {
    for (size_t i = 0; i < children->count; i++) ntr_walk(w, children->items[i], depth + 1);
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
        ntr_walk_all(w, c, depth);
        if (c->count) ntr_walk_call(w, c->items[c->count - 1]);
        break;
    case CXCursor_CXXForRangeStmt: ntr_walk_range(w, c, depth); break;
    case CXCursor_CXXTryStmt: ntr_walk_try(w, c, depth); break;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
        w->now = ntr_flow_unknown();
        ntr_walk_all(w, c, depth);
        if (c->count) ntr_walk_call(w, c->items[c->count - 1]);
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
