#include "judge.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const kind_name[] = {"pc", "trap", "sync", "stop", "context", "overflow", "lost", "note", "access"};
static const char *const truth_name[] = {"pc", "trap", "start", "stop", "sync"};

static verdict bad(const char *format, ...) {
    verdict v = {.good = false};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v.why, sizeof v.why, format, arguments);
    va_end(arguments);
    return v;
}

/* ---- compared with the truth ------------------------------------------------------------------------------ */

typedef struct court {
    const transcript *reported;
    const gen_truth *truth;
    const ntr_encoder_config *config;
    unsigned src;
    size_t at;        /* next item of the truth */
    uint64_t message; /* offset of the one in hand ... */
    bool fresh;       /* (none is) */
    uint32_t latest;  /* ... and the latest context that may be known at its instructions */
    bool open;        /* a window is */
    bool eager;
    uint64_t halfwords;
    verdict verdict;
} court;

static bool object(court *c, size_t i, const char *what) {
    const oracle_event *e = i < c->reported->events ? &c->reported->event[i] : NULL;
    const truth_item *t = c->at < c->truth->items ? &c->truth->item[c->at] : NULL;
    char heard[120] = "the end", expected[120] = "the end";
    if (e)
        snprintf(heard, sizeof heard, "%s %s0x%" PRIx64 " code %u at byte %" PRIu64 " time %" PRIu64,
                 kind_name[e->kind], e->known ? "" : "?", e->pc, e->code, e->offset, e->has_time ? e->time : 0);
    if (t)
        snprintf(expected, sizeof expected, "%s 0x%" PRIx64 " codes 0x%x of op %u, time %" PRIu64, truth_name[t->kind],
                 t->pc, t->codes, t->op, t->from);
    c->verdict = bad("%s: event %zu is %s; record item %zu is %s", what, i, heard, c->at, expected);
    return false;
}

static const truth_item *next_item(const court *c) {
    static const truth_item end = {.kind = TRUTH_STOP, .unsure = true};
    return c->at < c->truth->items ? &c->truth->item[c->at] : &end;
}

/* The value of SYNC when several reasons are due (OQ-25). */
static unsigned first_reason(uint32_t codes) {
    static const unsigned char priority[] = {7, 3, 1, 9, 5, 6, 0, 4, 2};
    for (size_t i = 0; i < sizeof priority; i++)
        if (codes >> priority[i] & 1) return priority[i];
    return 2;
}

/* The context as far as the stream contains it. */
static bool context_is(const court *c, size_t index, const ntr_context *reported) {
    const truth_context *t = &c->truth->context[index];
    return t->prv == reported->prv && t->v == reported->v && t->scontext == reported->scontext &&
           (t->hcontext == reported->hcontext || c->config->ownership != NTR_OWNERSHIP_HCONTEXT);
}

/* Ownership comes as soon as the context has changed, but instructions are reported by the next message that
 * counts them: the latest context that may be reported before the instructions of event `i`'s message. */
static uint32_t latest_context(const court *c, size_t i) {
    const oracle_event *event = c->reported->event;
    size_t k = c->at, left = 1;
    for (size_t n = i + 1; n < c->reported->events && event[n].offset == event[i].offset; n++)
        left += event[n].kind == ORACLE_PC;
    for (; k < c->truth->items && left > 0; k++) left -= c->truth->item[k].kind == TRUTH_PC;
    while (k < c->truth->items && c->truth->item[k].kind != TRUTH_PC) k++;
    return k < c->truth->items ? c->truth->item[k].context : (uint32_t)c->truth->contexts - 1;
}

/* Where only traps and trap returns make Ownership messages, a context that was written since is not in the stream, but
 * the privilege mode always is. */
static bool mode_and_older_context_fit(const court *c, const ntr_context *reported, uint32_t now) {
    bool mode = false, context = false;
    for (uint32_t k = 0; k <= c->latest; k++) {
        const truth_context *t = &c->truth->context[k];
        mode |= k >= now && t->prv == reported->prv && t->v == reported->v;
        context |= t->scontext == reported->scontext;
    }
    return mode && context;
}

static bool context_fits(court *c, size_t i, uint32_t now) {
    const oracle_event *e = &c->reported->event[i];
    if (c->config->ownership == NTR_OWNERSHIP_OFF) return true;
    if (e->offset != c->message || c->fresh) {
        c->message = e->offset;
        c->fresh = false;
        c->latest = c->eager ? (uint32_t)c->truth->contexts - 1 : latest_context(c, i);
    }
    if (c->config->params.dialect && c->config->params.dialect->trap_ownership)
        return mode_and_older_context_fit(c, &e->context, now);
    for (uint32_t k = now; k <= c->latest; k++)
        if (context_is(c, k, &e->context)) return true;
    return false;
}

