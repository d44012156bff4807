/* Text forms: any line is a message or an error with a position in the line; the text of a message assembles to it. */
#include "fuzz.h"

#include <ntrace/export.h>
#include <ntrace/message.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX; /* no stream here */
}

static void assemble(const ntr_params *params, const char *line) {
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX], again[NTR_MESSAGE_BYTES_MAX];
    char text[NTR_MESSAGE_TEXT_MAX];
    ntr_message message = {0};
    size_t column = 0;
    int size = *line == '{' ? ntr_message_assemble_json(params, line, bytes, sizeof bytes, &column)
                            : ntr_message_assemble(params, line, bytes, sizeof bytes, &column);
    if (size < 0) {
        fuzz_must(column <= strlen(line), "the position of an error is inside the line");
        return;
    }
    fuzz_must(size <= (int)sizeof bytes, "a message fits the buffer");
    if (size == 0) return;
    ntr_message_decode(params, (ntr_bytes){bytes, (size_t)size}, &message);
    if (ntr_message_format(params, &message, text, sizeof text) < 0) return;
    if (message.defect == NTR_E_MESSAGE_LONG) return;
    int same = ntr_message_assemble(params, text, again, sizeof again, NULL);
    fuzz_must(same == size && memcmp(bytes, again, (size_t)size) == 0, "the text of a message assembles to it");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_params params = fuzz_params(&tape);
    const char *line;
    size_t length;
    while (fuzz_line(&tape, &line, &length)) {
        char text[4096];
        if (length >= sizeof text) length = sizeof text - 1;
        memcpy(text, line, length);
        text[length] = 0;
        assemble(&params, text);
    }
    return 0;
}
