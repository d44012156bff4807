/* Size of a demangled name before it is made. References in a mangled name (S_, T_ in C++, B_ in Rust) can double its
 * size each: 600 bytes may stand for more text than memory can hold. */
#ifndef NTR_ANALYSIS_MANGLED_SIZE_H
#define NTR_ANALYSIS_MANGLED_SIZE_H

#include <stdbool.h>

/* Parts of a name and its characters; no name of a real program comes near. */
#define NTR_DEMANGLED_MAX 65536

/* Return whether the demangled name has at most NTR_DEMANGLED_MAX parts and characters. False also for a name with
 * references whose form is not known. The names are those of the Itanium C++ ABI ("Name mangling") and of Rust (RFC
 * 2603). */
bool ntr_mangled_cxx_is_small(const char *name);
bool ntr_mangled_rust_is_small(const char *name);

#endif
