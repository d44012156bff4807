/* Partial answers as input and output of the analysis commands.
 *
 * The answer of one capture is shown with the program of that capture, opened as it was for decoding: what is written is what
 * the command itself would have written. The captures of a sum have images at different addresses, and several builds of
 * one program. Their program has each image once, at the lowest place where it was, or behind the others if that is taken. */
#include "commands/analysis.h"
#include "io/memory.h"
#include "io/output.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

/* ---- options of the capture, as pairs of name and value */

struct option_words {
    const char **items;
    size_t count, capacity;
    bool failed;
};

static void add_word(struct option_words *w, const char *word) {
    if (w->count == w->capacity) {
        const size_t capacity = w->capacity ? 2 * w->capacity : 32;
        const char **grown = realloc(w->items, capacity * sizeof *grown);
        w->failed |= !grown;
        if (!grown) return;
        w->items = grown;
        w->capacity = capacity;
    }
    w->items[w->count++] = word;
}

static void add_pair(struct option_words *w, const char *name, const char *value) {
    if (!value) return;
    add_word(w, name);
    add_word(w, value);
}

static void collect_options(struct option_words *w, const struct cli_analysis_options *o) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++) add_pair(w, ntr_parameter_name(p), o->stream.given[p]);
    if (o->stream.infer) add_pair(w, "auto", "on");
    if (o->stream.plain) add_pair(w, "plain", "on");
    for (size_t i = 0; i < o->images.list.count; i++) add_pair(w, o->images.list.items[i].name, o->images.list.items[i].value);
    for (size_t i = 0; i < o->images.folders.count; i++) add_pair(w, "image-path", o->images.folders.items[i].value);
    add_pair(w, "sysroot", o->images.sysroot);
}

static bool take_parameter(struct cli_stream *stream, const char *name, const char *value) {
    for (unsigned p = 0; p < NTR_PARAMETERS; p++)
        if (strcmp(ntr_parameter_name(p), name) == 0) {
            stream->given[p] = value;
            return true;
        }
    return false;
}

static bool same_item(const struct cli_item *a, const struct cli_item *b) {
    return a->value && b->value && strcmp(a->name, b->name) == 0 && strcmp(a->value, b->value) == 0;
}

/* Adds the items that are not there yet: an image that is given with the capture and with the answer is one image. */
static void add_given(struct cli_list *list, const struct cli_list *given) {
    const size_t known = list->count;

    for (size_t i = 0; i < given->count; i++) {
        size_t at = 0;
        while (at < known && !same_item(&list->items[at], &given->items[i])) at++;
        if (at == known) list->items[list->count++] = given->items[i];
    }
}

/* Sets the options with which the capture is opened; the options of this call come last. */
static int take_options(struct cli_analysis *a, const ntr_partial_capture *c) {
    struct cli_analysis_options *o = &a->answer_options;
    const struct cli_images *given = &a->options->images;

    *o = *a->options;
    o->stream = (struct cli_stream){0};
    o->images.list.items = calloc(c->option_count / 2 + given->list.count + 1, sizeof(struct cli_item));
    o->images.folders.items = calloc(c->option_count / 2 + given->folders.count + 1, sizeof(struct cli_item));
    if (!o->images.list.items || !o->images.folders.items) return cli_fail("out of memory");
    o->images.list.count = o->images.folders.count = 0;
    for (size_t i = 0; i + 1 < c->option_count; i += 2) {
        const char *name = c->options[i], *value = c->options[i + 1];
        if (take_parameter(&o->stream, name, value)) continue;
        if (strcmp(name, "auto") == 0) o->stream.infer = 1;
        else if (strcmp(name, "plain") == 0) o->stream.plain = 1;
        else if (strcmp(name, "sysroot") == 0) o->images.sysroot = given->sysroot ? given->sysroot : value;
        else if (strcmp(name, "image-path") == 0) o->images.folders.items[o->images.folders.count++] = (struct cli_item){name, value};
        else o->images.list.items[o->images.list.count++] = (struct cli_item){name, value};
    }
    add_given(&o->images.list, &given->list);
    add_given(&o->images.folders, &given->folders);
    return CLI_OK;
}

void cli_partials_release(struct cli_analysis *a) {
    free(a->answer_options.images.list.items);
    free(a->answer_options.images.folders.items);
}

/* ---- the program of several captures */

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the path of the image: that in the answer, or an -e with the same file name. */
static const char *file_of(const struct cli_analysis *a, const ntr_partial_image *image) {
    const struct cli_list *given = &a->options->images.list;

    for (size_t i = given->count; i-- > 0;)
        if (strcmp(given->items[i].name, "elf") == 0 && strcmp(base_of(given->items[i].value), base_of(image->path)) == 0)
            return given->items[i].value;
    return image->path;
}

