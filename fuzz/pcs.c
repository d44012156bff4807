/* Lists of program counters: option lines, a program, then steps. What is encoded without an error can be decoded. */
#include "fuzz.h"

#include <ntrace/ingress.h>
#include <stdlib.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

/* A byte is a step from the last program counter; large ones announce an address inside the program, or any. */
static uint64_t step(fuzz_tape *tape, uint64_t pc, uint64_t base) {
    uint8_t byte = fuzz_byte(tape);
    if (byte < 0x80) return pc + 2 * (byte & 7u);
    if (byte < 0xf0) return base + 2 * fuzz_number(tape, 1) + (byte & 0xfu) * 256;
    return fuzz_number(tape, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    fuzz_bytes out = {NULL, 0, 0};
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    fuzz_encoder_options(&tape, &config);
    config.params.xlen = fuzz_byte(&tape) & 1 ? 32 : 64;
    config.sink = fuzz_take_message;
    config.sink_user = &out;
    uint64_t base = fuzz_program_base(tape.at < tape.size ? tape.bytes[tape.at] : 0, config.params.xlen), pc = base;
    ntr_program *program = fuzz_program(&tape, config.params.xlen);
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    ntr_classifier_config how;
    ntr_classifier_config_init(&how);
    how.encoder = encoder;
    how.program = program;
    how.itype_width = config.itype_width;
    how.all_jumps = config.params.all_jumps;
    how.retires = fuzz_byte(&tape) & 31u;
    ntr_classifier *classifier = NULL;
    if (encoder) ntr_classifier_new(&how, &classifier);
    ntr_status status = NTR_OK;
    uint64_t next = NTR_ADDRESS_UNKNOWN;
    while (classifier && status == NTR_OK && tape.at < tape.size) {
        pc = step(&tape, pc, base);
        if (config.params.xlen == 32) pc &= 0xffffffff;
        status = ntr_classifier_push(classifier, pc);
    }
    if (status == NTR_E_NO_IMAGE)
        fuzz_must(ntr_classifier_error(classifier)[0] != 0, "a refused address has an error message");
    if (classifier) ntr_classifier_finish(classifier, &next);
    if (encoder) {
        ntr_encoder_stop(encoder, next, config.stop_evcode);
        ntr_encoder_flush(encoder);
        ntr_decoder_config decoding = {.size = sizeof decoding, .params = config.params, .program = program};
        fuzz_decode(&decoding, (ntr_bytes){out.data, out.size}, 0, 400);
    }
    ntr_classifier_free(classifier);
    ntr_encoder_free(encoder);
    ntr_program_free(program);
    free(out.data);
    return 0;
}
