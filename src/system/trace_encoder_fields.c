/* Which fields of its registers a trace encoder implements, by its options (Trace Control section 2). */
#include "system/trace_encoder.h"

enum { FORMAT_NTRACE = 1 }; /* trTeFormat */

static void rules_of_control(register_page *page, const option_values *o) {
    const uint32_t modes = (uint32_t)OPTION(o, MODES);
    page_flag(page, NTR_BITS_TE_INST_TRACING, true);
    page_choose(page, NTR_BITS_TE_INST_MODE, modes | 1u << MODE_OFF, (uint32_t)__builtin_ctz(modes));
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