/* Returns whether another image of the answer has the same name. */
static bool name_is_shared(const struct cli_analysis *a, const ntr_partial_image *image) {
    const ntr_partial_image *other;

    for (size_t i = 0; (other = ntr_partial_image_at(a->answer, i)); i++)
        if (other != image && strcmp(other->name, image->name) == 0) return true;
    return false;
}

/* Returns whether the image at `index` overlaps one before. *top is raised to behind all of them. */
static bool overlaps(const ntr_program *program, size_t index, uint64_t *top) {
    ntr_image_info image, other;
    bool found = false;

    if (ntr_program_image(program, index, &image) != NTR_OK) return false;
    for (size_t i = 0; i < index && ntr_program_image(program, i, &other) == NTR_OK; i++) {
        if (other.high > *top) *top = other.high;
        found |= image.low < other.high && other.low < image.high;
    }
    return found;
}

static size_t image_count(const ntr_program *program) {
    ntr_image_info info;
    size_t count = 0;

    while (ntr_program_image(program, count, &info) == NTR_OK) count++;
    return count;
}

/* Adds the image to the program; where its place is taken, behind the others. */
static int add_image(struct cli_analysis *a, const ntr_partial_image *image) {
    enum { PLACE_UNIT = 1 << 16 };
    const char *path = file_of(a, image);
    ntr_image_options options = image->options;
    char name[NAME_MAX + 100];
    uint64_t top = 0;
    ntr_program *trial = ntr_program_new(NULL);

    if (!trial) return cli_fail("out of memory");
    snprintf(name, sizeof name, "%s%s%s%s", image->name, name_is_shared(a, image) ? " (" : "",
             name_is_shared(a, image) ? image->identity : "", name_is_shared(a, image) ? ")" : "");
    options.name = name;
    /* Place it in a copy of the program first: images cannot be removed. */
    ntr_image_info other;
    for (size_t i = 0; ntr_program_image(a->trace.program, i, &other) == NTR_OK; i++)
        if (other.path) ntr_program_add_elf(trial, other.path, &other.options);
    ntr_status status = ntr_program_add_elf(trial, path, &options);
    if (status == NTR_OK && overlaps(trial, image_count(trial) - 1, &top)) {
        ntr_image_info info;
        ntr_program_image(trial, image_count(trial) - 1, &info);
        options.bias += (top - info.low + 2 * PLACE_UNIT - 1) / PLACE_UNIT * PLACE_UNIT;
    }
    const char *why = status == NTR_OK ? "" : ntr_program_error(trial);
    if (status == NTR_OK && (status = ntr_program_add_elf(a->trace.program, path, &options)) != NTR_OK)
        why = ntr_program_error(a->trace.program);
    if (status != NTR_OK) cli_note("%s: %s; name the file with -e", a->path, why);
    ntr_program_free(trial);
    return status == NTR_OK ? CLI_OK : CLI_FAILED;
}

static int open_sum(struct cli_analysis *a) {
    const ntr_partial_image *image;

    a->path = a->defects.file = "sum";
    a->trace = (struct cli_trace){.input.fd = -1, .input.name = a->path, .stream = &a->options->stream};
    ntr_params_init(&a->trace.params, NULL);
    a->trace.program = ntr_program_new(NULL);
    if (!a->trace.program) return cli_fail("out of memory");
    for (size_t i = 0; (image = ntr_partial_image_at(a->answer, i)); i++)
        if (*image->path && add_image(a, image) != CLI_OK) return CLI_FAILED;
    return CLI_OK;
}

/* ---- reading */

bool cli_partials_seen(const char *path) {
    return strcmp(path, "-") != 0 && ntr_partial_seen(path);
}

static int open_capture(struct cli_analysis *a, const ntr_partial_capture *c) {
    if (take_options(a, c) != CLI_OK) return CLI_FAILED;
    a->options = &a->answer_options;
    a->path = a->defects.file = c->path;
    if (cli_trace_open(&a->trace, c->path, &a->answer_options.stream, &a->answer_options.images) != CLI_OK) return CLI_FAILED;
    return cli_trace_program(&a->trace, &a->answer_options.images, &a->answer_options.stream, true);
}

