#include "decision/walk.h"

typedef struct back_search {
    const ntr_unit_walk *walk;
    bool found;
} back_search;

/* Returns whether a label is before a goto, or it is not known. */
static bool is_before(const ntr_unit_walk *w, CXCursor label, CXCursor jump) {
    const ntr_cursor_place to = ntr_cursor_begin(w, w->clang->getCursorReferenced(label)), from = ntr_cursor_begin(w, jump);
    return !to.file || to.file != from.file || to.offset <= from.offset;
}

static enum CXChildVisitResult look(CXCursor cursor, CXCursor parent, CXClientData data) {
    back_search *s = data;
    switch ((int)s->walk->clang->getCursorKind(cursor)) {
    case CXCursor_LabelRef: s->found |= is_before(s->walk, cursor, parent); break;
    case CXCursor_IndirectGotoStmt:
    case CXCursor_GCCAsmStmt: s->found = true; break; /* asm goto */
    default: break;
    }
    return s->found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool ntr_walk_goes_back(ntr_unit_walk *w, CXCursor function) {
    back_search s = {.walk = w};
    w->clang->visitChildren(function, look, &s);
    return s.found;
}
