/* The procedures of a debugger for trace hardware (Trace Control sections 6.4 and 10), for any target.
 *
 * A procedure is a sequence of steps. Each step is one or a few accesses to the registers of one component, with the
 * result that the specification demands. bring_up_start gives the steps in order to an executor: one that performs them
 * on a bus (bring_up_take), or one that writes them as a script. The components, their bases, connections and settings
 * are those of an ntr_system, which may be the model itself or only the description of real hardware. */
#ifndef NTR_SYSTEM_BRING_UP_H
#define NTR_SYSTEM_BRING_UP_H

#include "system/system.h"

#include <ntrace/bus.h>

typedef enum bring_up_kind {
    STEP_WRITE,  /* register := value */
    STEP_AWAIT,  /* wait until the field has the value */
    STEP_EXPECT, /* the field must have the value */
    STEP_SET,    /* field := value; it must read back unchanged */
    STEP_TRY,    /* field := the first of `values` that reads back unchanged, else no error */
    STEP_COPY,   /* register := value of register `from` */
    STEP_STORE,  /* the word of memory at `address` := value */
} bring_up_kind;

typedef struct bring_up_step {
    bring_up_kind kind;
    trace_component *component;
    ntr_register reg, from;
    ntr_bits bits;
    unsigned number; /* of a repeated register */
    uint32_t value;
    const uint32_t *values;
    size_t count;
    uint64_t address; /* STEP_STORE */
} bring_up_step;

typedef struct bring_up_executor {
    ntr_status (*take)(void *user, const bring_up_step *step);
    void *user;
} bring_up_executor;

/* The parts of a start, in this order, for all components or for one. Receivers come before senders. */
typedef enum bring_up_part { PART_ACTIVATE, PART_CONFIGURE, PART_ENABLE, BRING_UP_PARTS } bring_up_part;
ntr_status bring_up_component(trace_component *component, bring_up_part part, const bring_up_executor *executor);
ntr_status bring_up_start(ntr_system *system, const bring_up_executor *executor);

/* The same as bring_up_component for a component of Arm CoreSight: the order and the values are those of Linux's
 * drivers. */
ntr_status coresight_bring_up(trace_component *component, bring_up_part part, const bring_up_executor *executor);

/* The value of csDevType that the topology demands. */
uint32_t coresight_devtype(const trace_component *component);

/* Returns whether a TMC stores the trace: it passes nothing on. */
static inline bool tmc_is_sink(const trace_component *component) {
    return component->ops->kind == NTR_COMPONENT_TMC && !component->output_count;
}

enum { CLAIM_EXTERNAL = 1, CLAIM_SELF_HOSTED = 2 };

/* The claim tag of this software, a bit of csClaimClr. */
uint32_t coresight_claim(const ntr_system *system);

/* ---- steps on a bus */

/* Why a step failed. */
typedef struct bring_up_fault {
    ntr_status status;      /* NTR_E_IO: an access failed; NTR_E_STATE: the value is wrong; NTR_END: interrupted */
    bring_up_step step;
    bool wrote;             /* NTR_E_IO: the access was a write */
    uint32_t found;         /* NTR_E_STATE: value of the field */
} bring_up_fault;

typedef struct bring_up_bus {
    const ntr_bus *bus;
    /* Called between two polls of a register, with the number of polls so far. Returns false to give up. */
    bool (*wait)(void *user, unsigned polls);
    /* Returns whether the procedure must end; NULL: never. Asked before each step. */
    bool (*interrupted)(void *user);
    void *user;
    bool any_version; /* a version other than 1.x is no failure */
    bring_up_fault fault; /* of the last failure */
} bring_up_bus;

/* An executor; `user` is a bring_up_bus. */
ntr_status bring_up_take(void *user, const bring_up_step *step);

/* Address of a register. */
uint64_t bring_up_address(const trace_component *component, ntr_register reg, unsigned number);

/* Bits of a register that a write of 1 clears or triggers: a change of another field must write 0 to them. */
uint32_t bring_up_action_bits(ntr_register reg);