int cli_partials_open(struct cli_analysis *a, const char *path) {
    uint64_t next;

    if (a->options->partial) return cli_fail("%s: --partial expects a trace, found a partial answer", path);
    if (a->part || a->window.one_source || a->options->follow)
        return cli_fail("%s: a partial answer cannot be restricted to a part", path);
    a->answer = ntr_partial_new(NULL);
    if (!a->answer) return cli_fail("out of memory");
    if (ntr_partial_open(a->answer, path, a->options->join_at) != NTR_OK || ntr_partial_check(a->answer, &next) != NTR_OK)
        return cli_fail("%s", ntr_partial_error(a->answer));
    if (ntr_partial_open(a->answer, path, a->options->join_at) != NTR_OK) return cli_fail("%s", ntr_partial_error(a->answer));
    const ntr_partial_capture *c = ntr_partial_capture_at(a->answer, 0);
    if (c->shards && !a->options->join)
        return cli_fail("%s: part %u of %u of a capture; 'ntrace combine' puts parts together", path, c->shard, c->shards);
    const bool single = !ntr_partial_capture_at(a->answer, 1) && access(c->path, R_OK) == 0;
    return single ? open_capture(a, c) : open_sum(a);
}

static int check_holds(const struct cli_analysis *a) {
    const unsigned holds = ntr_partial_holds(a->answer);

    if (a->data.tally && !(holds & NTR_PARTIAL_TALLY))
        return cli_fail("%s: the partial answer has call trees, but no counts of code, which this output shows: write it "
                        "with the same command and options", a->path);
    if (a->data.tree && !(holds & NTR_PARTIAL_TREE))
        return cli_fail("%s: the partial answer has counts of code, but no call trees, which this output shows: write it "
                        "with the same command and options", a->path);
    return CLI_OK;
}

int cli_partials_load(struct cli_analysis *a) {
    const ntr_partial_capture *c;

    if (check_holds(a) != CLI_OK) return CLI_FAILED;
    if (ntr_partial_load(a->answer, &a->data) != NTR_OK) return cli_fail("%s", ntr_partial_error(a->answer));
    if (ntr_partial_holds(a->answer) & NTR_PARTIAL_TIME && a->data.tally) ntr_tally_keep_time(a->data.tally);
    for (size_t i = 0; (c = ntr_partial_capture_at(a->answer, i)); i++) {
        const uint64_t listed = c->gaps < NTR_PARTIAL_GAPS ? c->gaps : NTR_PARTIAL_GAPS;
        for (uint64_t k = 0; k < listed; k++)
            cli_analysis_report_gap(a, c->gap[k].offset, c->gap[k].message, c->gap[k].reason);
        a->gaps += c->gaps - listed;
        a->defects.count += c->gaps - listed;
        a->reserved += c->reserved;
        a->any |= c->any;
        a->trace.input.damaged |= c->damaged;
    }
    return CLI_OK;
}

/* ---- writing */

