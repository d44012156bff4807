#include "io/message_window.h"
#include "options/diagnostics.h"

#include <stdlib.h>

int cli_message_window_open(struct cli_message_window *w, const struct cli_window *selected,
                            const struct cli_trace *trace) {
    const bool timed = selected->from.unit == CLI_UNIT_TIME || selected->to.unit == CLI_UNIT_TIME;

    *w = (struct cli_message_window){.window = selected, .trace = trace};
    if (timed && !(w->clocks = calloc(NTR_SOURCES_MAX, sizeof *w->clocks))) return cli_fail("out of memory");
    return CLI_OK;
}

void cli_message_window_close(struct cli_message_window *w) {
    free(w->clocks);
}

/* Returns the time after the message, or NULL if it is not known. */
static const uint64_t *time_of(const struct cli_message_window *w, const ntr_message *m, uint64_t source) {
    ntr_clock *clock = &w->clocks[source % NTR_SOURCES_MAX];

    if (m->defect)
        ntr_clock_lose(clock);
    else
        ntr_clock_follow(clock, &w->trace->params, m);
    return clock->known ? &clock->time : NULL;
}

bool cli_message_window_has(struct cli_message_window *w, const ntr_message *m, bool *behind) {
    const bool has_source = NTR_HAS(m, SRC);
    const uint64_t *time = w->clocks ? time_of(w, m, has_source ? m->src : 0) : NULL;
    enum cli_place place = cli_window_place(w->window, m->number, m->offset, time);

    /* Messages of several sources are not in order of time. */
    *behind = place == CLI_BEHIND && (w->window->to.unit != CLI_UNIT_TIME || !cli_trace_many_sources(w->trace));
    if (place != CLI_INSIDE) return false;
    return !w->window->one_source || !has_source || m->src == w->window->source;
}
