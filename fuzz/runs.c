/* Round trip: the input selects a random program, its execution and the encoder's configuration (tests/roundtrip), or a
 * part of them. The decoded stream must be the execution. A damaged stream must only be decoded without a crash. */
#include "fuzz.h"
#include "judge.h"
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>

enum { INSTRUCTIONS_MAX = 400 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX; /* no stream here */
}

static void judge(const setup *s, ntr_bytes stream, prng *random) {
    transcript *decoded = transcript_by_decoder(&s->params, s->program, stream, random);
    for (unsigned i = 0; i < s->harts; i++) {
        verdict v = judge_truth(decoded, i, s->hart[i].truth, &s->hart[i].config, true);
        if (!v.good) fprintf(stderr, "hart %u: %s\n", i, v.why);
        fuzz_must(v.good, "the decoded execution is the encoded one");
    }
    transcript_free(decoded);
}

static void damage(setup_stream *stream, fuzz_tape *tape, unsigned places) {
    while (places-- && stream->size) {
        size_t at = fuzz_number(tape, 2) % stream->size;
        stream->bytes[at] ^= fuzz_byte(tape);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    uint64_t seed = fuzz_number(&tape, 2);
    unsigned places = fuzz_byte(&tape) & 7;
    fuzz_tape places_tape = {data, size, 3};
    prng_tape decisions = {data, size, size < 3 ? size : 3};
    setup_wish wish = {.instructions = 1u + fuzz_byte(&tape) * (unsigned)INSTRUCTIONS_MAX / 255, .tape = &decisions};
    setup *s = setup_new(seed, &wish);
    setup_stream *streams[SETUP_HARTS_MAX] = {NULL};
    for (unsigned i = 0; i < s->harts; i++) {
        streams[i] = setup_encode(&s->hart[i]);
        if (streams[i]->wrong[0]) fprintf(stderr, "%s\n", streams[i]->wrong);
        fuzz_must(!streams[i]->wrong[0], "a valid execution is encoded");
    }
    setup_stream *all = setup_merge(streams, s->harts, &s->random);
    if (places) {
        ntr_decoder_config config = {.size = sizeof config, .params = s->params, .program = s->program};
        damage(all, &places_tape, places);
        fuzz_decode(&config, (ntr_bytes){all->bytes, all->size}, 0, 400);
    } else {
        judge(s, (ntr_bytes){all->bytes, all->size}, &s->random);
    }
    setup_stream_free(all);
    for (unsigned i = 0; i < s->harts; i++) setup_stream_free(streams[i]);
    setup_free(s);
    return 0;
}
