/* Recordings of pins: VCD text and raw samples, for every transport that has pins. */
#include "fuzz.h"

#include <ntrace/pins.h>
#include <stdlib.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_status take(void *user, const uint16_t *beats, size_t count) {
    size_t *total = user;
    (void)beats;
    *total += count;
    return *total > 1 << 20 ? NTR_E_SPACE : NTR_OK; /* few bytes can stand for a very long time */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    size_t total = 0;
    const ntr_transport *transport = fuzz_transport(&tape);
    uint8_t how = fuzz_byte(&tape), channels = fuzz_byte(&tape);
    ntr_pin_options options = {.size = sizeof options,
                               .format = how & 1 ? NTR_PINS_SAMPLES : NTR_PINS_VCD,
                               .sink = take,
                               .user = &total,
                               .clock_center = how & 2,
                               .channels = (uint8_t)(1 + channels % 64),
                               .beat_time = fuzz_byte(&tape)};
    ntr_pin_reader *reader;
    ntr_pin_reader_new(transport, &options, &reader);
    size_t piece = 1 + (how >> 2 & 31u);
    if (how & 0x80) piece = SIZE_MAX;
    if (!reader) return 0;
    ntr_status status = NTR_OK;
    while (status == NTR_OK && tape.at < tape.size) {
        ntr_bytes part = fuzz_part(&tape, piece);
        status = ntr_pin_reader_feed(reader, part.data, part.size);
    }
    if (status == NTR_OK) status = ntr_pin_reader_finish(reader);
    if (status == NTR_E_FORMAT || status == NTR_E_NAME)
        fuzz_must(ntr_pin_reader_error(reader)[0] != 0, "a refused file has an error message");
    ntr_pin_reader_free(reader);
    return 0;
}
