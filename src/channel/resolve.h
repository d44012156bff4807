/* Which RISC-V program does the execution of a file start, and how does QEMU execute it? Used by the capture engine for
 * its program, and by the plugin for the programs that the guest executes.
 *
 * Names are those of the guest: an absolute name is looked for below the root folder of the guest's libraries first, as
 * QEMU itself does. Of a script, the interpreter of its first line is executed.
 *
 * Example: with the root /r, "/usr/bin/tool", which begins with "#!/bin/sh -e", gives the program /r/bin/sh with the
 * arguments "/bin/sh" "-e" "/usr/bin/tool" in front of those of the caller. */
#ifndef NTR_CHANNEL_RESOLVE_H
#define NTR_CHANNEL_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { CHANNEL_SCRIPTS = 4, CHANNEL_LINE = 256 }; /* scripts that interpret each other; bytes of a first line */

struct channel_program {
    char path[PATH_MAX]; /* ELF file, as QEMU opens it */
    bool is_64, is_dynamic;

    /* Of a script: the arguments that replace argv[0]; `count` 0: the file itself is a program. */
    const char *words[2 * CHANNEL_SCRIPTS + 1];
    unsigned count;
    char name[PATH_MAX]; /* the script, as the guest names it */
    char behind_env[PATH_MAX];
    char lines[CHANNEL_SCRIPTS][CHANNEL_LINE];
};

/* `root` may be NULL. Returns 0 or an errno: ENOEXEC when it is no RISC-V program, ENOENT, EACCES, ... */
int ntr_channel_resolve(const char *root, const char *name, struct channel_program *program);

/* The same for a name without a slash. It is looked for below `root`, in the folders of `search` (in the form of PATH)
 * and in /usr/local/bin, /usr/bin and /bin, and then in the folders of `search` themselves. Files that are no RISC-V
 * programs are passed over. */
int ntr_channel_resolve_in(const char *root, const char *search, const char *name, struct channel_program *program);

#endif
