/* The functions of a classifier that concern both of its inputs, code blocks (classifier.c) and program counters
 * (pc_list.c). They first enter the part of the present block whose program counters were pushed. */
#include "base/allocator.h"
#include "base/config.h"
#include "ingress/pc_list.h"

static ntr_status to_encoder(void *user, const ntr_ingress *block) {
    return ntr_encoder_push(user, block);
}

static ntr_status check(const ntr_classifier_config *config) {
    if (!config->encoder && !config->sink) return NTR_E_INVALID;
    if (config->itype_width && config->itype_width != 3 && config->itype_width != 4) return NTR_E_RANGE;
    return NTR_OK;
}

ntr_status ntr_classifier_new(const ntr_classifier_config *given, ntr_classifier **out) {
    *out = NULL;
    ntr_classifier_config config;
    ntr_status status = ntr_config_load(&config, sizeof config, given);
    if (status == NTR_OK) status = check(&config);
    if (status != NTR_OK) return status;
    ntr_classifier *c = ntr_alloc(config.allocator, 1, sizeof *c);
    if (!c) return NTR_E_MEMORY;
    c->config = config;
    if (!c->config.itype_width) c->config.itype_width = 4;
    if (config.encoder) {
        c->config.sink = to_encoder;
        c->config.sink_user = config.encoder;
    }
    c->state.priv = c->record.priv = NTR_PRIV_M;
    c->record.cycle = true;
    status = config.program ? ntr_pc_list_new(c) : NTR_OK;
    c->config.cuts = NULL; /* copied */
    if (status == NTR_OK)
        *out = c;
    else
        ntr_classifier_free(c);
    return status;
}

void ntr_classifier_free(ntr_classifier *c) {
    if (!c) return;
    ntr_pc_list_free(c);
    ntr_dealloc(c->config.allocator, c);
}

const char *ntr_classifier_error(const ntr_classifier *c) {
    return c->error;
}

uint64_t ntr_classifier_discontinuities(const ntr_classifier *c, ntr_discontinuity *first) {
    if (first) *first = c->first;
    return c->discontinuities;
}

static ntr_status finish_list(ntr_classifier *c) {
    return c->pcs ? ntr_pc_list_finish(c) : NTR_OK;
}

ntr_status ntr_classifier_set_state(ntr_classifier *c, const ntr_hart_state *state) {
    ntr_status status = finish_list(c);
    if (c->pcs && (state->scontext != c->state.scontext || state->hcontext != c->state.hcontext)) ntr_pc_list_drop(c);
    c->state = *state;
    c->state_changed = true;
    return status;
}

ntr_status ntr_classifier_trap(ntr_classifier *c, unsigned itype, uint64_t epc, uint64_t cause, uint64_t tval) {
    if (itype != NTR_ITYPE_EXCEPTION && itype != NTR_ITYPE_INTERRUPT) return NTR_E_INVALID;
    ntr_status status = finish_list(c);
    return status == NTR_OK ? ntr_classifier_emit_trap(c, itype, epc, cause, tval) : status;
}

ntr_status ntr_classifier_finish(ntr_classifier *c, uint64_t *next) {
    ntr_status listed = finish_list(c);
    ntr_status status = ntr_classifier_end(c, listed == NTR_OK, next);
    return listed == NTR_OK ? status : listed;
}
