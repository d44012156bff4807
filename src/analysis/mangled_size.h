/* Size of a demangled name before it is made. References in a mangled name (S_, T_ in C++, B_ in Rust) can double its
 * size each: 600 bytes may stand for more text than memory can hold. */
#ifndef NTR_ANALYSIS_MANGLED_SIZE_H
#define NTR_ANALYSIS_MANGLED_SIZE_H

#include <stdint.h>

/* NTR_MANGLED_ODD: the form is not known, so that nothing is known about the size. */
typedef enum ntr_mangled_size { NTR_MANGLED_SMALL, NTR_MANGLED_LARGE, NTR_MANGLED_ODD } ntr_mangled_size;

/* Return whether the demangled name has at most `most` parts and characters (at most 2^30). The names are those of the
 * Itanium C++ ABI ("Name mangling") and of Rust (RFC 2603). */
ntr_mangled_size ntr_mangled_cxx_size(const char *name, uint32_t most);
ntr_mangled_size ntr_mangled_rust_size(const char *name, uint32_t most);

#endif
