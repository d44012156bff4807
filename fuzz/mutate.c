/* A mutator for messages: it splits the stream after an input's head with the framer, changes, adds, removes, doubles
 * or swaps whole messages, and writes fields by the message table. Half of the mutations change plain bytes. */
#include "fuzz.h"

#include <ntrace/message.h>
#include <ntrace/message_layout.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed);

enum { MUTATED_MESSAGES_MAX = 4096 };

typedef struct mutation {
    const uint8_t *stream;
    size_t from[MUTATED_MESSAGES_MAX], until[MUTATED_MESSAGES_MAX], count;
    ntr_params params;
    uint64_t random;
    fuzz_bytes out;
} mutation;

static uint64_t draw(mutation *c) {
    c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return c->random >> 24;
}

static size_t below(mutation *c, size_t limit) {
    return limit ? draw(c) % limit : 0;
}

static void split(mutation *c, ntr_bytes stream) {
    ntr_framer framer;
    ntr_slice slice;
    c->stream = stream.data;
    ntr_framer_init(&framer, c->params.dialect && c->params.dialect->zero_idle);
    ntr_framer_feed(&framer, stream.data, stream.size, true);
    while (c->count < MUTATED_MESSAGES_MAX && ntr_framer_next(&framer, &slice) == NTR_OK) {
        c->from[c->count] = (size_t)slice.offset;
        c->until[c->count++] = (size_t)(slice.offset + slice.size);
    }
}

/* Values at the limits of a field, small ones, and random ones. */
static uint64_t interesting(mutation *c, unsigned bits) {
    uint64_t full = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch (below(c, 5)) {
    case 0: return below(c, 8) & full;
    case 1: return full - (below(c, 4) & full);
    case 2: return (UINT64_C(1) << below(c, bits ? bits : 1)) & full;
    case 3: return below(c, 300) & full;
    default: return (draw(c) << 24 ^ draw(c)) & full;
    }
}

static void put_field(mutation *c, ntr_message *message, ntr_field field) {
    const ntr_field_info *info = ntr_field_get(field);
    unsigned bits = field == NTR_FIELD_SRC ? c->params.src_bits : info->bits;
    if (info->shape != NTR_SHAPE_FIXED && info->shape != NTR_SHAPE_CONFIG && below(c, 16) == 0) bits = 64;
    message->present |= (ntr_fields)1 << field;
    message->value[field] = interesting(c, bits);
    message->width[field] = below(c, 8) ? 0 : (uint16_t)below(c, 70);
}

static void put_message(mutation *c, const ntr_message *message) {
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    int size = ntr_message_encode(&c->params, message, bytes, sizeof bytes);
    if (size > 0) fuzz_add(&c->out, bytes, (size_t)size);
}

static void make_message(mutation *c) {
    size_t rows = 0;
    while (ntr_message_at(rows)) rows++;
    const ntr_message_info *row = ntr_message_at(below(c, rows));
    ntr_message message = {.tcode = row->tcode};
    if (c->params.src_bits) put_field(c, &message, NTR_FIELD_SRC);
    for (const ntr_message_field *f = row->fields; f->field != NTR_FIELD_NONE; f++) {
        if (f->condition != NTR_FIELD_NONE && message.value[f->condition] != f->when) continue;
        if (!f->optional || below(c, 2)) put_field(c, &message, (ntr_field)f->field);
    }
    if (below(c, 3) == 0) put_field(c, &message, NTR_FIELD_TSTAMP);
    put_message(c, &message);
}

static void change_message(mutation *c, size_t i) {
    ntr_message message;
    ntr_field fields[NTR_FIELDS_MAX];
    ntr_bytes raw = {c->stream + c->from[i], c->until[i] - c->from[i]};
    if (raw.size > NTR_MESSAGE_BYTES_MAX || ntr_message_decode(&c->params, raw, &message) != NTR_OK) {
        fuzz_add(&c->out, raw.data, raw.size - below(c, 2));
        return;
    }
    size_t count = ntr_message_list(&message, fields);
    if (count) put_field(c, &message, fields[below(c, count)]);
    put_message(c, &message);
}

static void copy(mutation *c, size_t from, size_t until) {
    if (from < until) fuzz_add(&c->out, c->stream + c->from[from], c->until[until - 1] - c->from[from]);
}

/* One change at message `i`; the messages before and after it stay. */
static void change_at(mutation *c, size_t i) {
    size_t next = i + 1, run = 1 + below(c, 8);
    copy(c, 0, i);
    switch (below(c, 6)) {
    case 0: break;
    case 1:
        make_message(c);
        copy(c, i, next);
        break;
    case 2:
        while (run--) copy(c, i, next);
        break;
    case 3:
        if (next < c->count) copy(c, next, next + 1);
        copy(c, i, next);
        next = next < c->count ? next + 1 : next;
        break;
    case 4: copy(c, below(c, c->count), c->count); break;
    default: change_message(c, i); break;
    }
    copy(c, next, c->count);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned seed) {
    size_t at = fuzz_stream_at(data, size);
    if (seed & 1 || at > size) return LLVMFuzzerMutate(data, size, capacity);
    fuzz_tape tape = {data, size, 0};
    mutation *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->random = seed;
    c->params = fuzz_params(&tape);
    split(c, (ntr_bytes){data + at, size - at});
    if (c->count)
        change_at(c, below(c, c->count));
    else
        make_message(c);
    size_t fits = c->out.size < capacity - at ? c->out.size : capacity - at;
    if (fits) memcpy(data + at, c->out.data, fits);
    free(c->out.data);
    free(c);
    return at + fits ? at + fits : LLVMFuzzerMutate(data, size, capacity);
}
