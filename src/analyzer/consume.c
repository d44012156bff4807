/* Events on their way to the tally, the call tree and `take`. */
#include "analyzer/state.h"

#include <ntrace/calltree.h>
#include <ntrace/debug_info.h>
#include <ntrace/tally.h>

static inline void tell_other(const ntr_analyzer *a, const ntr_event *event) {
    if (event->kind != NTR_EVENT_SPAN && a->config.other) a->config.other(a->config.user, event);
}

/* The tally counts joined spans by its count callback, and the other events here. */
static ntr_status tally_others(const ntr_analyzer *a, const ntr_event *events, size_t count) {
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (events[i].kind != NTR_EVENT_SPAN) status = ntr_tally_feed(a->analysis->tally, &events[i], 1);
    return status;
}

ntr_status ntr_analyzer_consume(ntr_analyzer *a, const ntr_event *events, size_t count) {
    const ntr_analysis *to = a->analysis;
    const bool taken = a->config.take && (a->begun || !a->config.by_hand);
    ntr_status status = NTR_OK;
    if (count) a->any = true;
    for (size_t i = 0; i < count; i++) tell_other(a, &events[i]);
    if (to->tally) status = a->joined ? tally_others(a, events, count) : ntr_tally_feed(to->tally, events, count);
    if (!status && to->tree) status = ntr_calltree_feed(to->tree, events, count);
    if (!status && taken) status = a->config.take(a->config.take_user, events, count);
    return status;
}

ntr_status ntr_analyzer_others(ntr_analyzer *a, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) tell_other(a, &events[i]);
    if (count) a->any = true;
    return a->analysis->tally ? tally_others(a, events, count) : NTR_OK;
}

ntr_status ntr_analyzer_count(void *user, const ntr_event *event, uint64_t times) {
    ntr_analyzer *a = user;
    if (a->config.by_hand && !a->begun) return NTR_OK;
    a->any = true;
    tell_other(a, event);
    return ntr_tally_count(a->analysis->tally, event, times);
}

ntr_status ntr_analyzer_read(ntr_analyzer *a, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    const ntr_analyzer_config *c = &a->config;
    const ntr_status status = c->read(c->user, to, capacity, got, last);
    if (status != NTR_OK || !*got) return status;
    a->bytes += *got;
    if (c->progress) c->progress(c->user, a->bytes);
    return NTR_OK;
}
