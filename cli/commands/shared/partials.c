/* Partial answers as input of the analysis commands.
 *
 * The answer of one capture is shown with the program of that capture, opened as it was for decoding: what is written
 * is what the command itself would have written. The captures of a sum have images at different addresses, and several
 * builds of one program. Their program has each image once, at the lowest place where it was, or behind the others if
 * that is taken. */
#include "commands/shared/analysis.h"
#include "io/debug_files.h"
#include "io/memory.h"
#include "options/diagnostics.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options of the capture */

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
        if (strcmp(name, "auto") == 0)
            o->stream.infer = 1;
        else if (strcmp(name, "plain") == 0)
            o->stream.plain = 1;
        else if (strcmp(name, "sysroot") == 0)
            o->images.sysroot = given->sysroot ? given->sysroot : value;
        else if (strcmp(name, "image-path") == 0)
            o->images.folders.items[o->images.folders.count++] = (struct cli_item){name, value};
        else
            o->images.list.items[o->images.list.count++] = (struct cli_item){name, value};
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
        if (strcmp(given->items[i].name, "elf") == 0 &&
            strcmp(base_of(given->items[i].value), base_of(image->path)) == 0)
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
    ntr_program *trial = cli_program_new();

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
    a->trace.program = cli_program_new();
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
    if (cli_trace_open(&a->trace, c->path, &a->answer_options.stream, &a->answer_options.images) != CLI_OK)
        return CLI_FAILED;
    a->trace.index_file = a->answer_options.index;
    return cli_trace_program(&a->trace, &a->answer_options.images, &a->answer_options.stream, true);
}

int cli_partials_open(struct cli_analysis *a, const char *path) {
    uint64_t next;

    if (a->options->partial) return cli_fail("%s: --partial expects a trace, found a partial answer", path);
    if (a->part || a->window.one_source || a->options->follow)
        return cli_fail("%s: a partial answer cannot be restricted to a part", path);
    ntr_partial_new(NULL, &a->answer);
    if (!a->answer) return cli_fail("out of memory");
    if (ntr_partial_open(a->answer, path, a->options->join_at) != NTR_OK ||
        ntr_partial_check(a->answer, &next) != NTR_OK)
        return cli_fail("%s", ntr_partial_error(a->answer));
    if (ntr_partial_open(a->answer, path, a->options->join_at) != NTR_OK)
        return cli_fail("%s", ntr_partial_error(a->answer));
    const ntr_partial_capture *c = ntr_partial_capture_at(a->answer, 0);
    if (c->shards && !a->options->join)
        return cli_fail("%s: part %u of %u of a capture; 'ntrace combine' puts parts together", path, c->shard,
                        c->shards);
    const bool single = !ntr_partial_capture_at(a->answer, 1) && access(c->path, R_OK) == 0;
    return single ? open_capture(a, c) : open_sum(a);
}

static int check_holds(const struct cli_analysis *a, bool ordered) {
    const unsigned holds = ntr_partial_holds(a->answer);

    if (ordered)
        return cli_fail(
            "%s: this output needs all events in order, the partial answer has counts: write it with the same command and "
            "options",
            a->path);
    if (a->data.totals && !(holds & NTR_PARTIAL_TOTALS))
        return cli_fail(
            "%s: the partial answer has no totals, which this output shows: write it with the same command and options",
            a->path);
    if (a->data.tally && !(holds & NTR_PARTIAL_TALLY))
        return cli_fail(
            "%s: the partial answer has call trees, but no counts of code, which this output shows: write it "
            "with the same command and options",
            a->path);
    if (a->data.tree && !(holds & NTR_PARTIAL_TREE))
        return cli_fail(
            "%s: the partial answer has counts of code, but no call trees, which this output shows: write it "
            "with the same command and options",
            a->path);
    return CLI_OK;
}

int cli_partials_load(struct cli_analysis *a, ntr_analyzer *analyzer, bool ordered) {
    const ntr_partial_capture *c;

    if (ntr_partial_holds(a->answer) & NTR_PARTIAL_EVENTS && !a->data.totals) return cli_events_load(a, analyzer);
    if (check_holds(a, ordered) != CLI_OK) return CLI_FAILED;
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
