/* Rules that a stream parameter may give and else the dialect does. */
#ifndef NTR_DIALECT_RULES_H
#define NTR_DIALECT_RULES_H

#include <ntrace/params.h>

static inline unsigned ntr_rule(unsigned given, unsigned of_dialect, unsigned usual) {
    return given ? given : of_dialect ? of_dialect : usual;
}

/* Returns the ntr_ts_rule of a stream. */
static inline unsigned ntr_ts_rule_of(const ntr_params *params) {
    return ntr_rule(params->ts_rule, params->dialect ? params->dialect->ts_rule : 0u, NTR_TS_RULE_DIFFERENCE);
}

/* Returns the ntr_context0 of a stream. */
static inline unsigned ntr_context0_of(const ntr_params *params) {
    return ntr_rule(params->context0, params->dialect ? params->dialect->context0 : 0u, NTR_CONTEXT0_NONE);
}

/* Returns the width of addresses with bit 0; 0: as many bits as needed. */
static inline unsigned ntr_addr_bits_of(const ntr_params *params) {
    return ntr_rule(params->addr_bits, params->dialect ? params->dialect->addr_bits : 0u, 0);
}

#endif
