/* Many harts at once: each of up to 4,096 has an encoder of its own, or up to 224 are behind the funnels of the system
 * model, with the smallest buffers. The program loops and jumps; the input says how each hart goes through it. What the
 * harts executed is what the stream says; where messages were lost, it says no more than that.
 *
 * Input: 1 byte: how; 2 bytes: the number of harts; 2 bytes: sizes of buffers and rates; lines of encoder options; then
 * three bytes for each operation: hart, what it does. */
#include "fuzz.h"

#include <ntrace/system.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Places of the program: a loop whose branch leads back to its beginning or on to the next place, and code that ends
 * with a jump through a register, take turns. */
enum { HARTS_BASE = 0x10000, CODE_PLACES = 64, PLACE_BYTES = 64, PLACE_INSTRUCTIONS = PLACE_BYTES / 2 };
enum { HARTS_NOP = 0x0001, C_BNEZ_BACK = 0xf169, C_JR = 0x8782 };
enum { HARTS_MOST = 4096, MODELLED_MOST = 224, INPUTS = 16, STEPS_MOST = 4000, TEXT_MOST = 64 << 10 };
enum { MODEL = 1 << 0, EACH_HART = 1 << 1, STALL = 1 << 2, ONE_EVENT = 1 << 3, PIECES = 1 << 4 }; /* bits of `how` */

typedef struct fuzzed_hart {
    unsigned place;
    uint64_t executed, decoded;
    ntr_encoder *encoder;
} fuzzed_hart;

typedef struct harts_scene {
    uint8_t how;
    unsigned count;
    fuzzed_hart *harts;
    ntr_encoder_config config;
    ntr_params params;
    ntr_system *system;
    bool cut;
    fuzz_bytes stream;
} harts_scene;

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* ---- the program, and how a hart goes through it */

static ntr_program *make_program(unsigned xlen) {
    uint8_t code[CODE_PLACES * PLACE_BYTES];
    for (unsigned i = 0; i < CODE_PLACES * PLACE_INSTRUCTIONS; i++) {
        const bool last = i % PLACE_INSTRUCTIONS == PLACE_INSTRUCTIONS - 1, loop = i / PLACE_INSTRUCTIONS % 2 == 0;
        const unsigned bits = !last ? HARTS_NOP : loop ? C_BNEZ_BACK : C_JR;
        code[2 * i] = bits & 0xff;
        code[2 * i + 1] = (uint8_t)(bits >> 8);
    }
    ntr_program *program;
    ntr_program_new(NULL, &program);
    const ntr_image_options options = {.size = sizeof options,
                                       .name = "code",
                                       .has_isa = true,
                                       .isa = xlen == 32 ? NTR_ISA_RV32 : 0,
                                       .bias = HARTS_BASE};
    if (!program || ntr_program_add_raw(program, (ntr_bytes){code, sizeof code}, &options) != NTR_OK) abort();
    return program;
}

static ntr_ingress block_of(const fuzzed_hart *h, uint8_t what) {
    ntr_ingress block = {.iaddr = HARTS_BASE + h->place * PLACE_BYTES, .priv = NTR_PRIV_M, .cycle = true};
    block.iretire = PLACE_INSTRUCTIONS;
    block.itype = h->place % 2 ? NTR_ITYPE_OTHER_INDIRECT : what & 1 ? NTR_ITYPE_TAKEN : NTR_ITYPE_NOT_TAKEN;
    return block;
}

static void executed(fuzzed_hart *h, const ntr_ingress *block, uint8_t what) {
    h->executed += PLACE_INSTRUCTIONS;
    if (block->itype == NTR_ITYPE_OTHER_INDIRECT) h->place = what / 2 % CODE_PLACES;
    if (block->itype == NTR_ITYPE_NOT_TAKEN) h->place++;
}

static uint64_t next_of(const fuzzed_hart *h) {
    return HARTS_BASE + h->place * PLACE_BYTES;
}

/* ---- encoders alone */

static bool make_encoders(harts_scene *s) {
    for (unsigned i = 0; i < s->count; i++) {
        s->config.src_id = (uint16_t)i;
        if (ntr_encoder_new(&s->config, &s->harts[i].encoder) != NTR_OK) return false;
    }
    return true;
}

