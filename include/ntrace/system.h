/* System: the trace hardware as software, behind its real registers.
 *
 * A topology (JSON, docs/system.md) says which components there are, where, and how they are connected. Software
 * under test reads and writes their registers; harts push what they retire; time goes by in steps. Trace ends up
 * in RAM sinks, on pins and on the ATB as in silicon. Not thread-safe: one thread at a time. */
#ifndef NTRACE_SYSTEM_H
#define NTRACE_SYSTEM_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/encoder.h>
#include <ntrace/registers.h>
#include <ntrace/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_system ntr_system;

/* System memory, for RAM sinks in SMEM mode. False: there is none at this address. */
typedef bool (*ntr_memory_read)(void *user, uint64_t address, uint8_t *out, size_t size);
typedef bool (*ntr_memory_write)(void *user, uint64_t address, const uint8_t *bytes, size_t size);

/* What comes out of a system. `component` is the index of the one it comes from. All may be NULL. */
typedef struct ntr_system_outputs {
    void (*message)(void *user, unsigned component, const uint8_t *bytes, size_t size); /* PIB, ATB: whole messages */
    void (*beats)(void *user, unsigned component, const uint16_t *beats, size_t count); /* PIB: pins, idle included */
    bool (*transfer)(void *user, unsigned component, unsigned id, const uint8_t *bytes, size_t size); /* ATB; false:
                                                                                        * not ready, it comes again */
    void (*trigger)(void *user, unsigned component, unsigned output); /* encoders: an external output fires */
} ntr_system_outputs;

typedef struct ntr_system_config {
    size_t size;         /* sizeof(ntr_system_config) */
    ntr_bytes topology;  /* JSON */
    ntr_memory_read memory_read;
    ntr_memory_write memory_write;
    ntr_system_outputs outputs;
    void *user;          /* of all callbacks */
    const ntr_allocator *allocator;
    char *error;         /* why the topology was refused: "components[2].fifo: expected ..., found ..." */
    size_t error_size;
} ntr_system_config;

/* Errors (*status, may be NULL): NTR_E_SYNTAX (not JSON), NTR_E_FORMAT (not a topology), NTR_E_LIMIT, NTR_E_MEMORY,
 * NTR_E_INVALID. */
NTR_API ntr_system *ntr_system_new(const ntr_system_config *config, ntr_status *status);
NTR_API void ntr_system_free(ntr_system *system);

/* ---- registers. Errors: NTR_E_RANGE (no component there; reads give 0), NTR_E_INVALID (not a word address). */
NTR_API ntr_status ntr_system_read32(ntr_system *system, uint64_t address, uint32_t *value);
NTR_API ntr_status ntr_system_write32(ntr_system *system, uint64_t address, uint32_t value);

/* ---- harts and time */

/* What a hart retired. NTR_NEED_MORE: the encoder stalls the hart; nothing was taken: step, then push it again.
 * A hart without encoder is not traced. Errors: NTR_E_INGRESS (ntr_system_error tells why). */
NTR_API ntr_status ntr_system_push(ntr_system *system, unsigned hart, const ntr_ingress *block);

/* What the hart does from now on is not seen at its ingress port, until the next push (a simulator of user mode does
 * not execute the system call): its trace ends here as at a filter, EVCODE=4. `next` is the address where it left,
 * or NTR_ADDRESS_UNKNOWN. Errors: NTR_E_RANGE (an odd address). */
NTR_API ntr_status ntr_system_leave(ntr_system *system, unsigned hart, uint64_t next);

/* Time goes by: buffers drain at their rates, pins move, counters count. A cycle that a hart's ingress marked
 * has already passed for that hart's encoder. A system without rates works without a single step. */
NTR_API ntr_status ntr_system_step(ntr_system *system, uint64_t cycles);

/* The time that external timestamps (trTsMode 1) show from now on; ingress of the hart sets it too. */
NTR_API void ntr_system_set_time(ntr_system *system, uint64_t time);

/* A pulse on external trigger input 0..7 of the hart's encoder. Errors: NTR_E_RANGE. */
NTR_API ntr_status ntr_system_trigger(ntr_system *system, unsigned hart, unsigned input);

/* "hart 2: record 17: itype 7 is reserved": the last failure of a push; "" when there was none. */
NTR_API const char *ntr_system_error(const ntr_system *system);

/* ---- what there is */

typedef struct ntr_component_counts {
    uint64_t messages, bytes;           /* taken (made, for an encoder) */
    uint64_t lost_messages, lost_bytes; /* discarded: overflow, disabled input, reset, full buffer */
    uint64_t stall_cycles;              /* encoder: the hart was stalled */
} ntr_component_counts;

typedef struct ntr_system_component {
    const char *name;
    ntr_component kind;
    uint64_t base;
    int hart; /* encoder; else -1 */
    unsigned itype_width; /* encoder: of its ingress port, 3 or 4 */
    ntr_component_counts counts;
    ntr_encoder_status encoder; /* encoder only */
} ntr_system_component;

/* NTR_END past the last. Strings live as long as the system. */
NTR_API ntr_status ntr_system_component_get(const ntr_system *system, size_t index, ntr_system_component *info);

/* Whether trace goes from one component to another, straight or through others (while all are enabled). */
NTR_API bool ntr_system_leads(const ntr_system *system, size_t from, size_t to);

/* ---- what a debugger does with it, through the registers alone (Trace Control sections 6.4 and 10) */

/* Activate everything, write the values that the topology gives ("set"), enable sinks, funnels and encoders in this
 * order and start tracing. Errors: NTR_E_STATE (a component does not answer as it should: ntr_system_error). */
NTR_API ntr_status ntr_system_start(ntr_system *system);

/* Disable encoders, funnels, sinks and bridges, each when the ones before it are empty. Steps the system while it
 * waits. Errors: NTR_E_STATE (something does not become empty). */
NTR_API ntr_status ntr_system_stop(ntr_system *system);

/* Parameters of the stream that an encoder makes, read from its registers. Errors: NTR_E_RANGE (no such hart). */
NTR_API ntr_status ntr_system_params(ntr_system *system, unsigned hart, ntr_params *params);

/* The trace in a RAM sink (index of the component), oldest byte first, from its memory through trRamData or from
 * system memory. `*cut` (may be NULL): it begins inside a message; known before the first byte comes. Errors:
 * NTR_E_INVALID (no RAM sink), NTR_E_STATE (enabled or not empty), NTR_E_IO (memory cannot be read), the sink's. */
NTR_API ntr_status ntr_system_read_ram(ntr_system *system, size_t index, ntr_stream_sink sink, void *user, bool *cut);

#ifdef __cplusplus
}
#endif
#endif