/* The event's time lies between what happened before and after it. */
static bool time_fits(const court *c, const oracle_event *e) {
    const ntr_encoder_config *f = c->config;
    uint64_t from = 0, until = UINT64_MAX;
    for (size_t k = c->at; k-- > 0;)
        if (c->truth->item[k].kind == TRUTH_PC) {
            from = c->truth->item[k].from;
            break;
        }
    for (size_t k = c->at; k < c->truth->items; k++)
        if (c->truth->item[k].kind == TRUTH_PC) {
            until = c->truth->item[k].from;
            break;
        }
    unsigned width = f->params.ts_width, shift = 2u * f->ts_prescale;
    uint64_t mask = width && width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX;
    from >>= shift;
    until >>= shift;
    return until - from > mask || ((e->time - from) & mask) <= until - from;
}

static bool counts_in_htm(const court *c) {
    return c->config->params.dialect && c->config->params.dialect->htm_count_sync;
}

static bool sync_allowed(const court *c, unsigned code) {
    return (code == NTR_SYNC_PERIODIC && c->config->sync_mode != NTR_SYNC_MODE_OFF) ||
           (code == NTR_SYNC_ICNT_FULL && (c->config->icnt_full_sync || counts_in_htm(c)));
}

/* Returns whether the sync has the time that it must have. tt-dfd sends none at time 0 (docs/dialects.md section 6.3).
 */
static bool sync_time_fits(const court *c, const oracle_event *e) {
    const ntr_params *p = &c->config->params;
    const bool untimed = p->dialect && p->dialect->untimed_ownership && e->time == 0;
    return p->timestamps != NTR_TIMESTAMPS_ON || ((e->has_time || untimed) && time_fits(c, e));
}

static bool on_sync(court *c, size_t i) {
    const oracle_event *e = &c->reported->event[i];
    const truth_item *t = next_item(c);
    bool due = t->kind == TRUTH_SYNC || t->kind == TRUTH_START;
    if (due && t->pc == e->pc) {
        bool known = t->codes >> e->code & 1 || sync_allowed(c, e->code);
        bool first = t->kind == TRUTH_START || first_reason(t->codes | 1u << e->code) == e->code;
        if (!known || !first) return object(c, i, "wrong reason");
        if (!sync_time_fits(c, e)) return object(c, i, "wrong time");
        c->open = true;
        c->at++;
        return true;
    }
    if (due || !c->open || !sync_allowed(c, e->code)) return object(c, i, "an unexpected sync");
    return t->pc == e->pc || object(c, i, "sync to the wrong place");
}

/* Whether the next item is the end of a window at an unknown address, possibly after a trap. */
static bool stop_is_vague(const court *c) {
    const truth_item *t = next_item(c);
    t += t->kind == TRUTH_TRAP;
    t += t->kind == TRUTH_SYNC;
    return t->kind == TRUTH_STOP && t->unsure;
}

/* Whether a return is last whose target the encoder did not see: the stream says that it went as predicted (OQ-15). */
static bool is_unseen_return(const court *c, const truth_item *stop) {
    const truth_item *last = stop;
    if (!stop->unsure || c->config->params.implicit_return == NTR_RETURN_OFF) return false;
    while (last > c->truth->item && last->kind != TRUTH_PC) last--;
    return last->uninferable;
}

/* The last message of a window may end on a jump with an unknown target, and a hart that is never traced has at most
 * messages that nothing synchronizes. */
static bool may_lack(const court *c, ntr_status reason) {
    if (reason == NTR_E_NO_SYNC) return !c->truth->items;
    return reason == NTR_E_NO_ADDRESS && stop_is_vague(c);
}

static bool on_stop(court *c, size_t i) {
    const oracle_event *e = &c->reported->event[i];
    if (!c->open && c->config->announce) return true;
    if (next_item(c)->kind == TRUTH_SYNC) c->at++; /* requested too late */
    const truth_item *skipped = NULL; /* a trap with an unknown handler: the stop is before it */
    if (next_item(c)->kind == TRUTH_TRAP && stop_is_vague(c)) skipped = &c->truth->item[c->at++];
    if (next_item(c)->kind == TRUTH_SYNC) c->at++;
    const truth_item *t = next_item(c);
    bool hidden = !e->known && c->config->params.dialect && c->config->params.dialect->stop_hides_target;
    bool fits =
        e->known ? e->pc == t->pc || (skipped && e->pc == skipped->pc) || is_unseen_return(c, t) : t->unsure || hidden;
    if (t->kind != TRUTH_STOP || !(t->codes >> e->code & 1) || !fits) return object(c, i, "wrong stop");
    if (e->has_time && c->config->ts_messages & NTR_TS_MESSAGE_CORRELATION && !time_fits(c, e))
        return object(c, i, "wrong time");
    c->open = false;
    c->at++;
    return true;
}

