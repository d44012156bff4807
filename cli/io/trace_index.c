#include "io/atomic_file.h"
#include "io/trace_index.h"
#include "io/follow.h"
#include "io/input.h"
#include "options/diagnostics.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The index of a file up to this size has more points: making it takes milliseconds. */
enum { SMALL_FILE = 4 << 20, SMALL_SPACING = 64 };

/* ---- making */

static ntr_status add_stream(const struct cli_trace *trace, ntr_index *index) {
    struct cli_input input;
    ntr_reader reader;
    ntr_status status = ntr_reader_init(&reader, &trace->params);

    if (status != NTR_OK || cli_input_open(&input, trace->input.name) != CLI_OK) return NTR_E_IO;
    status = NTR_NEED_MORE;
    while (status == NTR_NEED_MORE && !cli_progress_stopped()) {
        ntr_bytes piece;
        bool last;
        if (cli_input_next(&input, &piece, &last) != CLI_OK) break;
        status = ntr_reader_feed(&reader, piece.data, piece.size, last);
        if (status == NTR_OK) status = ntr_index_messages(index, &reader);
    }
    cli_input_close(&input);
    return status == NTR_END ? ntr_index_finish(index) : status;
}

static ntr_index *make(const struct cli_trace *trace) {
    const bool small = trace->input.size_hint <= SMALL_FILE;
    ntr_index *index;
    ntr_index_new(&trace->params, small ? SMALL_SPACING : NTR_INDEX_SPACING_DEFAULT, NULL, &index);

    if (index && add_stream(trace, index) == NTR_OK) return index;
    ntr_index_free(index);
    return NULL;
}

/* ---- the file of --index */

/* Returns the index in the file, if it is that of the stream. Sets *makes if it is to be made. */
static ntr_index *read_file(const struct cli_trace *trace, bool *makes) {
    const char *file = trace->index_file;
    ntr_index *index;

    const ntr_status status = ntr_index_read(file, trace->input.name, &trace->params, NULL, &index);
    if (status == NTR_OK) return index;
    *makes = status == NTR_E_INVALID || (status == NTR_E_IO && errno == ENOENT);
    if (status == NTR_E_IO && !*makes)
        cli_fail("%s: cannot open: %s", file, strerror(errno));
    else if (!*makes)
        cli_fail("%s: --index expects an index, or a file that does not exist: %s", file, ntr_status_text(status));
    return NULL;
}

static bool is_empty(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

static ntr_index *file_index(const struct cli_trace *trace) {
    const char *file = trace->index_file;
    bool makes = false;

    if (cli_follow_on() || cli_trace_is_copy(trace) || (!trace->input.size_hint && !is_empty(trace->input.name))) {
        cli_fail("%s: --index: expected a file that does not grow, found %s; leave out --index", trace->input.name,
                 cli_follow_on()            ? "--follow"
                 : cli_trace_is_copy(trace) ? "a file whose trace is unpacked first"
                                            : "a pipe or standard input");
        return NULL;
    }
    cli_input_guard_add(file);
    ntr_index *index = read_file(trace, &makes);
    if (!makes) return index;
    if (!(index = make(trace))) cli_fail("%s: no index of the stream can be made", trace->input.name);
    if (!index) return NULL;
    if (ntr_index_write(index, file, trace->input.name, &trace->params, NULL) == NTR_OK) return index;
    cli_fail("%s: cannot write: %s", file, strerror(errno));
    ntr_index_free(index);
    return NULL;
}

/* ---- */

static bool proceed(void *user, uint64_t done, uint64_t whole) {
    (void)user, (void)done, (void)whole;
    return !cli_progress_stopped();
}

static ntr_index *bundle_index(const struct cli_trace *trace) {
    ntr_bundle_index_config config;
    ntr_index *index;

    ntr_bundle_index_config_init(&config);
    config.params = &trace->params;
    config.proceed = proceed;
    return ntr_bundle_index(trace->bundle, &config, &index) == NTR_OK ? index : NULL;
}

ntr_index *cli_trace_index(struct cli_trace *trace, bool for_parts) {
    if (trace->index_file) return file_index(trace);
    return trace->bundle && !(for_parts && trace->input.size_hint <= SMALL_FILE) ? bundle_index(trace) : make(trace);
}

/* The first bytes may have been read to inspect them. */
static int restart_input(struct cli_trace *trace) {
    const char *path = trace->input.name;

    cli_input_close(&trace->input);
    trace->ahead_size = 0;
    trace->ahead_last = false;
    return cli_input_open(&trace->input, path);
}

int cli_trace_begin(struct cli_trace *trace, ntr_index *index, ntr_unit unit, uint64_t place, const uint16_t *source,
                    ntr_decoder *decoder, struct cli_begin *begin) {
    const ntr_point *points;
    size_t count;

    *begin = (struct cli_begin){.message = 1};
    if (restart_input(trace) != CLI_OK) return CLI_FAILED;
    const ntr_status status = ntr_bundle_begin(index, unit, place, source, trace->input.reader, decoder);
    if (status < 0) return cli_fail("%s: %s", trace->input.name, ntr_status_text(status));
    if (status == NTR_END || ntr_index_find(index, unit, place, source, &points, &count) != NTR_OK) return CLI_OK;
    for (size_t i = 0; i < count; i++)
        if (!i || points[i].offset < begin->offset) *begin = (struct cli_begin){points[i].offset, points[i].message};
    return CLI_OK;
}

static ntr_unit index_unit(const struct cli_point *point) {
    return point->unit == CLI_UNIT_MESSAGE ? NTR_UNIT_MESSAGE
           : point->unit == CLI_UNIT_BYTE  ? NTR_UNIT_OFFSET
                                           : NTR_UNIT_TIME;
}

int cli_seek(struct cli_trace *trace, const struct cli_window *window, ntr_decoder *decoder, struct cli_begin *begin) {
    const uint16_t *source = window->one_source ? &window->source : NULL;

    *begin = (struct cli_begin){.message = 1};
    if (trace->index_file && !window->from.unit)
        return cli_fail("--index %s: expected --from or --shard too, which use it", trace->index_file);
    if (!(trace->bundle || trace->index_file) || !window->from.unit) return CLI_OK;
    if (trace->container.name && !ntr_container_is_plain(&trace->container)) return CLI_OK;
    ntr_index *index = cli_trace_index(trace, false);
    if (!index) return trace->index_file ? CLI_FAILED : CLI_OK;
    const int status =
        cli_trace_begin(trace, index, index_unit(&window->from), window->from.value, source, decoder, begin);
    ntr_index_free(index);
    return status;
}
