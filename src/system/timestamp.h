/* Timestamp unit of an encoder or funnel (Trace Control section 3). */
#ifndef NTR_SYSTEM_TIMESTAMP_H
#define NTR_SYSTEM_TIMESTAMP_H

#include "system/component.h"

typedef struct timestamp_unit {
    uint64_t clocks;   /* cycles of the internal counter, before the prescaler */
    uint64_t external; /* the last external time */
} timestamp_unit;

/* Defines the registers of the unit. */
void timestamp_rules(trace_component *component);

void timestamp_reset(timestamp_unit *unit);

/* Advances the unit by one cycle. `core_stopped`: the clock of the core is stopped. */
void timestamp_tick(trace_component *component, timestamp_unit *unit, bool core_stopped);

/* Returns the current timestamp. */
uint64_t timestamp_now(const trace_component *component, const timestamp_unit *unit);

void timestamp_refresh(trace_component *component, const timestamp_unit *unit);
void timestamp_wrote(trace_component *component, timestamp_unit *unit, ntr_register reg, uint32_t word);

/* Returns the timestamp unit of the component, or NULL when it has none. */
timestamp_unit *timestamp_of(trace_component *component);

#endif
