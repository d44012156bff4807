#include "io/debug_files.h"
#include "io/atomic_file.h"
#include "io/trace.h"
#include "io/frames.h"
#include "io/follow.h"
#include "io/recognize.h"
#include "io/input.h"
#include "options/auto.h"
#include "options/diagnostics.h"

#include <ntrace/program_files.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cli_trace_divides reads so many bytes. Between two synchronizing messages it expects at most LONGEST_DISTANCE bytes.
 */
enum { SAMPLE_SIZE = 2 << 20, LONGEST_DISTANCE = 256 << 10 };

/* ---- containers */

/* Reads the next bytes of the stream. */
static int next_piece(struct cli_trace *trace, ntr_bytes *piece, bool *last) {
    if (cli_input_next(&trace->input, piece, last) != CLI_OK) return CLI_FAILED;
    if (!trace->container.name || ntr_container_is_plain(&trace->container)) return CLI_OK;
    uint8_t *grown = realloc(trace->converted, piece->size + NTR_CONTAINER_MORE);
    if (!grown) return cli_fail("out of memory");
    trace->converted = grown;
    *piece = (ntr_bytes){grown, ntr_container_read(&trace->container, *piece, grown)};
    return CLI_OK;
}

/* Appends a piece to `ahead`, from which cli_trace_feed returns it. */
static int keep(struct cli_trace *trace, ntr_bytes piece) {
    uint8_t *grown = realloc(trace->ahead, trace->ahead_size + piece.size + NTR_CONTAINER_MORE);

    if (!grown) return cli_fail("out of memory");
    if (piece.size) memcpy(grown + trace->ahead_size, piece.data, piece.size);
    trace->ahead = grown;
    if (!trace->ahead_size) trace->beginning = 0; /* it is overwritten */
    trace->ahead_size += piece.size;
    return CLI_OK;
}

/* Returns whether an option gives this parameter; reports when it differs from the value in the header. */
static bool option_prevails(const struct cli_trace *trace, unsigned parameter) {
    const char *name = ntr_parameter_name(parameter), *option = trace->stream->given[parameter];
    char header[32];

    if (!option) return false;
    ntr_params_get(&trace->container.params, name, header, sizeof header);
    if (strcmp(option, header) != 0)
        cli_note("%s: the header says %s %s, the option says %s; the option is used", trace->input.name, name, header,
                 option);
    return true;
}

/* Takes the parameters of the header that no option gives. */
static int take_header(struct cli_trace *trace) {
    const ntr_params *header = &trace->container.params;

    if (!trace->stream->given[NTR_PARAMETER_DIALECT]) ntr_params_init(&trace->params, header->dialect);
    if (cli_stream_params(trace->stream, &trace->params, &trace->params) != CLI_OK) return CLI_FAILED;
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) {
        char value[32];
        if (!(trace->container.given >> p & 1) || option_prevails(trace, p)) continue;
        if (ntr_params_get(header, ntr_parameter_name(p), value, sizeof value) > 0)
            ntr_params_set(&trace->params, ntr_parameter_name(p), value);
    }
    cli_note("%s: %s: %s", trace->input.name, trace->container.producer, trace->container.facts);
    return CLI_OK;
}

/* Refuses what is no trace, by its bytes as they are in the file and behind its compression. */
static int refuse_other(const struct cli_trace *trace) {
    const bool file = trace->input.fd != STDIN_FILENO;
    const struct cli_list *programs = trace->images ? &trace->images->list : NULL;

    if (cli_follow_on() || trace->input.damaged) return CLI_OK;
    if (file && cli_refuse_operand(trace->input.name, programs) != CLI_OK) return CLI_FAILED;
    if (file && !trace->ahead_size) return CLI_OK;
    return cli_refuse_trace(trace->input.name, (ntr_bytes){trace->ahead, trace->ahead_size});
}

