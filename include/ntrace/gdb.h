/* GDB server: shows a replay to a debugger by the GDB remote serial protocol.
 *
 * To a debugger the server looks like a stopped board whose execution can be walked forward and backward. Registers and
 * memory that a trace does not have are reported as unavailable. The protocol itself is independent of what carries it:
 *
 *     ntr_gdb_feed(server, bytes, size);     // what the debugger sent; answers go to config.write
 *
 * docs/gdb.md describes what a debugger can do with it. Objects are not thread-safe. */
#ifndef NTRACE_GDB_H
#define NTRACE_GDB_H

#include <ntrace/config.h>
#include <ntrace/debug_info.h>
#include <ntrace/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ntr_gdb ntr_gdb;

typedef struct ntr_gdb_config {
    size_t size;                /* sizeof(ntr_gdb_config) */
    ntr_replay *replay;         /* not owned, as all below */
    const ntr_program *program;
    ntr_debug_info *debug;      /* NULL: no line tables for the analysis of prologues */
    const char *debug_path;     /* as for ntr_debug_info_set_path; may be NULL */
    const ntr_allocator *allocator; /* copied; may be NULL */

    /* Receives the answers. Errors end the session. */
    ntr_status (*write)(void *user, const void *bytes, size_t size);

    /* Stores the hart number of a source. NULL: the number of the source. */
    uint32_t (*hart)(void *user, uint16_t src);
    void *user; /* first argument of both */

    /* An existing folder for ELF files with names that a debugger cannot read elsewhere, such as those of a kernel
     * (/proc/kallsyms). ntr_gdb_free removes them. NULL: none are made. */
    const char *folder;

    /* The debugger may be on another machine: it can read the files of the program's images here (vFile). A GDB then
     * reads them here also when it has them, unless it was told "set sysroot /". */
    bool serve_files;

    /* Returns the name of a source (a thread, an encoder), valid as long as the server; NULL: it has none. May be
     * NULL. */
    const char *(*source_name)(void *user, uint16_t src);
} ntr_gdb_config;

NTR_DEFINE_CONFIG_INIT(ntr_gdb_config)

/* Makes a server for one session. Errors: NTR_E_MEMORY, NTR_E_INVALID. */
NTR_LAB_API ntr_status ntr_gdb_new(const ntr_gdb_config *config, ntr_gdb **out);
NTR_LAB_API void ntr_gdb_free(ntr_gdb *gdb);

/* Processes bytes of the debugger. Returns NTR_OK, or NTR_END when the debugger has ended the session. Errors:
 * NTR_E_MEMORY, those of `write` and of the replay's `open`. */
NTR_LAB_API ntr_status ntr_gdb_feed(ntr_gdb *gdb, const void *bytes, size_t size);

/* The byte that a debugger sends outside of packets to interrupt: ntr_replay_config.proceed should return false when it
 * arrives. The server ignores it otherwise. */
#define NTR_GDB_INTERRUPT 0x03

/* Runs a monitor command ("when", "goto 37%", "next-gap", ...; docs/gdb.md lists them) without a debugger. `text`
 * receives the answer and is valid until the next call. Errors: NTR_E_INVALID (the command failed; the text says why),
 * those of ntr_gdb_feed. */
NTR_LAB_API ntr_status ntr_gdb_monitor(ntr_gdb *gdb, const char *command, const char **text);

#ifdef __cplusplus
}
#endif
#endif
