/* Decoding: any stream, options and program, also with the counting decode and in pieces of any size. */
#include "fuzz.h"

#include <ntrace/event_sorter.h>

#include <stdlib.h>
#include <string.h>

enum { DECODE_READS = 800 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    return fuzz_behind_program(data, size, FUZZ_HEAD);
}

/* Sorting by time keeps all events. */
static void order(const ntr_decoder_config *config, ntr_bytes stream, size_t window) {
    ntr_event events[16], out;
    size_t count, in = 0, left = 0, reads = 64;
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    ntr_event_sorter *order;
    ntr_event_sorter_new(window, NULL, &order);
    ntr_status status = NTR_OK;
    if (decoder && order) {
        ntr_decoder_feed(decoder, stream.data, stream.size, true);
        while (status == NTR_OK && reads--) {
            status = ntr_decoder_read(decoder, events, sizeof events / sizeof *events, &count);
            for (size_t i = 0; i < count; i++, in++) {
                ntr_event_sorter_put(order, &events[i]);
                while (ntr_event_sorter_take(order, false, &out)) left++;
            }
        }
        while (ntr_event_sorter_take(order, true, &out)) left++;
        fuzz_must(in == left, "every event that is put in is taken out");
    }
    ntr_event_sorter_free(order);
    ntr_decoder_free(decoder);
}

/* A hostile count can stand for any number of instructions, so the work for a message is not bounded by its size. This
 * is used only for streams that were read in bounded time before. */
static void count(const ntr_decoder_config *config, ntr_bytes stream, ntr_count_callback *callback, ntr_counts *counts,
                  uint64_t *sum) {
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    if (!decoder) return;
    if (callback) ntr_decoder_set_count_callback(decoder, callback, sum);
    ntr_decoder_feed(decoder, stream.data, stream.size, true);
    ntr_decoder_count(decoder, counts);
    fuzz_must(counts->bytes <= stream.size, "no more bytes than there are");
    ntr_decoder_free(decoder);
}

static ntr_status add(void *user, const ntr_event *event, uint64_t times) {
    uint64_t *sum = user;
    if (event->kind == NTR_EVENT_SPAN) *sum += event->instructions * times;
    return NTR_OK;
}

/* Events, totals, and totals with a count callback agree. */
static void compare(const ntr_decoder_config *config, ntr_bytes stream, uint64_t instructions) {
    ntr_counts counts = {0}, also = {0};
    uint64_t sum = 0;
    count(config, stream, NULL, &counts, NULL);
    count(config, stream, add, &also, &sum);
    fuzz_must(counts.instructions == instructions, "totals are those of the events");
    fuzz_must(memcmp(&counts, &also, sizeof counts) == 0, "the callback does not change totals");
    fuzz_must(sum == instructions, "the calls sum up to the totals");
}

/* Returns whether DECODE_READS reads reach the end. */
static bool short_told(const ntr_decoder_config *config, ntr_bytes stream, uint64_t *instructions) {
    ntr_event events[32];
    size_t n, reads = DECODE_READS;
    ntr_decoder *decoder;
    ntr_decoder_new(config, &decoder);
    ntr_status status = NTR_OK;
    if (!decoder) return false;
    ntr_decoder_feed(decoder, stream.data, stream.size, true);
    while (status == NTR_OK && reads--) {
        status = ntr_decoder_read(decoder, events, 32, &n);
        for (size_t i = 0; i < n; i++) *instructions += events[i].kind == NTR_EVENT_SPAN ? events[i].instructions : 0;
    }
    ntr_decoder_free(decoder);
    return status == NTR_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_decoder_config config = {.size = sizeof config, .params = fuzz_params(&tape)};
    uint64_t instructions = 0;
    uint8_t how = fuzz_byte(&tape), source = fuzz_byte(&tape);
    size_t piece = fuzz_number(&tape, 2);
    ntr_program *program = fuzz_program(&tape, config.params.xlen);
    ntr_bytes stream = fuzz_rest(&tape);
    fuzz_bytes many = {0};
    if (how & 32) {
        many = fuzz_many_sources(&config.params, size > FUZZ_HEAD ? data[FUZZ_HEAD] : 0, stream);
        stream = (ntr_bytes){many.data, many.size};
    }
    config.program = how & 8 ? NULL : program;
    config.strict = how & 1;
    config.mid_stream = how & 2;
    config.one_source = how & 4;
    config.source = source;
    fuzz_decode(&config, stream, piece, DECODE_READS);
    if (how & 16) order(&config, stream, (size_t)source + 1);
    if (short_told(&config, stream, &instructions)) compare(&config, stream, instructions);
    free(many.data);
    ntr_program_free(program);
    return 0;
}
