#include "decision/cursor.h"

#include <string.h>

static bool is_binary(const ntr_unit_walk *w, CXCursor cursor, enum CXBinaryOperatorKind operator) {
    return w->clang->getCursorKind(cursor) == CXCursor_BinaryOperator &&
           w->clang->getCursorBinaryOperatorKind(cursor) == operator;
}

bool ntr_cursor_is_comma(const ntr_unit_walk *w, CXCursor cursor) {
    return is_binary(w, cursor, CXBinaryOperator_Comma);
}

bool ntr_cursor_is_void_cast(const ntr_unit_walk *w, CXCursor cursor) {
    return w->clang->getCursorKind(cursor) == CXCursor_CStyleCastExpr &&
           w->clang->getCursorType(cursor).kind == CXType_Void;
}

static bool is_call_of(const ntr_unit_walk *w, CXCursor cursor, const char *name) {
    CXString text = w->clang->getCursorSpelling(cursor);
    const char *called = w->clang->getCString(text);
    bool same = called && strcmp(called, name) == 0;
    w->clang->disposeString(text);
    return same;
}

static bool is_zero(ntr_unit_walk *w, CXCursor cursor) {
    int64_t value;
    return ntr_cursor_constant(w, cursor, &value) && !value;
}

static bool is_cast(enum CXCursorKind kind) {
    return kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr || kind == CXCursor_CStyleCastExpr ||
           kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXFunctionalCastExpr;
}

/* Returns the index of the child that has the same truth as the cursor, or its opposite; the number of children: none.
 */
static size_t same_truth(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *c) {
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    if (is_cast(kind) && c->count) return c->count - 1; /* the type may be a child before */
    if (ntr_cursor_is_not(w, cursor)) return 0;
    if (kind == CXCursor_CallExpr && c->count == 3 && is_call_of(w, cursor, "__builtin_expect")) return 1;
    if (kind != CXCursor_BinaryOperator || c->count != 2) return c->count;
    bool comparison = is_binary(w, cursor, CXBinaryOperator_NE) || is_binary(w, cursor, CXBinaryOperator_EQ);
    if (comparison && is_zero(w, c->items[1])) return 0;
    return ntr_cursor_is_comma(w, cursor) || is_binary(w, cursor, CXBinaryOperator_Assign) ? 1 : c->count;
}

bool ntr_cursor_truth(ntr_unit_walk *w, CXCursor cursor, CXCursor *logical) {
    enum { WRAPPERS_MAX = 64 };
    for (unsigned i = 0; i < WRAPPERS_MAX && !ntr_cursor_is_logical(w, cursor); i++) {
        ntr_cursors c = ntr_cursor_children(w, cursor);
        size_t at = same_truth(w, cursor, &c);
        bool found = at < c.count;
        if (found) cursor = c.items[at];
        ntr_cursors_release(w, &c);
        if (!found) return false;
    }
    *logical = cursor;
    return ntr_cursor_is_logical(w, cursor);
}
