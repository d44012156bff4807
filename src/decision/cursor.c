#include "decision/cursor.h"

#include "base/allocator.h"
#include "decision/arguments.h"

#include <ntrace/coverage.h>
#include <string.h>

/* ---- children ---------------------------------------------------------------------------------- */

typedef struct gathering {
    ntr_unit_walk *walk;
    ntr_cursors *cursors;
} gathering;

static enum CXChildVisitResult gather(CXCursor cursor, CXCursor parent, CXClientData data) {
    gathering *g = data;
    ntr_cursors *c = g->cursors;
    (void)parent;
    if (ntr_reserve(g->walk->decisions->allocator, (void **)&c->items, &c->capacity, c->count + 1, sizeof *c->items)) {
        g->walk->status = NTR_E_MEMORY;
        return CXChildVisit_Break;
    }
    c->items[c->count++] = cursor;
    return CXChildVisit_Continue;
}

ntr_cursors ntr_cursor_children(ntr_unit_walk *w, CXCursor cursor) {
    ntr_cursors cursors = {0};
    gathering g = {w, &cursors};
    w->clang->visitChildren(cursor, gather, &g);
    return cursors;
}

void ntr_cursors_release(ntr_unit_walk *w, ntr_cursors *cursors) {
    ntr_dealloc(w->decisions->allocator, cursors->items);
    *cursors = (ntr_cursors){0};
}

/* ---- places ------------------------------------------------------------------------------------ */

/* Generated sources name other lines, also of other files: #line. The line table of a compiler has these. */
static ntr_cursor_place place_of(const ntr_unit_walk *w, CXSourceLocation at) {
    ntr_cursor_place p = {0};
    CXString name;
    w->clang->getExpansionLocation(at, &p.file, NULL, NULL, &p.offset);
    w->clang->getPresumedLocation(at, &name, &p.line, &p.column);
    w->clang->disposeString(name);
    w->clang->getSpellingLocation(at, &p.spelled_file, &p.spelled_line, &p.spelled_column, NULL);
    return p;
}

const char *ntr_cursor_path(ntr_unit_walk *w, CXCursor cursor) {
    const CXSourceLocation at = w->clang->getRangeStart(w->clang->getCursorExtent(cursor));
    CXString name, own;
    CXFile file;
    unsigned line, column;
    w->clang->getExpansionLocation(at, &file, NULL, NULL, NULL);
    if (!file) return NULL;
    w->clang->getPresumedLocation(at, &name, &line, &column);
    own = w->clang->getFileName(file);
    const char *text = w->clang->getCString(name), *own_text = w->clang->getCString(own);
    const char *path = !text || !*text || (own_text && strcmp(text, own_text) == 0)
                           ? ntr_walk_path(w, file)
                           : ntr_path_resolve(&w->decisions->texts, text);
    w->clang->disposeString(name);
    w->clang->disposeString(own);
    return path;
}

ntr_cursor_place ntr_cursor_begin(const ntr_unit_walk *w, CXCursor cursor) {
    return place_of(w, w->clang->getRangeStart(w->clang->getCursorExtent(cursor)));
}

ntr_cursor_place ntr_cursor_end(const ntr_unit_walk *w, CXCursor cursor) {
    return place_of(w, w->clang->getRangeEnd(w->clang->getCursorExtent(cursor)));
}

ntr_extent ntr_cursor_extent(const ntr_unit_walk *w, CXCursor cursor) {
    ntr_cursor_place begin = ntr_cursor_begin(w, cursor), end = ntr_cursor_end(w, cursor);
    ntr_extent extent = {begin.line, begin.column, end.line, end.column};
    if (end.file != begin.file || end.line < begin.line || (end.line == begin.line && end.column <= begin.column)) {
        extent.end_line = begin.line; /* inside of one macro */
        extent.end_column = begin.column + 1;
    }
    return extent;
}

const char *ntr_cursor_text(const ntr_unit_walk *w, CXFile file, size_t *size) {
    return file ? w->clang->getFileContents(w->unit, file, size) : NULL;
}

const char *ntr_walk_path(ntr_unit_walk *w, CXFile file) {
    if (file == w->last_file && w->last_path) return w->last_path;
    CXString name = w->clang->getFileName(file);
    const char *text = w->clang->getCString(name);
    const char *path = ntr_path_resolve(&w->decisions->texts, text ? text : "");
    w->clang->disposeString(name);
    w->last_file = file;
    w->last_path = path;
    return path;
}

bool ntr_cursor_selected(ntr_unit_walk *w, CXCursor cursor) {
    CXSourceLocation at = w->clang->getCursorLocation(cursor);
    ntr_cursor_place place = place_of(w, at);
    if (!place.file || w->clang->Location_isInSystemHeader(at)) return false;
    const char *path = ntr_walk_path(w, place.file);
    if (!path) w->status = NTR_E_MEMORY;
    return path && ntr_path_selected(path, w->only, w->only_count);
}

void ntr_walk_enter_function(ntr_unit_walk *w, CXCursor cursor) {
    CXString name = w->clang->getCursorSpelling(cursor);
    const char *text = w->clang->getCString(name);
    w->function = ntr_texts_keep(&w->decisions->texts, text ? text : "");
    w->function_line = place_of(w, w->clang->getCursorLocation(cursor)).line;
    w->order = 0;
    w->now = ntr_flow_of(0, 0);
    w->clang->disposeString(name);
}

/* ---- expressions ------------------------------------------------------------------------------- */

bool ntr_cursor_is_logical(const ntr_unit_walk *w, CXCursor cursor) {
    if (w->clang->getCursorKind(cursor) != CXCursor_BinaryOperator) return false;
    enum CXBinaryOperatorKind kind = w->clang->getCursorBinaryOperatorKind(cursor);
    return kind == CXBinaryOperator_LAnd || kind == CXBinaryOperator_LOr;
}

