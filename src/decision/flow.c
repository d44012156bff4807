#include "decision/flow.h"

ntr_flow_count ntr_flow_of(uint32_t decision, int what) {
    ntr_flow_count flow = {.unknown = false, .count = 1};
    flow.terms[0] = (ntr_flow_term){decision, (int16_t)what, 1};
    return flow;
}

static void add_term(ntr_flow_count *sum, const ntr_flow_term *term, int factor) {
    for (unsigned i = 0; i < sum->count; i++) {
        ntr_flow_term *own = &sum->terms[i];
        if (own->decision != term->decision || own->what != term->what) continue;
        own->factor = (int16_t)(own->factor + factor * term->factor);
        if (own->factor == 0) *own = sum->terms[--sum->count];
        return;
    }
    if (sum->count == NTR_FLOW_TERMS_MAX)
        sum->unknown = true;
    else
        sum->terms[sum->count++] = (ntr_flow_term){term->decision, term->what, (int16_t)(factor * term->factor)};
}

ntr_flow_count ntr_flow_add(const ntr_flow_count *a, const ntr_flow_count *b, int factor) {
    ntr_flow_count sum = *a;
    if (a->unknown || b->unknown) return ntr_flow_unknown();
    for (unsigned i = 0; i < b->count; i++) add_term(&sum, &b->terms[i], factor);
    return sum.unknown ? ntr_flow_unknown() : sum;
}
