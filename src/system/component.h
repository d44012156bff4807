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

typedef struct component_ops {
    ntr_component kind;
    size_t size; /* of the struct that begins with `component` */
    ntr_status (*start)(trace_component *component);  /* options are set: make parts, write rules */
    void (*release)(trace_component *component);
    void (*reset)(trace_component *component);        /* Active went to 0: what is held is gone */
    void (*after_reset)(trace_component *component);  /* registers have their reset values; NULL: nothing to do */
    void (*enable)(trace_component *component);       /* may refuse: leaves `enabled` as it is */
    void (*disable)(trace_component *component);      /* flush; what cannot leave yet stays queued */
    void (*pump)(trace_component *component);         /* pass on what may leave without time going by */
    void (*step)(trace_component *component, uint64_t cycles);
    bool (*empty)(const trace_component *component);

    bool (*accepts)(const trace_component *component, unsigned input); /* enabled, as far as a sender is concerned */
    bool (*room)(const trace_component *component, unsigned input, uint32_t size);
    void (*take)(trace_component *component, unsigned input, const uint8_t *bytes, uint32_t size);

    void (*refresh)(trace_component *component, ntr_register reg); /* fields that hardware changes */
    void (*read)(trace_component *component, ntr_register reg);                                  /* after a read */
    bool (*may_write)(const trace_component *component, ntr_register reg);                       /* NULL: always */
    void (*wrote)(trace_component *component, ntr_register reg, unsigned number, uint32_t word); /* after a write */
} component_ops;

typedef struct output_link {
    trace_component *to;
    unsigned input;
} output_link;

struct trace_component {
    const component_ops *ops;
    ntr_system *system;
    unsigned index; /* in the system */
    char *name;
    uint64_t base;
    option_values options;
    register_page page;
    bool active, enabled;
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

/* Back to how it is after power-up. */
void component_reset(trace_component *component);

/* Give a message to the receivers; false when it has to wait. */
bool component_send(trace_component *component, const uint8_t *bytes, uint32_t size);

/* A message that was taken is gone. */
void component_lose(trace_component *component, uint32_t size);

/* All that waits is gone. */
void component_discard_queue(trace_component *component, message_queue *queue);

/* So many bytes may leave now: `rate` in `rate_cycles`; `*credit` keeps what was not used. */
uint64_t component_allowance(const trace_component *component, uint64_t cycles, uint64_t *credit);

#endif
