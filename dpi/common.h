/* Common functions of the DPI-C wrapper. */
#ifndef NTRACE_DPI_COMMON_H
#define NTRACE_DPI_COMMON_H

#include "ntrace_dpi.h"

#include <ntrace/tools.h>
#include <stddef.h>

/* Error of a handle; an empty text means no error. */
typedef struct dpi_error {
    char text[400];
} dpi_error;

/* Sets the error, unless one is set already. */
__attribute__((format(printf, 2, 3))) void dpi_fail(dpi_error *error, const char *format, ...);

/* Sets the error if `status` is negative: "OPERATION: DETAILS", or the text of the status if there are no details.
 * Returns `status`. */
int dpi_status(dpi_error *error, const char *operation, ntr_status status, const char *details);

/* Parses encoder options "name=value name=value" into *config. Returns false after setting the error. */
bool dpi_options(dpi_error *error, const char *options, ntr_encoder_config *config);

/* A growing byte queue. */
typedef struct dpi_bytes {
    uint8_t *data;
    size_t size, capacity, at; /* `at`: offset of the next byte to read */
} dpi_bytes;

/* Appends bytes. Returns false when out of memory. */
bool dpi_bytes_add(dpi_bytes *bytes, const uint8_t *data, size_t size);

#endif
