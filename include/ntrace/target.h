/* Target: trace hardware that is reached over a bus (bus.h): what it can do, and captures.
 *
 * A topology (docs/system.md) lists the components, their bases and connections; hardware cannot be asked for them. A
 * capture:
 *
 *   ntr_bus_open(&bus, &options);                 // for example to OpenOCD
 *   status = ntr_target_new(&config, &target);    // topology, bus
 *   status = ntr_target_start(target);            // reset, configuration, enable: Trace Control section 10
 *   while (status == NTR_OK && !state.full) status = ntr_target_poll(target, &state);
 *   ntr_target_stop(target);                      // also after a failure: disables everything that was enabled
 *   ntr_target_read(target, sink_index, take, user, &result);
 *
 * A target is used by one thread. */
#ifndef NTRACE_TARGET_H
#define NTRACE_TARGET_H

#include <ntrace/allocator.h>
#include <ntrace/bus.h>
#include <ntrace/bytes.h>
#include <ntrace/config.h>
#include <ntrace/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- connections */

typedef struct ntr_bus_options {
    size_t size;       /* sizeof(ntr_bus_options) */
    const char *kind;  /* "openocd", "gdb", "mem", "exec" */
    const char *place; /* openocd, gdb: HOST:PORT; mem: /dev/mem, /dev/uioN, FILE@BASE; exec: a shell command */
    uint32_t timeout_ms; /* for one answer; 0: 5000 */
    const ntr_allocator *allocator; /* must live as long as the bus; NULL: malloc and free */
    char *error;       /* reason of a failure of ntr_bus_open; may be NULL */
    size_t error_size;
    bool (*interrupted)(void *user); /* returns whether to end soon: an answer then has 900 ms, and a connection that
                                      * fails is not made again; NULL: never */
    void *user;
    bool direct; /* openocd: trRamData is read with registers of the debug module, which is five times faster; it must
                  * be the only one, at address 0 */
} ntr_bus_options;

NTR_DEFINE_CONFIG_INIT(ntr_bus_options)

/* Connects. The caller ends the connection with bus->close(bus->user). A connection that breaks is made anew at the
 * next access, three times at most; the access at which it broke fails. Errors: NTR_E_NAME (kind), NTR_E_SYNTAX
 * (place), NTR_E_IO, NTR_E_MEMORY. */
NTR_API ntr_status ntr_bus_open(ntr_bus *bus, const ntr_bus_options *options);

/* ---- targets */

typedef struct ntr_target ntr_target;

typedef struct ntr_target_config {
    size_t size; /* sizeof(ntr_target_config) */
    ntr_bytes topology; /* JSON */
    ntr_bus bus; /* must stay open until ntr_target_free */
    const ntr_allocator *allocator;
    char *error; /* reason of a failure of ntr_target_new; may be NULL */
    size_t error_size;
    uint32_t timeout_ms; /* how long to wait for a register to change; 0: 1000 */
    bool any_version; /* use components whose version is not 1.x as if it were; `note` gets a sentence */

    bool (*interrupted)(void *user); /* returns whether a start must end; asked before each step; may be NULL */
    void (*note)(void *user, const char *sentence); /* a fault that does not end the procedure; may be NULL */
    void *user;
    const unsigned *harts; /* only the encoders of these harts, and what they lead to; used during the call */
    size_t hart_count;     /* 0: all */
    const char *sink;      /* a TMC (ETF) of this name stores the trace instead of passing it on; may be NULL */
    bool self_hosted;      /* this process runs on the target: CoreSight claim tag 1 instead of 0 */
} ntr_target_config;

NTR_DEFINE_CONFIG_INIT(ntr_target_config)

/* Makes a target; accesses no register. Errors: as ntr_system_new; NTR_E_RANGE (a hart without encoder),
 * NTR_E_NAME (`sink`). */
NTR_API ntr_status ntr_target_new(const ntr_target_config *config, ntr_target **out);
NTR_API void ntr_target_free(ntr_target *target);

/* Returns the description of the components, for ntr_system_component_get and ntr_system_leads. The model in it is not
 * connected to anything. */
NTR_API const ntr_system *ntr_target_components(const ntr_target *target);

/* Returns a sentence with component, base, register, value, expectation and advice about the last failure, or "". */
NTR_API const char *ntr_target_error(const ntr_target *target);

/* ---- settings, before ntr_target_start. They replace those of the topology ("set"). */

