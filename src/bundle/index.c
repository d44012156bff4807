/* The index of a bundle's stream: read from the file `index`, or made from the messages and stored there.
 *
 * The file is a cache. It is used only if it describes the present stream and is no older than capture.json. In every
 * other case it is made again and replaced. A failure to store it (a folder without write permission) is not an error.
 */
#include "bundle/bundle.h"
#include "base/config.h"
#include "dialect/params.h"

#include <ntrace/reader.h>

#include <sys/stat.h>

#define INDEX_FILE "index"

/* Returns true if messages read with `params` are those that capture.json describes. */
static bool reads_the_same(const ntr_params *params, const ntr_params *described) {
    const uint32_t unknown = described->xlen ? 0 : 1u << NTR_PARAMETER_XLEN; /* known from the images */

    return !(ntr_params_difference(params, described) & NTR_PARAMETERS_OF_MESSAGES & ~unknown);
}

static uint64_t stream_size(const ntr_bundle *bundle) {
    struct stat stream = {0};
    return stat(bundle->stream, &stream) == 0 ? (uint64_t)stream.st_size : 0;
}

/* Returns false if the file `path` is missing or may be older than capture.json. */
static bool is_current(const ntr_bundle *bundle, const char *path) {
    struct stat index = {0}, description = {0};
    char *capture = ntr_bundle_join(bundle, bundle->folder, NTR_CAPTURE_FILE);
    const bool found = capture && stat(capture, &description) == 0 && stat(path, &index) == 0;

    ntr_dealloc(bundle->allocator, capture);
    return found && index.st_mtime >= description.st_mtime;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

static ntr_status fail_stream(ntr_bundle *bundle, ntr_status status, const ntr_stream_reader *stream) {
    const char *why = ntr_stream_reader_error(stream);

    return ntr_bundle_fail(bundle, status, "%s: %s", bundle->stream, *why ? why : ntr_status_text(status));
}

static ntr_status add_stream(ntr_bundle *bundle, const ntr_bundle_index_config *config, uint64_t size,
                             ntr_stream_reader *stream, ntr_index *index) {
    ntr_reader messages;
    ntr_bytes piece;
    bool last;
    ntr_status status = ntr_reader_init(&messages, config->params);

    while (status == NTR_OK || status == NTR_NEED_MORE) {
        if (config->proceed && !config->proceed(config->user, ntr_stream_reader_position(stream), size))
            return ntr_bundle_fail(bundle, NTR_END, "the making of the index was stopped");
        status = ntr_stream_reader_next(stream, &piece, &last);
        if (status == NTR_OK) status = ntr_reader_feed(&messages, piece.data, piece.size, last);
        if (status == NTR_OK) status = ntr_index_messages(index, &messages);
    }
    if (status == NTR_END) status = ntr_index_finish(index);
    return status == NTR_OK ? status : fail_stream(bundle, status, stream);
}

static ntr_status make(ntr_bundle *bundle, const ntr_bundle_index_config *config, ntr_index **index) {
    ntr_stream_reader *stream;
    ntr_status status = ntr_bundle_stream_open(bundle, &stream);

    if (status != NTR_OK) return status;
    ntr_index_new(config->params, NTR_INDEX_SPACING_DEFAULT, bundle->allocator, index);
    status = *index ? add_stream(bundle, config, stream_size(bundle), stream, *index) : ntr_bundle_fail_memory(bundle);
    ntr_stream_reader_free(stream);
    if (status == NTR_OK) return status;
    ntr_index_free(*index);
    *index = NULL;
    return status;
}

static ntr_status read_or_make(ntr_bundle *bundle, const ntr_bundle_index_config *config, const char *path,
                               ntr_index **index) {
    if (is_current(bundle, path) &&
        ntr_index_read(path, bundle->stream, config->params, bundle->allocator, index) == NTR_OK)
        return NTR_OK;
    ntr_status status = make(bundle, config, index);
    if (status == NTR_OK && !config->read_only)
        ntr_index_write(*index, path, bundle->stream, config->params, bundle->allocator);
    return status;
}

ntr_status ntr_bundle_index(ntr_bundle *bundle, const ntr_bundle_index_config *config, ntr_index **index) {
    ntr_bundle_index_config own = {.size = sizeof own};

    *index = NULL;
    if (!bundle->stream) return ntr_bundle_fail(bundle, NTR_E_STATE, "no bundle is open");
    if (config && ntr_config_load(&own, sizeof own, config) != NTR_OK)
        return ntr_bundle_fail(bundle, NTR_E_INVALID, "the config has no size");
    if (!own.params) own.params = &bundle->capture.params;
    if (!reads_the_same(own.params, &bundle->capture.params))
        return ntr_bundle_fail(bundle, NTR_E_INVALID,
                               "%s: an index describes the stream as " NTR_CAPTURE_FILE " does; other parameters of "
                               "messages need none",
                               bundle->folder);
    char *path = ntr_bundle_join(bundle, bundle->folder, INDEX_FILE);
    if (!path) return ntr_bundle_fail_memory(bundle);
    ntr_status status = read_or_make(bundle, &own, path, index);
    ntr_dealloc(bundle->allocator, path);
    return status;
}

/* ---- beginning in the middle ------------------------------------------------------------------------------------- */

static uint64_t least_offset(const ntr_point *points, size_t count) {
    uint64_t least = points[0].offset;

    for (size_t i = 1; i < count; i++)
        if (points[i].offset < least) least = points[i].offset;
    return least;
}

ntr_status ntr_bundle_begin(ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                            ntr_stream_reader *stream, ntr_decoder *decoder) {
    const ntr_point *points;
    size_t count;
    ntr_status status = ntr_index_find(index, unit, place, source, &points, &count);

    if (status == NTR_OK) status = ntr_decoder_begin(decoder, points, count);
    if (status == NTR_OK) ntr_stream_reader_skip(stream, least_offset(points, count));
    return status;
}
