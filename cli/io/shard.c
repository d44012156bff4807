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
    const int status = cli_trace_begin(trace, index, NTR_UNIT_OFFSET, s->part.begin, NULL, decoder, &begin);

    s->part.at = begin.offset;
    return status;
}

int cli_shard_open(struct cli_shard *s, struct cli_trace *trace, const char *path, ntr_decoder *decoder,
                   bool from_start) {
    if (trace->container.name && !ntr_container_is_plain(&trace->container))
        return cli_fail("%s: --shard expects a plain stream; 'ntrace convert' makes one", path);
    ntr_index *index = cli_trace_index(trace, true);
    if (!index && trace->index_file) return CLI_FAILED;
    if (!index) return cli_fail("%s: no index of the stream can be made", path);
    const ntr_status cut = ntr_partial_cut(index, s->number, s->count, &cli_memory, &s->part.begin, &s->part.end);
    int status = cut == NTR_OK ? CLI_OK : cli_fail("out of memory");
    if (status == CLI_OK && s->part.begin && !from_start) status = begin_before(s, trace, index, decoder);
    ntr_index_free(index);
    return status;
}

/* ---- decoding */

ntr_status cli_shard_run(struct cli_shard *s, struct cli_trace *trace, ntr_decoder *decoder) {
    ntr_status status = NTR_NEED_MORE;
    ntr_bytes piece;
    bool last = false;

    while (status == NTR_NEED_MORE && !last && !cli_progress_stopped() && cli_trace_feed(trace, &piece, &last))
        status = ntr_partial_part_feed(&s->part, decoder, piece.data, piece.size, last);
    return status;
}
