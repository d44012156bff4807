/* In-circuit trace of older silicon: events with their address. docs/dialects.md section 2.3. */
#include "decoder/state.h"

/* What the data fields of one CKSRC with one CKDF mean. */
typedef struct ict_form {
    bool legal;
    bool address;     /* CKDATA0 is an address, and sets the reference */
    bool destination; /* CKDATA1 is where the jump at that address went, XORed with it; sets the reference */
    bool data0;       /* CKDATA0 is plain data */
} ict_form;

enum { CKSRC_KINDS = 16, CKDF_KINDS = 2 };

static const ict_form forms[CKSRC_KINDS][CKDF_KINDS] = {
    [0] = {{.legal = true, .data0 = true}, {.legal = true, .address = true}},                           /* control */
    [8] = {{.legal = true, .address = true}, {.legal = true, .address = true}},                         /* trigger */
    [9] = {{.legal = true, .address = true}, {.legal = true, .address = true, .destination = true}},    /* call */
    [10] = {[1] = {.legal = true, .address = true}},                                                    /* exception */
    [11] = {[1] = {.legal = true, .address = true}},                                                    /* interrupt */
    [12] = {{.legal = true, .data0 = true}, {.legal = true, .data0 = true}},                            /* counters */
    [13] = {[1] = {.legal = true, .address = true}},                                                    /* context */
    [14] = {{.legal = true, .address = true}, {.legal = true, .address = true}},                        /* watchpoint */
    [15] = {{.legal = true, .address = true}},                                                          /* PC sample */
};

ntr_status ntr_ict_take(ntr_decoder *d, ntr_source *s) {
    const ntr_message *m = &d->message;
    const ict_form form = forms[m->cksrc % CKSRC_KINDS][m->ckdf % CKDF_KINDS];
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
        e.data_address = m->tcode == NTR_TCODE_ICT ? s->ref ^ address : address;
        s->ref = e.data_address;
    }
    if (form.destination) {
        s->ref ^= ntr_message_address(&d->params, m, NTR_FIELD_CKDATA1);
        e.data = s->ref;
    }
    ntr_event_emit(d, &e);
    return NTR_OK;
}
