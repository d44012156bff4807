/* Trace registers through commands of OpenOCD, over its Tcl port or inside a GDB connection. */
#ifndef NTR_TARGET_TCL_H
#define NTR_TARGET_TCL_H

#include <ntrace/bus.h>

enum { TCL_RESULT = 8192 };

typedef struct tcl_client {
    /* Runs a command. NTR_E_IO: the connection failed, `error` of the client says why. *result has at most TCL_RESULT -
     * 1 characters. */
    ntr_status (*run)(void *user, const char *command, char *result);
    void *user;
    bool direct; /* tcl_read_fifo uses the system bus of the debug module without OpenOCD's procedures */
    char error[300];
    char result[TCL_RESULT];
} tcl_client;

/* Runs a command and checks its success: the result is then in client->result. A failed command gives NTR_E_IO, and the
 * reason is in client->error. */
ntr_status tcl_eval(tcl_client *client, const char *command);

/* Prepares physical accesses over the system bus. Errors: NTR_E_IO (not an OpenOCD, or one before 0.12). */
ntr_status tcl_prepare(tcl_client *client);

ntr_status tcl_read32(tcl_client *client, uint64_t address, uint32_t *value);
ntr_status tcl_write32(tcl_client *client, uint64_t address, uint32_t value);
ntr_status tcl_read_fifo(tcl_client *client, uint64_t address, uint32_t *words, size_t count);
ntr_status tcl_read_memory(tcl_client *client, uint64_t address, uint8_t *out, size_t bytes);
ntr_status tcl_hart(tcl_client *client, ntr_bus_hart what, bool *halted);

#endif
