/* Defaults, limits and conflicts of the encoder configuration. */
#include "base/config.h"
#include "base/text.h"
#include "encoder/state.h"
#include "message/values.h"

#include <string.h>

enum { ICNT_BITS_MAX = 22, COUNT_BITS_MAX = 18, ADDRESS_BITS = 63, FIFO_LEAST = 76, FRAME_LEAST = 64 };

static void set_defaults(ntr_encoder_config *config) {
    memset(config, 0, sizeof *config);
    config->size = sizeof *config;
    ntr_params_init(&config->params, NULL);
    config->mode = NTR_INST_MODE_HTM;
    config->btype_detail = true;
    config->announce = true;
    config->start_sync = NTR_SYNC_TRACE_ENABLE;
    config->stop_evcode = NTR_EVCODE_DISABLED;
    config->ts_messages = NTR_TS_MESSAGE_ALL;
    config->trigger_enable = true;
    config->drain_bytes = 1;
    config->drain_cycles = 1;
    ntr_encoder_config_normalize(config);
}

void ntr_encoder_config_defaults(ntr_encoder_config *config, size_t size) {
    ntr_encoder_config defaults;
    set_defaults(&defaults);
    memset(config, 0, size);
    memcpy(config, &defaults, size < sizeof defaults ? size : sizeof defaults);
    config->size = size;
}

static void set_default(uint8_t *member, uint8_t value) {
    if (!*member) *member = value;
}

/* Addresses that have more bits are left, for check_conflicts. */
static void fit_filter(const ntr_encoder_config *config, ntr_filter *filter) {
    uint64_t first = filter->first, last = filter->last;
    if (!ntr_fit_address(config->params.xlen, &first) || !ntr_fit_address(config->params.xlen, &last)) return;
    filter->first = first;
    filter->last = last;
}

static bool filters_fit(const ntr_encoder_config *config) {
    bool fit = true;
    for (unsigned i = 0; i < config->filter_count && config->params.xlen == 32; i++) {
        const ntr_filter *f = &config->filters[i];
        fit &= !f->match_address || (f->first <= f->last && f->last <= UINT32_MAX);
    }
    return fit;
}

void ntr_encoder_config_normalize(ntr_encoder_config *config) {
    set_default(&config->icnt_bits, ICNT_BITS_MAX);
    set_default(&config->hist_bits, NTR_ENC_HIST_BITS_MAX);
    set_default(&config->hrepeat_bits, COUNT_BITS_MAX);
    set_default(&config->bcnt_bits, COUNT_BITS_MAX);
    set_default(&config->itype_width, 4);
    set_default(&config->compare_bits, 16);
    set_default(&config->params.xlen, 64);
    set_default(&config->params.ts_width, 64);
    if (!config->params.return_stack) config->params.return_stack = NTR_ENC_STACK_MAX;
    if (!config->drain_cycles) config->drain_cycles = 1;
    for (unsigned i = 0; i < config->filter_count && i < NTR_FILTERS_MAX; i++) fit_filter(config, &config->filters[i]);
}

typedef struct limit {
    uint64_t value, least, most;
    const char *why;
} limit;

static ntr_status outside(const limit *limits, size_t count, const char **why) {
    for (size_t i = 0; i < count; i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most) {
            *why = limits[i].why;
            return NTR_E_RANGE;
        }
    return NTR_OK;
}

static ntr_status check_limits(const ntr_encoder_config *c, const char **why) {
    const limit limits[] = {
        {c->params.src_bits, 0, 12, "src-bits must be 0 to 12"},
        {c->src_id, 0, 0xfff, "src-id must be 0 to 4095"},
        {c->icnt_bits, 2, ICNT_BITS_MAX, "icnt-bits must be 2 to 22"},
        {c->hist_bits, 2, NTR_ENC_HIST_BITS_MAX, "hist-bits must be 2 to 32"},
        {c->hrepeat_bits, 1, COUNT_BITS_MAX, "hrepeat-bits must be 1 to 18"},
        {c->bcnt_bits, 1, COUNT_BITS_MAX, "bcnt-bits must be 1 to 18"},
        {c->itype_width, 3, 4, "itype-width must be 3 or 4"},
        {c->compare_bits, 1, ADDRESS_BITS, "compare-bits must be 1 to 63"},
        {c->params.return_stack, 1, NTR_ENC_STACK_MAX, "return-stack must be 1 to 32"},
        {c->params.ts_width, 1, 64, "ts-width must be 1 to 64"},
        {c->sync_mode, 0, NTR_SYNC_MODE_HALFWORDS, "sync-mode must be off, messages, cycles or halfwords"},
        {c->sync_max, 0, 15, "sync-max must be 0 to 15"},
        {c->start_sync, 0, 15, "start-sync must be 0 to 15"},
        {c->stop_evcode, 0, 15, "stop-evcode must be 0 to 15"},
        {c->ts_prescale, 0, 3, "ts-prescale must be 0 to 3"},
        {c->ts_messages, 0, NTR_TS_MESSAGE_ALL, "ts-messages has an unknown bit"},
        {c->ownership, 0, NTR_OWNERSHIP_VIRTUAL, "context must be off, scontext, hcontext or virtual"},
        {c->filter_count, 0, NTR_FILTERS_MAX, "at most 16 filters"},
        {c->fifo_bytes, c->fifo_bytes ? FIFO_LEAST : 0, 1u << 24, "fifo must be 0, or 76 bytes to 16 MiB"},
        {c->fifo_restart, 0, c->fifo_bytes, "fifo-restart must be at most the FIFO's size"},
        {c->frame_bytes, 0, 960, "frame must be 0 or 64 to 960"},
        {c->drain_bytes, 0, 1u << 30, "drain is too fast"},
    };
    return outside(limits, sizeof limits / sizeof *limits, why);
}

