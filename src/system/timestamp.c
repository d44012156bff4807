#include "system/timestamp.h"

enum { MODE_NONE, MODE_EXTERNAL, MODE_SYSTEM, MODE_CORE, MODE_SHARED };

void timestamp_rules(trace_component *component) {
    register_page *page = &component->page;
    const option_values *o = &component->options;
    const bool encoder = component->ops->kind == NTR_COMPONENT_ENCODER;
    uint64_t modes = OPTION(o, TS_MODES);
    if (!OPTION(o, TS_WIDTH)) return;
    if (!encoder) modes &= ~(1ull << MODE_CORE);
    if (!component->ts_source) modes &= ~(1ull << MODE_SHARED);
    const bool internal = modes & (1u << MODE_SYSTEM | 1u << MODE_CORE);
    page->timestamps = true;
    page_flag(page, NTR_BITS_TS_ACTIVE, OPTION(o, TS_RESET));
    page_flag(page, NTR_BITS_TS_COUNT, internal);
    page_flag(page, NTR_BITS_TS_RUN_IN_DEBUG, encoder && (modes >> MODE_CORE & 1) && OPTION(o, TS_RUN_IN_DEBUG));
    page_choose(page, NTR_BITS_TS_MODE, (uint32_t)modes, (uint32_t)__builtin_ctzll(modes ? modes : 1));
    if (internal)
        page_choose(page, NTR_BITS_TS_PRESCALE, (uint32_t)OPTION(o, TS_PRESCALE),
                    (uint32_t)__builtin_ctzll(OPTION(o, TS_PRESCALE)));
    page_flag(page, NTR_BITS_TS_ENABLE, encoder);
    page_fix(page, NTR_BITS_TS_WIDTH, (uint32_t)OPTION(o, TS_WIDTH));
}

void timestamp_reset(timestamp_unit *unit) {
    *unit = (timestamp_unit){0};
}

timestamp_unit *timestamp_of(trace_component *component) {
    return component->ops->timestamp ? component->ops->timestamp(component) : NULL;
}

/* Returns whether the unit is not in reset. A unit without a reset of its own is active when its component is. */
static bool is_active(const trace_component *component) {
    if (!component->page.timestamps || !component->active) return false;
    return !OPTION(&component->options, TS_RESET) || GET(&component->page, TS_ACTIVE);
}

void timestamp_tick(trace_component *component, timestamp_unit *unit, bool core_stopped) {
    if (!is_active(component) || !GET(&component->page, TS_COUNT)) return;
    const uint32_t mode = GET(&component->page, TS_MODE);
    if (mode == MODE_SYSTEM || (mode == MODE_CORE && !core_stopped)) unit->clocks++;
}

static uint64_t full_time(const trace_component *component, const timestamp_unit *unit) {
    if (!is_active(component)) return 0;
    switch (GET(&component->page, TS_MODE)) {
    case MODE_EXTERNAL: return unit->external;
    case MODE_SYSTEM:
    case MODE_CORE: return unit->clocks >> 2 * GET(&component->page, TS_PRESCALE);
    case MODE_SHARED: return timestamp_now(component->ts_source, timestamp_of(component->ts_source));
    default: return 0;
    }
}

uint64_t timestamp_now(const trace_component *component, const timestamp_unit *unit) {
    return full_time(component, unit) & ((1ull << OPTION(&component->options, TS_WIDTH)) - 1);
}

void timestamp_refresh(trace_component *component, const timestamp_unit *unit) {
    register_page *page = &component->page;
    if (!page->timestamps) return;
    const uint64_t now = timestamp_now(component, unit);
    if (!OPTION(&component->options, TS_RESET)) PUT(page, TS_ACTIVE, component->active);
    PUT(page, TS_LOW, (uint32_t)now);
    PUT(page, TS_HIGH, (uint32_t)(now >> 32));
}

void timestamp_wrote(trace_component *component, timestamp_unit *unit, ntr_register reg, uint32_t word) {
    const uint32_t mode = GET(&component->page, TS_MODE);
    if (reg != NTR_REGISTER_TS_CONTROL) return;
    if (!is_active(component)) unit->clocks = 0;
    if ((word & NTR_TS_RESET_MASK) && (mode == MODE_SYSTEM || mode == MODE_CORE)) unit->clocks = 0;
}
