/* What the operands of a condition are: their names, truth, comparisons and calls. */
#include "base/bytes.h"
#include "decision/cursor.h"
#include "decision/walk.h"

#include <string.h>

/* ---- What a condition reads and calls. */

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
static enum CXChildVisitResult operands_take(CXCursor cursor, CXCursor parent, CXClientData data) {
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
    (void)operands_take(cursor, cursor, &s);
    w->clang->visitChildren(cursor, operands_take, &s);
}

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

/* ---- Statements of which a call counts the executions.
 *
 * A statement of a block that calls one function, and always, is executed as often as its call instructions. Compilers
 * may copy a call, and its copies have its place in the line table, but they do not leave it out. Left out are
 * functions of system headers, which a compiler may compute itself (strlen, printf), and what a macro expands to. Where
 * the function is inlined after all, or something else in the statement is a call, the counts do not agree with the
 * decisions behind it, and nothing is shown. */

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

static enum CXChildVisitResult calls_take(CXCursor cursor, CXCursor parent, CXClientData data) {
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
    (void)calls_take(statement, statement, &s);
    w->clang->visitChildren(statement, calls_take, &s);
    if (s.wrong || s.count != 1 || !begin.file) return;
    const ntr_call_site call = {ntr_cursor_path(w, statement), ntr_cursor_extent(w, statement),
                                ++w->decisions->last_id};
    if (!call.path) return;
    w->status = ntr_decisions_add_call(w->decisions, &call);
    w->now = ntr_flow_restart(&w->now, call.id, NTR_FLOW_CALL);
}

/* ---- types ------------------------------------------------------------------------------------- */

/* Returns the type of an expression, without conversions of the place at which it is used; size 0: no integer or
 * pointer. */
static ntr_integer_type type_of(const ntr_unit_walk *w, CXCursor cursor) {
    const ntr_libclang *clang = w->clang;
    CXType type = clang->getCanonicalType(clang->getCursorType(cursor));
    if (type.kind == CXType_Enum)
        type = clang->getCanonicalType(clang->getEnumDeclIntegerType(clang->getTypeDeclaration(type)));
    const bool is_unsigned = type.kind == CXType_Bool ||
                             (type.kind >= CXType_Char_U && type.kind <= CXType_ULongLong) ||
                             type.kind == CXType_Pointer;
    const bool is_signed = type.kind >= CXType_Char_S && type.kind <= CXType_LongLong && type.kind != CXType_WChar;
    const long long size = is_unsigned || is_signed ? clang->Type_getSizeOf(type) : 0;
    if (size != 1 && size != 2 && size != 4 && size != 8) return (ntr_integer_type){0};
    return (ntr_integer_type){(uint8_t)size, is_signed};
}

static bool is_same_type(ntr_integer_type a, ntr_integer_type b) {
    return a.size == b.size && a.is_signed == b.is_signed;
}

/* Returns the expression in parentheses and implicit conversions. */
static CXCursor core_of(ntr_unit_walk *w, CXCursor cursor) {
    for (;;) {
        enum CXCursorKind kind = w->clang->getCursorKind(cursor);
        if (kind != CXCursor_ParenExpr && kind != CXCursor_UnexposedExpr) return cursor;
        ntr_cursors c = ntr_cursor_children(w, cursor);
        const bool one = c.count == 1;
        if (one) cursor = c.items[0];
        ntr_cursors_release(w, &c);
        if (!one) return cursor;
    }
}

/* ---- operands ---------------------------------------------------------------------------------- */

