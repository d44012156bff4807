/* A component of a trace system: registers, a base address, and inputs and outputs for complete messages.
 *
 * A sender passes a message to all receivers that are enabled, and only when all of them have space. When no receiver
 * is enabled, the message waits. A complete message is therefore never lost between components, in whatever order the
 * software enables and disables them. */
#ifndef NTR_SYSTEM_COMPONENT_H
#define NTR_SYSTEM_COMPONENT_H

#include "system/page.h"

#include <ntrace/allocator.h>
#include <ntrace/registers.h>
#include <ntrace/system.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FORMAT_NTRACE = 1 }; /* trTeFormat */

/* ---- A queue of complete messages. */

enum { QUEUE_MESSAGE_MAX = 64 }; /* the encoder does not generate longer messages */

typedef struct message_queue {
    uint8_t *ring;     /* for each message its length, its trace ID, then its bytes */
    uint32_t size;     /* size of the ring */
    uint32_t head, tail;
    uint32_t capacity; /* limit of `used` */
    uint32_t used;     /* bytes of messages in the queue, without lengths and IDs */
} message_queue;

/* Returns 0, or -1 when out of memory. */
int queue_init(message_queue *queue, uint32_t capacity, const ntr_allocator *allocator);
void queue_release(message_queue *queue, const ntr_allocator *allocator);

static inline bool queue_empty(const message_queue *queue) {
    return queue->head == queue->tail;
}

/* Returns whether the queue has space for a message of this size. */
static inline bool queue_room(const message_queue *queue, uint32_t size) {
    return size <= queue->capacity - queue->used;
}

/* Appends a message with the trace ID that it has on the ATB; 0: none. The queue must have space for it. */
void queue_put(message_queue *queue, uint8_t id, const uint8_t *bytes, uint32_t size);

/* Returns the trace ID of the oldest message. The queue must not be empty. */
uint8_t queue_id(const message_queue *queue);

/* Copies the oldest message. Returns its size, or 0 when the queue is empty. */
uint32_t queue_peek(const message_queue *queue, uint8_t bytes[QUEUE_MESSAGE_MAX]);
void queue_pop(message_queue *queue);

/* ---- Options of a component in a topology: values by name, from the table options.def. */

typedef enum option_id {
#define NTR_SYSTEM_OPTION(id, ...) OPTION_##id,
#include "system/options.def"
#undef NTR_SYSTEM_OPTION
    OPTION_COUNT,
} option_id;

#define OPTION_NONE UINT64_MAX

enum { TMC_ETB, TMC_ETR, TMC_ETF }; /* tmc_type, csTmcType */
enum {
    TMC_FRAME = 16 /* bytes of a formatter frame */,
    TMC_PAGE = 4096 /* of a scatter-gather buffer */,
    TMC_WORD = 4
};
enum { TMC_CIRCULAR, TMC_SOFTWARE_FIFO, TMC_HARDWARE_FIFO }; /* tmcMode */

typedef enum option_type { OPTION_NUMBER, OPTION_FLAG, OPTION_SET } option_type;
typedef enum preset_id { PRESET_MINIMAL, PRESET_TYPICAL, PRESET_MAXIMAL, PRESET_COUNT } preset_id;

typedef struct option_info {
    const char *name;
    const char *meaning;
    uint32_t components; /* bit n: component type n (ntr_component) has the option */
    uint8_t type;        /* option_type */
    uint64_t preset[PRESET_COUNT];
    uint64_t least, most;
} option_info;

typedef struct option_values {
    uint64_t value[OPTION_COUNT];
} option_values;

/* Returns the option, or NULL when `option` is past the last one. */
const option_info *option_get(size_t option);

/* Returns the option of this component type with this name, or OPTION_COUNT when there is none. */
option_id option_find(ntr_component component, const char *name);

/* Returns the preset "minimal", "typical" or "maximal", or PRESET_COUNT for any other name. */
preset_id preset_find(const char *name);

void options_preset(option_values *options, preset_id preset);

/* Checks that the values are consistent. Returns NULL, or a description of the error such as "implicit_return needs
 * itype_width 4"; *which is then the option with the error. */
const char *options_check(const option_values *options, ntr_component component, option_id *which);

#define OPTION(options, id) ((options)->value[OPTION_##id])

typedef struct trace_component trace_component;

