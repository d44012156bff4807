/* In-circuit trace messages (ICT) of older silicon. docs/dialects.md section 2.3. */
#include "decoder/state.h"
#include "message/sets.h"
#include "message/values.h"

/* The meaning of the data fields. */
typedef struct ict_form {
    bool legal;
    bool address;     /* CKDATA0 is an address and becomes the reference address */
    bool destination; /* CKDATA1 XOR that address is the target of a jump; it becomes the reference address */
    bool data0;       /* CKDATA0 is data */
} ict_form;

static ict_form form_of(const ntr_decoder *d, const ntr_message *m) {
    unsigned flags = ntr_value_flags(d->params.dialect->messages, NTR_FIELD_CKSRC, m->cksrc);
    bool two = NTR_HAS(m, CKDATA1);
    bool address = flags & (two ? NTR_VALUE_ADDRESS_1 : NTR_VALUE_ADDRESS_0);
    bool data = flags & (two ? NTR_VALUE_DATA_1 : NTR_VALUE_DATA_0);
    return (ict_form){
        .legal = address || data, .address = address, .destination = two && flags & NTR_VALUE_TARGET_1, .data0 = data};
}

ntr_status ntr_ict_take(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    const ict_form form = form_of(d, m);
    if (!form.legal) {
        ntr_event_note(d, s, NTR_E_FIELD_VALUE);
        return NTR_OK;
    }
    ntr_event e = ntr_event_make(d, s, NTR_EVENT_ICT);
    e.code = (uint8_t)m->cksrc;
    e.tag = form.data0 ? m->ckdata0 : 0;
    e.data = NTR_HAS(m, CKDATA1) ? m->ckdata1 : 0;
    if (!form.address) e.flags |= NTR_EVENT_ADDRESS_UNKNOWN;
    if (form.address) {
        uint64_t address = ntr_message_address(&d->params, m, NTR_FIELD_CKDATA0);
        e.data_address = ntr_tcode_in(ntr_tcodes_with(NTR_FLAG_ABSOLUTE), m->tcode) ? address : s->ref ^ address;
        s->ref = e.data_address;
    }
    if (form.destination) {
        s->ref ^= ntr_message_address(&d->params, m, NTR_FIELD_CKDATA1);
        e.data = s->ref;
    }
    ntr_event_emit(d, &e);
    return NTR_OK;
}
