#include "decision/compared.h"

int64_t ntr_integer_of(ntr_integer_type type, uint64_t bits) {
    const unsigned above = 64 - 8u * type.size;
    return type.is_signed ? (int64_t)(bits << above) >> above : (int64_t)(bits << above >> above);
}

bool ntr_compared_value(const ntr_compared *c, int64_t operand) {
    const int64_t a = ntr_integer_of(c->common, (uint64_t)operand), b = c->constant;
    const bool less = c->common.is_signed ? a < b : (uint64_t)a < (uint64_t)b;
    switch ((enum ntr_relation)c->relation) {
    case NTR_EQUAL: return a == b;
    case NTR_NOT_EQUAL: return a != b;
    case NTR_LESS: return less;
    case NTR_LESS_EQUAL: return less || a == b;
    case NTR_GREATER: return !less && a != b;
    default: return !less;
    }
}
