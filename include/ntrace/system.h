/* System model: trace hardware in software, accessed through its registers.
 *
 * A topology (JSON, see docs/system.md) lists the components, their base addresses and their connections. The software
 * under test reads and writes registers, harts push retired instructions, and time advances in steps. The trace ends
 * in RAM sinks, on pins and on the ATB, as in hardware. A system is not thread-safe: calls must not overlap. */
#ifndef NTRACE_SYSTEM_H
#define NTRACE_SYSTEM_H

#include <ntrace/config.h>
#include <ntrace/allocator.h>
#include <ntrace/bus.h>
#include <ntrace/bytes.h>
#include <ntrace/encoder.h>
#include <ntrace/registers.h>
#include <ntrace/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_system ntr_system;

/* Access to system memory, for RAM sinks in SMEM mode. Returns false when there is no memory at the address. */
typedef bool (*ntr_memory_read)(void *user, uint64_t address, uint8_t *out, size_t size);
typedef bool (*ntr_memory_write)(void *user, uint64_t address, const uint8_t *bytes, size_t size);

/* Outputs of a system. `component` is the index of the sending component. Each function may be NULL. */
typedef struct ntr_system_outputs {
    void (*message)(void *user, unsigned component, const uint8_t *bytes, size_t size); /* PIB, ATB: one message */
    void (*beats)(void *user, unsigned component, const uint16_t *beats, size_t count); /* PIB: pins, idle included */
    bool (*transfer)(void *user, unsigned component, unsigned id, const uint8_t *bytes,
                     size_t size); /* ATB; false:
                                    * not ready, repeat the transfer */
    void (*trigger)(void *user, unsigned component, unsigned output); /* encoder: an external trigger output fires */
} ntr_system_outputs;

typedef struct ntr_system_config {
    size_t size;         /* sizeof(ntr_system_config) */
    ntr_bytes topology;  /* JSON */
    ntr_memory_read memory_read;   /* may be NULL */
    ntr_memory_write memory_write; /* may be NULL */
    void *user;          /* first argument of all callbacks */
    const ntr_allocator *allocator; /* NULL: malloc and free */
    char *error;         /* reason of a failure: "components[2].fifo: expected ..., found ..."; may be NULL */
    size_t error_size;
    ntr_system_outputs outputs; /* last: it may grow with this struct */
} ntr_system_config;

NTR_DEFINE_CONFIG_INIT(ntr_system_config)

/* Makes a system. The topology is not used after the call. Errors: NTR_E_SYNTAX (not JSON), NTR_E_FORMAT (not a
 * topology), NTR_E_LIMIT, NTR_E_MEMORY, NTR_E_INVALID. */
NTR_API ntr_status ntr_system_new(const ntr_system_config *config, ntr_system **out);
NTR_API void ntr_system_free(ntr_system *system);

/* ---- registers. Errors: NTR_E_RANGE (no component at the address; reads give 0), NTR_E_INVALID (not word-aligned). */
NTR_API ntr_status ntr_system_read32(ntr_system *system, uint64_t address, uint32_t *value);
NTR_API ntr_status ntr_system_write32(ntr_system *system, uint64_t address, uint32_t value);

/* Stores in *bus the functions that access the registers and the system memory of the model (bus.h). */
NTR_API void ntr_system_bus(ntr_system *system, ntr_bus *bus);

/* ---- harts and time */

/* Passes one ingress block of a hart to its encoder. Returns NTR_NEED_MORE when the encoder stalls the hart; the block
 * was not accepted: call ntr_system_step, then push it again. Blocks of a hart without an encoder are ignored.
 * Errors: NTR_E_INGRESS (see ntr_system_error). */
NTR_API ntr_status ntr_system_push(ntr_system *system, unsigned hart, const ntr_ingress *block);

/* Says that execution of the hart is not visible at its ingress port until the next push; for example, a simulator of
 * user mode does not execute the system call. The trace of the hart ends as it does at a filter, with EVCODE 4. `next`
 * is the address of the next instruction, or NTR_ADDRESS_UNKNOWN. Errors: NTR_E_RANGE (`next` is not even). */