static void mix(uint64_t *hash, uint64_t value) {
    *hash = (*hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *hash ^= *hash >> 29;
}

static bool has_effects(const ntr_unit_walk *w, CXCursor cursor, enum CXCursorKind kind) {
    if (kind == CXCursor_UnaryOperator) switch (w->clang->getCursorUnaryOperatorKind(cursor)) {
        case CXUnaryOperator_AddrOf:
        case CXUnaryOperator_Deref:
        case CXUnaryOperator_Plus:
        case CXUnaryOperator_Minus:
        case CXUnaryOperator_Not: return false;
        default: return true;
        }
    enum CXBinaryOperatorKind operator= w->clang->getCursorBinaryOperatorKind(cursor);
    return operator<CXBinaryOperator_Mul || operator>
        CXBinaryOperator_Or ||(operator> CXBinaryOperator_Shr && operator<CXBinaryOperator_And);
}

static bool is_operand(const ntr_unit_walk *w, CXCursor cursor, enum CXCursorKind kind) {
    switch (kind) {
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr: {
        enum CXCursorKind named = w->clang->getCursorKind(w->clang->getCursorReferenced(cursor));
        return named == CXCursor_VarDecl || named == CXCursor_ParmDecl || named == CXCursor_FieldDecl;
    }
    case CXCursor_UnaryOperator:
    case CXCursor_BinaryOperator: return !has_effects(w, cursor, kind);
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_ParenExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXThisExpr:
    case CXCursor_TypeRef: return true;
    default: return false;
    }
}

/* Adds an expression to a hash. Returns whether it has no effects, and reads nothing that is volatile. */
static bool hash_operand(ntr_unit_walk *w, CXCursor cursor, unsigned depth, uint64_t *hash) {
    enum { OPERAND_DEPTH_MAX = 40 };
    enum CXCursorKind kind = w->clang->getCursorKind(cursor);
    int64_t value;
    if (depth == OPERAND_DEPTH_MAX) return false;
    if (ntr_cursor_constant(w, cursor, &value)) {
        mix(hash, (uint64_t)value);
        return true;
    }
    if (!is_operand(w, cursor, kind) || w->clang->isVolatileQualifiedType(w->clang->getCursorType(cursor)))
        return false;
    mix(hash, (uint64_t)kind << 32);
    if (kind == CXCursor_DeclRefExpr || kind == CXCursor_MemberRefExpr)
        mix(hash, w->clang->hashCursor(w->clang->getCursorReferenced(cursor)));
    if (kind == CXCursor_UnaryOperator) mix(hash, (uint64_t)w->clang->getCursorUnaryOperatorKind(cursor));
    if (kind == CXCursor_BinaryOperator) mix(hash, (uint64_t)w->clang->getCursorBinaryOperatorKind(cursor));
    const ntr_integer_type type = type_of(w, cursor);
    mix(hash, (uint64_t)type.size << 1 | type.is_signed);
    ntr_cursors c = ntr_cursor_children(w, cursor);
    bool fits = true;
    for (size_t i = 0; i < c.count && fits; i++) fits = hash_operand(w, c.items[i], depth + 1, hash);
    mix(hash, c.count);
    ntr_cursors_release(w, &c);
    return fits;
}

/* ---- conditions -------------------------------------------------------------------------------- */

/* Stores an operand: `converted` is the expression with the conversions of the comparison. Returns whether it is one.
 */
static bool set_operand(ntr_unit_walk *w, CXCursor converted, ntr_compared *c) {
    CXCursor core = core_of(w, converted);
    uint64_t hash = 1;
    c->type = type_of(w, core);
    c->common = type_of(w, converted);
    if (!c->type.size || !c->common.size || (c->common.size < 4 && !is_same_type(c->type, c->common))) return false;
    if (!hash_operand(w, core, 0, &hash)) return false;
    c->operand = hash ? hash : 1;
    return true;
}

/* The null pointer is a constant with a conversion. */
static bool constant_of(ntr_unit_walk *w, CXCursor cursor, ntr_integer_type common, int64_t *value) {
    if (ntr_cursor_constant(w, cursor, value)) {
        *value = ntr_integer_of(common, (uint64_t)*value);
        return true;
    }
    for (unsigned i = 0; i < 4; i++) { /* ((void *)0) */
        cursor = core_of(w, cursor);
        if (ntr_cursor_constant(w, cursor, value)) return *value == 0;
        const enum CXCursorKind kind = w->clang->getCursorKind(cursor);
        if (kind == CXCursor_CXXNullPtrLiteralExpr || kind == CXCursor_GNUNullExpr) return *value = 0, true;
        ntr_cursors c = ntr_cursor_children(w, cursor);
        const bool cast = kind == CXCursor_CStyleCastExpr && c.count;
        if (cast) cursor = c.items[c.count - 1];
        ntr_cursors_release(w, &c);
        if (!cast) return false;
    }
    return false;
}

static int relation_of(enum CXBinaryOperatorKind operator) {
    switch (operator) {
    case CXBinaryOperator_EQ: return NTR_EQUAL;
    case CXBinaryOperator_NE: return NTR_NOT_EQUAL;
    case CXBinaryOperator_LT: return NTR_LESS;
    case CXBinaryOperator_LE: return NTR_LESS_EQUAL;
    case CXBinaryOperator_GT: return NTR_GREATER;
    case CXBinaryOperator_GE: return NTR_GREATER_EQUAL;
    default: return -1;
    }
}

/* Returns the relation with exchanged operands. */
static uint8_t mirrored(uint8_t relation) {
    static const uint8_t of[] = {NTR_EQUAL, NTR_NOT_EQUAL, NTR_GREATER, NTR_GREATER_EQUAL, NTR_LESS, NTR_LESS_EQUAL};
    return of[relation];
}

static bool set_comparison(ntr_unit_walk *w, CXCursor cursor, ntr_compared *c) {
    const int relation = relation_of(w->clang->getCursorBinaryOperatorKind(cursor));
    ntr_cursors operands = ntr_cursor_children(w, cursor);
    bool fits = relation >= 0 && operands.count == 2;
    c->relation = (uint8_t)(fits ? relation : 0);
    if (fits) {
        const ntr_integer_type common = type_of(w, operands.items[0]);
        fits = common.size && is_same_type(common, type_of(w, operands.items[1]));
        if (fits && constant_of(w, operands.items[1], common, &c->constant)) {
            fits = set_operand(w, operands.items[0], c);
        } else if (fits && constant_of(w, operands.items[0], common, &c->constant)) {
            c->relation = mirrored(c->relation);
            fits = set_operand(w, operands.items[1], c);
        } else {
            fits = false;
        }
    }
    ntr_cursors_release(w, &operands);
    return fits;
}

void ntr_cursor_compared(ntr_unit_walk *w, CXCursor cursor, ntr_compared *c) {
    bool negated = false, fits;
    *c = (ntr_compared){0};
    CXCursor core = core_of(w, cursor);
    while (ntr_cursor_is_not(w, core)) {
        ntr_cursors inner = ntr_cursor_children(w, core);
        if (inner.count == 1) core = core_of(w, inner.items[0]);
        const bool one = inner.count == 1;
        ntr_cursors_release(w, &inner);
        if (!one) return;
        negated = !negated;
    }
    if (w->clang->getCursorKind(core) == CXCursor_BinaryOperator &&
        relation_of(w->clang->getCursorBinaryOperatorKind(core)) >= 0) {
        fits = set_comparison(w, core, c);
    } else {
        c->relation = NTR_NOT_EQUAL;
        fits = set_operand(w, core, c); /* the core: C++ converts to bool */
    }
    if (!fits) *c = (ntr_compared){0};
    static const uint8_t inverse[] = {NTR_NOT_EQUAL, NTR_EQUAL,      NTR_GREATER_EQUAL,
                                      NTR_GREATER,   NTR_LESS_EQUAL, NTR_LESS};
    if (fits && negated) c->relation = inverse[c->relation];
}