/* Adds up to `size` bytes from `offset` on to the digest. */
static bool digest_part(ntr_partial_digest *digest, int file, uint64_t offset, size_t size) {
    char bytes[4096];

    while (size) {
        ssize_t got = pread(file, bytes, size < sizeof bytes ? size : sizeof bytes, (off_t)offset);
        if (got < 0) return false;
        if (got == 0) break;
        ntr_partial_digest_add(digest, bytes, (size_t)got);
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

/* What identifies a capture: capture.json, the size of the stream's file, and both ends of it. */
static int digest_capture(const struct cli_analysis *a, uint64_t id[2]) {
    enum { STREAM_END = 64 << 10, JSON_MAX = 16 << 20 };
    ntr_partial_digest digest = {0};
    const uint64_t size = a->trace.input.size_hint;
    char json[PATH_MAX];
    bool fine = true;

    if (a->trace.bundle) {
        const int length = snprintf(json, sizeof json, "%s/capture.json", ntr_bundle_folder(a->trace.bundle));
        const int file = length > 0 && (size_t)length < sizeof json ? open(json, O_RDONLY | O_CLOEXEC) : -1;
        fine = file >= 0 && digest_part(&digest, file, 0, JSON_MAX);
        if (file >= 0) close(file);
    }
    ntr_partial_digest_add(&digest, &size, sizeof size);
    fine = fine && digest_part(&digest, a->trace.input.fd, 0, STREAM_END) &&
           digest_part(&digest, a->trace.input.fd, size > STREAM_END ? size - STREAM_END : 0, STREAM_END);
    ntr_partial_digest_end(&digest, id);
    return fine ? CLI_OK : cli_fail("%s: cannot be read", a->path);
}

static void digest_bytes(void *user, ntr_bytes span, bool last) {
    struct cli_analysis *a = user;

    (void)last;
    ntr_partial_digest_add(&a->digest, span.data, span.size);
}

int cli_partials_prepare(struct cli_analysis *a) {
    struct stat info;

    if (a->part || a->options->follow)
        return cli_fail("--partial covers a whole capture: it cannot be combined with --from, --to and --follow");
    if (a->window.one_source) return cli_fail("--partial covers a whole capture: it cannot be combined with --src");
    if (a->trace.perf || a->trace.input.fd < 0 || fstat(a->trace.input.fd, &info) != 0 || !S_ISREG(info.st_mode))
        return cli_fail("%s: --partial expects the file of a trace, or a bundle, which is found again later", a->path);
    if (a->options->shard) return cli_shard_parse(&a->shard, a->options->shard);
    a->trace.tap = digest_bytes;
    a->trace.tap_user = a;
    return CLI_OK;
}

/* ---- parts */

/* The state of decoding a part. */
struct part {
    struct cli_analysis *analysis;
    bool counting, begun;
};

static ntr_status count_part(void *user, const ntr_event *event, uint64_t times) {
    struct part *p = user;
    return p->begun ? cli_analysis_count(p->analysis, event, times) : NTR_OK;
}

static ntr_status drain_part(void *user) {
    struct part *p = user;
    ntr_counts counts = {0};
    ntr_status status = NTR_OK;

    if (p->counting) return ntr_decoder_count(p->analysis->decoder, &counts);
    while (status == NTR_OK) status = cli_analysis_read(p->analysis, NULL, NULL);
    return status;
}

static ntr_status begin_part(void *user) {
    struct part *p = user;
    struct cli_analysis *a = p->analysis;
    ntr_status status = p->counting ? ntr_decoder_flush_counts(a->decoder) : NTR_OK;

    p->begun = true;
    a->any = false;
    a->gaps = a->reserved = a->defects.count = 0;
    if (status == NTR_OK && a->data.tally) ntr_tally_restart(a->data.tally);
    if (status == NTR_OK && a->data.tree) ntr_calltree_restart(a->data.tree);
    return status;
}

ntr_status cli_partials_decode_shard(struct cli_analysis *a, bool counting) {
    struct part part = {.analysis = a, .counting = counting};
    const struct cli_shard_work work = {.drain = drain_part, .begin = begin_part, .user = &part};

    if (counting) ntr_decoder_set_count_callback(a->decoder, count_part, &part);
    ntr_status status = cli_shard_run(&a->shard, &a->trace, a->decoder, &work);
    return counting && status >= 0 ? ntr_decoder_flush_counts(a->decoder) == NTR_OK ? status : NTR_E_MEMORY : status;
}

static ntr_status write_bytes(void *user, const void *bytes, size_t size) {
    struct cli_output *out = user;

    cli_output_write(out, bytes, size);
    return out->failed ? NTR_E_IO : NTR_OK;
}

static int write_capture(const struct cli_analysis *a, const ntr_partial_capture *capture) {
    struct cli_output out;
    ntr_output output;

    if (cli_output_open(&out, a->options->partial) != CLI_OK) return CLI_FAILED;
    ntr_output_init(&output);
    output.write = write_bytes;
    output.user = &out;
    const ntr_status status = ntr_partial_write(&a->data, capture, &output, &cli_memory);
    if (status < 0 && !out.failed) cli_note("%s: %s", a->options->partial, ntr_status_text(status));
    return cli_output_close(&out, status < 0 ? CLI_FAILED : CLI_OK);
}

int cli_partials_write(struct cli_analysis *a) {
    struct option_words option_words = {0};
    ntr_partial_capture capture;
    uint64_t digest[2];
    char path[PATH_MAX];

    ntr_partial_capture_init(&capture);
    if (digest_capture(a, capture.id) != CLI_OK) return CLI_FAILED;
    ntr_partial_digest_end(a->shard.count ? &a->shard.digest : &a->digest, digest);
    collect_options(&option_words, a->options);
    capture.path = realpath(a->path, path) ? path : a->path;
    capture.title = a->data.title;
    capture.options = option_words.items;
    capture.option_count = option_words.count;
    capture.begin = a->shard.begin;
    capture.end = a->shard.count ? a->shard.end : a->digest.bytes;
    capture.shard = a->shard.number;
    capture.shards = a->shard.count;
    capture.begin_state = a->shard.begin_state;
    capture.end_state = a->shard.end_state;
    capture.digest = digest[0];
    capture.ticks_per_second = a->data.ticks_per_second;
    capture.gaps = a->gaps;
    capture.reserved = a->reserved;
    memcpy(capture.gap, a->first_gaps, sizeof capture.gap);
    capture.any = a->any;
    capture.damaged = a->trace.input.damaged;
    const int status = option_words.failed ? cli_fail("out of memory") : write_capture(a, &capture);
    free(option_words.items);
    return status;
}
