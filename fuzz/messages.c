/* Messages: each message that is read is written again as the same bytes, from the struct, its text and its JSON. */
#include "fuzz.h"

#include <ntrace/export.h>
#include <ntrace/message_layout.h>
#include <ntrace/reader.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return FUZZ_PARAMS_BYTES + 2;
}

enum { LOOK_MAX = 64 }; /* messages of one input that are tested in every form */

typedef int (*writer)(const ntr_params *params, const ntr_message *message, char *out, size_t capacity);

static void through_text(const ntr_params *params, const ntr_message *message, writer write, const char *what) {
    char text[NTR_MESSAGE_TEXT_MAX];
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    int length = write(params, message, text, sizeof text);
    fuzz_must(length > 0 && (size_t)length == strlen(text), "there is text for every message");
    if (message->defect == NTR_E_MESSAGE_LONG) return;
    int size = *text == '{' ? ntr_message_assemble_json(params, text, bytes, sizeof bytes, NULL)
                            : ntr_message_assemble(params, text, bytes, sizeof bytes, NULL);
    fuzz_must(size == (int)message->raw.size && memcmp(bytes, message->raw.data, message->raw.size) == 0, what);
}

static void through_struct(const ntr_params *params, const ntr_message *message) {
    uint8_t bytes[NTR_MESSAGE_BYTES_MAX];
    if (message->defect || !ntr_message_get(params->dialect, message->tcode)) return;
    int size = ntr_message_encode(params, message, bytes, sizeof bytes);
    fuzz_must(size == (int)message->raw.size && memcmp(bytes, message->raw.data, message->raw.size) == 0,
              "a message that was decoded encodes to its bytes");
}

static void look_at(const ntr_params *params, const ntr_message *message) {
    ntr_field fields[NTR_FIELDS_MAX];
    ntr_message_byte byte;
    size_t count = ntr_message_list(message, fields);
    fuzz_must(count <= NTR_FIELDS_MAX, "no more fields than a message can have");
    for (size_t i = 0; i < count; i++) {
        ntr_message_is_padded(params, message, fields[i]);
        ntr_value_name(params->dialect, fields[i], message->value[fields[i]]);
        if (ntr_field_get(fields[i])->shape == NTR_SHAPE_ADDRESS) ntr_message_address(params, message, fields[i]);
    }
    for (size_t i = 0; i <= message->raw.size; i++)
        fuzz_must((ntr_message_byte_at(params, message, i, &byte) == NTR_OK) == (i < message->raw.size),
                  "bytes end at the end");
}

static void through_csv(const ntr_params *params, const ntr_message *message) {
    char text[NTR_MESSAGE_TEXT_MAX];
    fuzz_must(ntr_message_format_csv(params, message, text, sizeof text) > 0, "there is a row for every message");
}

static uint64_t read_all(const ntr_params *params, ntr_bytes stream, size_t piece, uint64_t good[64], bool look) {
    ntr_reader reader;
    ntr_message message;
    ntr_status status = NTR_NEED_MORE;
    size_t at = 0;
    fuzz_must(ntr_reader_init(&reader, params) == NTR_OK, "checked parameters are accepted");
    while (status != NTR_END) {
        size_t size = piece && piece < stream.size - at ? piece : stream.size - at;
        ntr_reader_feed(&reader, stream.data + at, size, at + size == stream.size);
        at += size;
        while ((status = ntr_reader_next(&reader, &message)) == NTR_OK) {
            good[message.tcode & 63] += !message.defect;
            if (!look || reader.number > LOOK_MAX) continue;
            look_at(params, &message);
            through_struct(params, &message);
            through_text(params, &message, ntr_message_format, "a message's text assembles to its bytes");
            through_text(params, &message, ntr_message_format_json, "a message's JSON assembles to its bytes");
            through_csv(params, &message);
        }
    }
    return reader.number;
}

static uint64_t count_all(const ntr_params *params, ntr_bytes stream, uint64_t good[64]) {
    ntr_reader reader;
    ntr_message message;
    ntr_message_mix mix = {{0}, {0}};
    ntr_reader_init(&reader, params);
    ntr_reader_feed(&reader, stream.data, stream.size, true);
    while (ntr_reader_check(&reader, &mix, &message) == NTR_OK);
    for (unsigned i = 0; i < 64; i++) good[i] = mix.messages[i];
    return reader.number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    ntr_params params = fuzz_params(&tape);
    size_t piece = fuzz_number(&tape, 2);
    ntr_bytes stream = fuzz_rest(&tape);
    uint64_t whole[64] = {0}, cut[64] = {0}, counted[64] = {0};
    if (!stream.size) return 0;
    uint64_t number = read_all(&params, stream, 0, whole, true);
    fuzz_must(number == read_all(&params, stream, piece, cut, false), "cuts change nothing");
    fuzz_must(number == count_all(&params, stream, counted), "counting finds the same messages");
    fuzz_must(memcmp(whole, cut, sizeof whole) == 0 && memcmp(whole, counted, sizeof whole) == 0,
              "the number of each message is the same");
    return 0;
}
