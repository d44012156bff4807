/* CoreSight frames and the memory of a TMC: any bytes are read, cutting changes nothing, and every part of a buffer is
 * passed once. */
#include "fuzz.h"

#include <ntrace/frames.h>
#include <ntrace/tmc.h>
#include <stdlib.h>
#include <string.h>

enum { REGION = 0x10000, TABLES_AND_PAGES = 6 * 4096 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status take(void *user, const uint8_t *bytes, size_t size) {
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static fuzz_bytes read_frames(const ntr_frames_options *options, ntr_bytes bytes, size_t piece, unsigned *src_bits) {
    fuzz_bytes out = {NULL, 0, 0};
    ntr_frames_totals totals;
    unsigned ids[2] = {0, 0};
    ntr_frames *frames;
    ntr_frames_new(options, &frames);

    for (size_t at = 0; frames && at < bytes.size; at += piece)
        ntr_frames_feed(frames, bytes.data + at, piece < bytes.size - at ? piece : bytes.size - at, take, &out);
    if (frames) {
        ntr_frames_finish(frames, take, &out);
        ntr_frames_totals_get(frames, &totals);
        fuzz_must(totals.bytes == bytes.size, "all bytes are read");
        *src_bits = ntr_frames_src_bits(frames);
        fuzz_must(*src_bits <= 12, "SRC has at most 12 bits");
        if (ntr_frames_mixed(frames, *src_bits, ids)) fuzz_must(ids[0] != ids[1], "two trace IDs are mixed");
    }
    ntr_frames_free(frames);
    return out;
}

struct tmc_memory {
    ntr_bytes bytes;
    uint64_t passed;
    bool scattered;
};

static ntr_status read_page(void *user, uint64_t address, uint8_t *bytes, size_t size) {
    const struct tmc_memory *m = user;
    const uint64_t offset = address - REGION;

    if (address < REGION || offset > m->bytes.size || size > m->bytes.size - offset) return NTR_E_RANGE;
    memcpy(bytes, m->bytes.data + offset, size);
    return NTR_OK;
}

static ntr_status take_part(void *user, uint64_t address, uint64_t size) {
    struct tmc_memory *m = user;

    (void)address;
    fuzz_must(size > 0, "no part is empty");
    m->passed += size;
    return NTR_OK;
}

static void walk(fuzz_tape *tape, ntr_bytes bytes, uint8_t how) {
    struct tmc_memory m = {.bytes = bytes, .scattered = how & 4};
    ntr_tmc_memory memory;
    ntr_tmc_error error;

    ntr_tmc_memory_init(&memory);
    memory.base = REGION;
    memory.bytes = fuzz_number(tape, 2) & ~15ull;
    memory.rwp = REGION + (fuzz_number(tape, 3) & ~15ull);
    memory.full = how & 2;
    memory.scattered = m.scattered;
    const ntr_status status = ntr_tmc_parts(&memory, read_page, take_part, &m, &error);
    if (status == NTR_OK)
        fuzz_must(m.passed <= memory.bytes && (!memory.full || m.passed == memory.bytes), "each byte is passed once");
    if (status != NTR_OK && error.what) fuzz_must(error.expected && *error.expected, "a refusal says what is expected");
}

/* The beginning of the input says how; a table of pages made of its words is as likely as any bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    const uint8_t how = fuzz_byte(&tape), extra = fuzz_byte(&tape);
    ntr_frames_options options;
    unsigned skip = 0, bits[2] = {0, 0};

    if (how & 1) {
        uint8_t *memory = calloc(1, TABLES_AND_PAGES);
        if (!memory) abort();
        for (size_t i = 0; i < 16; i++) {
            const uint32_t entry = (uint32_t)((REGION / 4096 + fuzz_byte(&tape) % 8u) << 4 | (fuzz_byte(&tape) & 3));
            memcpy(memory + 4 * i, &entry, sizeof entry);
        }
        walk(&tape, (ntr_bytes){memory, TABLES_AND_PAGES}, how);
        free(memory);
        return 0;
    }
    ntr_frames_options_init(&options);
    options.cut = how & 2;
    options.id = how & 4 ? extra & 0x7f : 0;
    options.skip = how >> 4;
    ntr_bytes bytes = fuzz_part(&tape, 16384);
    ntr_frames_seen(bytes, &skip);
    fuzz_must(skip < NTR_FRAME_BYTES, "frames begin within 16 bytes");
    fuzz_bytes a = read_frames(&options, bytes, bytes.size + 1, &bits[0]);
    fuzz_bytes b = read_frames(&options, bytes, 1 + (size_t)extra, &bits[1]);
    fuzz_must(a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0) && bits[0] == bits[1],
              "cuts change nothing");
    free(a.data);
    free(b.data);
    return 0;
}