/* Functions of a component type. NULL: no action, or the default. */
typedef struct component_ops {
    ntr_component kind;
    size_t size; /* size of the struct that begins with trace_component */
    void (*rules)(trace_component *component);        /* defines the implemented fields, after the options are set */
    ntr_status (*start)(trace_component *component);  /* creates parts, after the registers have reset values */
    void (*release)(trace_component *component);
    void (*reset)(trace_component *component);        /* Active became 0: drops data held outside the input queues */
    void (*after_reset)(trace_component *component);  /* called when the registers have reset values again */
    void (*enable)(trace_component *component);       /* replaces setting `enabled`; may refuse */
    void (*disable)(trace_component *component);      /* `enabled` is already false; component_pump follows */
    void (*pass)(trace_component *component);         /* processes input messages of at most `allowed` bytes */
    void (*pump)(trace_component *component);         /* replaces `pass` and the rate */
    void (*tick)(trace_component *component);         /* one cycle has elapsed */
    bool (*busy)(const trace_component *component);   /* data is held outside the input queues */
    bool (*discards)(const trace_component *component, unsigned input);
    bool (*accepts)(const trace_component *component, unsigned input); /* takes messages; NULL: when enabled */
    struct timestamp_unit *(*timestamp)(trace_component *component); /* returns the timestamp unit */

    void (*refresh)(trace_component *component, ntr_register reg); /* updates fields that hardware changes */
    void (*read)(trace_component *component, ntr_register reg);                                  /* after a read */
    bool (*may_write)(const trace_component *component, ntr_register reg);
    void (*wrote)(trace_component *component, ntr_register reg, unsigned number, uint32_t word); /* after a write */

    /* Arm CoreSight: replace all of the above about registers. */
    uint32_t (*load)(trace_component *component, ntr_register reg);
    void (*store)(trace_component *component, ntr_register reg, uint32_t word);
} component_ops;

typedef struct output_link {
    trace_component *to;
    unsigned input;
} output_link;

struct trace_component {
    const component_ops *ops;
    ntr_system *system;
    const ntr_system_config *config; /* configuration of the system */
    unsigned index; /* number of the component in the system */
    char *name;
    uint64_t base;
    option_values options;
    register_page page;
    bool active, enabled;
    message_queue *inputs; /* received messages */
    unsigned input_count;
    uint64_t credit, allowed; /* rate: remainder of the division by RATE_CYCLES; bytes that may be sent now */
    output_link *outputs;
    size_t output_count; /* 0: a sink */
    uint32_t left_out;   /* bit n: the sender of input n was removed (system_restrict) */
    trace_component *ts_source; /* source of shared timestamps, or NULL */
    ntr_component_counts counts;
};

extern const component_ops ntr_encoder_component;
extern const component_ops ntr_funnel_component;
extern const component_ops ntr_ram_component;
extern const component_ops ntr_pib_component;
extern const component_ops ntr_atb_component;
extern const component_ops ntr_csfunnel_component;
extern const component_ops ntr_tmc_component;

/* Returns whether the component is one of Arm CoreSight: it has no Control and Impl register. */
static inline bool is_coresight(const trace_component *component) {
    return component->ops->load != NULL;
}

/* Fields that all component types of Trace Control have. Those of a CoreSight component are NTR_BITS_COUNT. */
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

/* component_pump passes messages without advancing time; component_step advances time by one cycle. */
void component_pump(trace_component *component);
void component_step(trace_component *component);

/* Returns whether the component holds no data. */
bool component_empty(const trace_component *component);

/* Sends a message with this trace ID to the receivers. Returns false when it has to wait. */
bool component_send(trace_component *component, uint8_t id, const uint8_t *bytes, uint32_t size);

/* Copies the oldest message of an input. Returns its size, or 0 when there is none or when `allowed` is smaller. */
uint32_t component_peek(const trace_component *component, unsigned input, uint8_t bytes[QUEUE_MESSAGE_MAX]);

/* Subtracts `size` sent bytes from `allowed`. */
void component_spend(trace_component *component, uint32_t size);

/* Sends one message of each input in turn, for as long as there are any; *turn is the next input. A message that has to
 * wait keeps its turn. */
void component_pass_in_turn(trace_component *component, unsigned *turn);

/* component_lose counts one received message as lost; component_discard drops all queued messages and counts them. */
void component_lose(trace_component *component, uint32_t size);
void component_discard(trace_component *component);

#endif
