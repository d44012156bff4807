/* The messages around a position, and their bytes. */
#include "explore/state.h"

#include "base/allocator.h"
#include "base/macros.h"

#include <ntrace/message_layout.h>
#include <ntrace/reader.h>

enum {
    MESSAGES_MOST = 400,
    MESSAGES_BYTES = 1 << 20, /* read for one answer */
};

static void write_bytes(const ntr_params *params, ntr_answer *a, const ntr_message *m) {
    ntr_answer_open(a, "bytes", '[');
    for (size_t i = 0; i < m->raw.size && i < 64; i++) {
        ntr_message_byte byte;
        ntr_answer_open(a, NULL, '{');
        ntr_answer_bytes(a, "value", &m->raw.data[i], 1);
        if (!m->defect && ntr_message_byte_at(params, m, i, &byte) == NTR_OK) {
            ntr_answer_number(a, "mseo", byte.mseo);
            ntr_answer_open(a, "ends", '[');
            if (byte.tcode) ntr_answer_text(a, NULL, "TCODE");
            for (unsigned field = 0; field < NTR_FIELD_COUNT; field++)
                if (byte.ends >> field & 1) ntr_answer_text(a, NULL, ntr_field_name((ntr_field)field));
            ntr_answer_close(a, ']');
        }
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
}

static ntr_status write_message(ntr_explorer *x, ntr_answer *a, const ntr_message *m, bool here) {
    const ntr_params *params = &x->decoder.params;
    char *text = ntr_alloc(x->allocator, NTR_MESSAGE_TEXT_MAX, 1);
    if (!text) return NTR_E_MEMORY;
    ntr_answer_open(a, NULL, '{');
    ntr_answer_number(a, "number", m->number);
    ntr_answer_number(a, "offset", m->offset);
    ntr_answer_number(a, "size", m->raw.size);
    if (ntr_message_format(params, m, text, NTR_MESSAGE_TEXT_MAX) > 0) ntr_answer_text(a, "text", text);
    ntr_answer_text(a, "name", ntr_tcode_name(params->dialect, m->tcode));
    if (m->defect) ntr_answer_text(a, "defect", ntr_status_text(m->defect));
    if (here) ntr_answer_bool(a, "here", true);
    write_bytes(params, a, m);
    ntr_answer_close(a, '}');
    ntr_dealloc(x->allocator, text);
    return NTR_OK;
}

/* Reads messages from the place of `first` on, until `after` of them at or behind the offset `here` were written. */
static ntr_status write_messages(ntr_explorer *x, ntr_answer *a, const ntr_span_origin *first, uint64_t here,
                                 uint64_t after) {
    ntr_replay_stream stream = {0};
    ntr_reader reader;
    ntr_message message;
    ntr_status status = ntr_reader_init(&reader, &x->decoder.params);
    bool last = false;
    ntr_reader_begin(&reader, first->offset, first->message);
    if (status == NTR_OK) status = ntr_replay_stream_seek(x->replay, &stream, first->offset);
    while (status == NTR_OK && after && !last && stream.offset - first->offset < MESSAGES_BYTES) {
        const ntr_bytes bytes = ntr_replay_stream_take(x->replay, &stream, 4096, &last);
        status = ntr_reader_feed(&reader, bytes.data, bytes.size, last);
        while (status == NTR_OK && after && (status = ntr_reader_next(&reader, &message)) == NTR_OK) {
            status = write_message(x, a, &message, message.offset == here);
            if (message.offset >= here) after--;
        }
        if (status == NTR_NEED_MORE || status == NTR_END) status = NTR_OK;
    }
    ntr_stream_reader_free(stream.reader);
    return status;
}

ntr_status ntr_answer_messages(ntr_explorer *x, ntr_question *q) {
    uint64_t position, before, after;
    ntr_status status = NTR_OK;
    TRY(ntr_question_number(q, "position", 0, 0, UINT64_MAX, &position));
    TRY(ntr_question_number(q, "before", 8, 0, MESSAGES_MOST, &before));
    TRY(ntr_question_number(q, "after", 8, 1, MESSAGES_MOST, &after));
    const ntr_replay_window *w = ntr_replay_window_at(x->replay, position, &status);
    if (!w && status == NTR_OK && position) {
        bool complete;
        position = ntr_replay_known(x->replay, &complete);
        w = position ? ntr_replay_window_at(x->replay, --position, &status) : NULL;
    }
    TRY(ntr_question_went(q, status));
    ntr_answer_number(q->answer, "position", position);
    ntr_answer_open(q->answer, "messages", '[');
    if (w && w->span_count) {
        const size_t here = w->spans[ntr_window_find(w, position)].origin;
        const size_t first = here > before ? here - (size_t)before : 0;
        const ntr_span_origin origin = w->origins[first];
        status = write_messages(x, q->answer, &origin, w->origins[here].offset, after);
    }
    ntr_answer_close(q->answer, ']');
    return status;
}
