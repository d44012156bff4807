#include "replay/state.h"

#include <stdio.h>
#include <string.h>

ntr_status ntr_replay_stream_seek(ntr_replay *r, ntr_replay_stream *stream, uint64_t offset) {
    ntr_status status = NTR_OK;
    if (stream->reader && offset >= stream->offset && offset - stream->offset <= stream->rest.size) {
        stream->rest.data += offset - stream->offset;
        stream->rest.size -= (size_t)(offset - stream->offset);
        stream->offset = offset;
        return NTR_OK;
    }
    uint64_t read = stream->offset + stream->rest.size; /* bytes that the reader has returned */
    if (!stream->reader || offset < read || stream->last) {
        ntr_stream_reader_free(stream->reader);
        *stream = (ntr_replay_stream){0};
        status = r->config.open(r->config.user, &stream->reader);
        if (!stream->reader) return status ? status : NTR_E_IO;
        read = 0;
    }
    ntr_stream_reader_skip(stream->reader, offset - read);
    stream->offset = offset;
    stream->rest = (ntr_bytes){NULL, 0};
    return NTR_OK;
}

ntr_bytes ntr_replay_stream_take(ntr_replay *r, ntr_replay_stream *stream, size_t size, bool *last) {
    if (stream->rest.size == 0 && !stream->last) {
        ntr_status status = ntr_stream_reader_next(stream->reader, &stream->rest, &stream->last);
        if (status < 0 && !r->error[0]) {
            const char *why = ntr_stream_reader_error(stream->reader);
            snprintf(r->error, sizeof r->error, "%s", why && *why ? why : ntr_status_text(status));
        }
    }
    ntr_bytes taken = stream->rest;
    if (taken.size > size) taken.size = size;
    if (taken.size) stream->rest.data += taken.size;
    stream->rest.size -= taken.size;
    stream->offset += taken.size;
    *last = stream->last && stream->rest.size == 0;
    return taken;
}

bool ntr_replay_proceed(const ntr_replay *r, const ntr_replay_stream *stream) {
    return !r->config.proceed || r->config.proceed(r->config.user, stream->offset);
}