NTR_API ntr_status ntr_system_leave(ntr_system *system, unsigned hart, uint64_t next);

/* Advances time: buffers drain at their rates, pins change, counters count. A cycle marked in the ingress of a hart has
 * already elapsed for the encoder of that hart. A system without rates works without steps. */
NTR_API ntr_status ntr_system_step(ntr_system *system, uint64_t cycles);

/* Sets the time of external timestamps (trTsMode 1). Ingress with a time sets it too, for its hart. */
NTR_API void ntr_system_set_time(ntr_system *system, uint64_t time);

/* Applies a pulse to the external trigger input 0 to 7 of the hart's encoder. Errors: NTR_E_RANGE. */
NTR_API ntr_status ntr_system_trigger(ntr_system *system, unsigned hart, unsigned input);

/* Returns the reason of the last failure, such as "hart 2: record 17: itype 7 is reserved", or "" when there was none.
 * Valid until the next call for this system. */
NTR_API const char *ntr_system_error(const ntr_system *system);

/* ---- components */

typedef struct ntr_component_counts {
    uint64_t messages, bytes; /* received; encoder: generated */
    uint64_t lost_messages, lost_bytes; /* discarded: overflow, disabled input, reset, full buffer */
    uint64_t stall_cycles; /* encoder: cycles in which the hart was stalled */
    uint64_t reserved[4]; /* must be 0; for later members */
} ntr_component_counts;

typedef struct ntr_system_component {
    const char *name;
    ntr_component kind;
    uint64_t base;
    int hart; /* encoder: number of the hart; otherwise -1 */
    unsigned itype_width; /* encoder: width of itype at the ingress port, 3 or 4 */
    ntr_component_counts counts;
    ntr_encoder_status encoder; /* encoder only */
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_system_component;

/* Stores a description of the component `index` in *info. Strings are valid as long as the system.
 * Returns NTR_END when `index` is past the last component. */
NTR_API ntr_status ntr_system_component_get(const ntr_system *system, size_t index, ntr_system_component *info);

/* Stores the connection `number` of the component `index`: the name of the receiver, and its input. Returns NTR_END
 * when `index` or `number` is past the last one. */
NTR_API ntr_status ntr_system_link_get(const ntr_system *system, size_t index, size_t number, const char **to,
                                       unsigned *input);

/* Returns whether trace can pass from one component to another, directly or through others, when all are enabled. */
NTR_API bool ntr_system_leads(const ntr_system *system, size_t from, size_t to);

/* ---- the steps of a debugger, through registers only (Trace Control sections 6.4 and 10) */

/* Starts tracing: activates all components, writes the values that the topology lists under "set", then enables sinks,
 * funnels and encoders, in this order.
 * Errors: NTR_E_STATE (a component does not react as specified, see ntr_system_error). */
NTR_API ntr_status ntr_system_start(ntr_system *system);

/* Stops tracing: disables encoders, funnels, sinks and bridges, each one after those before it are empty. Steps the
 * system while it waits. Errors: NTR_E_STATE (a component does not become empty). */
NTR_API ntr_status ntr_system_stop(ntr_system *system);

/* Reads the stream parameters of a hart's encoder from its registers. Errors: NTR_E_RANGE (no such hart). */
NTR_API ntr_status ntr_system_params(ntr_system *system, unsigned hart, ntr_params *params);

/* Reads the trace of the RAM sink or TMC (whole messages) with component number `index`, oldest byte first, through
 * trRamData or from system memory. *cut (may be NULL) is set before the first byte is delivered: true when the trace
 * begins inside a message. Errors: NTR_E_INVALID (not a RAM sink), NTR_E_STATE (enabled or not empty), NTR_E_IO (memory
 * cannot be read), those of the sink. */
NTR_API ntr_status ntr_system_read_ram(ntr_system *system, size_t index, ntr_stream_sink sink, void *user, bool *cut);

#ifdef __cplusplus
}
#endif
#endif
