/* Funnel: merges complete messages of several inputs, round-robin (Trace Control section 7). */
#include "system/component.h"
#include "system/timestamp.h"

typedef struct trace_funnel {
    trace_component base;
    timestamp_unit time;
    unsigned turn; /* the next input to serve */
} trace_funnel;

static void rules(trace_component *component) {
    if (OPTION(&component->options, DIS_INPUT))
        page_allow(&component->page, NTR_BITS_FUNNEL_DIS_INPUTS, (1u << component->input_count) - 1, 0);
    timestamp_rules(component);
}

static void reset(trace_component *component) {
    trace_funnel *f = (trace_funnel *)component;
    timestamp_reset(&f->time);
    f->turn = 0;
}

static void tick(trace_component *component) {
    timestamp_tick(component, &((trace_funnel *)component)->time, false);
}

/* ---- messages */

static bool discards(const trace_component *component, unsigned input) {
    return component->active && (GET(&component->page, FUNNEL_DIS_INPUTS) >> input & 1);
}

static void pass(trace_component *component) {
    component_pass_in_turn(component, &((trace_funnel *)component)->turn);
}

/* ---- registers */

static void refresh(trace_component *component, ntr_register reg) {
    (void)reg;
    timestamp_refresh(component, &((trace_funnel *)component)->time);
}

static void wrote(trace_component *component, ntr_register reg, unsigned number, uint32_t word) {
    (void)number;
    timestamp_wrote(component, &((trace_funnel *)component)->time, reg, word);
}

static timestamp_unit *timestamp(trace_component *component) {
    return &((trace_funnel *)component)->time;
}

const component_ops ntr_funnel_component = {
    .kind = NTR_COMPONENT_FUNNEL,
    .size = sizeof(trace_funnel),
    .rules = rules,
    .reset = reset,
    .pass = pass,
    .tick = tick,
    .discards = discards,
    .timestamp = timestamp,
    .refresh = refresh,
    .wrote = wrote,
};
