/* Statements of which a call counts the executions.
 *
 * A statement of a block that calls one function, and always, is executed as often as its call instructions. Compilers
 * may copy a call, and its copies have its place in the line table, but they do not leave it out. Left out are
 * functions of system headers, which a compiler may compute itself (strlen, printf), and what a macro expands to. Where
 * the function is inlined after all, or something else in the statement is a call, the counts do not agree with the
 * decisions behind it, and nothing is shown. */
#include "decision/walk.h"

typedef struct call_search {
    const ntr_unit_walk *walk;
    unsigned count;
    bool wrong; /* a part of the statement is not always executed, or its call may be left out */
} call_search;

/* Methods that are defined in their class are small, and inlined: then only the counts behind other calls and decisions
 * are left. */
static bool is_counted(const ntr_unit_walk *w, CXCursor called) {
    const enum CXCursorKind kind = w->clang->getCursorKind(called);
    if (w->clang->Location_isInSystemHeader(w->clang->getCursorLocation(called))) return false;
    return kind == CXCursor_FunctionDecl || (kind == CXCursor_CXXMethod && !w->clang->Cursor_isFunctionInlined(called));
}

static bool is_conditional(const ntr_unit_walk *w, CXCursor cursor, enum CXCursorKind kind) {
    return kind == CXCursor_ConditionalOperator || kind == CXCursor_StmtExpr || kind == CXCursor_LambdaExpr ||
           kind == CXCursor_UnaryExpr || ntr_cursor_is_logical(w, cursor);
}

static enum CXChildVisitResult take(CXCursor cursor, CXCursor parent, CXClientData data) {
    call_search *s = data;
    const ntr_unit_walk *w = s->walk;
    const enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    (void)parent;
    s->wrong |= is_conditional(w, cursor, kind);
    if (kind == CXCursor_CallExpr) {
        const ntr_cursor_place place = ntr_cursor_begin(w, cursor);
        s->count++;
        s->wrong |= place.line != place.spelled_line || place.column != place.spelled_column;
        s->wrong |= !is_counted(w, w->clang->getCursorReferenced(cursor));
    }
    return CXChildVisit_Recurse;
}

static bool is_plain(const ntr_unit_walk *w, CXCursor statement) {
    const enum CXCursorKind kind = w->clang->getCursorKind(statement);
    return kind == CXCursor_DeclStmt || kind == CXCursor_CallExpr || kind == CXCursor_BinaryOperator ||
           kind == CXCursor_CompoundAssignOperator || kind == CXCursor_UnexposedExpr ||
           kind == CXCursor_CStyleCastExpr || kind == CXCursor_ParenExpr;
}

const char *ntr_cursor_called(ntr_unit_walk *w, CXCursor statement) {
    enum CXCursorKind kind;
    while ((kind = w->clang->getCursorKind(statement)) == CXCursor_CompoundStmt || kind == CXCursor_ParenExpr ||
           kind == CXCursor_UnexposedExpr)
        if (!ntr_cursor_inner(w, statement, &statement)) return NULL;
    const CXCursor called = w->clang->getCursorReferenced(statement);
    if (kind != CXCursor_CallExpr || w->clang->getCursorKind(called) != CXCursor_FunctionDecl) return NULL;
    const CXString text = w->clang->getCursorSpelling(called);
    const char *name = ntr_texts_keep(&w->decisions->texts, w->clang->getCString(text));
    w->clang->disposeString(text);
    return name;
}

void ntr_walk_call(ntr_unit_walk *w, CXCursor statement) {
    call_search s = {.walk = w};
    const ntr_cursor_place begin = ntr_cursor_begin(w, statement);
    if (w->status || !is_plain(w, statement) || begin.line != begin.spelled_line ||
        begin.column != begin.spelled_column)
        return;
    (void)take(statement, statement, &s);
    w->clang->visitChildren(statement, take, &s);
    if (s.wrong || s.count != 1 || !begin.file) return;
    const ntr_call_site call = {ntr_cursor_path(w, statement), ntr_cursor_extent(w, statement),
                                ++w->decisions->last_id};
    if (!call.path) return;
    w->status = ntr_decisions_add_call(w->decisions, &call);
    w->now = ntr_flow_restart(&w->now, call.id, NTR_FLOW_CALL);
}
