/* Inside of a system: its components and its clock. */
#ifndef NTR_SYSTEM_SYSTEM_H
#define NTR_SYSTEM_SYSTEM_H

#include "system/component.h"

#include <jansson.h>

enum { COMPONENTS_MAX = 256, HARTS_MAX = 4096 };

/* A value that software writes into a field when the system is started. */
typedef struct setting {
    trace_component *component;
    ntr_bits bits;
    uint32_t value;
} setting;

struct ntr_system {
    ntr_system_config config;
    trace_component *components[COMPONENTS_MAX]; /* as listed in the topology */
    trace_component *downstream[COMPONENTS_MAX]; /* receivers before senders */
    size_t count;
    trace_component *of_hart[HARTS_MAX]; /* its encoder; NULL: not traced */
    setting *settings;
    size_t setting_count, setting_capacity;
    char error[200];
};

/* Build the components that the JSON text lists. On failure the config's error text says why. */
ntr_status topology_read(ntr_system *system);

/* Take up what a component says of itself: its parts and rules. */
ntr_status system_add(ntr_system *system, ntr_component kind, const char *name, uint64_t base, const option_values *options,
                      trace_component **added);

#endif