bool ntr_cursor_is_not(const ntr_unit_walk *w, CXCursor cursor) {
    return w->clang->getCursorKind(cursor) == CXCursor_UnaryOperator &&
           w->clang->getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_LNot;
}

bool ntr_cursor_inner(ntr_unit_walk *w, CXCursor cursor, CXCursor *child) {
    ntr_cursors c = ntr_cursor_children(w, cursor);
    bool one = c.count == 1;
    if (one) *child = c.items[0];
    ntr_cursors_release(w, &c);
    return one;
}

/* Returns whether the cursor is a cast from bool to bool, which changes nothing: static_cast<bool>(a && b). */
static bool is_truth_cast(ntr_unit_walk *w, CXCursor cursor) {
    CXCursor child;
    return w->clang->getCursorKind(cursor) == CXCursor_CXXStaticCastExpr &&
           w->clang->getCursorType(cursor).kind == CXType_Bool && ntr_cursor_inner(w, cursor, &child) &&
           w->clang->getCursorType(child).kind == CXType_Bool;
}

CXCursor ntr_cursor_strip_not(ntr_unit_walk *w, CXCursor cursor, bool *negated) {
    CXCursor at = cursor, last = cursor; /* `last`: the outermost cursor that is kept if no && or || follows */
    bool inverted = false;
    for (CXCursor child;; at = child) {
        enum CXCursorKind kind = w->clang->getCursorKind(at);
        bool is_not = ntr_cursor_is_not(w, at);
        if (kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr && !is_not && !is_truth_cast(w, at)) break;
        if (!ntr_cursor_inner(w, at, &child)) break;
        inverted ^= is_not;
        if (!is_not && !inverted) last = child;
    }
    if (!ntr_cursor_is_logical(w, at)) return last;
    *negated ^= inverted;
    return at;
}

bool ntr_cursor_is_choice(ntr_unit_walk *w, CXCursor cursor) {
    for (;;) {
        enum CXCursorKind kind = w->clang->getCursorKind(cursor);
        if (kind == CXCursor_ConditionalOperator) return true;
        if (kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr && !ntr_cursor_is_not(w, cursor)) return false;
        if (!ntr_cursor_inner(w, cursor, &cursor)) return false;
    }
}

CXCursor ntr_cursor_operand(ntr_unit_walk *w, CXCursor cursor, bool *negated) {
    for (CXCursor child;; cursor = child) {
        const bool is_not = ntr_cursor_is_not(w, cursor);
        if (!is_not && w->clang->getCursorKind(cursor) != CXCursor_ParenExpr) return cursor;
        if (!ntr_cursor_inner(w, cursor, &child)) return cursor;
        *negated ^= is_not;
    }
}

CXCursor ntr_cursor_strip(ntr_unit_walk *w, CXCursor cursor, bool negations) {
    bool negated = false;
    CXCursor stripped = ntr_cursor_strip_not(w, cursor, &negated);
    return negated && !negations ? cursor : stripped;
}

/* Children of a for statement that are missing are not among its children, so the semicolons of its head decide. */
size_t ntr_cursor_for_condition(ntr_unit_walk *w, CXCursor cursor, const ntr_cursors *children) {
    if (children->count == 4) return 1;
    if (children->count < 2) return children->count;
    ntr_cursor_place begin = ntr_cursor_begin(w, cursor);
    size_t size, semicolons[2], found = 0;
    const char *text = ntr_cursor_text(w, begin.file, &size);
    unsigned body = ntr_cursor_begin(w, children->items[children->count - 1]).offset;
    int depth = 0;
    for (size_t i = begin.offset; text && i < size && i < body && found < 2; i++) {
        depth += text[i] == '(' || text[i] == '{';
        depth -= text[i] == ')' || text[i] == '}';
        if (text[i] == ';' && depth == 1) semicolons[found++] = i;
    }
    for (size_t i = 0; found == 2 && i + 1 < children->count; i++) {
        unsigned at = ntr_cursor_begin(w, children->items[i]).offset;
        if (at > semicolons[0] && at < semicolons[1]) return i;
    }
    return children->count;
}

static enum CXChildVisitResult find_variable(CXCursor cursor, CXCursor parent, CXClientData data) {
    const ntr_unit_walk **w = data;
    enum CXCursorKind kind = (*w)->clang->getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_UnaryExpr) return CXChildVisit_Continue; /* sizeof, alignof */
    bool enumerator = kind == CXCursor_DeclRefExpr &&
                      (*w)->clang->getCursorKind((*w)->clang->getCursorReferenced(cursor)) == CXCursor_EnumConstantDecl;
    bool varies = (kind == CXCursor_DeclRefExpr && !enumerator) || kind == CXCursor_MemberRefExpr ||
                  kind == CXCursor_CallExpr || kind == CXCursor_StmtExpr;
    if (!varies) return CXChildVisit_Recurse;
    *w = NULL;
    return CXChildVisit_Break;
}

bool ntr_cursor_constant(ntr_unit_walk *w, CXCursor cursor, int64_t *value) {
    const ntr_unit_walk *found = w;
    find_variable(cursor, cursor, &found);
    if (found) w->clang->visitChildren(cursor, find_variable, &found);
    if (!found) return false;
    CXEvalResult result = w->clang->Cursor_Evaluate(cursor);
    if (!result) return false;
    bool is_number = w->clang->EvalResult_getKind(result) == CXEval_Int;
    if (is_number) *value = w->clang->EvalResult_getAsLongLong(result);
    w->clang->EvalResult_dispose(result);
    return is_number;
}