/* Recognizes the container of a raw stream by its first bytes; of a live one, by those that arrive first. */
static int find_container(struct cli_trace *trace) {
    ntr_bytes piece;
    size_t least = cli_follow_on() ? 1 : NTR_CONTAINER_HEADER_MAX;

    while (trace->ahead_size < least && !trace->ahead_last)
        if (cli_input_next(&trace->input, &piece, &trace->ahead_last) != CLI_OK || keep(trace, piece) != CLI_OK)
            return CLI_FAILED;
    ntr_status status = ntr_container_find((ntr_bytes){trace->ahead, trace->ahead_size}, &trace->container);
    if (status == NTR_E_SYNTAX)
        return cli_fail("%s: %s: %s", trace->input.name, trace->container.producer, trace->container.facts);
    if (status != NTR_OK) {
        trace->container = (ntr_container){0};
        return refuse_other(trace);
    }
    trace->ahead_size =
        ntr_container_read(&trace->container, (ntr_bytes){trace->ahead, trace->ahead_size}, trace->ahead);
    return take_header(trace);
}

/* Frames are taken off, and the stream is written to a temporary file. */
static int find_frames(struct cli_trace *trace, const char *path) {
    int fd = -1;
    const ntr_bytes ahead = {trace->ahead, trace->ahead_size};
    const int status =
        cli_frames_open(&trace->input, path, trace->stream, ahead, trace->ahead_last, &trace->frames, &fd);

    if (status != CLI_OK || !trace->frames) return status;
    const char *name = trace->input.name;
    cli_input_close(&trace->input);
    trace->ahead_size = 0;
    trace->ahead_last = false;
    return cli_input_adopt(&trace->input, name, fd);
}

/* Opens the stream at `path`. `base` holds the parameters for which there is no option, or is NULL (raw stream). */
static int open_stream(struct cli_trace *trace, const char *path, const struct cli_stream *stream,
                       const ntr_params *base) {
    if (cli_stream_params(stream, base, &trace->params) != CLI_OK) return CLI_FAILED;
    if (cli_input_open(&trace->input, path) != CLI_OK) return CLI_FAILED;
    cli_progress_begin(&trace->progress, trace->input.name, trace->input.size_hint);
    if (base || stream->plain || stream->from == CLI_FROM_RAW) return CLI_OK;
    if (stream->from == CLI_FROM_AUTO && find_container(trace) != CLI_OK) return CLI_FAILED;
    return trace->container.name ? CLI_OK : find_frames(trace, path);
}

static int fail_bundle(const struct cli_trace *trace, const char *path, ntr_status status) {
    const char *why = ntr_bundle_error(trace->bundle);

    return why && *why ? cli_fail("%s", why) : cli_fail("%s: %s", path, ntr_status_text(status));
}

static int open_bundle(struct cli_trace *trace, const char *path, const struct cli_stream *stream) {
    ntr_bundle_new(NULL, &trace->bundle);
    if (!trace->bundle) return cli_fail("out of memory");
    ntr_bundle_set_limits(trace->bundle, cli_limits());
    ntr_status status = ntr_bundle_open(trace->bundle, path);
    if (status != NTR_OK) return fail_bundle(trace, path, status);
    if (ntr_bundle_capture(trace->bundle)->incomplete)
        cli_doubt("%s: the program that wrote this bundle did not complete it", path);
    return open_stream(trace, ntr_bundle_stream_path(trace->bundle), stream,
                       &ntr_bundle_capture(trace->bundle)->params);
}

static int open_perf(struct cli_trace *trace, const char *path, const struct cli_stream *stream,
                     const struct cli_images *images) {
    int fd = -1;

    trace->perf = cli_perf_open(path, images, stream, &trace->params, &fd);
    if (!trace->perf) return CLI_FAILED;
    cli_input_guard_add(path);
    if (cli_input_adopt(&trace->input, path, fd) != CLI_OK) return CLI_FAILED;
    cli_progress_begin(&trace->progress, trace->input.name, trace->input.size_hint);
    return CLI_OK;
}

int cli_trace_open(struct cli_trace *trace, const char *path, const struct cli_stream *stream,
                   const struct cli_images *images) {
    *trace = (struct cli_trace){.input.fd = -1, .stream = stream, .images = images};
    int status = ntr_bundle_seen(path) ? open_bundle(trace, path, stream)
                 : cli_perf_seen(path) ? open_perf(trace, path, stream, images)
                                       : open_stream(trace, path, stream, NULL);
    if (status != CLI_OK) cli_trace_close(trace);
    return status;
}

/* ---- --auto */

