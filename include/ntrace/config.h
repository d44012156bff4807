/* How configs begin. docs/library.md, "How structs grow".
 *
 * A config struct begins with its size and grows at its end only. Its _init function sets the size and every default; it is
 * compiled into the caller, so that it initializes exactly the struct that the caller knows. */
#ifndef NTRACE_CONFIG_H
#define NTRACE_CONFIG_H

#include <stddef.h>
#include <string.h>

/* Defines TYPE_init(TYPE *config), which makes every member zero, the default, but for the size. */
#define NTR_DEFINE_CONFIG_INIT(type)             \
    static inline void type##_init(type *config) { \
        memset(config, 0, sizeof *config);       \
        config->size = sizeof *config;           \
    }

#endif
