/* What is executed after a statement with a condition, when the condition has one value, and is skipped when it has the
 * other.
 *
 * Example: for (...) { if (c) continue; f(); } -- f() is executed when c is false. When c is true, it cannot be
 * executed before c is evaluated again. The code of `continue` may have no instruction of its own, so that only f()
 * shows which outcome of the branch is which (match_results.c). */
#include "decision/walk.h"

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
