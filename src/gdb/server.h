/* The private state of a server. Packets are handled in server.c by a table; answers are written to `answer`. */
#ifndef NTR_GDB_SERVER_H
#define NTR_GDB_SERVER_H

#include "gdb/breakpoints.h"
#include "gdb/images.h"
#include "gdb/packets.h"
#include "unwind/invented_stack.h"

#include <ntrace/gdb.h>

enum { NTR_GDB_FILES = 16 };

struct ntr_gdb {
    ntr_gdb_config config;
    ntr_allocator allocator_copy;
    const ntr_allocator *allocator;
    ntr_replay *replay;
    ntr_gdb_packets packets;
    ntr_gdb_text answer, out, object, console;
    ntr_gdb_images images;
    ntr_frame_rules *rules;
    ntr_gdb_breakpoints breakpoints;
    unsigned xlen;
    bool has_fpu;          /* tell of floating-point registers, */
    unsigned float_bits;   /* of this size */
    bool no_ack, ended;
    bool lldb;             /* the debugger has asked for what only LLDB does */
    bool pass_gaps;        /* "gaps pass" */
    bool no_prediction;    /* the debugger has no OS ABI, and steps */
    bool told_prediction;  /* the hint on predicted steps was shown, */
    bool told_trap;        /* ... that on breakpoints at ECALL */
    bool uses_places; /* a stack has had return places (unwind/invented_stack.h): the debugger needs their file */
    bool direct; /* a step has just entered the handler of a trap */
    bool moved; /* a command of the monitor has changed the place, and the debugger may not know it */
    bool in_stub; /* a step over a line is in a stub of the procedure linkage table (pass_over.c) */
    uint16_t general, resumed; /* sources that Hg and Hc select */
    bool resumed_any; /* Hc selects all. A debugger sends Hc only when it wants another thread than the last Hc said */
    ntr_gdb_text stop; /* the last stop reply */
    int files[NTR_GDB_FILES]; /* that the debugger has opened: descriptors + 1 */
    bool *listed; /* for each of images.items: the debugger has it as a library */
    bool has_listed; /* the debugger has read a list of libraries */
    bool stop_waits; /* the debugger got the change of libraries first; its next request to resume is answered with
                        `stop` */

    /* The state of the hart `general` at the position. */
    bool hart_valid, stack_valid;
    uint16_t hart_src;
    uint64_t hart_position;
    ntr_replay_hart hart;
    ntr_invented_stack stack;
    ntr_status failed;
};

/* ---- threads.c */

/* Reads a thread id of the protocol: hart number + 1. 0 (any) and -1 (all) set *any. Returns false when there is no
 * such hart. */
bool ntr_gdb_thread(ntr_gdb *gdb, const char **at, uint16_t *src, bool *any);

/* Returns the source that packets without a thread step: that of Hc; the current one, if Hc selects all. */
uint16_t ntr_gdb_resumed(const ntr_gdb *gdb);
uint32_t ntr_gdb_thread_number(const ntr_gdb *gdb, uint16_t src);
void ntr_gdb_thread_packets(ntr_gdb *gdb, const char *packet);
void ntr_gdb_select_thread(ntr_gdb *gdb, const char *packet);
void ntr_gdb_thread_alive(ntr_gdb *gdb, const char *packet);
void ntr_gdb_describe_thread(ntr_gdb *gdb, uint16_t src, ntr_gdb_text *text);

/* ---- state.c */

/* Returns the state of the selected hart, or NULL when it is not known. */
const ntr_replay_hart *ntr_gdb_hart(ntr_gdb *gdb);
const ntr_invented_stack *ntr_gdb_stack(ntr_gdb *gdb);
void ntr_gdb_forget_state(ntr_gdb *gdb);

/* Returns the number of frames of the selected hart. *trap: the innermost one is that of a handler. */
size_t ntr_gdb_depth(ntr_gdb *gdb, bool *trap);

/* ---- registers.c */
void ntr_gdb_read_registers(ntr_gdb *gdb, const char *packet);
void ntr_gdb_read_register(ntr_gdb *gdb, const char *packet);
void ntr_gdb_target_description(ntr_gdb *gdb, ntr_gdb_text *text);

/* Adds the value of register `number`; `x` digits when it is not known. Returns false when there is no such register.
 */
bool ntr_gdb_add_register(ntr_gdb *gdb, unsigned number, ntr_gdb_text *text);

/* ---- memory.c */
void ntr_gdb_read_memory(ntr_gdb *gdb, const char *packet);

/* ---- resume.c */
void ntr_gdb_resume(ntr_gdb *gdb, const char *packet); /* vCont */
void ntr_gdb_resume_old(ntr_gdb *gdb, const char *packet); /* s, c */
void ntr_gdb_reverse(ntr_gdb *gdb, const char *packet); /* bs, bc */

/* ---- pass_over.c */

/* A step has ended where it says. If it is part of one over a line (`line`; it began in a stack of `depth` frames), and
 * code begins there that belongs to no function of the program, goes on to behind that code. *stop: how the step ends
 * then. Errors: as ntr_replay_go_step. */
ntr_status ntr_gdb_pass_over(ntr_gdb *gdb, const ntr_replay_step *step, bool line, size_t depth, ntr_replay_stop *stop);

/* ---- stop.c */

/* Makes gdb->stop for the position, with the hart as the current thread. `signal` and `reason` as in the protocol. */
void ntr_gdb_stopped(ntr_gdb *gdb, uint16_t src, unsigned signal, const char *reason);

/* How a stop with NTR_REPLAY_LIMIT was reached. */
typedef enum ntr_gdb_moved {
    NTR_GDB_STEPPED, /* the step is done */
    NTR_GDB_BACKWARD,
    NTR_GDB_RETURNED, /* a handler has returned: to an address without breakpoint, which GDB shows as a stop without
                         signal */
} ntr_gdb_moved;
void ntr_gdb_report_stop(ntr_gdb *gdb, const ntr_replay_stop *stop, ntr_gdb_moved how);
void ntr_gdb_last_stop(ntr_gdb *gdb, const char *packet);

/* Answers a request to resume with the stop that waits. Returns false when there is none. */
bool ntr_gdb_waiting_stop(ntr_gdb *gdb);

/* Shows a line on the debugger's console while execution runs. */
__attribute__((format(printf, 2, 3))) void ntr_gdb_say(ntr_gdb *gdb, const char *format, ...);

/* Describes a gap: "312 bytes lost here (message 7 at byte 31: ...)". */
void ntr_gdb_describe_gap(ntr_gdb_text *text, const ntr_event *gap);

/* ---- transfer.c */
void ntr_gdb_transfer(ntr_gdb *gdb, const char *packet);
void ntr_gdb_offsets(ntr_gdb *gdb, const char *packet);

/* Returns whether the libraries in the address space of the selected hart are others than the debugger has. */
bool ntr_gdb_libraries_changed(ntr_gdb *gdb);

/* ---- files.c */
void ntr_gdb_file_packets(ntr_gdb *gdb, const char *packet);
void ntr_gdb_files_close(ntr_gdb *gdb);

/* ---- monitor.c */
void ntr_gdb_monitor_packet(ntr_gdb *gdb, const char *packet);

#endif
