/* Trace encoder component (Trace Control section 2). */
#include "system/trace_encoder.h"

#include <ntrace/encoder_hardware.h>
#include <string.h>

/* ---- Which fields of its registers a trace encoder implements, by its options (Trace Control section 2). */

static void rules_of_control(register_page *page, const option_values *o) {
    const uint32_t modes = (uint32_t)OPTION(o, MODES);
    page_flag(page, NTR_BITS_TE_INST_TRACING, true);
    page_choose_mode(page, NTR_BITS_TE_INST_MODE, modes | 1u << MODE_OFF, (uint32_t)__builtin_ctz(modes));
    page_flag(page, NTR_BITS_TE_CONTEXT, OPTION(o, CONTEXT));
    page_flag(page, NTR_BITS_TE_INST_TRIG_ENABLE, OPTION(o, TRIGGERS));
    page_flag(page, NTR_BITS_TE_INST_STALL_ENA, OPTION(o, STALL));
    page_flag(page, NTR_BITS_TE_INHIBIT_SRC, OPTION(o, INHIBIT_SRC));
    const uint32_t syncs = (uint32_t)OPTION(o, SYNC_MODES), maxima = (uint32_t)OPTION(o, SYNC_MAX);
    page_choose(page, NTR_BITS_TE_INST_SYNC_MODE, syncs, (uint32_t)__builtin_ctz(syncs));
    page_choose(page, NTR_BITS_TE_INST_SYNC_MAX, maxima, (uint32_t)__builtin_ctz(maxima));
    page_fix(page, NTR_BITS_TE_FORMAT, FORMAT_NTRACE);
}

static void rules_of_features(register_page *page, const option_values *o) {
    const uint32_t returns = (uint32_t)OPTION(o, IMPLICIT_RETURN), src_bits = (uint32_t)OPTION(o, SRC_BITS);
    page_fix(page, NTR_BITS_TE_PROTOCOL_MAJOR, 1);
    page_flag(page, NTR_BITS_TE_INST_EN_SEQUENTIAL_JUMP, OPTION(o, SEQUENTIAL_JUMP));
    page_flag(page, NTR_BITS_TE_INST_EN_IMPLICIT_RETURN, returns & ~1u);
    page_choose(page, NTR_BITS_TE_INST_IMPLICIT_RETURN_MODE, returns, returns ? (uint32_t)__builtin_ctz(returns) : 0);
    page_flag(page, NTR_BITS_TE_INST_EN_REPEATED_HISTORY, OPTION(o, REPEATED_HISTORY));
    page_flag(page, NTR_BITS_TE_INST_EN_ALL_JUMPS, OPTION(o, ALL_JUMPS));
    page_flag(page, NTR_BITS_TE_INST_EXTEND_ADDR_MSB, OPTION(o, EXTEND_ADDR));
    page_choose(page, NTR_BITS_TE_SRC_BITS, src_bits, (uint32_t)__builtin_ctz(src_bits));
    if (OPTION(o, SRC_ID) != OPTION_NONE)
        page_fix(page, NTR_BITS_TE_SRC_ID, (uint32_t)OPTION(o, SRC_ID));
    else
        page_flag(page, NTR_BITS_TE_SRC_ID, src_bits != 1);
}

static void rules_of_triggers(register_page *page, const option_values *o) {
    const uint32_t actions = 1u << 0 | 1u << ACTION_ON | 1u << ACTION_OFF | 1u << ACTION_NOTIFY;
    for (unsigned i = 0; i < OPTION(o, TRIGGER_INPUTS); i++)
        page_choose(page, (ntr_bits)(NTR_BITS_TE_TRIG_EXT_IN_ACTION0 + i), actions, 0);
    for (unsigned i = 0; i < OPTION(o, TRIGGER_OUTPUTS); i++)
        page_allow(page, (ntr_bits)(NTR_BITS_TE_TRIG_EXT_OUT_EVENT0 + i), EVENT_BEGIN | EVENT_END, 0);
}

