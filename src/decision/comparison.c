/* What a condition compares with a constant (compared.h). */
#include "decision/cursor.h"

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
