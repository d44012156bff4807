/* Common form of config structs. See docs/library.md, "How structs grow".
 *
 * A config struct begins with its size and grows at its end only. Its _init function sets the size and every default;
 * it is an inline function, so that it initializes the struct of the caller's headers. */
#ifndef NTRACE_CONFIG_H
#define NTRACE_CONFIG_H

#include <stddef.h>
#include <string.h>

/* Defines TYPE_init(TYPE *config), which sets every member except the size to 0, the default. */
#define NTR_DEFINE_CONFIG_INIT(type)                                                                                   \
    static inline void type##_init(type *config) {                                                                     \
        memset(config, 0, sizeof *config);                                                                             \
        config->size = sizeof *config;                                                                                 \
    }

#endif
