/* Ingress text: option lines, then records. An accepted record is encoded, and written again as the same record. */
#include "fuzz.h"

#include <ntrace/ingress.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static void again(const ntr_ingress *block) {
    char text[NTR_INGRESS_TEXT_MAX];
    ntr_ingress_reader reader;
    ntr_ingress same;
    int length = ntr_ingress_format(block, text, sizeof text);
    fuzz_must(length > 0, "there is text for every record");
    ntr_ingress_reader_init(&reader);
    ntr_ingress_read(&reader, ntr_ingress_header(), strlen(ntr_ingress_header()), &same);
    fuzz_must(ntr_ingress_read(&reader, text, (size_t)length, &same) == NTR_OK, "what was written is read");
    fuzz_must(same.iaddr == block->iaddr && same.iretire == block->iretire && same.itype == block->itype &&
                  same.time == block->time && same.no_iaddr == block->no_iaddr && same.scontext == block->scontext,
              "a record's text means the record");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    fuzz_bytes out = {NULL, 0, 0};
    ntr_encoder_config config;
    ntr_encoder_config_init(&config);
    fuzz_encoder_options(&tape, &config);
    config.sink = fuzz_take_message;
    config.sink_user = &out;
    ntr_encoder *encoder;
    ntr_encoder_new(&config, &encoder);
    ntr_ingress_reader reader;
    ntr_ingress block = {0};
    const char *line;
    size_t length;
    ntr_ingress_reader_init(&reader);
    while (encoder && fuzz_line(&tape, &line, &length)) {
        ntr_status status = ntr_ingress_read(&reader, line, length, &block);
        if (status == NTR_NEED_MORE) continue;
        if (status != NTR_OK) {
            fuzz_must(reader.error[0] != 0, "a refused line has an error message");
            continue;
        }
        again(&block);
        if (ntr_encoder_push(encoder, &block) == NTR_E_INGRESS)
            fuzz_must(ntr_encoder_error(encoder)[0] != 0, "a refused record has an error message");
    }
    if (encoder) {
        ntr_encoder_stop(encoder, block.iaddr & ~1ull, config.stop_evcode);
        ntr_encoder_flush(encoder);
        ntr_decoder_config decoding = {.size = sizeof decoding, .params = config.params};
        fuzz_decode(&decoding, (ntr_bytes){out.data, out.size}, 0, 200);
    }
    ntr_encoder_free(encoder);
    free(out.data);
    return 0;
}
