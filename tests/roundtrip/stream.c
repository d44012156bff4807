/* Runs through the encoder, and streams of several harts into one. */
#include "setup.h"
#include <ntrace/encoder_hardware.h>
#include <ntrace/message.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static setup_stream *new_stream(void) {
    setup_stream *s = calloc(1, sizeof *s);
    if (!s) abort();
    return s;
}

void setup_stream_free(setup_stream *s) {
    if (s) {
        free(s->bytes);
        free(s->message);
        free(s->access);
    }
    free(s);
}

static void add_bytes(setup_stream *s, const uint8_t *bytes, size_t size) {
    while (s->size + size > s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 4096;
        s->bytes = realloc(s->bytes, s->capacity);
        if (!s->bytes) abort();
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
}

static void add_message(setup_stream *s, const uint8_t *bytes, size_t size) {
    size_t n = s->messages;
    if (n < 64 || (n & (n - 1)) == 0) s->message = realloc(s->message, (n < 64 ? 64 : 2 * n) * sizeof *s->message);
    if (!s->message) abort();
    s->message[s->messages++] = s->size;
    add_bytes(s, bytes, size);
}

static ntr_status take_message(void *user, const uint8_t *bytes, size_t size) {
    add_message(user, bytes, size);
    return NTR_OK;
}

/* The external filter passes the blocks that the record marks. */
static unsigned qualify(void *user, const ntr_ingress *block) {
    (void)block;
    return *(const bool *)user ? NTR_QUALIFY_TRACE : 0;
}

static ntr_status play(ntr_encoder *encoder, const gen_op *op) {
    switch (op->kind) {
    case GEN_OP_BLOCK: return ntr_encoder_push(encoder, &op->block);
    case GEN_OP_TRACING: return ntr_encoder_set_tracing(encoder, op->value);
    case GEN_OP_TRIGGER: return ntr_encoder_trigger(encoder, op->value);
    case GEN_OP_SYNC: return ntr_encoder_request_sync(encoder, op->value);
    case GEN_OP_TICK: return ntr_encoder_tick(encoder, op->value);
    }
    return NTR_E_INVALID;
}

static setup_access random_access(prng *r, unsigned xlen, uint64_t before) {
    static const uint8_t sizes[] = {1, 2, 4, 8, 8, 0, 3, 7};
    setup_access a = {.size = PRNG_PICK(r, sizes), .store = prng_next(r) & 1};
    a.address = prng_below(r, 4) ? before + prng_below(r, 64) : prng_next(r);
    if (xlen == 32) a.address &= UINT32_MAX;
    a.data = prng_below(r, 3) ? prng_next(r) : prng_below(r, 3);
    if (a.size < 8) a.data &= (UINT64_C(1) << 8 * a.size) - 1;
    return a;
}

/* The block has made some accesses. They are traced while a window is open. */
static ntr_status play_accesses(ntr_encoder *encoder, const setup_hart *hart, prng *r, setup_stream *s) {
    ntr_status status = NTR_OK;
    for (unsigned left = prng_below(r, 3) ? 0 : prng_below(r, 4); left && !status; left--) {
        size_t n = s->accesses;
        setup_access a = random_access(r, hart->config.params.xlen, n ? s->access[n - 1].address : 0);
        ntr_encoder_status_get(encoder, &s->status);
        if (s->status.active) {
            if (n < 64 || (n & (n - 1)) == 0) s->access = realloc(s->access, (n < 64 ? 64 : 2 * n) * sizeof *s->access);
            if (!s->access) abort();
            s->access[s->accesses++] = a;
        }
        status = ntr_encoder_access(
            encoder, &(ntr_data_record){a.store ? NTR_DATA_WRITE : NTR_DATA_READ, a.size, a.address, a.data});
    }
    return status;
}

setup_stream *setup_encode(const setup_hart *hart) {
    setup_stream *s = new_stream();
    bool qualified = true;
    prng random = {.state = hart->data_seed};
    ntr_encoder_config config = hart->config;
    config.sink = take_message;
    config.sink_user = s;
    config.qualify = qualify;
    config.qualify_user = &qualified;
    ntr_encoder *encoder;
    ntr_status status = ntr_encoder_new(&config, &encoder);
    if (!encoder) {
        const char *why = "";
        ntr_encoder_config_check(&config, &why);
        snprintf(s->wrong, sizeof s->wrong, "no encoder: %s: %s", ntr_status_name(status), why ? why : "");
        return s;
    }
    for (size_t i = 0; i < hart->run->ops && !s->wrong[0]; i++) {
        const gen_op *op = &hart->run->op[i];
        qualified = op->qualified;
        status = play(encoder, op);
        if (!status && op->kind == GEN_OP_BLOCK && hart->data_seed) status = play_accesses(encoder, hart, &random, s);
        if (status)
            snprintf(s->wrong, sizeof s->wrong, "op %zu: %s: %s", i, ntr_status_name(status),
                     ntr_encoder_error(encoder));
    }
    if (!s->wrong[0] && ((status = ntr_encoder_stop(encoder, hart->run->end, config.stop_evcode)) ||
                         (status = ntr_encoder_flush(encoder))))
        snprintf(s->wrong, sizeof s->wrong, "stop: %s", ntr_status_name(status));
    ntr_encoder_status_get(encoder, &s->status);
    ntr_encoder_free(encoder);
    return s;
}

setup_stream *setup_merge(setup_stream *const *streams, unsigned count, prng *random) {
    static const uint8_t idle[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    setup_stream *all = new_stream();
    size_t next[SETUP_HARTS_MAX] = {0}, left = 0;
    bool idles = prng_below(random, 4) == 0;
    for (unsigned i = 0; i < count; i++) left += streams[i]->messages;
    while (left > 0) {
        unsigned i = prng_below(random, count);
        const setup_stream *s = streams[i];
        if (next[i] == s->messages) continue;
        size_t start = s->message[next[i]++];
        size_t end = next[i] < s->messages ? s->message[next[i]] : s->size;
        if (idles && prng_below(random, 8) == 0) add_bytes(all, idle, prng_range(random, 1, sizeof idle));
        add_message(all, s->bytes + start, end - start);
        left--;
    }
    return all;
}