/* Reads the beginning of the stream into `ahead`, from which cli_trace_feed returns it. */
static int read_ahead(struct cli_trace *trace) {
    ntr_bytes piece;

    while (!trace->ahead_last && trace->ahead_size < CLI_AUTO_BYTES)
        if (next_piece(trace, &piece, &trace->ahead_last) != CLI_OK || keep(trace, piece) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

/* With --auto the parameters that neither an option nor a header gives are inferred; so they are for a raw stream
 * without any parameter, as far as it contradicts the defaults. */
static int infer(struct cli_trace *trace) {
    const bool unknown = !trace->container.name && !cli_stream_given(trace->stream) && !trace->as_given;
    const bool live = trace->input.size_hint == 0; /* a pipe: do not wait for more */

    if (trace->bundle || trace->perf || !(trace->stream->infer || unknown)) return CLI_OK;
    const uint32_t known = cli_frames_source(trace->frames, trace->stream, true, &trace->params);
    if ((trace->stream->infer || !live) && read_ahead(trace) != CLI_OK) return CLI_FAILED;
    const ntr_bytes beginning = {trace->ahead, trace->ahead_size};
    struct cli_auto_found found = {0};
    const int status =
        trace->stream->infer
            ? cli_auto_params(trace->stream, trace->container.given | known, trace->input.name, beginning,
                              trace->program, &trace->params, &found)
            : cli_auto_defaults(trace->input.name, known, beginning, trace->program, &trace->params, &found);
    trace->fit.has_params = found.misfit;
    trace->fit.params = found.fitting;
    trace->fit.inferred = found.inferred;
    trace->fit.likeliest = found.likeliest;
    return status;
}

/* Determines the final parameters. --auto has no effect for a bundle, which has all parameters. */
static int finalize_params(struct cli_trace *trace) {
    if (trace->params_final) return CLI_OK;
    if (infer(trace) != CLI_OK) return CLI_FAILED;
    cli_frames_source(trace->frames, trace->stream, false, &trace->params);
    if (trace->frames && cli_frames_check(trace->frames, trace->input.name, &trace->params) != CLI_OK)
        return CLI_FAILED;
    trace->params_final = true;
    if (trace->program) ntr_program_forget_unknown(trace->program); /* trials may have read no code */
    ntr_status status = ntr_reader_init(&trace->reader, &trace->params);
    return status == NTR_OK ? CLI_OK : cli_fail("%s: %s", trace->input.name, ntr_status_text(status));
}

/* Reads at least `least` bytes, or all, into `ahead`, from which the next cli_trace_feed returns them. */
static bool peek(struct cli_trace *trace, size_t least) {
    ntr_bytes piece;

    while (trace->ahead_size < least && !trace->ahead_last) {
        trace->failed = next_piece(trace, &piece, &trace->ahead_last) != CLI_OK || keep(trace, piece) != CLI_OK;
        if (trace->failed) return false;
    }
    return true;
}

static int peek_bytes(struct cli_trace *trace, size_t least) {
    return peek(trace, least) ? CLI_OK : CLI_FAILED;
}

/* ---- the program */

/* Reports the losses that the bundle lists. */
static void report_losses(const struct cli_trace *trace) {
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;

    for (size_t i = 0; capture && i < capture->loss_count; i++)
        cli_note("%s: the capture reports: %s", trace->input.name, capture->losses[i].what);
}

/* Protects the files of the bundle from being overwritten; cli_input_open has added the stream. */
static void guard_inputs(const struct cli_trace *trace) {
    char capture[PATH_MAX];
    ntr_image_info image;

    if (!trace->bundle) return;
    for (size_t i = 0; ntr_program_image(trace->program, i, &image) == NTR_OK; i++)
        if (image.path) cli_input_guard_add(image.path);
    int length = snprintf(capture, sizeof capture, "%s/capture.json", ntr_bundle_folder(trace->bundle));
    if (length > 0 && (size_t)length < sizeof capture) cli_input_guard_add(capture);
}

/* What the fit is judged by. A pipe may be live: what it does not have yet is not waited for. */
static int fit_input(struct cli_trace *trace, struct cli_fit_input *in) {
    const bool live = cli_follow_on() || (!trace->input.size_hint && !trace->ahead_last);

    if (!trace->fit.open && !live) {
        if (peek_bytes(trace, CLI_AUTO_BYTES) != CLI_OK) return CLI_FAILED;
        trace->beginning = trace->ahead_size;
        trace->beginning_last = trace->ahead_last;
    }
    *in = (struct cli_fit_input){.name = trace->input.name,
                                 .bundle = trace->bundle,
                                 .perf = trace->perf,
                                 .program = trace->program,
                                 .params = trace->params,
                                 .params_known = trace->bundle || trace->perf,
                                 .params_given = cli_stream_given(trace->stream) != 0,
                                 .only = trace->only,
                                 .beginning = {trace->ahead, trace->beginning},
                                 .last = trace->beginning_last,
                                 .late = trace->whole};
    return CLI_OK;
}

static int judge_fit(struct cli_trace *trace, size_t first_given) {
    struct cli_fit_input in;
    ntr_image_info image;

    trace->fit.first_given = first_given;
    if (ntr_program_image(trace->program, first_given, &image) != NTR_OK) return CLI_OK; /* no program of -e */
    const int status = fit_input(trace, &in) == CLI_OK ? cli_fit_judge(&trace->fit, &in) : CLI_FAILED;
    ntr_program_forget_unknown(trace->program);
    return status;
}

bool cli_trace_explains(void *user) {
    struct cli_trace *trace = user;
    struct cli_fit_input in;

    if (trace->fit.open && (fit_input(trace, &in) != CLI_OK || cli_fit_judge_gaps(&trace->fit, &in) != CLI_OK))
        trace->failed = true;
    return trace->fit.other && trace->fit.fit.contradicting;
}

int cli_trace_fit(struct cli_trace *trace) {
    struct cli_fit_input in;

    const int status = fit_input(trace, &in) == CLI_OK ? cli_fit_measure(&trace->fit, &in) : CLI_FAILED;
    if (status == CLI_OK) cli_fit_report_idle(&trace->fit, trace->program);
    ntr_program_forget_unknown(trace->program);
    return status;
}

/* Says which files of the bundle are others than capture.json says. */
static void compare_build_ids(const ntr_bundle *bundle) {
    const ntr_capture_info *capture = ntr_bundle_capture(bundle);
    char path[PATH_MAX], id[CLI_BUILD_ID_SIZE];

    for (size_t i = 0; i < capture->image_count; i++) {
        const ntr_bundle_image *image = &capture->images[i];
        if (image->kind != NTR_BUNDLE_ELF || !image->build_id) continue;
        if (snprintf(path, sizeof path, "%s/%s", ntr_bundle_folder(bundle), image->file) >= (int)sizeof path) continue;
        if (access(path, R_OK) != 0) continue; /* ntr_bundle_load has said so */
        if (!cli_build_id(path, id) || !*id || strcmp(id, image->build_id) == 0) continue;
        cli_doubt(
            "%s: expected the file that ran, with build id %.12s..., found one with %.12s...; it was replaced after "
            "the capture",
            path, image->build_id, id);
    }
}

static size_t count_images(const ntr_program *program) {
    ntr_image_info image;
    size_t count = 0;

    while (ntr_program_image(program, count, &image) == NTR_OK) count++;
    return count;
}

int cli_trace_program(struct cli_trace *trace, const struct cli_images *images, const struct cli_stream *stream,
                      bool required) {
    ntr_image_info first;

    trace->program = cli_program_new();
    if (!trace->program) return cli_fail("out of memory");
    if (trace->no_names && !images->list.count)
        ntr_program_omit_names(trace->program); /* a kernel module is linked by names */
    ntr_status status = trace->bundle ? ntr_bundle_load(trace->bundle, trace->program) : NTR_OK;
    if (status == NTR_E_IO)
        (images->list.count ? cli_note : cli_doubt)("%s; its code will be missing unless -e specifies the file",
                                                    ntr_bundle_error(trace->bundle));
    else if (status != NTR_OK)
        return fail_bundle(trace, trace->input.name, status);
    guard_inputs(trace);
    if (trace->bundle) compare_build_ids(trace->bundle);
    if (trace->perf && cli_perf_load(trace->perf, trace->input.name, images, trace->program) != CLI_OK)
        return CLI_FAILED;
    const size_t first_given = count_images(trace->program);
    if (cli_images_load(images, stream->given[NTR_PARAMETER_XLEN], trace->program) != CLI_OK) return CLI_FAILED;
    if (cli_images_isa(images, stream->given[NTR_PARAMETER_XLEN], trace->params.dialect, trace->program) != CLI_OK)
        return CLI_FAILED;
    if (required && ntr_program_image(trace->program, 0, &first) != NTR_OK)
        return cli_fail("no program: specify its ELF file with -e");
    report_losses(trace);
    if (!stream->given[NTR_PARAMETER_XLEN] && ntr_program_xlen(trace->program))
        trace->params.xlen = (uint8_t)ntr_program_xlen(trace->program);
    if (finalize_params(trace) != CLI_OK) return CLI_FAILED;
    if (judge_fit(trace, first_given) != CLI_OK) return CLI_FAILED;
    return trace->perf ? cli_perf_load_modules(trace->perf, trace->input.name, trace->program) : CLI_OK;
}

bool cli_trace_has_own_clocks(const struct cli_trace *trace) {
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;

    return capture && capture->tick && strcmp(capture->tick, "instruction") == 0;
}

static int check_source(const struct cli_trace *trace, unsigned src_bits, unsigned source) {
    if (!(source >> src_bits)) return CLI_OK;
    return cli_fail("%s: --src: expected a source of at most %u, as SRC has %u bits, found %u", trace->input.name,
                    (1u << src_bits) - 1, src_bits, source);
}

ntr_decoder *cli_trace_decoder(const struct cli_trace *trace, const ntr_decoder_config *config) {
    const unsigned src_bits = config->params.src_bits;
    ntr_status status = NTR_OK;

    if (config->one_source && check_source(trace, src_bits, config->source) != CLI_OK) return NULL;
    ntr_decoder *decoder;
    status = ntr_decoder_new(config, &decoder);
    if (!decoder) cli_note("%s: %s", trace->input.name, ntr_status_text(status));
    return decoder;
}

/* ---- reading */

static bool next_bytes(struct cli_trace *trace, ntr_bytes *piece, bool *last) {
    cli_progress_step(&trace->progress, cli_input_position(&trace->input));
    if (trace->failed) return false;
    if (trace->ahead_size || trace->ahead_last) {
        *piece = (ntr_bytes){trace->ahead, trace->ahead_size};
        *last = trace->ahead_last;
        trace->ahead_size = 0;
        trace->ahead_last = false;
        return true;
    }
    trace->failed = next_piece(trace, piece, last) != CLI_OK;
    return !trace->failed;
}

bool cli_trace_feed(struct cli_trace *trace, ntr_bytes *piece, bool *last) {
    if (!next_bytes(trace, piece, last)) return false;
    if (trace->tap) trace->tap(trace->tap_user, *piece, *last);
    return true;
}

/* Reads ahead, and prepares `reader` to read these bytes. */
static bool sample(struct cli_trace *trace, size_t least, ntr_reader *reader) {
    return peek(trace, least) && ntr_reader_init(reader, &trace->params) == NTR_OK &&
           ntr_reader_feed(reader, trace->ahead, trace->ahead_size, trace->ahead_last) == NTR_OK;
}

bool cli_trace_stamped(struct cli_trace *trace) {
    ntr_reader reader;
    ntr_message message;
    bool stamped = false;

    if (trace->params.timestamps != NTR_TIMESTAMPS_SEEN) return trace->params.timestamps == NTR_TIMESTAMPS_ON;
    if (!sample(trace, 1, &reader)) return false;
    while (!stamped && ntr_reader_next(&reader, &message) == NTR_OK) stamped = NTR_HAS(&message, TSTAMP);
    return stamped;
}

bool cli_trace_divides(struct cli_trace *trace) {
    ntr_reader reader;
    ntr_message message;
    uint64_t sync = 0;

    if (!sample(trace, SAMPLE_SIZE, &reader)) return false;
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        const uint64_t offset = ntr_reader_offset(&reader);
        if (offset - sync > LONGEST_DISTANCE) return false;
        if (ntr_tcode_is_sync(message.tcode)) sync = offset;
    }
    return true;
}

int cli_trace_check_window(struct cli_trace *trace, const struct cli_window *window) {
    const bool from = window->from.unit == CLI_UNIT_TIME, to = window->to.unit == CLI_UNIT_TIME;
    ntr_reader reader;
    ntr_message message;
    bool any = false;

    if (!(from || to || window->one_source) || cli_follow_on()) return CLI_OK;
    if (finalize_params(trace) != CLI_OK) return CLI_FAILED;
    if (window->one_source && check_source(trace, trace->params.src_bits, window->source) != CLI_OK) return CLI_FAILED;
    if (!(from || to)) return CLI_OK;
    if (!sample(trace, SAMPLE_SIZE, &reader)) return trace->failed ? CLI_FAILED : CLI_OK;
    while (ntr_reader_next(&reader, &message) == NTR_OK) {
        any = true;
        if (NTR_HAS(&message, TSTAMP)) return CLI_OK;
    }
    return any ? cli_fail("%s: %s: the trace has no time: no message has a TSTAMP; expected N (message) or @N (byte)",
                          trace->input.name, from ? window->from_text : window->to_text)
               : CLI_OK;
}

static bool feed(struct cli_trace *trace) {
    ntr_bytes piece;
    bool last;

    if (!cli_trace_feed(trace, &piece, &last)) return false;
    return ntr_reader_feed(&trace->reader, piece.data, piece.size, last) == NTR_OK;
}

/* Determines the final parameters before the first message. Returns false after an error (`failed` is set). */
static bool ready(struct cli_trace *trace) {
    if (finalize_params(trace) != CLI_OK) trace->failed = true;
    return !trace->failed;
}

ntr_status cli_trace_read_on(struct cli_trace *trace, ntr_message *message) {
    if (!ready(trace)) return NTR_END;
    for (;;) {
        ntr_status status = ntr_reader_next(&trace->reader, message);
        if (status != NTR_NEED_MORE) return status;
        if (!feed(trace)) return NTR_END;
    }
}

ntr_status cli_trace_defect(struct cli_trace *trace, ntr_message_mix *mix, ntr_message *message) {
    if (!ready(trace)) return NTR_END;
    for (;;) {
        ntr_status status = ntr_reader_check(&trace->reader, mix, message);
        if (status != NTR_NEED_MORE) return status;
        if (!feed(trace)) return NTR_END;
    }
}

void cli_trace_close(struct cli_trace *trace) {
    cli_progress_end(&trace->progress);
    cli_input_close(&trace->input);
    (trace->fit.other ? cli_program_close_other : cli_program_close)(trace->program);
    ntr_bundle_free(trace->bundle);
    ntr_perf_data_free(trace->perf);
    ntr_frames_free(trace->frames);
    free(trace->converted);
    free(trace->ahead);
    trace->converted = NULL;
    trace->ahead = NULL;
    trace->program = NULL;
    trace->bundle = NULL;
    trace->perf = NULL;
    trace->frames = NULL;
}

/* Returns whether the bytes of the input are those of the stream, and nothing was read ahead. */
static bool is_direct(const struct cli_trace *trace) {
    return !trace->ahead_size && !trace->ahead_last &&
           (!trace->container.name || ntr_container_is_plain(&trace->container));
}

/* Copies from a piece of cli_trace_feed. */
static bool copy_rest(struct cli_trace *trace, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    if (!trace->rest.size && !trace->rest_last && !cli_trace_feed(trace, &trace->rest, &trace->rest_last)) return false;
    *got = trace->rest.size < capacity ? trace->rest.size : capacity;
    if (*got) memcpy(to, trace->rest.data, *got);
    trace->rest = (ntr_bytes){*got ? trace->rest.data + *got : NULL, trace->rest.size - *got};
    *last = trace->rest_last && !trace->rest.size;
    return true;
}

static bool read_direct(struct cli_trace *trace, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    cli_progress_step(&trace->progress, cli_input_position(&trace->input));
    trace->failed = cli_input_read(&trace->input, to, capacity, got, last) != CLI_OK;
    if (!trace->failed && trace->tap) trace->tap(trace->tap_user, (ntr_bytes){to, *got}, *last);
    return !trace->failed;
}

ntr_status cli_trace_read(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    struct cli_trace *trace = user;
    const bool direct = !trace->rest.size && !trace->rest_last && is_direct(trace);

    *got = 0;
    *last = false;
    if (trace->failed || cli_progress_stopped()) return NTR_NEED_MORE;
    return (direct ? read_direct : copy_rest)(trace, to, capacity, got, last) ? NTR_OK : NTR_NEED_MORE;
}

ntr_status cli_trace_copy(void *user, uint8_t *to, size_t capacity, size_t *got, bool *last) {
    *got = 0;
    *last = false;
    return copy_rest(user, to, capacity, got, last) ? NTR_OK : NTR_NEED_MORE;
}
