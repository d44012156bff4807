/* Framing: messages, idle bytes and skipped bytes add up to the stream, in pieces of any size. */
#include "fuzz.h"

#include "wire/window.h"

#include <ntrace/framer.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return FUZZ_PARAMS_BYTES + 2;
}

static uint64_t frame(ntr_bytes stream, bool zero_idle, bool seek, size_t piece) {
    ntr_framer framer;
    ntr_slice slice;
    ntr_status status = NTR_NEED_MORE;
    uint64_t in_messages = 0, offset = 0, sum = 0;
    size_t at = 0;
    ntr_framer_init(&framer, zero_idle);
    if (seek) ntr_framer_seek_start(&framer);
    while (status != NTR_END) {
        size_t size = piece && piece < stream.size - at ? piece : stream.size - at;
        fuzz_must(ntr_framer_feed(&framer, stream.data + at, size, at + size == stream.size) == NTR_OK,
                  "a span is taken");
        at += size;
        while ((status = ntr_framer_next(&framer, &slice)) == NTR_OK) {
            fuzz_must(slice.offset >= offset && slice.size >= slice.raw.size && slice.raw.size,
                      "slices follow one another");
            offset = slice.offset + slice.size;
            in_messages += slice.size;
            sum = sum * 31 + slice.size * 7 + slice.raw.data[slice.raw.size - 1] + (uint64_t)(int64_t)slice.defect;
        }
    }
    fuzz_must(in_messages + framer.idle + framer.skipped == stream.size,
              "every byte belongs to a message, is idle, or is skipped");
    fuzz_must(ntr_framer_offset(&framer) == stream.size, "the offset ends at the end");
    return sum + framer.idle;
}

/* The variant of this processor that gathers MSEO bits, and the portable one. */
static void both_ways(ntr_bytes stream) {
    for (size_t at = 0; at + NTR_WINDOW <= stream.size; at += NTR_WINDOW) {
        ntr_window own = ntr_window_of(stream.data + at), any = ntr_window_portable(stream.data + at);
        fuzz_must(own.low == any.low && own.high == any.high, "every variant gathers the same");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    fuzz_params(&tape);
    uint8_t how = fuzz_byte(&tape), piece = fuzz_byte(&tape);
    ntr_bytes stream = fuzz_rest(&tape);
    if (!stream.size) return 0;
    fuzz_must(frame(stream, how & 1, how & 2, 0) == frame(stream, how & 1, how & 2, piece + 1u), "cuts change nothing");
    both_ways(stream);
    return 0;
}
