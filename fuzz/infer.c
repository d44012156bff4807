/* Inference: any stream and program result in valid parameters. */
#include "fuzz.h"

#include <ntrace/infer.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    if (size < FUZZ_HEAD + 3) return FUZZ_HEAD + 3;
    return FUZZ_HEAD + 3 + ((data[FUZZ_HEAD + 1] | data[FUZZ_HEAD + 2] << 8) & 0xfff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_infer_config config = {.size = sizeof config, .params = fuzz_params(&tape)};
    ntr_inference inference;
    uint8_t how = fuzz_byte(&tape);
    config.given = (uint32_t)fuzz_number(&tape, 3) & ((1u << NTR_PARAMETERS) - 1);
    ntr_program *program = fuzz_program(&tape, config.params.xlen);
    config.program = how & 1 ? NULL : program;
    config.mid_stream = how & 2;
    if (ntr_infer(&config, fuzz_rest(&tape), &inference) == NTR_OK) {
        fuzz_must(ntr_params_check(&inference.params) == NTR_OK, "inferred parameters are valid");
        for (unsigned i = 0; i < NTR_PARAMETERS; i++)
            fuzz_must(memchr(inference.choices[i].value, 0, sizeof inference.choices[i].value) &&
                          memchr(inference.choices[i].evidence, 0, sizeof inference.choices[i].evidence),
                      "texts end");
    }
    ntr_program_free(program);
    return 0;
}