/* Sets a field of a component, in register `number` of a repeated register. Errors: NTR_E_NAME (not a field of the
 * component), NTR_E_RANGE, NTR_E_MEMORY. */
NTR_API ntr_status ntr_target_set(ntr_target *target, size_t component, const char *field, unsigned number,
                                  uint32_t value);

/* Sets an encoder option (ntr_encoder_option_at) in all encoders. Errors: NTR_E_UNSUPPORTED (trace hardware has no
 * register for it), those of ntr_encoder_option_set, NTR_E_LIMIT (filters), NTR_E_MEMORY. */
NTR_API ntr_status ntr_target_set_option(ntr_target *target, const char *name, const char *value);

/* Lets a RAM sink or a CoreSight ETR store trace in system memory [address, address + bytes). Nothing else of the
 * memory is written. With tmcAxiScatterGather = 1 (ntr_target_set), the first pages of an ETR's buffer are the table of
 * the others. Errors: NTR_E_INVALID (another component), NTR_E_RANGE (not whole words; an ETR: not multiples of 16, or
 * with tables of 4096), NTR_E_MEMORY. */
NTR_API ntr_status ntr_target_set_buffer(ntr_target *target, size_t component, uint64_t address, uint64_t bytes);

/* ---- abilities */

typedef enum ntr_ability_kind { NTR_ABILITY_FLAG, NTR_ABILITY_NUMBER, NTR_ABILITY_SET } ntr_ability_kind;

typedef struct ntr_ability {
    const char *name; /* key of a topology: "modes", "stall", "sram" */
    uint8_t kind; /* ntr_ability_kind */
    uint64_t value; /* SET: bit n: value n is supported */
    uint64_t expected; /* as the topology says */
    uint64_t reserved[2]; /* must be 0; for later members */
} ntr_ability;

#define NTR_ABILITIES_MAX 32

