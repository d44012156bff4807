/* CoreSight funnel: merges the messages of its enabled inputs, each with its trace ID. And what all CoreSight
 * components have. */
#include "system/coresight.h"

void coresight_rules(trace_component *component, uint32_t devtype) {
    register_page *page = &component->page;
    page_fix(page, NTR_BITS_CS_LSR_LOCKABLE, (uint32_t)OPTION(&component->options, CS_LOCK));
    page_fix(page, NTR_BITS_CS_DEVTYPE_TYPE, devtype);
    page_fix(page, NTR_BITS_CS_AUTH, 0);
}

static bool is_locked(const trace_component *component, const coresight_part *part) {
    return OPTION(&component->options, CS_LOCK) && !part->unlocked;
}

bool coresight_load(trace_component *component, coresight_part *part, ntr_register reg, uint32_t *word) {
    switch (reg) {
    case NTR_REGISTER_CS_LAR: *word = 0; return true;
    case NTR_REGISTER_CS_LSR:
        PUT(&component->page, CS_LSR_LOCKED, is_locked(component, part));
        *word = page_read(&component->page, NTR_CS_LSR);
        return true;
    case NTR_REGISTER_CS_CLAIMSET: *word = CLAIM_TAGS; return true;
    case NTR_REGISTER_CS_CLAIMCLR: *word = part->claims; return true;
    case NTR_REGISTER_CS_AUTHSTATUS:
    case NTR_REGISTER_CS_DEVID:
    case NTR_REGISTER_CS_DEVTYPE: *word = page_read(&component->page, ntr_register_get(reg)->offset); return true;
    default: return false;
    }
}

bool coresight_store(const trace_component *component, coresight_part *part, ntr_register reg, uint32_t word) {
    if (reg == NTR_REGISTER_CS_LAR) {
        part->unlocked = word == CORESIGHT_KEY;
        return true;
    }
    if (is_locked(component, part)) return true;
    switch (reg) {
    case NTR_REGISTER_CS_CLAIMSET: part->claims |= word & CLAIM_TAGS; return true;
    case NTR_REGISTER_CS_CLAIMCLR: part->claims &= ~word; return true;
    default: return false;
    }
}

/* ---- the funnel */

typedef struct csfunnel {
    trace_component base;
    coresight_part part;
    unsigned turn; /* the next input to serve */
} csfunnel;

static void rules(trace_component *component) {
    coresight_rules(component, DEVTYPE_FUNNEL);
    page_fix(&component->page, NTR_BITS_CS_DEVID_INPUTS, component->input_count);
    page_allow(&component->page, NTR_BITS_CSF_PORTS, (1u << component->input_count) - 1, 0);
    page_allow(&component->page, NTR_BITS_CSF_HOLD, 15, 3);
    page_allow(&component->page, NTR_BITS_CSF_PRIORITY, UINT32_MAX, 0);
    component->active = component->enabled = true; /* its inputs are enabled one by one */
}

static bool accepts(const trace_component *component, unsigned input) {
    return GET(&component->page, CSF_PORTS) >> input & 1;
}

static void pass(trace_component *component) {
    component_pass_in_turn(component, &((csfunnel *)component)->turn);
}

static uint32_t load(trace_component *component, ntr_register reg) {
    uint32_t word;
    if (coresight_load(component, &((csfunnel *)component)->part, reg, &word)) return word;
    return page_read(&component->page, ntr_register_get(reg)->offset);
}

static void store(trace_component *component, ntr_register reg, uint32_t word) {
    if (!coresight_store(component, &((csfunnel *)component)->part, reg, word))
        page_write(&component->page, reg, 0, word);
}

const component_ops ntr_csfunnel_component = {
    .kind = NTR_COMPONENT_CSFUNNEL,
    .size = sizeof(csfunnel),
    .rules = rules,
    .pass = pass,
    .accepts = accepts,
    .load = load,
    .store = store,
};
