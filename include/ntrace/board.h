/* Board: a virtual board with trace hardware, for debuggers. A system model (system.h) and harts that execute recorded
 * programs are reached through a RISC-V debug module, to which OpenOCD connects by remote_bitbang. A filter for the
 * packets of a GDB server adds the trace registers to any simulator.
 *
 * The functions take and return bytes; the caller owns the sockets. A board is not thread-safe. */
#ifndef NTRACE_BOARD_H
#define NTRACE_BOARD_H

#include <ntrace/allocator.h>
#include <ntrace/bytes.h>
#include <ntrace/capture.h>
#include <ntrace/config.h>
#include <ntrace/program.h>
#include <ntrace/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_board ntr_board;

typedef struct ntr_board_config {
    size_t size;               /* sizeof(ntr_board_config) */
    ntr_bytes topology;        /* JSON */
    const ntr_program *program; /* loaded into memory, and executed; must live as long as the board; may be NULL */
    uint64_t ram, ram_bytes;   /* more memory, all 0 at first; at most 64 MiB of it can be written */
    const ntr_allocator *allocator;
    char *error;               /* reason of a failure of ntr_board_new; may be NULL */
    size_t error_size;
    bool halted;               /* harts stay halted until a debugger resumes them */
    void (*accessed)(void *user, bool wrote, uint64_t address,
                     uint32_t value); /* a trace register was accessed; may be NULL */
    void *user;
} ntr_board_config;

NTR_DEFINE_CONFIG_INIT(ntr_board_config)

/* Makes a board. All harts are halted and have nothing to execute. Errors: as ntr_system_new. */
NTR_LAB_API ntr_status ntr_board_new(const ntr_board_config *config, ntr_board **out);
NTR_LAB_API void ntr_board_free(ntr_board *board);

/* Returns the model. */
NTR_LAB_API ntr_system *ntr_board_system(ntr_board *board);

/* Sets what a hart executes: these program counters in order, again and again. They are copied. The hart runs at once,
 * unless `halted` was set. Errors: NTR_E_RANGE (no such hart), NTR_E_INVALID (no program, or no program counters),
 * NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_board_execute(ntr_board *board, unsigned hart, const uint64_t *pcs, size_t count);

/* Starts a machine of QEMU 10 or later (config->machine, qemu, cpu, qemu_options; the other members are not used). Its
 * harts are those of the model: what they execute reaches the encoders. QEMU's GDB server listens at `socket`, a path,
 * for ntr_board_connect; the machine is stopped until a debugger continues it. Errors: NTR_E_STATE (there is one),
 * NTR_E_INVALID, NTR_E_SYNTAX (a path that QEMU cannot take), NTR_E_IO, NTR_E_MEMORY; ntr_board_error has the reason.
 */
NTR_LAB_API ntr_status ntr_board_start_machine(ntr_board *board, const ntr_capture_config *config, const char *socket);

/* The same for a machine that the caller or the user starts: `options` gets the options that QEMU must be given,
 * besides -gdb. It ends when the process of the board does. config->qemu is not used. Errors: those above; NTR_E_LIMIT
 * (`size`). */
NTR_LAB_API ntr_status ntr_board_join_machine(ntr_board *board, const ntr_capture_config *config, char *options,
                                              size_t size);

/* Connects to a GDB server: that of the machine, or of any simulator. `place`: HOST:PORT, or the path of a socket. With
 * a machine, the debug module then controls its harts and its memory, until there is an ntr_gdb_filter; and accesses of
 * the program to trace registers reach the model. Errors: NTR_E_IO, NTR_E_SYNTAX (place), NTR_E_STATE (there is a
 * connection), NTR_E_MEMORY; ntr_board_error has the reason. */
NTR_LAB_API ntr_status ntr_board_connect(ntr_board *board, const char *place);
NTR_LAB_API void ntr_board_disconnect(ntr_board *board);

/* Returns the descriptor of the connection, for poll; -1: there is none, or it has broken. */
NTR_LAB_API int ntr_board_connection(const ntr_board *board);

/* Takes what the server has sent. To be called when the descriptor is readable. Errors: NTR_E_IO, those of the filter's
 * output. */
NTR_LAB_API ntr_status ntr_board_receive(ntr_board *board);

/* Returns whether QEMU has ended. */
NTR_LAB_API bool ntr_board_machine_ended(ntr_board *board);

/* Lets the harts that run execute `instructions` each; one cycle passes for each. Returns false if all are halted.
 * Errors of the classifier halt a hart; ntr_board_error has the reason. A machine runs by itself: what it executed is
 * encoded. */
NTR_LAB_API bool ntr_board_run(ntr_board *board, unsigned instructions);

/* Returns the reason why a hart has halted by itself, or why an encoder has refused a block, or "". */
NTR_LAB_API const char *ntr_board_error(const ntr_board *board);

/* Accesses 32 bits of trace registers or memory, as the system bus of the debug module does. Errors: NTR_E_RANGE
 * (nothing is at the address), NTR_E_INVALID (not aligned). */
NTR_LAB_API ntr_status ntr_board_read32(ntr_board *board, uint64_t address, uint32_t *value);
NTR_LAB_API ntr_status ntr_board_write32(ntr_board *board, uint64_t address, uint32_t value);

/* ---- remote_bitbang: one character for each change of the JTAG pins */

#define NTR_BOARD_IDCODE 0x20000913u

/* Takes characters of the protocol. Answers, at most one for each character, are written to `out`, which has room for
 * `size` bytes. Unknown characters are ignored. Returns the number of answers; *quit is set when the client ends. */
NTR_LAB_API size_t ntr_board_bitbang(ntr_board *board, const uint8_t *in, size_t size, uint8_t *out, bool *quit);

/* ---- GDB: a filter between a client and the server that the board is connected to */

typedef struct ntr_gdb_filter ntr_gdb_filter;

/* Receives bytes for the client. Errors are returned by the call that made the bytes. */
typedef ntr_status (*ntr_gdb_output)(void *user, const uint8_t *bytes, size_t size);

/* Makes a filter. A board has one at a time. Memory packets whose addresses are in trace components are answered from
 * the board; all others are passed to the server. The harts of a machine stop. Errors: NTR_E_MEMORY. */
NTR_LAB_API ntr_status ntr_gdb_filter_new(ntr_board *board, ntr_gdb_output output, void *user,
                                          const ntr_allocator *allocator, ntr_gdb_filter **out);
NTR_LAB_API void ntr_gdb_filter_free(ntr_gdb_filter *filter);

/* Takes bytes from the client; waits for the answers of the server. Errors: NTR_E_IO (the connection to the server; or
 * the client has killed the program), NTR_E_LIMIT (a packet of more than 8192 bytes), those of the output. */
NTR_LAB_API ntr_status ntr_gdb_filter_client(ntr_gdb_filter *filter, const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
