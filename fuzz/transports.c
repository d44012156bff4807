/* Transports: any beats are read; the output of a writer is read back as the same stream. */
#include "fuzz.h"

#include <ntrace/transport.h>
#include <stdlib.h>
#include <string.h>

enum { ID = 5 };

size_t fuzz_stream_at(const uint8_t *data, size_t size) {
    (void)data, (void)size;
    return SIZE_MAX;
}

static ntr_ram_window window(fuzz_tape *tape) {
    ntr_ram_window ram = {.access = (uint8_t)(1u << (fuzz_byte(tape) & 7))};
    ram.start = fuzz_number(tape, 2) & ~3ull;
    ram.limit = ram.start + (fuzz_number(tape, 2) & ~3ull);
    ram.wp = ram.start + (fuzz_number(tape, 2) & ~3ull);
    ram.wrapped = fuzz_byte(tape) & 1;
    return ram;
}

static ntr_status take(void *user, unsigned id, const uint8_t *bytes, size_t size) {
    (void)id;
    fuzz_add(user, bytes, size);
    return NTR_OK;
}

static void note(void *user, const ntr_transport_note *note) {
    (void)user;
    fuzz_must(ntr_note_name(note->kind) != NULL, "notes have names");
}

static ntr_status take_beats(void *user, const uint16_t *beats, size_t count) {
    fuzz_add(user, beats, count * sizeof *beats);
    return NTR_OK;
}

static fuzz_bytes read_beats(const ntr_transport *transport, ntr_reader_options *options, const uint16_t *beats,
                             size_t count, size_t piece) {
    fuzz_bytes out = {NULL, 0, 0};
    options->user = &out;
    ntr_transport_reader *reader;
    ntr_transport_reader_new(transport, options, &reader);
    for (size_t at = 0; reader && at < count; at += piece)
        ntr_transport_reader_feed(reader, beats + at, piece < count - at ? piece : count - at);
    if (reader) ntr_transport_reader_finish(reader);
    ntr_transport_reader_free(reader);
    return out;
}

static void read_any(const ntr_transport *transport, ntr_reader_options *options, ntr_bytes bytes, size_t piece) {
    int held = -1;
    uint16_t *beats = calloc(bytes.size * 8 + 1, sizeof *beats);
    if (!beats) abort();
    size_t count = ntr_beats_unpack(transport->beat_bits, &held, bytes.data, bytes.size, beats);
    fuzz_bytes a = read_beats(transport, options, beats, count, count + 1);
    fuzz_bytes b = read_beats(transport, options, beats, count, piece);
    fuzz_must(a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0), "cuts change nothing");
    free(a.data);
    free(b.data);
    free(beats);
}

/* Complete messages, which every transport requires: the input's bytes with corrected MSEO bits. */
static fuzz_bytes messages_of(ntr_bytes bytes) {
    fuzz_bytes out = {NULL, 0, 0};
    size_t length = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data[i];
        bool ends = length > 0 && ((byte & 3) == 3 || length > 30 || i + 1 == bytes.size);
        byte = (uint8_t)((byte & ~3u) | (ends ? 3 : length && byte & 1 ? 1 : 0));
        if (length == 0 && i + 1 == bytes.size) break;
        fuzz_add(&out, &byte, 1);
        length = ends ? 0 : length + 1;
    }
    return out;
}

/* Wide groups end a field with more zero bits: each field without the bytes of zeros at its end. */
static fuzz_bytes without_padding(ntr_bytes bytes) {
    fuzz_bytes out = {NULL, 0, 0};
    size_t begin = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t byte = bytes.data[i];
        fuzz_add(&out, &byte, 1);
        if (!(byte & 3)) continue;
        while (out.size > begin + 1 && !(out.data[out.size - 1] & ~3u)) out.size--;
        out.data[out.size - 1] = (uint8_t)((out.data[out.size - 1] & ~3u) | (byte & 3));
        begin = out.size;
    }
    return out;
}

static bool begins_with(const fuzz_bytes *all, const fuzz_bytes *part) {
    return all->size >= part->size && (!part->size || memcmp(all->data, part->data, part->size) == 0);
}

static bool is_same(const ntr_transport *transport, const fuzz_bytes *back, const fuzz_bytes *messages) {
    if (strncmp(transport->name, "mdo", 3) != 0) return begins_with(back, messages);
    fuzz_bytes found = without_padding((ntr_bytes){back->data, back->size});
    fuzz_bytes expected = without_padding((ntr_bytes){messages->data, messages->size});
    const bool same = begins_with(&found, &expected);
    free(found.data);
    free(expected.data);
    return same;
}

static void there_and_back(const ntr_transport *transport, ntr_reader_options *options, ntr_writer_options *how,
                           ntr_bytes bytes, uint8_t extra) {
    fuzz_bytes messages = messages_of(bytes), beats = {NULL, 0, 0};
    how->user = &beats;
    ntr_status status = NTR_OK;
    ntr_transport_writer *writer;
    ntr_transport_writer_new(transport, how, &writer);
    if (writer) {
        if (extra & 1) ntr_transport_writer_calibrate(writer, 1 + (extra >> 6));
        if (extra & 2) ntr_transport_writer_idle(writer, extra >> 2);
        if (messages.size) status = ntr_transport_writer_put(writer, ID, messages.data, messages.size);
        if (extra & 4) ntr_transport_writer_trigger(writer, ID);
        if (extra & 8) ntr_transport_writer_idle(writer, extra >> 3);
        ntr_transport_writer_finish(writer);
        ntr_transport_writer_ram(writer, &options->ram);
        options->begin = NTR_BEGIN_ALIGNED;
        fuzz_bytes back =
            read_beats(transport, options, (const uint16_t *)(void *)beats.data, beats.size / 2, SIZE_MAX / 2);
        bool cut = strcmp(transport->name, "ram") == 0; /* an old part may be overwritten, and the end is padded */
        fuzz_must(cut || is_same(transport, &back, &messages) || status != NTR_OK, "what is written is read");
        free(back.data);
    }
    ntr_transport_writer_free(writer);
    free(messages.data);
    free(beats.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_tape tape = {data, size, 0};
    const ntr_transport *transport = fuzz_transport(&tape);
    uint8_t how = fuzz_byte(&tape), extra = fuzz_byte(&tape);
    ntr_ram_window ram = window(&tape);
    ntr_reader_options options = {
        .size = sizeof options, .begin = (how >> 1) % 3, .ram = ram, .sink = take, .note = note};
    ntr_writer_options writing = {.size = sizeof writing,
                                  .ram = ram,
                                  .sink = take_beats,
                                  .atb_bytes = (uint8_t)(1u << (how >> 3 & 3)),
                                  .sync_every = how & 0x20 ? extra & 15 : 0,
                                  .idle_every = how & 0x40 ? 1 + extra : 0};
    ntr_bytes bytes = fuzz_part(&tape, 8192);
    if (how & 1)
        there_and_back(transport, &options, &writing, bytes, extra);
    else
        read_any(transport, &options, bytes, 1 + (size_t)extra);
    return 0;
}