static void rules_of_filters(register_page *page, const option_values *o) {
    static const ntr_bits matches[] = {NTR_BITS_TE_FILTER_MATCH_COMP1, NTR_BITS_TE_FILTER_MATCH_COMP2,
                                       NTR_BITS_TE_FILTER_MATCH_COMP3};
    static const ntr_bits numbers[] = {NTR_BITS_TE_FILTER_COMP1, NTR_BITS_TE_FILTER_COMP2, NTR_BITS_TE_FILTER_COMP3};
    const bool traps = OPTION(o, FILTER_INTERRUPT), causes = OPTION(o, FILTER_ECAUSE);
    page->filters = (uint8_t)OPTION(o, FILTERS);
    if (!page->filters) return;
    page_allow(page, NTR_BITS_TE_INST_FILTERS_SET, (1u << page->filters) - 1, 0);
    page_flag(page, NTR_BITS_TE_FILTER_ENABLE, true);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_PRIVILEGE, OPTION(o, FILTER_PRIVILEGE));
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_CHOICE_PRIVILEGE, OPTION(o, FILTER_PRIVILEGE));
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_ECAUSE, causes);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_CHOICE_ECAUSE_LOW, causes);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_CHOICE_ECAUSE_HIGH, causes);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_INTERRUPT, traps);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_VALUE_INTERRUPT, traps);
    page_flag(page, NTR_BITS_TE_FILTER_MATCH_IMPDEF, OPTION(o, FILTER_IMPDEF));
    page_flag(page, NTR_BITS_TE_FILTER_VALUE_IMPDEF, OPTION(o, FILTER_IMPDEF));
    page_flag(page, NTR_BITS_TE_FILTER_MASK_IMPDEF, OPTION(o, FILTER_IMPDEF));
    for (unsigned i = 0; i < 3; i++) {
        page_flag(page, matches[i], OPTION(o, COMPARATORS));
        if (OPTION(o, COMPARATORS)) page_choose(page, numbers[i], (1u << OPTION(o, COMPARATORS)) - 1, 0);
    }
}

static void rules_of_comparators(register_page *page, const option_values *o) {
    const bool secondary = OPTION(o, COMP_SECONDARY), notify = OPTION(o, COMP_NOTIFY);
    const uint32_t inputs = (uint32_t)OPTION(o, COMP_INPUTS);
    page->comparators = (uint8_t)OPTION(o, COMPARATORS);
    if (!page->comparators) return;
    page_choose(page, NTR_BITS_TE_COMP_P_INPUT, inputs, (uint32_t)__builtin_ctz(inputs));
    page_flag(page, NTR_BITS_TE_COMP_P_FUNCTION, true);
    page_flag(page, NTR_BITS_TE_COMP_P_NOTIFY, notify);
    page_flag(page, NTR_BITS_TE_COMP_P_LOW, true);
    page_flag(page, NTR_BITS_TE_COMP_P_HIGH, OPTION(o, XLEN) == 64);
    if (!secondary) return;
    page_choose(page, NTR_BITS_TE_COMP_S_INPUT, inputs, (uint32_t)__builtin_ctz(inputs));
    page_flag(page, NTR_BITS_TE_COMP_S_FUNCTION, true);
    page_flag(page, NTR_BITS_TE_COMP_MATCH_MODE, true);
    page_flag(page, NTR_BITS_TE_COMP_S_NOTIFY, notify);
    page_flag(page, NTR_BITS_TE_COMP_S_LOW, true);
    page_flag(page, NTR_BITS_TE_COMP_S_HIGH, OPTION(o, XLEN) == 64);
}

void trace_encoder_rules(trace_component *component) {
    const option_values *o = &component->options;
    rules_of_control(&component->page, o);
    rules_of_features(&component->page, o);
    rules_of_triggers(&component->page, o);
    rules_of_filters(&component->page, o);
    rules_of_comparators(&component->page, o);
    timestamp_rules(component);
}

enum { CLOSE_AFTER = 16 }; /* cycles that a disabled encoder waits for the target of its last jump */

static trace_encoder *self(trace_component *component) {
    return (trace_encoder *)component;
}

static const trace_encoder *self_const(const trace_component *component) {
    return (const trace_encoder *)component;
}

/* ---- the encoder */

static ntr_status take_message(void *user, const uint8_t *bytes, size_t size) {
    return component_send(user, 0, bytes, (uint32_t)size) ? NTR_OK : NTR_E_SPACE;
}

