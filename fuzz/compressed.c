/* Compressed streams: any bytes are read in bounded memory, whatever size a frame claims, and every failure has an error
 * message. */
#include "fuzz.h"

#include <ntrace/stream_reader.h>
#include <string.h>

#define STEP 61 /* bytes read at once: a prime number */

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status read_tape(void *user, uint8_t *to, size_t capacity, size_t *got) {
    ntr_bytes part = fuzz_part(user, capacity < STEP ? capacity : STEP);
    if (part.size) memcpy(to, part.data, part.size);
    *got = part.size;
    return NTR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_stream_reader_config config;
    ntr_stream_reader_config_init(&config);
    config.read = read_tape;
    config.user = &tape;
    ntr_stream_reader *reader = ntr_stream_reader_new(&config, NULL);
    if (!reader) return 0;
    ntr_bytes span;
    bool last = false;
    uint64_t total = 0;
    ntr_status status = NTR_OK;
    while (!last && total < 64u << 20) {
        status = ntr_stream_reader_next(reader, &span, &last);
        fuzz_must(span.size <= 1u << 20, "a span is small");
        fuzz_must(status == NTR_OK || (last && !span.size), "an error ends the stream");
        fuzz_must((status == NTR_OK) == !*ntr_stream_reader_error(reader), "an error has a sentence, success has none");
        total += span.size;
    }
    if (!ntr_stream_reader_is_compressed(reader) && last) fuzz_must(total == size, "plain bytes pass unchanged");
    ntr_stream_reader_free(reader);
    return 0;
}
