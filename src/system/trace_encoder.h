/* Trace encoder component: an ntr_encoder controlled by registers. */
#ifndef NTR_SYSTEM_TRACE_ENCODER_H
#define NTR_SYSTEM_TRACE_ENCODER_H

#include "system/component.h"
#include "system/page.h"
#include "system/timestamp.h"

#include <ntrace/encoder.h>

/* ---- Filters and comparators of an encoder (Trace Control section 5).
 *
 * A comparator with input iaddr is true for a block when it is true for at least one instruction of the block. */

enum { FILTERS_MAX = 16, COMPARATORS_MAX = 8 };

typedef struct filter_state {
    uint16_t depth[FILTERS_MAX];   /* traps since the window of the filter opened; 0: closed */
    bool latched[COMPARATORS_MAX]; /* match mode 3: after a primary match and before a secondary match */
} filter_state;

/* Returns a set of NTR_QUALIFY_* for the block. `page` has the registers. `trap_depth` is the maximum number of nested
 * traps that are counted. */
unsigned filters_judge(filter_state *filters, const register_page *page, unsigned trap_depth, const ntr_ingress *block);

/* Updates the state after a write to the control register of a comparator. */
void filters_comparator_written(filter_state *filters, const register_page *page, unsigned number);

/* Values of register fields. */
enum { MODE_OFF = 0 };                                        /* trTeInstMode */
enum { ACTION_ON = 2, ACTION_OFF = 3, ACTION_NOTIFY = 4 };    /* trTeTrigExtInAction */
enum { EVENT_BEGIN = 1 << 0, EVENT_END = 1 << 1 };            /* trTeTrigExtOutEvent */

typedef struct trace_encoder {
    trace_component base;
    ntr_encoder *encoder;
    timestamp_unit time;
    filter_state filters;
    bool enable_wanted;     /* enable when the messages of the last run have been sent */
    bool tracing_seen;      /* trTeInstTracing at the last check of the external outputs */
    bool hart_halted;
    uint32_t mode;          /* trTeInstMode when the encoder was enabled */
    uint64_t cycles_pushed; /* cycles counted by ingress, not yet by the clock of the system */
    uint64_t stalled;       /* cycles that the last block waited in the encoder */
    uint64_t closing;       /* cycles since tracing ended while the target of a jump is not known */
} trace_encoder;

/* Defines the implemented fields of the registers, by the options. */
void trace_encoder_rules(trace_component *component);

/* Encodes one block of the hart. */
ntr_status trace_encoder_push(trace_encoder *encoder, const ntr_ingress *block);

/* Ends the trace: further execution of the hart is not visible at its ingress port. */
ntr_status trace_encoder_leave(trace_encoder *encoder, uint64_t next);

/* Handles a pulse on an external trigger input. */
ntr_status trace_encoder_trigger(trace_encoder *encoder, unsigned input);

/* Stores the encoder configuration that the registers select. */
void trace_encoder_config(const trace_encoder *encoder, ntr_encoder_config *config);

#endif
