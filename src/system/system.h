/* Private part of a system: its components and settings. */
#ifndef NTR_SYSTEM_SYSTEM_H
#define NTR_SYSTEM_SYSTEM_H

#include "system/component.h"

enum { COMPONENTS_MAX = 256, HARTS_MAX = 4096 };

/* A value that ntr_system_start writes to a field. */
typedef struct setting {
    trace_component *component;
    ntr_bits bits;
    uint32_t value;
    uint8_t number; /* of a repeated register */
    bool optional;  /* the hardware may reject the value */
} setting;

struct ntr_system {
    ntr_system_config config;
    trace_component *components[COMPONENTS_MAX]; /* in the order of the topology */
    trace_component *downstream[COMPONENTS_MAX]; /* receivers before senders */
    size_t count;
    trace_component *of_hart[HARTS_MAX]; /* encoder of each hart; NULL: not traced */
    uint32_t claim; /* claim tag of this software in CoreSight components; 0: that of software on the target */
    setting *settings;
    size_t setting_count, setting_capacity;
    uint64_t passed;    /* while waiting: bytes that components have passed on, */
    unsigned passed_at; /* and the poll that saw the last of them */
    char error[200];
};

/* Leaves only what the trace of these harts (count 0: of all) passes. If `sink` (may be NULL) is a TMC that could pass
 * the trace on, it stores the trace instead. Errors: NTR_E_RANGE (a hart without encoder, in *missing), NTR_E_NAME
 * (no component `sink`). */
ntr_status system_restrict(ntr_system *system, const unsigned *harts, size_t count, const char *sink,
                           unsigned *missing);

/* Creates a component with these options and appends it to the system. */
ntr_status system_add(ntr_system *system, ntr_component kind, const char *name, uint64_t base,
                      const option_values *options, trace_component **added);

/* Adds a setting, or replaces that of the same field. Errors: NTR_E_MEMORY. */
ntr_status system_set(ntr_system *system, const setting *one);

/* Does no encoder and no funnel hold a message, so that all messages so far are in front of all later ones in each
 * sink? */
bool ntr_system_drained(const ntr_system *system);

/* Is there a setting of this field? */
bool system_sets(const ntr_system *system, const trace_component *component, ntr_bits bits);

/* Sets a field of all encoders that have it and for which the topology does not set it. Before ntr_system_start.
 * Errors: NTR_E_MEMORY. */
ntr_status ntr_system_prefer(ntr_system *system, ntr_bits bits, uint32_t value);

#endif
