/* Rules about single messages. */
#include "check/check_state.h"
#include "dialect/rules.h"
#include "message/sets.h"
#include "message/table.h"
#include "message/values.h"
#include "trace/ownership.h"
#include "wire/mdo.h"

#include <ntrace/message_layout.h>

static bool has(const ntr_message *m, unsigned field) {
    return (m->present >> field) & 1u;
}

/* ---- defects found by the reader */

/* Argument: the defect, in any field or in the field of the rule. */
bool ntr_rule_defect(const ntr_check_view *v, const ntr_check_row *row) {
    if (v->message->defect != row->argument) return false;
    if (row->argument == NTR_E_FIELD_EXTRA && ntr_may_have_more_fields(v->message)) return false;
    return row->rule.field == NTR_FIELD_NONE || row->rule.field == v->message->defect_field;
}

bool ntr_rule_padded(const ntr_check_view *v, const ntr_check_row *row) {
    const ntr_params *params = &v->config->params;
    const ntr_message *m = v->message;
    const bool plain = !params->extend_addr && !params->ts_fixed && !(params->dialect && params->dialect->empty_icnt);
    (void)row;
    if (m->defect) return false;
    for (ntr_fields left = m->present; left; left &= left - 1) {
        const ntr_field field = (ntr_field)__builtin_ctzll(left);
        /* the highest byte of the field is not 0: no need to ask */
        const unsigned width = m->width[field];
        if (plain && (width <= NTR_MDO_BITS || (width <= 64 && m->value[field] >> (width - NTR_MDO_BITS)))) continue;
        if (ntr_message_is_padded(params, m, field)) return true;
    }
    return false;
}

/* Argument: the TCODE of the message in which the field may be missing. */
bool ntr_rule_left_out(const ntr_check_view *v, const ntr_check_row *row) {
    return !v->message->defect && v->message->tcode == row->argument && !has(v->message, row->rule.field);
}

/* ---- values */

/* Returns the NTR_VALUE_* flags of the rule's field in the dialect of the stream, or 0 when the field is missing. */
static unsigned flags_of(const ntr_check_view *v, const ntr_check_row *row) {
    if (!has(v->message, row->rule.field)) return 0;
    unsigned messages = ntr_dialect_messages(v->config->params.dialect);
    return ntr_value_flags(messages, row->rule.field, v->message->value[row->rule.field]);
}

bool ntr_rule_reserved(const ntr_check_view *v, const ntr_check_row *row) {
    return flags_of(v, row) & NTR_VALUE_RESERVED;
}

bool ntr_rule_vendor(const ntr_check_view *v, const ntr_check_row *row) {
    return flags_of(v, row) & NTR_VALUE_VENDOR;
}

bool ntr_rule_tcode_reserved(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return ntr_tcode_is_reserved(v->config->params.dialect, v->message->tcode);
}

bool ntr_rule_tcode_vendor(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return ntr_tcode_is_vendor(v->config->params.dialect, v->message->tcode);
}

/* Argument: the set of bits that must be 0. Where there are data messages, bit 1 says that some were lost. */
bool ntr_rule_ecode_bits(const ntr_check_view *v, const ntr_check_row *row) {
    const bool data = ntr_dialect_messages(v->config->params.dialect) & NTR_MESSAGES_DATA;
    const uint64_t reserved = (uint64_t)row->argument & ~(data ? UINT64_C(2) : 0);
    return has(v->message, row->rule.field) && v->message->value[row->rule.field] & reserved;
}

/* Argument: the maximum number of bits of the value. */
bool ntr_rule_above(const ntr_check_view *v, const ntr_check_row *row) {
    return has(v->message, row->rule.field) && v->message->value[row->rule.field] >> row->argument;
}

static unsigned address_bits(const ntr_check_view *v) {
    return v->config->params.xlen == 32 ? 31 : 63;
}

/* ---- ResourceFull */

static bool is_resource(const ntr_check_view *v, bool history) {
    const ntr_message *m = v->message;
    if (!ntr_has_role(m->tcode, NTR_ROLE_RESOURCE) || !NTR_HAS(m, RDATA0)) return false;
    return history ? ntr_check_is_history(m) : m->rcode == NTR_RCODE_ICNT;
}

bool ntr_rule_resource_icnt(const ntr_check_view *v, const ntr_check_row *row) {
    return is_resource(v, false) && ntr_rule_above(v, row);
}

bool ntr_rule_resource_hist(const ntr_check_view *v, const ntr_check_row *row) {
    return is_resource(v, true) && ntr_rule_above(v, row);
}

bool ntr_rule_empty_history(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return is_resource(v, true) && v->message->rdata0 == 1;
}

/* A ResourceFull for I-CNT that says nothing. */
bool ntr_rule_empty_icnt(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return is_resource(v, false) && v->message->rdata0 == 0;
}

/* ---- addresses */

/* Returns the bits of the rule's address that are above those of XLEN; 0 when the field is missing. */
static uint64_t above_xlen(const ntr_check_view *v, const ntr_check_row *row) {
    return has(v->message, row->rule.field) ? v->message->value[row->rule.field] >> address_bits(v) : 0;
}

/* Returns whether all bits above those of XLEN equal the sign of the address: an encoder that shifts signed addresses
 * sends them so. They change nothing. */
static bool is_sign_extended(const ntr_check_view *v, const ntr_check_row *row) {
    const uint64_t above = above_xlen(v, row);
    return above && v->message->value[row->rule.field] >> (address_bits(v) - 1) & 1 && !(above & (above + 1));
}

bool ntr_rule_address_limit(const ntr_check_view *v, const ntr_check_row *row) {
    return above_xlen(v, row) && !is_sign_extended(v, row);
}

bool ntr_rule_address_sign(const ntr_check_view *v, const ntr_check_row *row) {
    return is_sign_extended(v, row);
}

/* ---- TSTAMP */

bool ntr_rule_above_ts_width(const ntr_check_view *v, const ntr_check_row *row) {
    const unsigned width = v->config->params.ts_width;
    (void)row;
    return NTR_HAS(v->message, TSTAMP) && width && width < 64 && v->message->tstamp >> width;
}

/* ---- Ownership */

bool ntr_rule_process_format(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return NTR_HAS(v->message, PROCESS) && ntr_ownership_format(v->message->process) == NTR_FORMAT_RESERVED;
}

bool ntr_rule_process_privilege(const ntr_check_view *v, const ntr_check_row *row) {
    unsigned prv = v->message->process >> 2 & 3, virtual = v->message->process >> 4 & 1;
    (void)row;
    /* where FORMAT 0 has a context, V 1 with PRV 2 and 3 are debug and firmware mode (docs/dialects.md section 6.5) */
    if (virtual && ntr_context0_of(&v->config->params) != NTR_CONTEXT0_NONE) return false;
    return NTR_HAS(v->message, PROCESS) && (prv == 2 || (virtual && prv == 3));
}

bool ntr_rule_process_context(const ntr_check_view *v, const ntr_check_row *row) {
    (void)row;
    return NTR_HAS(v->message, PROCESS) && ntr_ownership_format(v->message->process) == NTR_FORMAT_PRIVILEGE &&
           ntr_context0_of(&v->config->params) == NTR_CONTEXT0_NONE && v->message->process >> NTR_PROCESS_CONTEXT;
}
