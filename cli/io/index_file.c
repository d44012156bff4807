#include "io/index_file.h"
#include "io/input.h"
#include "options/options.h"
#include "io/progress.h"
#include "options/diagnostics.h"

#include <inttypes.h>
#include <ntrace/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER "ntrace-index 1 stream %" PRIu64 " timed %u\n"
#define TITLE  "kind src offset message time known address mode prv v scontext hcontext\n"

enum { COLUMNS = 12 };

static const char *const kinds[] = {[NTR_POINT_FIRST] = "first", [NTR_POINT_SYNC] = "sync", [NTR_POINT_STOPPED] = "stopped"};

/* Sets *size to the stream's. False: the index would be of something else. */
static bool is_current(const struct cli_indexed *of, const char *path, uint64_t *size) {
    char capture[4096];
    struct stat index = {0}, stream = {0}, description = {0};

    snprintf(capture, sizeof capture, "%s/capture.json", of->folder);
    if (stat(of->stream, &stream) || stat(capture, &description)) return false;
    *size = (uint64_t)stream.st_size;
    if (stat(path, &index) || !S_ISREG(index.st_mode)) return false;
    return index.st_mtime >= stream.st_mtime && index.st_mtime >= description.st_mtime;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool parse_kind(const char *word, uint8_t *kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(word, kinds[i]) != 0) continue;
        *kind = (uint8_t)i;
        return true;
    }
    return false;
}

/* "-": not known, and then `value` stays. */
static bool parse_optional(const char *word, uint64_t *value, bool *known) {
    *known = strcmp(word, "-") != 0;
    return !*known || cli_parse_number(word, value);
}

static bool parse_words(char *const words[COLUMNS], ntr_point *point) {
    uint64_t src, known, mode, prv = NTR_PRV_UNKNOWN, v;
    ntr_context *context = &point->context;
    bool has_prv;

    bool good = parse_kind(words[0], &point->kind) && cli_parse_number(words[1], &src) &&
                cli_parse_number(words[2], &point->offset) && cli_parse_number(words[3], &point->message) &&
                cli_parse_number(words[4], &point->clock.time) && cli_parse_number(words[5], &known) &&
                cli_parse_number(words[6], &point->address) && cli_parse_number(words[7], &mode) &&
                parse_optional(words[8], &prv, &has_prv) && cli_parse_number(words[9], &v) &&
                parse_optional(words[10], &context->scontext, &context->has_scontext) &&
                parse_optional(words[11], &context->hcontext, &context->has_hcontext);
    if (!good || src > UINT16_MAX || known > 1 || mode > 2 || v > 1 || (has_prv && prv > 3)) return false;
    point->src = (uint16_t)src;
    point->clock.known = known != 0;
    point->mode = (uint8_t)mode;
    context->prv = (uint8_t)prv;
    context->v = (uint8_t)v;
    return true;
}

/* Whether the line has just `count` words. */
static bool split(char *line, char *words[], size_t count) {
    size_t n = 0;
    char *rest;

    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        if (n == count) return false;
        words[n++] = word;
    }
    return n == count;
}

static bool parse_line(char *line, ntr_point *point) {
    char *words[COLUMNS];

    *point = (ntr_point){0};
    return split(line, words, COLUMNS) && parse_words(words, point);
}

/* Whether the header is that of an index of a stream of this size. */
static bool parse_header(char *line, uint64_t size, uint64_t *timed) {
    static const char *const expected[] = {"ntrace-index", "1", "stream", NULL, "timed", NULL};
    enum { WORDS = sizeof expected / sizeof expected[0] };
    char *words[WORDS];
    uint64_t described;

    if (!split(line, words, WORDS)) return false;
    for (size_t i = 0; i < WORDS; i++)
        if (expected[i] && strcmp(words[i], expected[i]) != 0) return false;
    return cli_parse_number(words[3], &described) && described == size && cli_parse_number(words[5], timed);
}

