/* C++ and Rust symbol names for people. */
#ifndef NTR_ANALYSIS_DEMANGLE_H
#define NTR_ANALYSIS_DEMANGLE_H

/* The demangled name, to be freed with free(); NULL when `name` is not mangled, or nothing on this machine
 * can demangle it. The demanglers are those of the C++ runtime and LLVM, loaded when first needed. */
char *ntr_demangle(const char *name);

#endif