typedef struct ntr_probe {
    bool answers; /* the component is active and of the expected type */
    uint32_t control; /* as found, before anything was written */
    uint32_t impl;
    unsigned major, minor, protocol_major, protocol_minor;
    size_t ability_count;
    ntr_ability abilities[NTR_ABILITIES_MAX];
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_probe;

/* Resets a component and finds out what it supports by writing and reading its WARL fields, never with Enable set; then
 * clears them. With `look`, nothing is written: only Control and Impl are read. A component that does not answer as
 * expected is not an error: `answers` is false, and ntr_target_error has the reason. Errors: NTR_E_RANGE (index),
 * NTR_END (interrupted). */
NTR_API ntr_status ntr_target_probe(ntr_target *target, size_t component, bool look, ntr_probe *probe);

/* Reads trXxImpl of the component at `base` after activating it, for a topology that does not exist yet. *kind: its
 * type, or NTR_COMPONENT_COUNT when it is none of Trace Control 1.0. Where Impl says no type, encoders and multiplexers
 * (funnels) of Andes NCETRACE200 are known by DEVARCH. Errors: NTR_E_IO. */
NTR_API ntr_status ntr_bus_identify(const ntr_bus *bus, uint64_t base, ntr_component *kind, uint32_t *impl);

/* ---- captures */

/* Remembers all registers, for ntr_target_restore. Errors: NTR_E_IO, NTR_E_MEMORY, NTR_END. */
NTR_API ntr_status ntr_target_save(ntr_target *target);

/* Resets, configures and enables all components, sinks first; tracing begins. The harts are not touched. Errors:
 * NTR_E_IO, NTR_E_STATE (a component does not react as specified), NTR_E_INVALID (sources cannot be distinguished),
 * NTR_END (interrupted). After every result, ntr_target_stop disables what was enabled. */
NTR_API ntr_status ntr_target_start(ntr_target *target);

typedef struct ntr_target_state {
    unsigned encoders, tracing; /* number of encoders, and of those with trTeInstTracing = 1 */
    bool lost; /* an encoder has trTeInstStallOrOverflow set */
    bool full; /* a RAM sink with trRamStopOnWrap has stopped */
    bool wrapped; /* a RAM sink has wrapped */
    uint64_t stored, capacity; /* bytes in the buffer of the RAM sinks, and their size; capacity 0: no RAM sink */
    bool halt_known, halted; /* the state of the hart, when the connection knows it */
    uint64_t reserved[8]; /* must be 0; for later members */
} ntr_target_state;

/* Reads the state while trace runs. Errors: NTR_E_IO. */
NTR_API ntr_status ntr_target_poll(ntr_target *target, ntr_target_state *state);

/* Disables encoders, funnels and sinks, each one after those before it are empty. A failure at one component is given
 * to `note` and does not keep the others from being disabled. Returns the first failure. */
NTR_API ntr_status ntr_target_stop(ntr_target *target);

/* Ends the use of CoreSight components after ntr_target_read: TMCs are disabled, claim tags cleared, components locked.
 * Without such components, it accesses no register. Returns the first failure. */
NTR_API ntr_status ntr_target_release(ntr_target *target);

/* Writes back what ntr_target_save has read. Errors: NTR_E_IO, NTR_E_STATE (nothing was saved). */
NTR_API ntr_status ntr_target_restore(ntr_target *target);

/* Reads the stream parameters of a hart's encoder. Errors: NTR_E_RANGE (no such hart), NTR_E_IO. */
NTR_API ntr_status ntr_target_params(ntr_target *target, unsigned hart, ntr_params *params);

typedef struct ntr_target_content {
    bool cut; /* the trace begins inside a message */
    bool wrapped, stopped_full;
    bool smem; /* read from system memory, not through trRamData */
    bool verified; /* the read pointer arrived at the end of the trace */
    ntr_ram_window window; /* TMC: addresses in the buffer as if it were flat */
    uint64_t frame_bytes; /* TMC: bytes of formatter frames that were read; set at the end */
    uint64_t skipped; /* TMC: bytes of messages without beginning or end, and before a trace ID; set at the end */
    uint64_t reserved[2]; /* must be 0; for later members */
} ntr_target_content;

/* Reads the trace of a RAM sink or TMC, after ntr_target_stop, oldest byte first. `content` is filled before the first
 * byte, except `verified`. A TMC holds formatter frames: whole messages of all trace IDs are given, in the order in
 * which they end; `cut` is then false. Errors: NTR_E_INVALID (not a sink), NTR_E_STATE (enabled or not empty),
 * NTR_E_IO, those of the sink. */
NTR_API ntr_status ntr_target_read(ntr_target *target, size_t component, ntr_stream_sink sink, void *user,
                                   ntr_target_content *content);

/* Reads a register. Errors: NTR_E_RANGE, NTR_E_IO. */
NTR_API ntr_status ntr_target_register(ntr_target *target, size_t component, ntr_register reg, unsigned number,
                                       uint32_t *word);

/* Gives the facts that may explain why nothing was stored to `note`, one sentence for each component. */
NTR_API void ntr_target_explain_empty(ntr_target *target);

/* ---- places of servers */

enum { NTR_HOST_BYTES = 256 };

/* Splits "HOST:PORT", "[::1]:PORT" and ":PORT", whose host is 127.0.0.1. Returns the port, a number or a name, which is
 * the end of `place`; NULL if the text has another form. */
NTR_API const char *ntr_place_split(const char *place, char host[NTR_HOST_BYTES]);

/* ---- scripts */

typedef struct ntr_script_options {
    size_t size; /* sizeof(ntr_script_options) */
    const char *kind; /* "openocd" or "gdb" */
    size_t sink; /* index of the RAM sink or TMC to read */
    uint64_t run_ms; /* how long the program runs between start and stop; 0: until the hart halts */
    bool resume; /* resume the hart after the start */
    const char *words; /* name of the file that the script writes; NULL: words.txt. Letters, digits, _ . - and / */
    void (*write)(void *user, const char *text);
    void *user;
} ntr_script_options;

NTR_DEFINE_CONFIG_INIT(ntr_script_options)

/* Writes the sequence of a capture as a script for OpenOCD (Tcl) or GDB. The bus of the target is not used. Errors:
 * NTR_E_NAME (kind), NTR_E_INVALID (not a RAM sink, or the name of the file). */
NTR_API ntr_status ntr_target_script(ntr_target *target, const ntr_script_options *options);

/* Makes a bus of the file that a script has written: ntr_target_params, ntr_target_read and ntr_target_register then
 * work as after a capture over a connection. Lines that the script did not write are ignored. `text` is not used after
 * the call. Errors: NTR_E_SYNTAX (*line is a line that a script does not write so), NTR_E_FORMAT (no register in the
 * file), NTR_E_MEMORY. */
NTR_API ntr_status ntr_bus_words(ntr_bus *bus, ntr_bytes text, const ntr_allocator *allocator, unsigned *line);

#ifdef __cplusplus
}
#endif
#endif