static unsigned qualify(void *user, const ntr_ingress *block) {
    trace_encoder *e = user;
    const unsigned judged =
        filters_judge(&e->filters, &e->base.page, (unsigned)OPTION(&e->base.options, TRAP_DEPTH), block);
    return GET(&e->base.page, TE_INST_MODE) == MODE_OFF ? 0 : judged;
}

static uint8_t implicit_return(const register_page *page) {
    return GET(page, TE_INST_EN_IMPLICIT_RETURN) ? (uint8_t)GET(page, TE_INST_IMPLICIT_RETURN_MODE) : NTR_RETURN_OFF;
}

void trace_encoder_config(const trace_encoder *e, ntr_encoder_config *c) {
    const option_values *o = &e->base.options;
    const register_page *page = &e->base.page;
    const uint32_t mode = GET(page, TE_INST_MODE), src_bits = GET(page, TE_SRC_BITS);
    ntr_encoder_config_init(c);
    c->mode = (uint8_t)(mode ? mode : (uint32_t)NTR_INST_MODE_HTM);
    c->params.src_bits = (uint8_t)src_bits;
    c->params.xlen = (uint8_t)OPTION(o, XLEN);
    c->params.implicit_return = implicit_return(page);
    c->params.return_stack = (uint32_t)OPTION(o, RETURN_STACK);
    c->params.sequential_jump = GET(page, TE_INST_EN_SEQUENTIAL_JUMP);
    c->params.extend_addr = GET(page, TE_INST_EXTEND_ADDR_MSB);
    c->params.all_jumps = GET(page, TE_INST_EN_ALL_JUMPS);
    c->params.ts_width = (uint8_t)OPTION(o, TS_WIDTH);
    c->params.timestamps = GET(page, TS_ENABLE) && GET(page, TS_MODE) ? NTR_TIMESTAMPS_ON : NTR_TIMESTAMPS_OFF;
    c->src_id = (uint16_t)(GET(page, TE_SRC_ID) & ((1u << src_bits) - 1));
    c->inhibit_src = GET(page, TE_INHIBIT_SRC);
    c->icnt_bits = (uint8_t)OPTION(o, ICNT_BITS);
    c->hist_bits = (uint8_t)OPTION(o, HIST_BITS);
    c->itype_width = (uint8_t)OPTION(o, ITYPE_WIDTH);
    c->repeated_history = GET(page, TE_INST_EN_REPEATED_HISTORY);
    c->sync_mode = (uint8_t)GET(page, TE_INST_SYNC_MODE);
    c->sync_max = (uint8_t)GET(page, TE_INST_SYNC_MAX);
    c->ownership = !GET(page, TE_CONTEXT) ? NTR_OWNERSHIP_OFF
                   : OPTION(o, HCONTEXT)  ? NTR_OWNERSHIP_HCONTEXT
                                          : NTR_OWNERSHIP_SCONTEXT;
    c->trigger_enable = true; /* allowed_actions() obeys the register, also while the encoder is enabled */
    c->stall = GET(page, TE_INST_STALL_ENA);
    c->fifo_bytes = (uint32_t)OPTION(o, FIFO);
    c->fifo_restart = (uint32_t)OPTION(o, FIFO_RESTART);
    c->drain_bytes = (uint32_t)OPTION(o, RATE);
    c->drain_cycles = (uint32_t)OPTION(o, RATE_CYCLES);
    c->qualify = qualify;
    c->qualify_user = (void *)(uintptr_t)e;
    c->allocator = e->base.config->allocator;
    c->sink = take_message;
    c->sink_user = (void *)(uintptr_t)e;
}

static ntr_encoder_status status_of(const trace_encoder *e) {
    ntr_encoder_status status;
    ntr_encoder_status_get(e->encoder, &status);
    return status;
}