static void push_alone(fuzzed_hart *h, uint8_t what) {
    const ntr_ingress block = block_of(h, what);
    const ntr_status status = ntr_encoder_push(h->encoder, &block);
    fuzz_must(status == NTR_OK || status == NTR_NEED_MORE, "a valid block is accepted, or waits");
    if (status == NTR_OK) executed(h, &block, what);
}

static void operate_alone(harts_scene *s, fuzzed_hart *h, uint8_t what, uint8_t how) {
    if (how < 0xf0)
        for (unsigned times = 1 + how % 8; times; times--) push_alone(h, what);
    else
        ntr_encoder_stop(h->encoder, how & 1 ? next_of(h) : NTR_ADDRESS_UNKNOWN, s->config.stop_evcode);
}

static void end_alone(harts_scene *s) {
    for (unsigned i = 0; i < s->count; i++) {
        ntr_encoder_stop(s->harts[i].encoder, next_of(&s->harts[i]), s->config.stop_evcode);
        ntr_encoder_flush(s->harts[i].encoder);
    }
}

/* ---- the system model: encoders, a funnel for every 16, a funnel for these, a RAM sink */

static size_t write_topology(const harts_scene *s, char *text, unsigned fifo, unsigned rate) {
    const unsigned funnels = (s->count + INPUTS - 1) / INPUTS;
    const unsigned stall = s->how & STALL ? 1 : 0;
    size_t at = (size_t)snprintf(text, TEXT_MOST, "{\"components\":[");
    for (unsigned i = 0; i < s->count; i++)
        at += (size_t)snprintf(
            text + at, TEXT_MOST - at,
            "{\"name\":\"t%u\",\"type\":\"encoder\",\"preset\":\"maximal\",\"base\":%u,\"hart\":%u,\"to\":\"f%u\","
            "\"fifo\":%u,\"fifo_restart\":0,\"rate\":%u,\"set\":{\"trTeInstStallEna\":%u}},",
            i, i << 12, i, i / INPUTS, fifo, rate, stall);
    for (unsigned i = 0; i < funnels; i++)
        at += (size_t)snprintf(
            text + at, TEXT_MOST - at,
            "{\"name\":\"f%u\",\"type\":\"funnel\",\"inputs\":16,\"base\":%u,\"to\":\"all\",\"fifo\":%u,\"rate\":%u},",
            i, (s->count + i) << 12, fifo, rate);
    at += (size_t)snprintf(
        text + at, TEXT_MOST - at,
        "{\"name\":\"all\",\"type\":\"funnel\",\"inputs\":16,\"base\":%u,\"to\":\"ram\",\"fifo\":%u,\"rate\":%u},"
        "{\"name\":\"ram\",\"type\":\"ram\",\"base\":%u,\"sram\":16384,\"fifo\":%u}]}",
        (s->count + funnels) << 12, fifo, 2 * rate, (s->count + funnels + 1) << 12, fifo);
    return at;
}

static void make_system(harts_scene *s, uint64_t sizes) {
    static char text[TEXT_MOST];
    char error[256];
    const size_t size = write_topology(s, text, 128 + (unsigned)(sizes & 0xff), (unsigned)(sizes >> 8 & 7));
    const ntr_system_config config = {
        .size = sizeof config, .topology = {(const uint8_t *)text, size}, .error = error, .error_size = sizeof error};
    if (ntr_system_new(&config, &s->system) != NTR_OK) fprintf(stderr, "%s\n", error);
    fuzz_must(s->system && ntr_system_start(s->system) == NTR_OK, "the topology is valid, and starts");
    fuzz_must(ntr_system_params(s->system, 0, &s->params) == NTR_OK, "an encoder has parameters");
}

static void operate_model(harts_scene *s, unsigned number, uint8_t what, uint8_t how) {
    fuzzed_hart *h = &s->harts[number];
    const ntr_ingress block = block_of(h, what);
    if (how >= 0xf0) {
        ntr_system_step(s->system, what);
        return;
    }
    const ntr_status status = ntr_system_push(s->system, number, &block);
    fuzz_must(status == NTR_OK || status == NTR_NEED_MORE, "a valid block is accepted, or waits");
    if (status == NTR_OK) executed(h, &block, what);
    ntr_system_step(s->system, how & 3);
}

