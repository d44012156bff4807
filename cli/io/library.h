/* Functions of a library that is loaded when it is needed. */
#ifndef CLI_IO_LIBRARY_H
#define CLI_IO_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Stores a symbol of the library in the function pointer `function`. Returns whether there is one. memcpy avoids the
 * conversion of an object pointer to a function pointer, which ISO C does not define and POSIX guarantees. */
static inline bool cli_library_find(void *library, const char *name, void *function) {
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof address);
    return address != NULL;
}

#endif
