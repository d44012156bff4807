/* Spike's logs: option lines, then the log. */
#include "fuzz.h"

#include <ntrace/ingress.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* A log may contain a loop of four thousand million iterations, which would take too long here. */
static ntr_status take(void *user, const uint8_t *bytes, size_t size) {
    fuzz_bytes *out = user;
    if (out->size > 1 << 20) return NTR_E_IO;
    return fuzz_take_message(out, bytes, size);
}

/* "core 0: Executed 268435456 times" is correct but takes a few seconds, which is too long for a fuzzer. */
static bool runs_long(const char *line, size_t length) {
    const char *repeats = memmem(line, length, "Executed", 8);
    return repeats && (size_t)(line + length - repeats) > sizeof "Executed 99999 times";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    fuzz_bytes out = {NULL, 0, 0};
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    fuzz_encoder_options(&tape, &config);
    config.sink = take;
    config.sink_user = &out;
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    ntr_classifier_config how;
    ntr_classifier_config_init(&how);
    how.encoder = encoder;
    how.itype_width = config.itype_width;
    how.all_jumps = config.params.all_jumps;
    ntr_classifier *classifier = NULL;
    if (encoder) ntr_classifier_new(&how, &classifier);
    ntr_spike_log *log = NULL;
    if (classifier) ntr_spike_log_new(classifier, 0, 0, NULL, &log);
    ntr_status status = NTR_OK;
    const char *line;
    size_t length;
    while (log && status == NTR_OK && fuzz_line(&tape, &line, &length))
        if (!runs_long(line, length)) status = ntr_spike_log_line(log, line, length);
    if (status == NTR_E_SYNTAX) fuzz_must(ntr_spike_log_error(log)[0] != 0, "a refused line has an error message");
    if (log && status == NTR_OK && ntr_spike_log_finish(log) == NTR_OK) ntr_classifier_finish(classifier, NULL);
    if (encoder) ntr_encoder_stop(encoder, NTR_ADDRESS_UNKNOWN, 4);
    ntr_spike_log_free(log);
    ntr_classifier_free(classifier);
    ntr_encoder_free(encoder);
    free(out.data);
    return 0;
}
