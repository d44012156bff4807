/* Message FIFO: bounded, drains at a fixed rate, holds complete messages.
 *
 * It models the buffer between a trace encoder and its link. Space is freed byte by byte at the drain rate, but the
 * sink receives a message in one call, when its last byte has drained. A message that the sink refuses with
 * NTR_E_SPACE stays and is offered again. Invariant: `used` is the sum of the lengths of the stored messages minus
 * `drained`, and is at most fifo_bytes. Example: drain_bytes 1, drain_cycles 4 and a message of 6 bytes: the sink
 * receives it after 24 cycles. */
#include "base/allocator.h"
#include "encoder/state.h"

ntr_status ntr_enc_fifo_new(ntr_encoder *e) {
    e->fifo = (fifo){0};
    if (!e->config.fifo_bytes) return NTR_OK;
    e->fifo.capacity = 2 * e->config.fifo_bytes + MESSAGE_MAX; /* a length byte per message; no message is empty */
    e->fifo.ring = ntr_alloc(e->config.allocator, e->fifo.capacity, 1);
    return e->fifo.ring ? NTR_OK : NTR_E_MEMORY;
}

void ntr_enc_fifo_free(ntr_encoder *e) {
    ntr_dealloc(e->config.allocator, e->fifo.ring);
    e->fifo.ring = NULL;
}

bool ntr_enc_fifo_has_space(const ntr_encoder *e, uint32_t bytes) {
    return bytes <= e->config.fifo_bytes && e->fifo.used <= e->config.fifo_bytes - bytes;
}

static void put_byte(fifo *f, uint8_t byte) {
    f->ring[f->tail] = byte;
    f->tail = f->tail + 1 == f->capacity ? 0 : f->tail + 1;
}

void ntr_enc_fifo_put(ntr_encoder *e, const uint8_t *bytes, uint32_t size) {
    put_byte(&e->fifo, (uint8_t)size);
    for (uint32_t i = 0; i < size; i++) put_byte(&e->fifo, bytes[i]);
    e->fifo.used += size;
}

/* Gives the oldest message to the sink. Returns false if the sink has no space for it. */
static bool deliver(ntr_encoder *e) {
    fifo *f = &e->fifo;
    uint8_t bytes[MESSAGE_MAX];
    uint32_t at = f->head, size = f->ring[at];
    for (uint32_t i = 0; i < size; i++) {
        at = at + 1 == f->capacity ? 0 : at + 1;
        bytes[i] = f->ring[at];
    }
    ntr_status status = ntr_enc_deliver(e, bytes, size);
    if (status == NTR_E_SPACE) return false;
    if (status != NTR_OK && e->failure == NTR_OK) e->failure = status;
    f->head = at + 1 == f->capacity ? 0 : at + 1;
    f->drained = 0;
    return true;
}

/* Drains up to `bytes` bytes. Returns false when the sink takes no more. */
static bool drain(ntr_encoder *e, uint64_t bytes) {
    fifo *f = &e->fifo;
    while (f->head != f->tail) {
        uint32_t left = f->ring[f->head] - f->drained;
        uint32_t now = bytes < left ? (uint32_t)bytes : left;
        f->drained += now;
        f->used -= now;
        bytes -= now;
        if (f->drained < f->ring[f->head]) return true;
        if (!deliver(e)) return false;
    }
    return true;
}

void ntr_enc_fifo_pass(ntr_encoder *e, uint64_t cycles) {
    fifo *f = &e->fifo;
    if (f->head == f->tail) {
        f->remainder = 0;
        return;
    }
    uint64_t due;
    if (!e->config.drain_bytes || __builtin_mul_overflow(cycles, (uint64_t)e->config.drain_bytes, &due) ||
        __builtin_add_overflow(due, f->remainder, &due)) {
        drain(e, UINT64_MAX);
        return;
    }
    f->remainder = due % e->config.drain_cycles;
    drain(e, due / e->config.drain_cycles);
}

/* Returns true if the oldest message has drained, but the sink has refused it. */
static bool is_refused(const fifo *f) {
    return f->head != f->tail && f->drained == f->ring[f->head];
}

bool ntr_enc_fifo_stall(ntr_encoder *e, uint32_t bytes) {
    e->stall_or_overflow = true;
    while (!ntr_enc_fifo_has_space(e, bytes)) {
        ntr_enc_fifo_pass(e, 1);
        e->stats.cycles++;
        e->stats.stall_cycles++;
        if (is_refused(&e->fifo)) return false;
    }
    return true;
}

void ntr_enc_fifo_drain(ntr_encoder *e) {
    drain(e, UINT64_MAX);
}

bool ntr_enc_fifo_blocked(ntr_encoder *e) {
    enum { BLOCK_BYTES = 128 }; /* space for the messages of one block */
    uint32_t need = e->config.fifo_bytes < BLOCK_BYTES ? e->config.fifo_bytes : BLOCK_BYTES;
    if (!ntr_enc_fifo_exists(e) || ntr_enc_fifo_has_space(e, need)) return false;
    return !ntr_enc_fifo_stall(e, need);
}