/* Fires external trigger outputs on every change of trTeInstTracing, whatever the cause. */
static void watch_tracing(trace_encoder *e) {
    const ntr_encoder_status now = status_of(e);
    const bool tracing = now.enabled && now.tracing;
    if (tracing == e->tracing_seen) return;
    e->tracing_seen = tracing;
    const ntr_system_config *config = e->base.config;
    for (unsigned output = 0; output < OPTION(&e->base.options, TRIGGER_OUTPUTS); output++) {
        const uint32_t events = page_get(&e->base.page, (ntr_bits)(NTR_BITS_TE_TRIG_EXT_OUT_EVENT0 + output));
        if ((events & (tracing ? EVENT_BEGIN : EVENT_END)) && config->outputs.trigger)
            config->outputs.trigger(config->user, e->base.index, output);
    }
}

/* ---- creation and state */

static ntr_status make_encoder(trace_encoder *e) {
    ntr_encoder_config config;
    ntr_status status;
    trace_encoder_config(e, &config);
    status = ntr_encoder_new(&config, &e->encoder);
    return status == NTR_OK ? ntr_encoder_set_enable(e->encoder, false) : status;
}

static ntr_status start(trace_component *component) {
    return make_encoder(self(component));
}

static timestamp_unit *timestamp(trace_component *component) {
    return &self(component)->time;
}

static void release(trace_component *component) {
    ntr_encoder_free(self(component)->encoder);
}

/* Messages that the next component does not accept any more are lost. */
static void reset(trace_component *component) {
    trace_encoder *e = self(component);
    const ntr_encoder_status before = e->encoder ? status_of(e) : (ntr_encoder_status){.empty = true};
    timestamp_reset(&e->time);
    e->filters = (filter_state){0};
    e->enable_wanted = e->tracing_seen = e->hart_halted = false;
    e->closing = e->cycles_pushed = 0;
    if (!e->encoder) return;
    ntr_encoder *old = e->encoder;
    component->counts.lost_bytes += before.fifo_used;
    if (make_encoder(e) == NTR_OK)
        ntr_encoder_free(old);
    else
        e->encoder = old; /* out of memory: keep the old one */
}

static void try_enable(trace_encoder *e) {
    ntr_encoder_config config;
    if (!e->enable_wanted || !status_of(e).empty) return;
    e->enable_wanted = false;
    trace_encoder_config(e, &config);
    if (ntr_encoder_reconfigure(e->encoder, &config) != NTR_OK) return;
    ntr_encoder_set_enable(e->encoder, true);
    e->base.enabled = true;
    e->mode = GET(&e->base.page, TE_INST_MODE);
}

static void enable(trace_component *component) {
    trace_encoder *e = self(component);
    PUT(&component->page, TE_INST_STALL_OR_OVERFLOW, 0);
    e->enable_wanted = true;
    try_enable(e);
}

static void disable(trace_component *component) {
    trace_encoder *e = self(component);
    ntr_encoder_set_enable(e->encoder, false);
    ntr_encoder_flush(e->encoder);
    e->closing = 0;
    watch_tracing(e);
}

/* Ends tracing at a jump whose target will not be received any more. */
static void close_run(trace_encoder *e) {
    const ntr_encoder_status now = status_of(e);
    if (!now.active || (now.enabled && now.tracing)) return;
    if (++e->closing >= CLOSE_AFTER) ntr_encoder_stop(e->encoder, NTR_ADDRESS_UNKNOWN, NTR_EVCODE_DISABLED);
}

static void pump(trace_component *component) {
    trace_encoder *e = self(component);
    if (!component->enabled)
        ntr_encoder_flush(e->encoder);
    else if (!OPTION(&component->options, RATE))
        ntr_encoder_tick(e->encoder, 0);
    try_enable(e);
}

static void tick(trace_component *component) {
    trace_encoder *e = self(component);
    timestamp_tick(component, &e->time, e->hart_halted && !GET(&component->page, TS_RUN_IN_DEBUG));
    if (e->cycles_pushed)
        e->cycles_pushed--; /* ingress already counted this cycle */
    else
        ntr_encoder_tick(e->encoder, 1);
    close_run(e);
}

static bool busy(const trace_component *component) {
    return !status_of(self_const(component)).empty;
}

/* ---- registers */

