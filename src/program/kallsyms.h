/* Symbols of a Linux kernel, as the kernel itself has them: text in the form of /proc/kallsyms and System.map, and the
 * tables inside a kernel image. */
#ifndef NTR_PROGRAM_KALLSYMS_H
#define NTR_PROGRAM_KALLSYMS_H

#include <ntrace/bytes.h>
#include <ntrace/status.h>

/* `type` is the letter that nm prints. `name` is valid during the call. Returns 0, or another value to stop. */
typedef int (*ntr_kallsyms_take)(void *user, uint64_t address, char type, const char *name);

enum { NTR_KALLSYMS_NAME_MAX = 1024 }; /* bytes, with the name of the module */

/* Reads lines "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]"; the name of the latter is "NAME [MODULE]". An
 * incomplete last line is ignored. Returns NTR_OK; NTR_E_FORMAT, with the number of the line in *line; NTR_E_MEMORY
 * when `take` stopped. */
ntr_status ntr_kallsyms_text(ntr_bytes text, ntr_kallsyms_take take, void *user, size_t *line);

/* Finds the tables that the build of Linux writes (Linux 4.6 and later, without 6.2 and 6.3), at any offset of
 * `image`: a kernel image that is not compressed, vmlinux, or a dump of memory; from Linux 7.0 on, a kernel image that
 * is not compressed, of a kernel that is not relocatable. `word` is 4 or 8: bytes of an address. Returns NTR_OK;
 * NTR_END when there are none; NTR_E_MEMORY when `take` stopped. */
NTR_API ntr_status ntr_kallsyms_tables(ntr_bytes image, unsigned word, ntr_kallsyms_take take, void *user);

#endif