static bool read_points(FILE *file, ntr_index *index, uint64_t size) {
    char line[512];
    uint64_t timed;
    ntr_point point;

    if (!fgets(line, sizeof line, file) || !parse_header(line, size, &timed)) return false;
    if (!fgets(line, sizeof line, file) || strcmp(line, TITLE) != 0) return false;
    while (fgets(line, sizeof line, file)) {
        if (strcmp(line, "end\n") == 0) {
            ntr_index_set_timed(index, timed != 0);
            return true;
        }
        if (!parse_line(line, &point) || ntr_index_add(index, &point) != NTR_OK) return false;
    }
    return false;
}

static ntr_index *read_index(const char *path, const ntr_params *params, uint64_t size) {
    FILE *file = fopen(path, "re");
    ntr_index *index = file ? ntr_index_new(params, 0, NULL) : NULL;

    if (index && !read_points(file, index, size)) {
        ntr_index_free(index);
        index = NULL;
    }
    if (file) fclose(file);
    return index;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static void write_optional(FILE *file, bool known, uint64_t value) {
    if (known)
        fprintf(file, " 0x%" PRIx64, value);
    else
        fputs(" -", file);
}

static void write_point(FILE *file, const ntr_point *p) {
    fprintf(file, "%s %u 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %u 0x%" PRIx64 " %u", kinds[p->kind], p->src, p->offset,
            p->message, p->clock.time, p->clock.known, p->address, p->mode);
    write_optional(file, p->context.prv != NTR_PRV_UNKNOWN, p->context.prv);
    fprintf(file, " %u", p->context.v);
    write_optional(file, p->context.has_scontext, p->context.scontext);
    write_optional(file, p->context.has_hcontext, p->context.hcontext);
    fputc('\n', file);
}

static void write_points(FILE *file, const ntr_index *index, uint64_t size) {
    size_t count;
    const ntr_point *points = ntr_index_points(index, &count);

    fprintf(file, HEADER TITLE, size, ntr_index_is_timed(index) ? 1u : 0u);
    for (size_t i = 0; i < count; i++) write_point(file, &points[i]);
    fputs("end\n", file);
}

/* A bundle that cannot be written to works without. */
static void write_index(const char *path, const ntr_index *index, uint64_t size) {
    char temporary[4096 + 32];

    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "wxe");
    if (!file) return;
    write_points(file, index, size);
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    if (!good || rename(temporary, path)) unlink(temporary);
}

/* ---- making ----------------------------------------------------------------------------------------------------- */

static ntr_status take_messages(ntr_index *index, ntr_reader *reader) {
    ntr_message message;
    ntr_status status;

    while ((status = ntr_reader_next(reader, &message)) == NTR_OK) {
        status = ntr_index_message(index, &message);
        if (status != NTR_OK) break;
    }
    return status;
}

static bool take_stream(ntr_index *index, const struct cli_indexed *of, struct cli_input *input) {
    ntr_reader reader;
    ntr_bytes span;
    bool last;
    ntr_status status = ntr_reader_init(&reader, of->params);

    while (status == NTR_OK || status == NTR_NEED_MORE) {
        if (cli_input_next(input, &span, &last) != CLI_OK) return false;
        status = ntr_reader_feed(&reader, span.data, span.size, last);
        if (status == NTR_OK) status = take_messages(index, &reader);
    }
    return status == NTR_END && !input->damaged && !cli_progress_stopped() && ntr_index_end(index) == NTR_OK;
}

static ntr_index *make_index(const struct cli_indexed *of) {
    struct cli_input input;

    if (cli_input_open(&input, of->stream) != CLI_OK) return NULL;
    ntr_index *index = ntr_index_new(of->params, NTR_INDEX_SPACING_DEFAULT, NULL);
    if (index && !take_stream(index, of, &input)) {
        ntr_index_free(index);
        index = NULL;
    }
    cli_input_close(&input);
    return index;
}

ntr_index *cli_index_open(const struct cli_indexed *of) {
    char path[4096];
    uint64_t size = 0;

    if ((size_t)snprintf(path, sizeof path, "%s/index", of->folder) >= sizeof path) return NULL;
    ntr_index *index = is_current(of, path, &size) ? read_index(path, of->params, size) : NULL;
    if (index) return index;
    index = make_index(of);
    if (index) write_index(path, index, size);
    return index;
}
