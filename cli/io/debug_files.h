/* Separate debug files of the images: option --debug-path. */
#ifndef CLI_IO_DEBUG_FILES_H
#define CLI_IO_DEBUG_FILES_H

#include <ntrace/calltree.h>
#include <ntrace/program.h>

/* Row of an option table; `member` is a const char *. */
#define CLI_DEBUG_PATH(type, member)                                                                                   \
    CLI_STRING(0, "debug-path", "DIRS", type, member,                                                                  \
               "directories of separate debug files, separated by colons; usr/lib/debug of the sysroot, "              \
               "/usr/lib/debug and the servers of DEBUGINFOD_URLS are searched after them")

/* Adds the symbols of separate debug files to `program`. Reports folders of `path` that do not exist. `path` may be
 * NULL. Returns CLI_OK, or CLI_FAILED after reporting the error. */
int cli_debug_files_load(ntr_program *program, const char *path);

/* Reports which images have functions without symbols, if these executed at least one in a hundred instructions. */
void cli_debug_files_report(const ntr_calltree *tree, const ntr_functions *functions);

#endif
