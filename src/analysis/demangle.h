/* Demangling of C++ and Rust symbol names. */
#ifndef NTR_ANALYSIS_DEMANGLE_H
#define NTR_ANALYSIS_DEMANGLE_H

/* Returns the demangled name, to be released with free(). Returns NULL when `name` is not mangled or no demangler is
 * available. The demanglers of the C++ runtime and of LLVM are loaded on first use. */
char *ntr_demangle(const char *name);

/* The same for Rust's legacy names alone ("_ZN...17h<hash>E"). The hash is left out. */
char *ntr_demangle_rust_legacy(const char *name);

#endif
