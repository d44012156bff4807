/* What the wrapper's files share. */
#ifndef NTRACE_DPI_COMMON_H
#define NTRACE_DPI_COMMON_H

#include "ntrace_dpi.h"

#include <ntrace/tools.h>
#include <stddef.h>

/* Why a handle cannot be used; empty: it can. */
typedef struct dpi_error {
    char text[400];
} dpi_error;

__attribute__((format(printf, 2, 3))) void dpi_fail(dpi_error *error, const char *format, ...);

/* The first failure of a handle is kept; gives the status back. */
int dpi_status(dpi_error *error, const char *doing, ntr_status status, const char *details);

/* "name=value name=value" into *config; tells what is wrong. */
bool dpi_options(dpi_error *error, const char *options, ntr_encoder_config *config);

/* Bytes that grow. */
typedef struct dpi_bytes {
    uint8_t *data;
    size_t size, capacity, at; /* `at`: the next one to be taken */
} dpi_bytes;

bool dpi_bytes_add(dpi_bytes *bytes, const uint8_t *data, size_t size);

#endif