static void refresh(trace_component *component, ntr_register reg) {
    (void)reg;
    trace_encoder *e = self(component);
    const ntr_encoder_status now = status_of(e);
    PUT(&component->page, TE_INST_TRACING, now.enabled && now.tracing);
    PUT(&component->page, TE_INST_STALL_OR_OVERFLOW, now.stall_or_overflow);
    timestamp_refresh(component, &e->time);
}

/* While the encoder is enabled, trTeInstMode switches the trace off and on again; the mode itself does not change. */
static void keep_mode(trace_encoder *e) {
    const uint32_t mode = GET(&e->base.page, TE_INST_MODE);
    if (e->base.enabled && mode != MODE_OFF && mode != e->mode) PUT(&e->base.page, TE_INST_MODE, e->mode);
}

static void wrote_control(trace_encoder *e, uint32_t word) {
    keep_mode(e);
    if (!(word & NTR_TE_ENABLE_MASK)) e->enable_wanted = false;
    if (word & NTR_TE_INST_STALL_OR_OVERFLOW_MASK) ntr_encoder_clear_overflow(e->encoder);
    if (e->base.enabled) ntr_encoder_set_tracing(e->encoder, word & NTR_TE_INST_TRACING_MASK);
    watch_tracing(e);
}

static void wrote(trace_component *component, ntr_register reg, unsigned number, uint32_t word) {
    trace_encoder *e = self(component);
    if (reg == NTR_REGISTER_TE_CONTROL) wrote_control(e, word);
    if (reg == NTR_REGISTER_TE_COMP_CONTROL) filters_comparator_written(&e->filters, &component->page, number);
    timestamp_wrote(component, &e->time, reg, word);
}

/* ---- hart and triggers */

/* trTeInstTrigEnable allows trace-on and trace-off; trace-notify does not depend on it. */
static uint8_t allowed_actions(const trace_encoder *e, uint8_t actions) {
    return GET(&e->base.page, TE_INST_TRIG_ENABLE) ? actions : actions & NTR_TRIGGER_NOTIFY;
}

ntr_status trace_encoder_push(trace_encoder *e, const ntr_ingress *block) {
    ntr_ingress copy = *block;
    if (!e->base.active) return NTR_OK;
    e->time.external = block->time;
    copy.time = timestamp_now(&e->base, &e->time);
    copy.trigger = allowed_actions(e, block->trigger);
    const uint64_t stalled = status_of(e).stall_cycles;
    const ntr_status status = ntr_encoder_push(e->encoder, &copy);
    if (status != NTR_OK) return status;
    e->hart_halted = block->halted || block->priv == NTR_PRIV_D;
    e->stalled = status_of(e).stall_cycles - stalled;
    e->cycles_pushed += block->cycle + e->stalled;
    e->closing = 0;
    if (!e->base.enabled) ntr_encoder_flush(e->encoder);
    watch_tracing(e);
    return NTR_OK;
}

ntr_status trace_encoder_leave(trace_encoder *e, uint64_t next) {
    return e->base.active ? ntr_encoder_stop(e->encoder, next, NTR_EVCODE_DISABLED) : NTR_OK;
}

ntr_status trace_encoder_trigger(trace_encoder *e, unsigned input) {
    static const uint8_t actions[16] = {
        [ACTION_ON] = NTR_TRIGGER_ON, [ACTION_OFF] = NTR_TRIGGER_OFF, [ACTION_NOTIFY] = NTR_TRIGGER_NOTIFY};
    if (input >= OPTION(&e->base.options, TRIGGER_INPUTS)) return NTR_E_RANGE;
    const uint32_t action = page_get(&e->base.page, (ntr_bits)(NTR_BITS_TE_TRIG_EXT_IN_ACTION0 + input));
    const ntr_status status = ntr_encoder_trigger(e->encoder, allowed_actions(e, actions[action]));
    watch_tracing(e);
    return status;
}

const component_ops ntr_encoder_component = {
    .kind = NTR_COMPONENT_ENCODER,
    .size = sizeof(trace_encoder),
    .rules = trace_encoder_rules,
    .start = start,
    .release = release,
    .reset = reset,
    .enable = enable,
    .disable = disable,
    .pump = pump,
    .tick = tick,
    .busy = busy,
    .timestamp = timestamp,
    .refresh = refresh,
    .wrote = wrote,
};
