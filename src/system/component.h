/* A component of a trace system: registers, a place in the address space, and whole messages in and out.
 *
 * A sender gives a message to those of its receivers that are enabled, and only when all of them have room;
 * while none is enabled it waits. So nothing complete is lost between components, in whatever order software
 * switches them. */
#ifndef NTR_SYSTEM_COMPONENT_H
#define NTR_SYSTEM_COMPONENT_H

#include "system/options.h"
#include "system/page.h"
#include "system/queue.h"

#include <ntrace/system.h>

typedef struct trace_component trace_component;

/* What is special about a kind. NULL: nothing. */
typedef struct component_ops {
    ntr_component kind;
    size_t size; /* of the struct that begins with `component` */
    void (*rules)(trace_component *component);        /* options are set: what the registers can be */
    ntr_status (*start)(trace_component *component);  /* registers have their reset values: make parts */
    void (*release)(trace_component *component);
    void (*reset)(trace_component *component);        /* Active went to 0: what is held outside of the inputs is gone */
    void (*after_reset)(trace_component *component);  /* registers have their reset values again */
    void (*enable)(trace_component *component);       /* instead of setting `enabled`; may refuse */
    void (*disable)(trace_component *component);      /* `enabled` is false already; then it is pumped */
    void (*pass)(trace_component *component);         /* take from the inputs what `allowed` lets through */
    void (*pump)(trace_component *component);         /* instead of `pass` and a rate: what leaves by itself */
    void (*tick)(trace_component *component);         /* a cycle has gone by */
    bool (*busy)(const trace_component *component);   /* something is held outside of the inputs */
    bool (*discards)(const trace_component *component, unsigned input);
    struct timestamp_unit *(*timestamp)(trace_component *component); /* its timestamp unit */

    void (*refresh)(trace_component *component, ntr_register reg); /* fields that hardware changes */
    void (*read)(trace_component *component, ntr_register reg);                                  /* after a read */
    bool (*may_write)(const trace_component *component, ntr_register reg);
    void (*wrote)(trace_component *component, ntr_register reg, unsigned number, uint32_t word); /* after a write */
} component_ops;

typedef struct output_link {
    trace_component *to;
    unsigned input;
} output_link;

struct trace_component {
    const component_ops *ops;
    ntr_system *system;
    const ntr_system_config *config; /* of the system */
    unsigned index; /* in the system */
    char *name;
    uint64_t base;
    option_values options;
    register_page page;
    bool active, enabled;
    message_queue *inputs; /* messages that were taken and wait */
    unsigned input_count;
    uint64_t credit, allowed; /* rate: what is left of a division; bytes that may leave now */
    output_link *outputs;
    size_t output_count;
    trace_component *ts_source; /* shared timestamps come from there; or NULL */
    ntr_component_counts counts;
};

extern const component_ops ntr_encoder_component;
extern const component_ops ntr_funnel_component;
extern const component_ops ntr_ram_component;
extern const component_ops ntr_pib_component;
extern const component_ops ntr_atb_component;

/* The fields that every component has at the same place. */
typedef struct common_bits {
    ntr_bits active, enable, empty, major, type, vendor;
    ntr_register control;
} common_bits;
const common_bits *component_bits(ntr_component kind);

uint32_t component_read(trace_component *component, uint32_t offset);
void component_write(trace_component *component, uint32_t offset, uint32_t word);

/* Errors: NTR_E_MEMORY. */
ntr_status component_start(trace_component *component);
void component_release(trace_component *component);

/* Without time going by; a cycle of it. */
void component_pump(trace_component *component);
void component_step(trace_component *component);

/* Nothing is held. */
bool component_empty(const trace_component *component);

/* Give a message to the receivers; false when it has to wait. */
bool component_send(trace_component *component, const uint8_t *bytes, uint32_t size);

/* The oldest message that waits at an input, of which `allowed` must let all through: its size, else 0. */
uint32_t component_peek(const trace_component *component, unsigned input, uint8_t bytes[QUEUE_MESSAGE_MAX]);

/* So many bytes leave. */
void component_spend(trace_component *component, uint32_t size);

/* A message that was taken is gone; all that wait are. */
void component_lose(trace_component *component, uint32_t size);
void component_discard(trace_component *component);

#endif
