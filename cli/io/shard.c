#include "io/shard.h"
#include "io/memory.h"
#include "io/trace_index.h"
#include "options/diagnostics.h"

#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1 << 20 };

int cli_shard_parse(struct cli_shard *s, const char *text) {
    const char *slash = strchr(text, '/');
    char number[16];
    uint64_t first = 0, count = 0;

    *s = (struct cli_shard){0};
    if (slash && (size_t)(slash - text) < sizeof number) {
        memcpy(number, text, (size_t)(slash - text));
        number[slash - text] = 0;
        if (cli_parse_number(number, &first) && cli_parse_number(slash + 1, &count) && first && first <= count &&
            count <= SHARDS_MAX) {
            s->number = (uint32_t)first;
            s->count = (uint32_t)count;
            return CLI_OK;
        }
    }
    return cli_fail("--shard: expected I/N with I from 1 to N, found '%s'", text);
}

/* ---- cutting */

static int begin_before(struct cli_shard *s, struct cli_trace *trace, ntr_index *index, ntr_decoder *decoder) {
    struct cli_begin begin;
    const int status = cli_trace_begin(trace, index, NTR_UNIT_OFFSET, s->begin, NULL, decoder, &begin);

    s->at = begin.offset;
    return status;
}

int cli_shard_open(struct cli_shard *s, struct cli_trace *trace, const char *path, ntr_decoder *decoder,
                   bool from_start) {
    if (trace->container.name && !ntr_container_is_plain(&trace->container))
        return cli_fail("%s: --shard expects a plain stream; 'ntrace convert' makes one", path);
    ntr_index *index = cli_trace_index(trace, true);
    if (!index && trace->index_file) return CLI_FAILED;
    if (!index) return cli_fail("%s: no index of the stream can be made", path);
    const ntr_status cut = ntr_partial_cut(index, s->number, s->count, &cli_memory, &s->begin, &s->end);
    int status = cut == NTR_OK ? CLI_OK : cli_fail("out of memory");
    if (status == CLI_OK && s->begin && !from_start) status = begin_before(s, trace, index, decoder);
    ntr_index_free(index);
    return status;
}

/* ---- decoding */

/* The decoder is at the beginning of the part. */
static ntr_status begin_part(struct cli_shard *s, const ntr_decoder *decoder, const struct cli_shard_work *work) {
    s->begun = true;
    if (s->begin) ntr_decoder_state(decoder, s->begin_state, sizeof s->begin_state);
    return work->begin(work->user);
}

/* Decodes the next bytes, up to the next cut. Returns their number. */
static size_t take_some(struct cli_shard *s, ntr_decoder *decoder, const struct cli_shard_work *work, ntr_bytes piece,
                        bool last, ntr_status *status) {
    const uint64_t left = (s->begun ? s->end : s->begin) - s->at;
    const size_t size = piece.size < left ? piece.size : (size_t)left;

    /* A part that ends where the bytes end is not the last one: that has no end. */
    *status = ntr_decoder_feed(decoder, piece.data, size, last && size == piece.size && size != left);
    if (*status == NTR_OK) *status = work->drain(work->user);
    if (s->begun) ntr_partial_digest_add(&s->digest, piece.data, size);
    s->at += size;
    return size;
}

static ntr_status take_piece(struct cli_shard *s, ntr_decoder *decoder, const struct cli_shard_work *work,
                             ntr_bytes piece, bool last) {
    ntr_status status = NTR_NEED_MORE;

    do {
        if (!s->begun && s->at == s->begin) {
            status = begin_part(s, decoder, work);
            if (status != NTR_OK) return status;
        }
        if (s->begun && s->at == s->end) {
            if (s->end) ntr_decoder_state(decoder, s->end_state, sizeof s->end_state);
            return NTR_END;
        }
        const size_t size = take_some(s, decoder, work, piece, last, &status);
        piece.data += piece.data ? size : 0;
        piece.size -= size;
    } while (status == NTR_NEED_MORE &&
             (piece.size || (!s->begun && s->at == s->begin) || (s->begun && s->at == s->end)));
    return status;
}

ntr_status cli_shard_run(struct cli_shard *s, struct cli_trace *trace, ntr_decoder *decoder,
                         const struct cli_shard_work *work) {
    ntr_status status = NTR_NEED_MORE;
    ntr_bytes piece;
    bool last = false;

    while (status == NTR_NEED_MORE && !last && !cli_progress_stopped() && cli_trace_feed(trace, &piece, &last))
        status = take_piece(s, decoder, work, piece, last);
    if (status == NTR_END && s->end == UINT64_MAX) s->end = s->at;
    return status;
}