/* Accesses to registers and fields. A failure is in `fault`. */
ntr_status bring_up_read(bring_up_bus *on, trace_component *component, ntr_register reg, unsigned number,
                         uint32_t *word);
ntr_status bring_up_write(bring_up_bus *on, trace_component *component, ntr_register reg, unsigned number,
                          uint32_t word);
ntr_status bring_up_get(bring_up_bus *on, trace_component *component, ntr_bits bits, uint32_t *value);

/* Changes a field of a register and stores its value read back. Fields that a write of 1 clears stay as they are. */
ntr_status bring_up_put(bring_up_bus *on, trace_component *component, ntr_bits bits, unsigned number, uint32_t value,
                        uint32_t *found);
ntr_status bring_up_await(bring_up_bus *on, trace_component *component, ntr_bits bits, uint32_t value);

/* Clears Enable of a component, encoders after trTeInstTracing, and waits until it is disabled and empty
 * (section 10.3). A component that is not active stays as it is. */
ntr_status bring_up_disable(bring_up_bus *on, trace_component *component);

/* Ends the use of a CoreSight component: a TMC that bring_up_disable has stopped is disabled, and the claim tag is
 * cleared. Before that, a sink must have been read. Components of Trace Control stay as they are. */
ntr_status bring_up_release(bring_up_bus *on, trace_component *component);

/* Reads the stream parameters of an encoder. */
ntr_status bring_up_params(bring_up_bus *on, trace_component *encoder, ntr_params *params);

/* The buffer of a RAM sink, from its registers. */
ntr_status bring_up_window(bring_up_bus *on, trace_component *ram, ntr_ram_window *window);

/* Reads the trace of a RAM sink that is disabled and empty, oldest byte first (section 6.4). *cut (may be NULL) is set
 * before the first byte: the trace begins inside a message. *verified (may be NULL): false when trRamRP did not arrive
 * at the end of what was read. */
ntr_status bring_up_read_ram(bring_up_bus *on, trace_component *ram, ntr_stream_sink sink, void *user, bool *cut,
                             bool *verified);

/* ---- TMC */

typedef struct tmc_state {
    bool capturing, ready, full, failed, sg, formatted;
    uint32_t mode;
    uint64_t size;  /* of the buffer in bytes */
    uint64_t base;  /* buffer, or first table */
    uint64_t rrp, rwp;
} tmc_state;

ntr_status bring_up_tmc_state(bring_up_bus *on, trace_component *component, tmc_state *state);

/* Returns how many bytes the buffer holds. With scatter-gather, `rwp` must be in the buffer that ntrace has made
 * (tmc_data_page); otherwise NTR_E_RANGE. */
ntr_status tmc_stored(const trace_component *component, const tmc_state *state, uint64_t *bytes);

/* Scatter-gather in a buffer of a debugger: tables in the first pages, data in the others. tmc_data_page returns the
 * address of data page `index`; *tables is the number of pages with tables. */
uint64_t tmc_data_page(uint64_t buffer, uint64_t bytes, uint64_t index, uint64_t *tables);

typedef struct tmc_content {
    uint64_t frames_bytes; /* read, up to the write pointer */
    uint64_t skipped;      /* bytes before the first trace ID and parts of messages at the beginning and the end */
    bool complete;         /* the read pointer arrived at the end of the trace, or there is none to compare */
} tmc_content;

/* Reads the trace of a TMC that bring_up_disable has stopped, oldest frame first, and gives whole messages to the sink
 * (its `id` is 0); if the formatter was off, the bytes as they are from the first whole message on. An ETR is read from
 * memory, the others through tmcReadData. Errors: NTR_E_STATE (it captures), NTR_E_RANGE (contradicting pointers, a
 * damaged table), NTR_E_IO, those of the sink. */
ntr_status bring_up_read_tmc(bring_up_bus *on, trace_component *component, ntr_stream_sink sink, void *user,
                             tmc_content *content);

#endif
