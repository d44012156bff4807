/* Separate debug files of the images: option --debug-path. */
#ifndef CLI_IO_DEBUG_FILES_H
#define CLI_IO_DEBUG_FILES_H

#include <ntrace/calltree.h>
#include <ntrace/debug_info.h>
#include <ntrace/program.h>
#include <ntrace/program_files.h>

/* Row of an option table; `member` is a const char *. */
#define CLI_DEBUG_PATH(type, member)                                                                                   \
    CLI_STRING(0, "debug-path", "DIRS", type, member,                                                                  \
               "folders of separate debug files, separated by colons; usr/lib/debug of the sysroot, "                  \
               "/usr/lib/debug and the servers of DEBUGINFOD_URLS are searched after them")

/* Adds the symbols of separate debug files to `program`. Reports folders of `path` that do not exist. `path` may be
 * NULL. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_debug_files_load(ntr_program *program, const char *path);

/* Returns an empty program with the limits of --limit, or NULL when out of memory. */
ntr_program *cli_program_new(void);

enum { CLI_UNKNOWN_TEXT = 256 };

/* Stores a sentence about the instructions of unknown class that were decoded (ntr_program_unknown). Returns false when
 * there were none. */
bool cli_unknown_code(const ntr_program *program, char *text, size_t size);

/* Free a program, or its debug information. What could not be read of it is reported, and the exit status is at least
 * CLI_DEFECTS. Instructions of unknown class are reported. */
void cli_program_close(ntr_program *program);

/* The same of a program that is not the one that ran: what its instructions are does not matter. */
void cli_program_close_other(ntr_program *program);
void cli_debug_info_close(ntr_debug_info *debug);

/* Reports which images have functions without symbols, if these executed at least one in a hundred instructions. */
void cli_debug_files_report(const ntr_calltree *tree, const ntr_functions *functions);

#endif
