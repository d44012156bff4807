#include "message/reader.h"

#include "message/quick.h"
#include "message/sets.h"
#include "wire/ends.h"
#include "wire/framing.h"

ntr_status ntr_reader_init(ntr_reader *reader, const ntr_params *params) {
    if (params) {
        ntr_status status = ntr_params_check(params);
        if (status != NTR_OK) return status;
        reader->params = *params;
    } else {
        ntr_params_init(&reader->params, NULL);
    }
    const ntr_dialect *dialect = reader->params.dialect;
    ntr_framer_init(&reader->framer, dialect && dialect->zero_idle);
    reader->framer.any_end_idle = dialect && dialect->any_end_idle;
    reader->number = 0;
    reader->quick = ntr_quick_best();
    return NTR_OK;
}

void ntr_reader_seek_start(ntr_reader *reader) {
    ntr_framer_seek_start(&reader->framer);
}

void ntr_reader_begin(ntr_reader *reader, uint64_t offset, uint64_t message) {
    reader->framer.base = offset;
    reader->number = message - 1;
}

ntr_status ntr_reader_feed(ntr_reader *reader, const uint8_t *data, size_t size, bool last) {
    return ntr_framer_feed(&reader->framer, data, size, last);
}

uint64_t ntr_reader_offset(const ntr_reader *reader) {
    return ntr_framer_offset(&reader->framer);
}

uint64_t ntr_reader_idle(const ntr_reader *reader) {
    return reader->framer.idle;
}

/* Bytes that cannot start a message have no fields. */
static void no_message(const ntr_slice *slice, ntr_message *message) {
    message->raw = slice->raw;
    message->tcode = NTR_TCODE_NONE;
    message->present = 0;
    message->defect = (int16_t)slice->defect;
    message->defect_field = NTR_FIELD_NONE;
}

/* Take the next slice of the framer: a message or a defect. */
static ntr_status next_slice(ntr_reader *reader, ntr_message *message) {
    ntr_slice slice;
    ntr_status status = ntr_framer_next(&reader->framer, &slice);
    if (status != NTR_OK) return status;
    switch (slice.defect) {
    case NTR_E_IDLE:
    case NTR_E_MSEO_SEQUENCE:
    case NTR_E_MSEO_RESERVED: no_message(&slice, message); break;
    default: ntr_message_decode(&reader->params, slice.raw, message);
    }
    if (slice.defect == NTR_E_MESSAGE_LONG) message->defect = NTR_E_MESSAGE_LONG;
    message->offset = slice.offset;
    message->number = ++reader->number;
    message->size = slice.size;
    return NTR_OK;
}

/* Whether the quick decoder may read from the piece: it has enough bytes, and a message begins here. */
static bool can_be_quick(ntr_framer *framer) {
    return framer->mode == NTR_FRAMER_BETWEEN && ntr_framer_skip_idle(framer) >= NTR_QUICK_READABLE;
}

ntr_status ntr_reader_next(ntr_reader *reader, ntr_message *message) {
    ntr_framer *framer = &reader->framer;
    if (can_be_quick(framer)) {
        size_t size = reader->quick->decode(&reader->params, framer->data + framer->at, message);
        if (size) {
            message->offset = framer->base + framer->at;
            message->number = ++reader->number;
            framer->at += size;
            return NTR_OK;
        }
    }
    return next_slice(reader, message);
}

static void move_on(ntr_reader *reader, ntr_quick_progress passed) {
    reader->framer.at += passed.at;
    reader->framer.idle += passed.idle;
    reader->number += passed.messages;
}

/* One message after the other: each source has its own set. */
static ntr_quick_progress pass_sources(const uint64_t *tcodes, unsigned src_bits, const uint8_t *bytes, size_t size) {
    ntr_quick_progress p = {0};

    while (size - p.at >= NTR_QUICK_READABLE) {
        const uint8_t *message = bytes + p.at;
        const int32_t src = ntr_source_of_bytes(src_bits, message, size - p.at);
        bool damaged;
        if (src < 0 || !ntr_tcode_in(tcodes[src], message[0] >> NTR_MSEO_BITS)) break;
        const size_t end = ntr_find_end_checked(message, size - p.at, &damaged);
        if (damaged || end == size - p.at) break;
        p.at += end + 1;
        p.messages++;
    }
    return p;
}

void ntr_reader_pass(ntr_reader *reader, const uint64_t *tcodes) {
    const ntr_framer *framer = &reader->framer;
    const unsigned src_bits = reader->params.src_bits;

    if (framer->mode != NTR_FRAMER_BETWEEN) return;
    const uint8_t *bytes = framer->data + framer->at;
    const size_t size = framer->size - framer->at;
    move_on(reader,
            src_bits ? pass_sources(tcodes, src_bits, bytes, size) : reader->quick->pass(tcodes[0], bytes, size));
}

/* Pass over messages without defects. */
static void check_quickly(ntr_reader *reader, ntr_message_mix *mix) {
    ntr_framer *framer = &reader->framer;
    if (framer->mode != NTR_FRAMER_BETWEEN) return;
    move_on(reader, reader->quick->check(&reader->params, framer->data + framer->at, framer->size - framer->at, mix));
}

ntr_status ntr_reader_check(ntr_reader *reader, ntr_message_mix *mix, ntr_message *message) {
    for (;;) {
        check_quickly(reader, mix);
        ntr_status status = next_slice(reader, message);
        if (status != NTR_OK || message->defect != NTR_OK) return status;
        mix->messages[message->tcode]++;
        mix->bytes[message->tcode] += message->size;
    }
}
