/* Functions of a library that is loaded when it is needed. */
#ifndef NTR_LOAD_LIBRARY_H
#define NTR_LOAD_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Opens the library of this name, whose functions no other library finds. NULL: there is none. */
static inline void *ntr_library_open(const char *name) {
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

/* Stores a function of the library in the function pointer `function`. Returns whether there is one. memcpy avoids the
 * conversion of an object pointer to a function pointer, which ISO C does not define and POSIX guarantees. */
static inline bool ntr_library_find(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

/* NULL is allowed. */
static inline void ntr_library_close(void *library) {
    if (library) dlclose(library);
}

#endif
