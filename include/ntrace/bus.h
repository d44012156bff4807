/* Bus: 32-bit accesses to the trace registers of a target, and reads of its memory.
 *
 * The procedures of <ntrace/target.h> use a bus: bring-up, read-out and release of trace hardware are the same for the
 * system model, a debugger's connection, and the registers that a process on the target has mapped. A bus is a struct
 * of functions; <ntrace/target.h> makes those of the known connections, and callers can write their own. All addresses
 * are physical. */
#ifndef NTRACE_BUS_H
#define NTRACE_BUS_H

#include <ntrace/config.h>
#include <ntrace/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ntr_bus_hart { NTR_BUS_HART_STATE, NTR_BUS_HART_HALT, NTR_BUS_HART_RESUME } ntr_bus_hart;

typedef struct ntr_bus {
    size_t size; /* sizeof(ntr_bus) */
    void *user;  /* first argument of all functions */

    /* One access of exactly 32 bits: no other width, no repetition, no prefetch. NTR_E_IO: it failed, `error` says
     * why. */
    ntr_status (*read32)(void *user, uint64_t address, uint32_t *value);
    ntr_status (*write32)(void *user, uint64_t address, uint32_t value);

    /* `count` reads of the same address, in order (trRamData). NULL: read32 is repeated. */
    ntr_status (*read_fifo)(void *user, uint64_t address, uint32_t *words, size_t count);

    /* Reads memory; accesses may have any width. NULL: read32 is repeated. */
    ntr_status (*read_memory)(void *user, uint64_t address, uint8_t *out, size_t bytes);

    /* Asks for the state of the hart that the connection controls (*halted), or halts or resumes it. NULL, or
     * NTR_E_UNSUPPORTED: the connection controls no hart. */
    ntr_status (*hart)(void *user, ntr_bus_hart what, bool *halted);

    /* Returns the reason of the last failure in the words of the connection, or "". May be NULL. */
    const char *(*error)(void *user);

    /* Ends the connection. May be NULL. */
    void (*close)(void *user);

    bool hides_errors; /* a failed read may look like a read of 0 */
    const char *advice; /* a question about the connection for messages about failed accesses; may be NULL */
} ntr_bus;

NTR_DEFINE_CONFIG_INIT(ntr_bus)

#ifdef __cplusplus
}
#endif
#endif
