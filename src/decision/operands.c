/* What a condition reads and calls. */
#include "base/bytes.h"
#include "decision/cursor.h"

typedef struct operand_search {
    const ntr_unit_walk *walk;
    ntr_condition_flow *flow;
} operand_search;

static uint64_t bit_of(const ntr_unit_walk *w, CXCursor cursor) {
    CXString text = w->clang->getCursorSpelling(cursor);
    const char *name = w->clang->getCString(text);
    const uint64_t hash = ntr_hash_text(NTR_HASH_START, name ? name : "");
    w->clang->disposeString(text);
    return UINT64_C(1) << (hash * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* Of s->mode and s->size only the members count, and of a call only the arguments. */
static enum CXChildVisitResult take(CXCursor cursor, CXCursor parent, CXClientData data) {
    const operand_search *s = data;
    const ntr_unit_walk *w = s->walk;
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    (void)parent;
    if (kind == CXCursor_CallExpr || kind == CXCursor_StmtExpr) s->flow->calls = true;
    enum CXCursorKind named = w->clang->getCursorKind(w->clang->getCursorReferenced(cursor));
    if (kind == CXCursor_CallExpr && named == CXCursor_ConversionFunction) s->flow->converts = true;
    if (kind != CXCursor_DeclRefExpr && kind != CXCursor_MemberRefExpr) return CXChildVisit_Recurse;
    if (named == CXCursor_VarDecl || named == CXCursor_ParmDecl || named == CXCursor_FieldDecl)
        s->flow->names |= bit_of(w, cursor);
    return CXChildVisit_Continue;
}

void ntr_cursor_operands(const ntr_unit_walk *w, CXCursor cursor, ntr_condition_flow *flow) {
    operand_search s = {w, flow};
    (void)take(cursor, cursor, &s);
    w->clang->visitChildren(cursor, take, &s);
}
