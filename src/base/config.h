/* Conversion of config structs between the versions of the caller's headers and of the library. */
#ifndef NTR_BASE_CONFIG_H
#define NTR_BASE_CONFIG_H

#include <ntrace/status.h>
#include <stddef.h>

/* Copies a config struct, whose first member is a size_t with its size, into this library's layout of `size` bytes.
 *
 * Configs grow at their end only. Members that the caller's header does not have are set to 0, which always means the
 * default. Members that this library does not have are ignored; a caller that needs them checks ntr_version().
 * Errors: NTR_E_INVALID (NULL, or a size smaller than the member that holds it). */
ntr_status ntr_config_load(void *to, size_t size, const void *from);

/* Copies a config in this library's layout back to the caller's struct, after the library changed it.
 * Errors: NTR_E_UNSUPPORTED (a member that the caller's header does not have was changed from zero). */
ntr_status ntr_config_store(void *to, const void *from);

#endif
