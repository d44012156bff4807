/* Reading a topology: paths for messages, and the checks that every value goes through. */
#ifndef NTR_SYSTEM_TOPOLOGY_H
#define NTR_SYSTEM_TOPOLOGY_H

#include "system/system.h"

/* Where we are in the JSON, and whose words they are. */
typedef struct json_place {
    ntr_system *system;
    size_t index;    /* of the component */
    const char *key; /* in it; NULL: the component itself */
} json_place;

/* "components[2].fifo: expected ..., found ..."; returns `status`. */
ntr_status topology_fail(const json_place *place, ntr_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value as a few words: "12", "\"abc\"", "a list". */
const char *topology_found(const json_t *value, char *out, size_t size);

/* A number, written as such or as text ("0x1000"). */
bool topology_number(const json_t *value, uint64_t *number);

/* Options of one component: a preset and what is said besides. */
ntr_status topology_options(const json_place *place, const json_t *object, ntr_component kind, option_values *options);

#endif
