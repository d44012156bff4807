/* Arguments of libclang for a unit: from compile_commands.json, otherwise from debug information. */
#ifndef NTR_DECISION_ARGUMENTS_H
#define NTR_DECISION_ARGUMENTS_H

#include "analysis/debug_units.h"
#include "analysis/texts.h"

#include <ntrace/decision.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- Names of source files: debug information and libclang write them differently. */

/* Returns the resolved path, or the name when there is no such file, kept in `texts`; NULL when out of memory. */
const char *ntr_path_resolve(ntr_texts *texts, const char *name);

/* The same for a name in debug information: when there is no such file, the longest suffix of the name that exists
 * below one of the folders (separated by colons; may be NULL). */
const char *ntr_path_find(ntr_texts *texts, const char *folders, const char *name);

typedef struct ntr_arguments {
    const ntr_allocator *allocator;
    ntr_texts *texts;   /* owns the strings */
    const char **items;
    size_t count, capacity;
    const char *refused; /* a file that a recorded option includes and must not; NULL: none */
    bool has_level;     /* a command with the level of optimization is known, */
    bool unoptimized, debug;  /* ... which is -O0, -Og */
} ntr_arguments;

/* Loads compile_commands.json, of at most `most` bytes. Errors: NTR_E_IO, NTR_E_FORMAT; `why` has the reason. */
ntr_status ntr_commands_load(json_t **commands, const char *path, uint64_t most, char *why, size_t size);

/* Stores the arguments for the file at `path` (resolved). `commands` may be NULL. Errors: NTR_E_MEMORY. */
ntr_status ntr_arguments_make(ntr_arguments *arguments, const json_t *commands, const ntr_source_options *options,
                              const ntr_debug_unit *unit, unsigned xlen, const char *path);
void ntr_arguments_release(ntr_arguments *arguments);

/* Stores whether the options in a producer string of gcc are -O0, -Og. */
void ntr_producer_level(const char *producer, bool *unoptimized, bool *debug);
/* Returns whether they keep gcc from leading a path past a branch that an earlier one has decided: -fno-thread-jumps.
 */
bool ntr_producer_keeps_paths(const char *producer);

bool ntr_language_is_cpp(unsigned language);

#endif
