/* Totals of events, to compare with those of the counting decode. */
#ifndef NTR_TEST_TOTALS_H
#define NTR_TEST_TOTALS_H

#include <ntrace/decoder.h>
#include <ntrace/message.h>

static inline void totals_add(ntr_counts *c, const ntr_event *e, const ntr_dialect *dialect) {
    c->gaps += e->kind == NTR_EVENT_GAP;
    c->doubtful += ntr_event_is_doubtful(e, dialect);
    if (e->kind != NTR_EVENT_SPAN) return;
    const uint64_t times = ntr_event_times(e);
    c->spans += times;
    c->instructions += times * e->instructions;
    c->halfwords += times * e->halfwords;
    c->branches += times * (e->end == NTR_SPAN_TAKEN || e->end == NTR_SPAN_NOT_TAKEN);
    c->taken += times * (e->end == NTR_SPAN_TAKEN);
    c->calls += times * (e->end == NTR_SPAN_CALL || e->end == NTR_SPAN_INDIRECT_CALL);
    c->returns += times * (e->end == NTR_SPAN_RETURN);
    c->exceptions += times * (e->end == NTR_SPAN_EXCEPTION || e->end == NTR_SPAN_TRAP);
    c->interrupts += times * (e->end == NTR_SPAN_INTERRUPT);
}

#endif
