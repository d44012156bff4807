#include "io/frames.h"
#include "io/follow.h"
#include "io/tmc.h"
#include "options/diagnostics.h"

#include <ntrace/transport.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static ntr_status write_messages(void *user, const uint8_t *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size ? NTR_OK : NTR_E_IO;
}

/* "trace IDs 3 (60788 bytes), 11 (98140 bytes)" */
static void report(const ntr_frames *frames, const char *name) {
    char ids[256] = "";
    size_t used = 0;
    ntr_frames_totals totals;

    ntr_frames_totals_get(frames, &totals);
    for (unsigned id = 1; id < NTR_ATB_ID_RESERVED && used < sizeof ids; id++) {
        const uint64_t bytes = ntr_frames_id_bytes(frames, id);
        if (bytes)
            used += (size_t)snprintf(ids + used, sizeof ids - used, "%s%u (%" PRIu64 " bytes)", used ? ", " : "", id,
                                     bytes);
    }
    cli_note("%s: CoreSight frames: trace ID%s %s", name, totals.ids == 1 ? "" : "s", totals.ids ? ids : "none");
    if (totals.incomplete)
        cli_doubt("%s: %" PRIu64 " CoreSight frame%s: expected 16 bytes, found fewer: the messages in it are missing",
                  name, totals.incomplete, totals.incomplete == 1 ? "" : "s");
    if (totals.barriers) cli_note("%s: trace is missing at %" PRIu64 " barriers of Linux", name, totals.barriers);
}

/* All of the input, whose beginning is `ahead`. */
static int push_all(struct cli_input *input, ntr_bytes ahead, bool last, ntr_frames *frames, FILE *out) {
    ntr_status status = ntr_frames_feed(frames, ahead.data, ahead.size, write_messages, out);

    while (status == NTR_OK && !last) {
        ntr_bytes piece;
        if (cli_input_next(input, &piece, &last) != CLI_OK) return CLI_FAILED;
        status = ntr_frames_feed(frames, piece.data, piece.size, write_messages, out);
    }
    if (status == NTR_OK) status = ntr_frames_finish(frames, write_messages, out);
    if (status == NTR_OK && fflush(out)) status = NTR_E_IO;
    if (status == NTR_OK) return CLI_OK;
    return cli_fail("%s: %s", input->name,
                    status == NTR_E_IO ? "the temporary file cannot be written" : ntr_status_text(status));
}

static int take_off(struct cli_input *input, ntr_bytes ahead, bool last, const ntr_frames_options *options,
                    ntr_frames **frames, int *fd) {
    FILE *out = tmpfile();

    *frames = NULL;
    if (!out || ntr_frames_new(options, frames)) {
        if (out) fclose(out);
        return cli_fail(out ? "%s: out of memory" : "%s: cannot make a temporary file", input->name);
    }
    int status = push_all(input, ahead, last, *frames, out);
    if (status == CLI_OK && (*fd = cli_file_of(out)) < 0)
        status = cli_fail("%s: the temporary file cannot be read", input->name);
    fclose(out);
    if (status == CLI_OK) report(*frames, input->name);
    return status;
}

static int open_memory(const char *path, const struct cli_stream *stream, ntr_frames_options *options,
                       ntr_frames **frames, int *fd) {
    struct cli_input input;
    bool wrapped;
    int ordered;

    if (cli_tmc_open(path, &stream->tmc, &ordered, &wrapped) != CLI_OK) return CLI_FAILED;
    options->cut = wrapped;
    if (cli_input_adopt(&input, path, ordered) != CLI_OK) return CLI_FAILED;
    const int status = take_off(&input, (ntr_bytes){0}, false, options, frames, fd);
    cli_input_close(&input);
    return status;
}

int cli_frames_open(struct cli_input *input, const char *path, const struct cli_stream *stream, ntr_bytes ahead,
                    bool last, ntr_frames **frames, int *fd) {
    const struct cli_tmc *tmc = &stream->tmc;
    ntr_frames_options options;
    uint64_t id = 0;
    unsigned skip = 0;
    int from = stream->from;

    ntr_frames_options_init(&options);
    if (stream->trace_id && cli_parse_number(stream->trace_id, &id)) options.id = (uint8_t)id;
    if (from == CLI_FROM_AUTO && (tmc->registers || tmc->write_pointer)) from = CLI_FROM_TMC;
    const bool live = cli_follow_on();
    if (live && from == CLI_FROM_AUTO) return CLI_OK;
    if (live)
        return cli_fail(
            "%s: frames cannot be followed; 'ntrace convert --input-format coresight - | ntrace decode -f -' can",
            input->name);
    if (from == CLI_FROM_AUTO && cli_tmc_beside(path)) from = CLI_FROM_TMC;
    if (from == CLI_FROM_TMC) return open_memory(path, stream, &options, frames, fd);
    const bool seen = ntr_frames_seen(ahead, &skip);
    if (from == CLI_FROM_AUTO && !seen) {
        if (!stream->trace_id) return CLI_OK;
        return cli_fail(
            "%s: --trace-id: expected CoreSight frames, found none; --input-format coresight reads any file as frames",
            input->name);
    }
    options.skip = (uint8_t)skip;
    options.cut = skip != 0;
    return take_off(input, ahead, last, &options, frames, fd);
}

uint32_t cli_frames_source(const ntr_frames *frames, const struct cli_stream *stream, bool surely, ntr_params *params) {
    enum { WIDEST = 12 };
    const unsigned bits = frames ? ntr_frames_src_bits(frames) : 0;

    if (!bits || stream->given[NTR_PARAMETER_SRC_BITS] || params->src_bits || (surely && bits < WIDEST)) return 0;
    params->src_bits = (uint8_t)bits;
    return 1u << NTR_PARAMETER_SRC_BITS;
}

int cli_frames_check(const ntr_frames *frames, const char *name, const ntr_params *params) {
    unsigned ids[2];

    if (!ntr_frames_mixed(frames, params->src_bits, ids)) return CLI_OK;
    if (!params->src_bits)
        return cli_fail("%s: trace IDs %u and %u: the width of SRC, which would say who sent a message, is not known; "
                        "specify it with --src-bits, or one of them with --trace-id",
                        name, ids[0], ids[1]);
    return cli_fail("%s: trace IDs %u and %u: both have messages with the same SRC; choose one with --trace-id", name,
                    ids[0], ids[1]);
}
