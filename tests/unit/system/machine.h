/* Harts for the system tests: random programs, random executions of them, and the comparison of what a decoder
 * says with what was executed. */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <ntrace/decoder.h>
#include <ntrace/ingress.h>
#include <ntrace/system.h>

#include <stdlib.h>
#include <string.h>

enum { MACHINE_SLOTS = 256, MACHINE_STACK = 64 };

static inline uint64_t random_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static inline unsigned random_below(uint64_t *state, unsigned limit) {
    return (unsigned)((random_next(state) >> 33) % limit);
}

typedef enum slot_kind { SLOT_PLAIN, SLOT_BRANCH, SLOT_JUMP, SLOT_CALL, SLOT_INDIRECT, SLOT_RETURN } slot_kind;

typedef struct model_hart {
    uint64_t base;
    uint8_t kind[MACHINE_SLOTS];
    uint16_t target[MACHINE_SLOTS];
    uint8_t code[4 * MACHINE_SLOTS];
    ntr_program *program;

    uint64_t seed;
    unsigned slot;
    uint16_t stack[MACHINE_STACK];
    unsigned depth;

    uint64_t *pcs; /* executed so far */
    size_t count, capacity;
} model_hart;

static inline uint32_t encode_jump(int32_t offset, unsigned rd) {
    const uint32_t o = (uint32_t)offset;
    return (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}

static inline uint32_t encode_branch(int32_t offset) {
    const uint32_t o = (uint32_t)offset;
    return (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | 10u << 15 | (o >> 1 & 0xf) << 8 | (o >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t encode_slot(const model_hart *h, unsigned slot) {
    const int32_t offset = 4 * ((int32_t)h->target[slot] - (int32_t)slot);
    switch (h->kind[slot]) {
    case SLOT_BRANCH: return encode_branch(offset);
    case SLOT_JUMP: return encode_jump(offset, 0);
    case SLOT_CALL: return encode_jump(offset, 1);
    case SLOT_INDIRECT: return 6u << 15 | 0x67; /* jalr x0, 0(x6) */
    case SLOT_RETURN: return 1u << 15 | 0x67;   /* jalr x0, 0(x1) */
    default: return 0x13;
    }
}

static inline void hart_init(model_hart *h, uint64_t base, uint64_t seed) {
    static const uint8_t mix[] = {SLOT_PLAIN, SLOT_PLAIN, SLOT_PLAIN,    SLOT_PLAIN,  SLOT_PLAIN,  SLOT_PLAIN,
                                  SLOT_PLAIN, SLOT_PLAIN, SLOT_BRANCH,   SLOT_BRANCH, SLOT_BRANCH, SLOT_BRANCH,
                                  SLOT_JUMP,  SLOT_CALL,  SLOT_INDIRECT, SLOT_RETURN};
    memset(h, 0, sizeof *h);
    h->base = base;
    h->seed = seed;
    for (unsigned slot = 0; slot < MACHINE_SLOTS; slot++) {
        h->kind[slot] = slot + 1 == MACHINE_SLOTS ? SLOT_JUMP : mix[random_below(&h->seed, sizeof mix)];
        h->target[slot] = (uint16_t)random_below(&h->seed, MACHINE_SLOTS);
        if (h->kind[slot] == SLOT_JUMP && h->target[slot] == slot)
            h->target[slot] = (uint16_t)((slot + 1) % MACHINE_SLOTS);
        const uint32_t word = encode_slot(h, slot);
        for (unsigned byte = 0; byte < 4; byte++) h->code[4 * slot + byte] = (uint8_t)(word >> 8 * byte);
    }
    ntr_program_new(NULL, &h->program);
    assert_non_null(h->program);
    const ntr_image_options options = {.size = sizeof options, .bias = base};
    const ntr_bytes bytes = {h->code, sizeof h->code};
    assert_int_equal(ntr_program_add_raw(h->program, bytes, &options), NTR_OK);
}

static inline void hart_release(model_hart *h) {
    ntr_program_free(h->program);
    free(h->pcs);
}

/* Execute one instruction; returns its address. */
static inline uint64_t hart_step(model_hart *h) {
    const unsigned slot = h->slot;
    const uint64_t pc = h->base + 4 * slot;
    unsigned next = slot + 1;
    switch (h->kind[slot]) {
    case SLOT_BRANCH:
        if (random_below(&h->seed, 2)) next = h->target[slot];
        break;
    case SLOT_CALL:
        h->stack[h->depth++ % MACHINE_STACK] = (uint16_t)((slot + 1) % MACHINE_SLOTS);
        next = h->target[slot];
        break;
    case SLOT_JUMP: next = h->target[slot]; break;
    case SLOT_INDIRECT: next = random_below(&h->seed, MACHINE_SLOTS); break;
    case SLOT_RETURN:
        next = h->depth ? h->stack[--h->depth % MACHINE_STACK] : random_below(&h->seed, MACHINE_SLOTS);
        break;
    default: break;
    }
    h->slot = next % MACHINE_SLOTS;
    if (h->count == h->capacity) {
        h->capacity = h->capacity ? 2 * h->capacity : 1024;
        h->pcs = realloc(h->pcs, h->capacity * sizeof h->pcs[0]);
        assert_non_null(h->pcs);
    }
    h->pcs[h->count++] = pc;
    return pc;
}

/* ---- harts of a system */

typedef struct traced_hart {
    model_hart hart;
    ntr_system *system;
    unsigned number;
    ntr_classifier *classifier;
    uint64_t stalls;
} traced_hart;

static inline ntr_status push_block(void *user, const ntr_ingress *block) {
    traced_hart *t = user;
    for (;;) {
        const ntr_status status = ntr_system_push(t->system, t->number, block);
        if (status != NTR_NEED_MORE) return status;
        t->stalls++;
        assert_true(t->stalls < 100000000);
        ntr_system_step(t->system, 1);
    }
}

static inline void traced_init(traced_hart *t, ntr_system *system, unsigned number, uint64_t seed,
                               unsigned itype_width) {
    ntr_classifier_config config;
    memset(t, 0, sizeof *t);
    hart_init(&t->hart, 0x80000000ull + 0x10000ull * number, seed);
    t->system = system;
    t->number = number;
    ntr_classifier_config_init(&config);
    config.program = t->hart.program;
    config.sink = push_block;
    config.sink_user = t;
    config.itype_width = (uint8_t)itype_width;
    ntr_classifier_new(&config, &t->classifier);
    assert_non_null(t->classifier);
}

static inline void traced_release(traced_hart *t) {
    ntr_classifier_free(t->classifier);
    hart_release(&t->hart);
}

/* Execute; `step`: the system's time goes by with the instructions. */
static inline void traced_run(traced_hart *t, unsigned instructions, bool step) {
    for (; instructions; instructions--) {
        const ntr_status status = ntr_classifier_push(t->classifier, hart_step(&t->hart));
        if (status != NTR_OK) fail_msg("%s %s", ntr_classifier_error(t->classifier), ntr_system_error(t->system));
        if (step) ntr_system_step(t->system, 1);
    }
}

/* The hart stops here: its last block is pushed, with the address where it would continue. */
static inline void traced_halt(traced_hart *t) {
    uint64_t next;
    assert_int_equal(ntr_classifier_finish(t->classifier, &next), NTR_OK);
    const ntr_ingress halted = {
        .halted = true, .cycle = true, .priv = NTR_PRIV_M, .iaddr = t->hart.base + 4 * t->hart.slot};
    assert_int_equal(push_block(t, &halted), NTR_OK);
}

/* ---- decoding */

typedef struct decoded {
    uint64_t *pcs;
    size_t count, capacity;
    size_t gaps, notes, syncs, stops;
} decoded;

static inline void decoded_add(decoded *d, const ntr_event *event) {
    for (uint32_t i = 0; i < event->instructions; i++) {
        if (d->count == d->capacity) {
            d->capacity = d->capacity ? 2 * d->capacity : 1024;
            d->pcs = realloc(d->pcs, d->capacity * sizeof d->pcs[0]);
            assert_non_null(d->pcs);
        }
        d->pcs[d->count++] = event->address + 4 * i;
    }
}

/* Decode the source `src` of a stream. */
static inline decoded decode(const uint8_t *bytes, size_t size, const ntr_params *params, const ntr_program *program,
                             unsigned src, bool cut) {
    decoded d = {0};
    ntr_decoder_config config = {.size = sizeof config, .params = *params, .program = program, .mid_stream = cut};
    config.one_source = params->src_bits != 0;
    config.source = (uint16_t)src;
    ntr_decoder *decoder;
    ntr_decoder_new(&config, &decoder);
    assert_non_null(decoder);
    assert_int_equal(ntr_decoder_feed(decoder, bytes, size, true), NTR_OK);
    for (ntr_status status = NTR_OK; status == NTR_OK;) {
        ntr_event events[64];
        size_t count;
        status = ntr_decoder_read(decoder, events, 64, &count);
        for (size_t i = 0; i < count; i++) {
            if (events[i].kind == NTR_EVENT_SPAN) decoded_add(&d, &events[i]);
            d.gaps += events[i].kind == NTR_EVENT_GAP;
            d.notes += events[i].kind == NTR_EVENT_NOTE;
            d.syncs += events[i].kind == NTR_EVENT_SYNC;
            d.stops += events[i].kind == NTR_EVENT_STOP;
        }
    }
    ntr_decoder_free(decoder);
    return d;
}

#endif
