/* Reading of a topology. */
#ifndef NTR_SYSTEM_TOPOLOGY_H
#define NTR_SYSTEM_TOPOLOGY_H

#include "system/system.h"

#include <jansson.h>

/* Creates the components of the JSON text. On failure the reason is stored in `error` of the configuration. */
ntr_status topology_read(ntr_system *system);

/* ---- Private helpers for reading a topology: the location for error messages, and checked conversion of values. */

/* The location in the JSON text, for error messages. */
typedef struct json_place {
    ntr_system *system;
    size_t index;    /* number of the component */
    const char *key; /* key in the component; NULL: the component itself */
} json_place;

/* Stores "components[2].fifo: " and the formatted text as the error of the system. Returns `status`. */
ntr_status topology_fail(const json_place *place, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns a short description of a value: "12", "\"abc\"", "a list". */
const char *topology_found(const json_t *value, char *out, size_t size);

/* Reads a number, written as a JSON number or as text ("0x1000"). Returns false when it is neither. */
bool topology_number(const json_t *value, uint64_t *number);

/* Reads the options of one component: a preset, then the values that are given. */
ntr_status topology_options(const json_place *place, const json_t *object, ntr_component kind, option_values *options);

#endif
