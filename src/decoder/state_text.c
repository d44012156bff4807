/* The state of a decoder as text, for the comparison of two decoders at one place of a stream.
 *
 * The text has a hash of all sources and describes the first ones. What differs between decoders that continue in the
 * same way is left out: caches, and which of two forms the previous message is kept in. */
#include <ntrace/decoder.h>

#include "decoder/state.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 31;
}

static uint64_t hash_of(const ntr_source *s) {
    const uint64_t values[] = {s->id,
                               s->state,
                               s->mode,
                               s->pc_known,
                               s->stack_incomplete,
                               s->stack_doubtful,
                               s->target_hidden,
                               s->pc_known ? s->pc - 2 * (uint64_t)s->run.halfwords : 0,
                               s->ref,
                               s->icnt,
                               s->halfwords_ahead,
                               s->clock.known,
                               s->clock.known ? s->clock.time : 0,
                               s->data.known,
                               s->data.known ? s->data.address : 0,
                               s->data.relative,
                               s->context.scontext,
                               s->context.hcontext,
                               s->context.prv,
                               s->context.v,
                               s->context.has_scontext,
                               s->context.has_hcontext,
                               s->gap.open,
                               s->stack.count};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) hash = mix(hash, values[i]);
    for (uint32_t i = 1; i <= s->stack.count; i++)
        hash = mix(hash, s->stack.entries[(s->stack.top - i) & s->stack.mask].address);
    return hash;
}

static size_t describe(const ntr_source *s, char *text, size_t size) {
    char time[40] = "", context[40] = "";
    if (s->clock.known) snprintf(time, sizeof time, " time %" PRIu64, s->clock.time);
    if (s->context.has_scontext) snprintf(context, sizeof context, " scontext 0x%" PRIx64, s->context.scontext);
    int length = snprintf(text, size, "; source %u at 0x%" PRIx64 "%s%s, %" PRIu32 " calls deep%s", s->id, s->pc, time,
                          context, s->stack.count,
                          s->gap.open   ? ", in a gap"
                          : s->pc_known ? ""
                                        : ", not synchronized");
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* A source without messages that were understood has no state but a gap. */
static bool has_state(const ntr_source *s) {
    return s && (s->begun || s->gap.open);
}

size_t ntr_decoder_state(const ntr_decoder *d, char *text, size_t size) {
    uint64_t hash = d->early_gap.open;
    for (uint32_t i = 0; i < d->source_capacity; i++)
        if (has_state(d->sources[i])) hash = mix(hash, hash_of(d->sources[i]));
    int length = snprintf(text, size, "message %" PRIu64 ", state %016" PRIx64, d->reader.number, hash);
    size_t used = length > 0 && (size_t)length < size ? (size_t)length : 0;
    for (uint32_t i = 0; used && i < d->source_capacity; i++) {
        if (!has_state(d->sources[i])) continue;
        const size_t more = describe(d->sources[i], text + used, size - used);
        text[used + more] = 0;
        if (!more) break;
        used += more;
    }
    return used;
}
