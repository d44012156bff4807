#include "decision/flow.h"

static void add_term(ntr_flow_sum *sum, const ntr_flow_term *term, int factor) {
    for (unsigned i = 0; i < sum->count; i++) {
        ntr_flow_term *own = &sum->terms[i];
        if (own->id != term->id || own->what != term->what) continue;
        own->factor = (int16_t)(own->factor + factor * term->factor);
        if (own->factor == 0) *own = sum->terms[--sum->count];
        return;
    }
    if (sum->count == NTR_FLOW_TERMS_MAX)
        sum->unknown = true;
    else
        sum->terms[sum->count++] = (ntr_flow_term){term->id, term->what, (int16_t)(factor * term->factor)};
}

static ntr_flow_sum add_sums(const ntr_flow_sum *a, const ntr_flow_sum *b, int factor) {
    ntr_flow_sum sum = *a;
    sum.unknown |= b->unknown;
    for (unsigned i = 0; i < b->count && !sum.unknown; i++) add_term(&sum, &b->terms[i], factor);
    if (sum.unknown) sum.count = 0;
    return sum;
}

ntr_flow_count ntr_flow_none(void) {
    return (ntr_flow_count){.far = {.count = 0}, .near = {.count = 0}};
}

ntr_flow_count ntr_flow_unknown(void) {
    return (ntr_flow_count){.far = {.unknown = true}, .near = {.unknown = true}};
}

ntr_flow_count ntr_flow_of(uint32_t id, int what) {
    const ntr_flow_sum sum = {.count = 1, .terms[0] = {id, (int16_t)what, 1}};
    return (ntr_flow_count){sum, sum};
}

ntr_flow_count ntr_flow_add(const ntr_flow_count *a, const ntr_flow_count *b, int factor) {
    return (ntr_flow_count){add_sums(&a->far, &b->far, factor), add_sums(&a->near, &b->near, factor)};
}

ntr_flow_count ntr_flow_restart(const ntr_flow_count *now, uint32_t id, int what) {
    const ntr_flow_count here = ntr_flow_of(id, what);
    return (ntr_flow_count){now->far.unknown ? here.far : now->far, here.near};
}
