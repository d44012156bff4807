#include "text/contexts.h"

#include <stdlib.h>

#define SOURCES 4096

struct cli_views {
    ntr_context contexts[SOURCES];
};

void cli_views_forget(struct cli_views *views) {
    for (size_t i = 0; i < SOURCES; i++) views->contexts[i] = (ntr_context){.prv = NTR_PRV_UNKNOWN};
}

struct cli_views *cli_views_new(void) {
    struct cli_views *views = calloc(1, sizeof *views);

    if (views) cli_views_forget(views);
    return views;
}

void cli_views_free(struct cli_views *views) {
    free(views);
}

void cli_views_follow(struct cli_views *views, const ntr_event *event) {
    if (event->kind == NTR_EVENT_CONTEXT) views->contexts[event->src % SOURCES] = event->context;
}

const ntr_context *cli_views_get(const struct cli_views *views, uint16_t source) {
    return &views->contexts[source % SOURCES];
}