static bool on_trap(court *c, size_t i) {
    const oracle_event *e = &c->reported->event[i];
    const truth_item *t = next_item(c);
    bool fits = c->config->btype_detail ? e->code >= 2 && t->codes >> (e->code - 1) & 1 : e->code == 1;
    if (t->kind != TRUTH_TRAP || !fits || (!t->unsure && (!e->known || e->pc != t->pc)))
        return object(c, i, "wrong trap");
    bool repeats =
        c->config->repeat_branch || c->config->repeated_history; /* reported with the time of the first one */
    if (e->has_time && !repeats && c->config->ts_messages & NTR_TS_MESSAGE_BRANCH && !time_fits(c, e))
        return object(c, i, "wrong time");
    c->at++;
    return true;
}

static bool on_pc(court *c, size_t i) {
    const oracle_event *e = &c->reported->event[i];
    const truth_item *t = next_item(c);
    if (t->kind != TRUTH_PC || t->pc != e->pc) return object(c, i, "wrong instruction");
    if (!context_fits(c, i, t->context)) return object(c, i, "wrong context");
    c->halfwords += t->halfwords;
    c->at++;
    return true;
}

/* Judge events from `*i` on, up to the next loss or the end. */
static bool judge_segment(court *c, size_t *i) {
    for (; *i < c->reported->events; ++*i) {
        const oracle_event *e = &c->reported->event[*i];
        bool good = true;
        if (e->src != c->src) continue;
        switch (e->kind) {
        case ORACLE_PC: good = on_pc(c, *i); break;
        case ORACLE_TRAP: good = on_trap(c, *i); break;
        case ORACLE_SYNC: good = on_sync(c, *i); break;
        case ORACLE_STOP: good = on_stop(c, *i); break;
        case ORACLE_CONTEXT:
            good = c->config->ownership != NTR_OWNERSHIP_OFF || object(c, *i, "an unexpected Ownership");
            break;
        case ORACLE_OVERFLOW: return true;
        case ORACLE_LOST: good = may_lack(c, e->reason) || object(c, *i, ntr_status_text(e->reason)); break;
        case ORACLE_ACCESS: break; /* judge_accesses */
        case ORACLE_NOTE: good = object(c, *i, ntr_status_text(e->reason)); break;
        }
        if (!good) return false;
    }
    return c->at == c->truth->items || object(c, *i, "execution is missing");
}

/* Whether tracing may continue with this sync before item `k` of the truth. */
static bool may_resume(const court *c, size_t k, const oracle_event *e) {
    const truth_item *t = &c->truth->item[k];
    if (t->pc != e->pc) return false;
    if (t->kind == TRUTH_START) return e->code == NTR_SYNC_OVERRUN || t->codes >> e->code & 1;
    return e->code == NTR_SYNC_OVERRUN;
}

/* After a loss: the earliest place from which everything up to the next loss fits. */
static bool resume(court *c, size_t *i) {
    size_t from = c->at;
    for (++*i; *i < c->reported->events; ++*i) {
        const oracle_event *e = &c->reported->event[*i];
        if (e->src == c->src && e->kind == ORACLE_SYNC) break;
        if (e->src == c->src && e->kind == ORACLE_LOST) c->halfwords += e->pool;
        if (e->src == c->src && (e->kind == ORACLE_PC || e->kind == ORACLE_TRAP || e->kind == ORACLE_NOTE))
            return object(c, *i, "execution without sync");
    }
    if (*i == c->reported->events) {
        c->at = c->truth->items;
        return true;
    }
    size_t sync = (*i)++, farthest = 0;
    verdict best = {.good = false};
    uint64_t halfwords = c->halfwords;
    for (size_t k = from; k < c->truth->items; k++)
        if (may_resume(c, k, &c->reported->event[sync])) {
            size_t end = *i;
            c->at = c->truth->item[k].kind == TRUTH_START || c->truth->item[k].kind == TRUTH_SYNC ? k + 1 : k;
            c->open = true;
            c->fresh = true;
            c->halfwords = halfwords;
            if (judge_segment(c, &end)) {
                *i = end;
                return true;
            }
            if (end > farthest) {
                farthest = end;
                best = c->verdict;
            }
        }
    c->at = from;
    if (!farthest) return object(c, sync, "no place to resume at");
    c->verdict = best;
    return false;
}

