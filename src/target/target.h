/* Private part of a target. */
#ifndef NTR_TARGET_TARGET_H
#define NTR_TARGET_TARGET_H

#include "system/bring_up.h"

#include <ntrace/target.h>

enum { SENTENCE = 640, TARGET_WORD = 4 /* bytes */, TARGET_TIME_SHARED = 4 /* trTsMode */ };

/* A register with a value that ntr_target_restore writes back. */
typedef struct saved_register {
    trace_component *component;
    ntr_register reg;
    unsigned number;
    uint32_t word;
} saved_register;

struct ntr_target {
    ntr_target_config config;
    ntr_bus bus;
    ntr_system *system; /* describes the components */
    bring_up_bus on;
    uint64_t waiting_since; /* nanoseconds */
    saved_register *saved;
    size_t saved_count, saved_capacity;
    unsigned filters_used, comparators_used; /* by ntr_target_set_option */
    bool lost[COMPONENTS_MAX]; /* trTeInstStallOrOverflow was seen */
    bool tracing[COMPONENTS_MAX]; /* trTeInstTracing was 1 at the last poll */
    char error[SENTENCE];
};

/* fault.c: a sentence about the last failure on the bus. It may read registers to find out more. */
void target_explain(ntr_target *target, char *out, size_t size);

/* Writes the sentence to `error` and returns the status. */
ntr_status target_fail(ntr_target *target, ntr_status status);

/* Writes a sentence that begins with name and base of the component to `error`, and returns the status. */
ntr_status __attribute__((format(printf, 4, 5))) target_say(ntr_target *target, ntr_status status,
                                                            const trace_component *component, const char *format, ...);

/* Gives a sentence that begins with name and base of the component to `note`. */
void __attribute__((format(printf, 3, 4))) target_note(ntr_target *target, const trace_component *component,
                                                       const char *format, ...);

/* Returns the component, or NULL. */
static inline trace_component *target_component(const ntr_target *target, size_t index) {
    return index < target->system->count ? target->system->components[index] : NULL;
}

/* Returns whether a component can be read as trace memory. */
static inline bool target_is_ram(const trace_component *component) {
    return component->ops->kind == NTR_COMPONENT_RAM;
}

/* session_tmc.c: the parts of a capture for a TMC that stores the trace. */
ntr_status target_check_etr(ntr_target *target, const trace_component *etr);
ntr_status target_poll_tmc(ntr_target *target, trace_component *component, ntr_target_state *state);
ntr_status target_read_tmc(ntr_target *target, trace_component *component, ntr_stream_sink sink, void *user,
                           ntr_target_content *content);

#endif
