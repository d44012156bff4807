/* Timestamp unit of an encoder or funnel (Trace Control section 3). */
#ifndef NTR_SYSTEM_TIMESTAMP_H
#define NTR_SYSTEM_TIMESTAMP_H

#include "system/component.h"

typedef struct timestamp_unit {
    uint64_t clocks;   /* of the internal counter, before the prescaler */
    uint64_t external;
} timestamp_unit;

/* Rules of the unit's registers. */
void timestamp_rules(trace_component *component);

void timestamp_reset(timestamp_unit *unit);

/* Cycles of the system's and of the core's clock went by. */
void timestamp_tick(trace_component *component, timestamp_unit *unit, bool core_stopped);

/* What it shows now. */
uint64_t timestamp_now(const trace_component *component, const timestamp_unit *unit);

void timestamp_refresh(trace_component *component, const timestamp_unit *unit);
void timestamp_wrote(trace_component *component, timestamp_unit *unit, ntr_register reg, uint32_t word);

/* The unit of the component, or NULL. */
timestamp_unit *timestamp_of(trace_component *component);

#endif
