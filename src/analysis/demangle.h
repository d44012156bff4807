/* Demangling of C++, Rust and D symbol names. */
#ifndef NTR_ANALYSIS_DEMANGLE_H
#define NTR_ANALYSIS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the demangled name, to be released with free(). Returns NULL when `name` is not mangled, no demangler is
 * available, or the name has more than `most` characters and parts (at most 2^30); *large is then set, else unchanged.
 * The demanglers of the C++ runtime and of LLVM are loaded on first use. */
char *ntr_demangle(const char *name, uint64_t most, bool *large);

/* The same for Rust's legacy names alone ("_ZN...17h<hash>E"). The hash is left out. */
char *ntr_demangle_rust_legacy(const char *name);

/* The same for functions of D alone ("_D..."). Types and arguments of templates are left out. NULL also if the name or
 * the result has more than `most` characters. */
char *ntr_demangle_d(const char *name, size_t most);

#endif
