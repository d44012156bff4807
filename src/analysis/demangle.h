/* Demangling of C++ and Rust symbol names. */
#ifndef NTR_ANALYSIS_DEMANGLE_H
#define NTR_ANALYSIS_DEMANGLE_H

/* Returns the demangled name, to be released with free(). Returns NULL when `name` is not mangled or no demangler is
 * available. The demanglers of the C++ runtime and of LLVM are loaded on first use. */
char *ntr_demangle(const char *name);

#endif
