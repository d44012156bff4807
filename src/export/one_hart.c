#include "export/one_hart.h"

#include "base/allocator.h"

#include <stdio.h>

ntr_status ntr_one_hart_begin(ntr_one_hart *h, const ntr_export *x) {
    ntr_instructions_new(x->analysis.program, x->allocator, &h->instructions);
    h->accesses.allocator = x->allocator;
    h->accesses.values.xlen = ntr_program_xlen(x->analysis.program) == 32 ? 32 : 64;
    return h->instructions ? NTR_OK : NTR_E_MEMORY;
}

void ntr_one_hart_release(ntr_one_hart *h, const ntr_export *x) {
    ntr_instructions_free(h->instructions);
    ntr_dealloc(x->allocator, h->accesses.queue);
}

static bool is_other(ntr_one_hart *h, const ntr_event *e) {
    if (!h->has_source) h->src = e->src;
    h->has_source = true;
    if (e->src == h->src) return false;
    h->other = e->src;
    h->has_other = true; /* the end has the error, and its sentence */
    return true;
}

/* No access is under way. */
static void stop(ntr_one_hart *h) {
    ntr_accesses *a = &h->accesses;
    if (!a->refused) h->surplus += a->count - a->first;
    a->first = a->count = 0;
    a->refused = false;
    ntr_accesses_forget(a);
}

bool ntr_one_hart_take(ntr_one_hart *h, const ntr_event *e, ntr_status *status) {
    *status = NTR_OK;
    switch (h->has_other ? NTR_EVENT_KINDS : e->kind) {
    case NTR_EVENT_ACCESS:
        if (is_other(h, e)) return false;
        h->has_data = true;
        if (!h->accesses.refused) *status = ntr_accesses_add(&h->accesses, e);
        return false;
    case NTR_EVENT_SPAN:
        if (!e->instructions || is_other(h, e)) return false;
        if (e->address != h->expected) ntr_accesses_forget(&h->accesses);
        ntr_instructions_begin(h->instructions, e);
        return true;
    case NTR_EVENT_STOP: stop(h); return false;
    case NTR_EVENT_GAP:
    case NTR_EVENT_NO_CODE:
    case NTR_EVENT_OVERFLOW: h->accesses.refused = true; return false;
    default: return false;
    }
}

void ntr_one_hart_after(ntr_one_hart *h, const ntr_event *e) {
    h->expected = e->end >= NTR_SPAN_EXCEPTION || e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
}

unsigned ntr_one_hart_accesses(ntr_one_hart *h, const ntr_instruction *i, ntr_memory_access *list, unsigned most) {
    ntr_accesses *a = &h->accesses;
    ntr_access_insn insn = {.address = i->address, .size = i->insn.size};
    unsigned count = 0;
    ntr_access_insn_decode(&insn, (uint32_t)i->bits, a->values.xlen);
    const size_t first = a->first;
    if (!a->refused) ntr_accesses_execute(a, &insn);
    for (size_t at = first; !a->refused && at < a->first && count < most; at++)
        if (a->queue[at].located) list[count++] = a->queue[at];
    if (count)
        h->known++;
    else if (insn.access && (insn.access != NTR_ACCESS_ATOMIC || a->refused))
        h->unknown++; /* SC that fails has no access */
    return count;
}

ntr_status ntr_one_hart_end(ntr_one_hart *h, ntr_export *x, const char *absent) {
    if (h->has_other) {
        snprintf(x->error, sizeof x->error, "expected one hart, found those with SRC %u and %u; select one with --src",
                 h->src, h->other);
        return NTR_E_UNSUPPORTED;
    }
    stop(h);
    if (h->surplus)
        snprintf(x->loss, sizeof x->loss,
                 "%llu loads and stores of the trace belong to no instruction: addresses may be those of others",
                 (unsigned long long)h->surplus);
    else if (!h->unknown)
        return NTR_OK;
    else if (h->has_data)
        snprintf(x->loss, sizeof x->loss, "%llu of %llu loads and stores have no address (%s in the file)",
                 (unsigned long long)h->unknown, (unsigned long long)(h->unknown + h->known), absent);
    else
        snprintf(x->loss, sizeof x->loss,
                 "the trace has no loads and stores: all addresses of memory are %s; 'ntrace run --data' records them",
                 absent);
    return NTR_OK;
}
