/* Ownership messages. N-Trace 1.0 section 6.1.
 *
 * After every synchronizing message, and at the start of a window, the privilege mode and the contexts are reported,
 * as a decoder may start there. Between them only changes are reported: the privilege mode alone when the context is
 * not reported by the block (ctype UNREPORTED), else the contexts. With hcontext there are two messages; their order
 * is a choice (OQ-16, `scontext_first`). A hart that may have guests and has had none sends one (VIRTUAL). */
#include "encoder/state.h"
#include "dialect/rules.h"
#include "trace/ownership.h"

/* V and PRV of PROCESS by ntr_priv. */
static const struct {
    uint8_t v, prv;
} MODES[8] = {[NTR_PRIV_S] = {0, 1}, [NTR_PRIV_M] = {0, 3}, [NTR_PRIV_VU] = {1, 0}, [NTR_PRIV_VS] = {1, 1}};

static void send_ownership(ntr_encoder *e, const ntr_ingress *b, unsigned format, uint64_t context) {
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_OWNERSHIP);
    uint64_t process = format | (unsigned)MODES[b->priv].prv << NTR_PROCESS_PRV |
                       (unsigned)MODES[b->priv].v << NTR_PROCESS_V | context << NTR_PROCESS_CONTEXT;
    NTR_SET(m, PROCESS, process, process);
    ntr_enc_send(e, m, e->now);
}

/* hcontext is never alone (NT-142). */
static void send_contexts(ntr_encoder *e, const ntr_ingress *b, bool hcontext) {
    unsigned context0 = ntr_context0_of(&e->params); /* FORMAT 0 has a context in some dialects */
    if (context0 != NTR_CONTEXT0_NONE) {
        send_ownership(e, b, NTR_FORMAT_PRIVILEGE, context0 == NTR_CONTEXT0_SCONTEXT ? b->scontext : b->hcontext);
        return;
    }
    bool first = e->config.scontext_first;
    if (first) send_ownership(e, b, NTR_FORMAT_SCONTEXT, b->scontext);
    if (hcontext) send_ownership(e, b, NTR_FORMAT_HCONTEXT, b->hcontext);
    if (!first) send_ownership(e, b, NTR_FORMAT_SCONTEXT, b->scontext);
}

static void remember(ntr_encoder *e, const ntr_ingress *b) {
    e->sent_priv = b->priv;
    e->sent_scontext = b->scontext;
    e->sent_hcontext = b->hcontext;
    e->had_guest |= b->hcontext != 0;
}

static bool sends_hcontext(const ntr_encoder *e, const ntr_ingress *b) {
    if (e->config.ownership == NTR_OWNERSHIP_VIRTUAL) return e->had_guest || b->hcontext;
    return e->config.ownership == NTR_OWNERSHIP_HCONTEXT;
}

void ntr_enc_ownership_sync(ntr_encoder *e, const ntr_ingress *b) {
    if (e->config.ownership == NTR_OWNERSHIP_OFF) return;
    send_contexts(e, b, sends_hcontext(e, b));
    remember(e, b);
}

void ntr_enc_ownership_repeat(ntr_encoder *e) {
    const ntr_ingress state = {.priv = e->sent_priv, .scontext = e->sent_scontext, .hcontext = e->sent_hcontext};
    ntr_enc_ownership_sync(e, &state);
}

/* A context that the block reports is sent even if its value is unchanged: the CSR was written. */
void ntr_enc_ownership_change(ntr_encoder *e, const ntr_ingress *b) {
    if (e->config.ownership == NTR_OWNERSHIP_OFF) return;
    if (e->dialect->trap_ownership) {
        if (e->trapped || e->returned_from_trap) ntr_enc_ownership_sync(e, b);
        return;
    }
    if (b->ctype == NTR_CTYPE_UNREPORTED) {
        if (b->priv == e->sent_priv) return;
        send_ownership(e, b, NTR_FORMAT_PRIVILEGE, 0);
        e->sent_priv = b->priv;
        return;
    }
    send_contexts(e, b, b->hcontext != e->sent_hcontext && sends_hcontext(e, b));
    remember(e, b);
}

void ntr_enc_trap_value(ntr_encoder *e) {
    if (!e->trapped || !e->dialect->trap_value) return;
    ntr_message *m = ntr_enc_message(e, NTR_TCODE_TRAP_VALUE);
    NTR_SET(m, VTYPE, vtype, 0);
    NTR_SET(m, TVAL, tval, e->tval);
    e->trapped = false;
    ntr_enc_send(e, m, e->now);
}