static ntr_status take_bytes(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    (void)id;
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static void end_model(harts_scene *s) {
    const size_t ram = s->count + (s->count + INPUTS - 1) / INPUTS + 1;
    fuzz_must(ntr_system_stop(s->system) == NTR_OK, "a system becomes empty");
    fuzz_must(ntr_system_read_ram(s->system, ram, take_bytes, &s->stream, &s->cut) == NTR_OK, "a RAM sink is read");
}

/* ---- decoding */

static void count_executed(harts_scene *s, const ntr_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != NTR_EVENT_SPAN) continue;
        fuzz_must(events[i].src < s->count, "a source is one of the harts");
        s->harts[events[i].src].decoded += events[i].instructions;
    }
}

static void decode(harts_scene *s, const ntr_program *program) {
    enum { EVENTS_ROOM = 64 };
    const ntr_decoder_config config = {
        .size = sizeof config, .params = s->params, .program = program, .mid_stream = s->cut};
    const size_t room = s->how & ONE_EVENT ? 1 : EVENTS_ROOM, piece = s->how & PIECES ? 7 : SIZE_MAX;
    ntr_event events[EVENTS_ROOM];
    size_t at = 0, count;
    ntr_decoder *decoder;
    if (ntr_decoder_new(&config, &decoder) != NTR_OK) return;
    ntr_status status = NTR_NEED_MORE;
    while (status == NTR_OK || status == NTR_NEED_MORE) {
        if (status == NTR_NEED_MORE) {
            const size_t left = s->stream.size - at, some = left < piece ? left : piece;
            ntr_decoder_feed(decoder, s->stream.data ? s->stream.data + at : NULL, some, some == left);
            at += some;
        }
        status = ntr_decoder_read(decoder, events, room, &count);
        count_executed(s, events, count);
    }
    fuzz_must(status == NTR_END || status == NTR_E_MEMORY, "a decoder reads to the end");
    ntr_decoder_free(decoder);
}

static void judge(const harts_scene *s) {
    for (unsigned i = 0; i < s->count; i++) {
        const fuzzed_hart *h = &s->harts[i];
        ntr_encoder_status status = {0};
        if (h->encoder) ntr_encoder_status_get(h->encoder, &status);
        if (h->decoded > h->executed)
            fprintf(stderr, "hart %u: %llu of %llu\n", i, (unsigned long long)h->decoded,
                    (unsigned long long)h->executed);
        fuzz_must(h->decoded <= h->executed, "no more was executed than was executed");
        if (h->encoder && !status.lost_messages)
            fuzz_must(h->decoded == status.halfwords, "what was traced is decoded");
    }
}

static void run(harts_scene *s, fuzz_tape *tape, uint64_t sizes) {
    const bool model = s->how & MODEL;
    if (model)
        make_system(s, sizes);
    else if (!make_encoders(s))
        return;
    for (unsigned i = 0; s->how & EACH_HART && i < s->count; i++)
        model ? operate_model(s, i, 1, 1) : operate_alone(s, &s->harts[i], 1, 0);
    for (unsigned i = 0; i < STEPS_MOST && tape->at < tape->size; i++) {
        const unsigned number = (unsigned)fuzz_number(tape, s->count > 256 ? 2 : 1) % s->count;
        const uint8_t what = fuzz_byte(tape), how = fuzz_byte(tape);
        model ? operate_model(s, number, what, how) : operate_alone(s, &s->harts[number], what, how);
    }
    (model ? end_model : end_alone)(s);
    ntr_program *program = make_program(s->params.xlen);
    decode(s, program);
    ntr_program_free(program);
    judge(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    harts_scene s = {.how = fuzz_byte(&tape)};
    const unsigned most = s.how & MODEL ? MODELLED_MOST : s.how & EACH_HART ? HARTS_MOST : INPUTS;
    s.count = 1 + (unsigned)fuzz_number(&tape, 2) % most;
    const uint64_t sizes = fuzz_number(&tape, 2);
    ntr_encoder_config_init(&s.config);
    fuzz_encoder_options(&tape, &s.config);
    s.config.params.src_bits = 12;
    s.config.inhibit_src = false;
    s.config.sink = fuzz_take_message;
    s.config.sink_user = &s.stream;
    s.params = s.config.params;
    s.harts = calloc(s.count, sizeof *s.harts);
    if (!s.harts) abort();
    run(&s, &tape, sizes);
    for (unsigned i = 0; i < s.count; i++) ntr_encoder_free(s.harts[i].encoder);
    ntr_system_free(s.system);
    free(s.harts);
    free(s.stream.data);
    return 0;
}