verdict judge_truth(const transcript *reported, unsigned src, const gen_truth *truth, const ntr_encoder_config *config,
                    bool eager) {
    court c = {.reported = reported, .truth = truth, .config = config, .src = src, .fresh = true, .eager = eager};
    size_t i = 0;
    if (reported->wrong[0]) return bad("%s", reported->wrong);
    bool good = judge_segment(&c, &i);
    while (good && i < reported->events) good = resume(&c, &i);
    if (!good) return c.verdict;
    return (verdict){.good = true, .halfwords = c.halfwords};
}

static bool is_access(const oracle_event *e, const setup_access *access) {
    return e->pc == access->address && e->size == access->size && e->data == access->data && e->code == access->store;
}

verdict judge_accesses(const transcript *reported, unsigned src, const setup_stream *stream) {
    size_t at = 0, found = 0;
    for (size_t i = 0; i < reported->events; i++) {
        const oracle_event *e = &reported->event[i];
        if (e->kind != ORACLE_ACCESS || e->src != src) continue;
        while (at < stream->accesses && !is_access(e, &stream->access[at])) at++;
        if (at++ == stream->accesses)
            return bad("event %zu: access of %u bytes at 0x%" PRIx64 " (0x%" PRIx64 ", byte %" PRIu64
                       ") is none of the hart",
                       i, e->size, e->pc, e->data, e->offset);
        found++;
    }
    if (found != stream->accesses && !stream->status.overflows)
        return bad("%zu accesses, %zu reported", stream->accesses, found);
    return (verdict){.good = true};
}

/* ---- both decoders compared -------------------------------------------------------------------------- */

/* Events that are compared with each other: a decoder may report the flow before the message that ends a history. */
typedef enum group { FLOW, CONTEXTS, ACCESSES, GROUPS } group;

static group group_of(const oracle_event *e) {
    return e->kind == ORACLE_CONTEXT ? CONTEXTS : e->kind == ORACLE_ACCESS ? ACCESSES : FLOW;
}

static const oracle_event *next_of(const transcript *t, unsigned src, group wanted, size_t *i) {
    for (; *i < t->events; ++*i) {
        const oracle_event *e = &t->event[*i];
        if (e->src == src && e->kind != ORACLE_LOST && e->kind != ORACLE_NOTE && group_of(e) == wanted) {
            ++*i;
            return e;
        }
    }
    return NULL;
}

static bool equal(const oracle_event *a, const oracle_event *b) {
    bool doubtful = a->kind == ORACLE_STOP && !b->known; /* after a loss a decoder may treat its clock as unknown */
    if (a->kind != b->kind) return false;
    if (a->kind == ORACLE_PC) /* a decoder may walk history before the message that ends it */
        return a->pc == b->pc;
    if (a->code != b->code || a->offset != b->offset) return false;
    if (!(doubtful && !b->has_time) && (a->has_time != b->has_time || (a->has_time && a->time != b->time)))
        return false;
    if (a->kind == ORACLE_CONTEXT)
        return a->context.scontext == b->context.scontext && a->context.hcontext == b->context.hcontext &&
               a->context.prv == b->context.prv && a->context.v == b->context.v;
    if (a->kind == ORACLE_ACCESS && (a->size != b->size || a->data != b->data)) return false;
    return a->kind == ORACLE_OVERFLOW || (a->known == b->known && (!a->known || a->pc == b->pc));
}

static verdict same(const transcript *oracle, const transcript *decoder, unsigned src, group wanted) {
    size_t i = 0, k = 0;
    for (;;) {
        const oracle_event *a = next_of(oracle, src, wanted, &i), *b = next_of(decoder, src, wanted, &k);
        while (a && a->kind == ORACLE_OVERFLOW && b && b->kind == ORACLE_PC) /* it may use the pool of a lost message */
            b = next_of(decoder, src, wanted, &k);
        if (!a && !b) return (verdict){.good = true};
        if (!a || !b || !equal(a, b))
            return bad("oracle event %zu: %s 0x%" PRIx64 " code %u at byte %" PRIu64 " time %" PRIu64
                       "; decoder event %zu: %s 0x%" PRIx64 " code %u at byte %" PRIu64 " time %" PRIu64,
                       i, a ? kind_name[a->kind] : "end", a ? a->pc : 0, a ? a->code : 0, a ? a->offset : 0,
                       a ? a->time : 0, k, b ? kind_name[b->kind] : "end", b ? b->pc : 0, b ? b->code : 0,
                       b ? b->offset : 0, b ? b->time : 0);
    }
}

verdict judge_same(const transcript *oracle, const transcript *decoder, unsigned src) {
    if (decoder->wrong[0]) return bad("%s", decoder->wrong);
    verdict v = {.good = true};
    for (group g = FLOW; g < GROUPS && v.good; g++) v = same(oracle, decoder, src, g);
    return v;
}
