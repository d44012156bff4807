/* Messages without effect on the flow: data trace, data acquisition, watchpoints, values of traps, messages of vendors.
 * Each becomes one event. docs/dialects.md sections 2 and 5. */
#include "decoder/message_handlers.h"
#include "message/table.h"

ntr_status ntr_take_data(ntr_decoder *d, ntr_source *s) {
    static const uint8_t sizes[] = {4, 1, 2, 1}; /* by the low bits of IDTAG, docs/dialects.md section 2.1 */
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_DATA);
    e.tag = d->message.idtag;
    e.data = d->message.dqdata;
    e.data_size = sizes[e.tag & 3];
    ntr_event_emit(d, &e);
    return NTR_OK;
}

/* Bits 64 and up of a field that is followed by two of shape MORE. */
static void take_more(const ntr_message *m, ntr_field first, uint64_t more[2]) {
    for (unsigned i = 0; i < 2; i++)
        if (m->present >> (first + i) & 1) more[i] = m->value[first + i];
}

ntr_status ntr_take_acquisition(ntr_decoder *d, ntr_source *s) {
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_DATA);
    e.tag = d->message.dqtag;
    e.data = d->message.dqdata;
    take_more(&d->message, NTR_FIELD_DQDATA1, e.data_more);
    ntr_event_emit(d, &e);
    return NTR_OK;
}

ntr_status ntr_take_access(ntr_decoder *d, ntr_source *s) {
    static const uint8_t element_sizes[8] = {0, 1, 2, 4, 8};
    const ntr_message *m = &d->message;
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_ACCESS);
    e.code = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_STORE), m->tcode) ? NTR_DATA_WRITE : NTR_DATA_READ;
    e.data_size = (uint8_t)m->dsz;
    e.tag = m->elsz ? element_sizes[m->elsz] : m->dsz;
    e.data = m->ddata;
    take_more(m, NTR_FIELD_DDATA1, e.data_more);
    if (!ntr_data_reference_follow(&s->data, &d->params, m, &e.data_address)) e.flags |= NTR_EVENT_ADDRESS_UNKNOWN;
    ntr_event_emit(d, &e);
    return NTR_OK;
}

ntr_status ntr_take_watchpoint(ntr_decoder *d, ntr_source *s) {
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_WATCHPOINT);
    e.data = d->message.wphit;
    ntr_event_emit(d, &e);
    return NTR_OK;
}

ntr_status ntr_take_trap_value(ntr_decoder *d, ntr_source *s) {
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_TRAP_VALUE);
    e.code = (uint8_t)d->message.vtype;
    e.data = d->message.tval;
    e.flags |= NTR_EVENT_ADDRESS_UNKNOWN;
    ntr_event_emit(d, &e);
    return NTR_OK;
}

ntr_status ntr_take_other(ntr_decoder *d, ntr_source *s) {
    ntr_source_await(d, s);
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_VENDOR);
    e.code = d->message.tcode;
    ntr_event_emit(d, &e);
    return NTR_OK;
}
