#include "text/contexts.h"

#include <stdlib.h>

#define SOURCES 4096

struct cli_contexts {
    ntr_context contexts[SOURCES];
};

void cli_contexts_forget(struct cli_contexts *views) {
    for (size_t i = 0; i < SOURCES; i++) views->contexts[i] = (ntr_context){.prv = NTR_PRV_UNKNOWN};
}

struct cli_contexts *cli_contexts_new(void) {
    struct cli_contexts *views = calloc(1, sizeof *views);

    if (views) cli_contexts_forget(views);
    return views;
}

void cli_contexts_free(struct cli_contexts *views) {
    free(views);
}

void cli_contexts_follow(struct cli_contexts *views, const ntr_event *event) {
    if (event->kind == NTR_EVENT_CONTEXT) views->contexts[event->src % SOURCES] = event->context;
}

const ntr_context *cli_contexts_get(const struct cli_contexts *views, uint16_t source) {
    return &views->contexts[source % SOURCES];
}