typedef struct conflict {
    bool holds;
    const char *why;
} conflict;

/* Whether the field's value is reserved in the dialect, and the configuration does not ask for it. */
static bool refuses(const ntr_encoder_config *c, unsigned field, unsigned value) {
    const unsigned messages = c->params.dialect ? c->params.dialect->messages : NTR_MESSAGES_1_0;
    return !c->reserved_codes && ntr_value_flags(messages, field, value) & NTR_VALUE_RESERVED;
}

bool ntr_enc_allows(const ntr_encoder *e, unsigned field, unsigned value) {
    return value <= 15 && !refuses(&e->config, field, value);
}

static bool is_ctte(const ntr_encoder_config *c) {
    return c->params.dialect && c->params.dialect->messages & NTR_MESSAGES_CTTE;
}

static ntr_status check_conflicts(const ntr_encoder_config *c, const char **why) {
    bool htm = c->mode == NTR_INST_MODE_HTM, tables = ntr_flow_tables_exist(&c->params);
    const conflict conflicts[] = {
        {!htm && c->mode != NTR_INST_MODE_BTM, "mode must be btm or htm"},
        {c->params.dialect && !c->params.dialect->encoder, "there is no encoder for this dialect"},
        {tables && (!htm || !is_ctte(c)), "branch-predictor and jump-cache need mode htm and dialect ctte"},
        {c->params.branch_predictor && (c->repeated_history || c->params.all_jumps),
         "branch-predictor excludes repeated-history and all-jumps"},
        {c->params.addr_bits && (c->params.addr_bits < 2 || c->params.extend_addr),
         "addr-bits must be 2 to 64, without extend-addr"},
        {c->frame_bytes && c->frame_bytes < FRAME_LEAST, "frame must be 0 or 64 to 960"},
        {c->params.src_bits < 16 && c->src_id >> c->params.src_bits && !c->inhibit_src && c->params.src_bits,
         "src-id does not fit into src-bits"},
        {c->itype_width == 3 && c->params.implicit_return != NTR_RETURN_OFF, "implicit-return needs itype-width 4"},
        {(c->repeat_instruction || c->device_id) && !is_ctte(c), "repeat-instruction and device-id need dialect ctte"},
        {c->repeat_instruction && (!htm || c->params.all_jumps),
         "repeat-instruction needs mode htm, without all-jumps"},
        {refuses(c, NTR_FIELD_SYNC, c->start_sync), "start-sync is reserved; reserved-codes sends it all the same"},
        {refuses(c, NTR_FIELD_EVCODE, c->stop_evcode), "stop-evcode is reserved; reserved-codes sends it all the same"},
        {htm && c->icnt_full_sync, "icnt-full sync needs mode btm"},
        {!filters_fit(c), "filter: expected a range of addresses of 32 bits"},
    };
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
        if (conflicts[i].holds) {
            *why = conflicts[i].why;
            return NTR_E_INVALID;
        }
    return NTR_OK;
}

ntr_status ntr_encoder_config_check(const ntr_encoder_config *config, const char **why) {
    const char *ignored;
    if (!why) why = &ignored;
    ntr_encoder_config c;
    *why = "the config has no size";
    ntr_status status = ntr_config_load(&c, sizeof c, config);
    if (status != NTR_OK) return status;
    ntr_encoder_config_normalize(&c);
    *why = "a stream parameter is outside its limits";
    status = ntr_params_check(&c.params);
    if (status == NTR_OK) status = check_limits(&c, why);
    if (status == NTR_OK) status = check_conflicts(&c, why);
    if (status == NTR_OK) *why = "";
    return status;
}
