/* One line for each point, its columns in the order of TITLE. Numbers are decimal or, after 0x, hexadecimal; a value
 * that is not known is "-". The last line is "end", so that a text that was cut off is recognised. */
#include "bundle/index_text.h"
#include "base/allocator.h"
#include "base/text.h"

#include <ntrace/index_build.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TITLE      "kind src offset message time known address mode prv v scontext hcontext"
#define END_LINE   "end"
#define FIRST_WORD "ntrace-index"

enum { LINE_MAX_SIZE = 256 };

static const char *const kinds[] = {
    [NTR_POINT_FIRST] = "first", [NTR_POINT_SYNC] = "sync", [NTR_POINT_STOPPED] = "stopped"};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A part of the text that is not read yet. */
struct cursor {
    const char *at, *end;
};

struct word {
    const char *at, *end;
};

/* Take the next line, without its line feed. False: there is no whole line. */
static bool next_line(struct cursor *text, struct cursor *line) {
    const char *feed = text->at < text->end ? memchr(text->at, '\n', (size_t)(text->end - text->at)) : NULL;

    if (!feed) return false;
    *line = (struct cursor){text->at, feed};
    text->at = feed + 1;
    return true;
}

/* Take the next word of a line. False: there is none. */
static bool next_word(struct cursor *line, struct word *word) {
    while (line->at < line->end && *line->at == ' ') line->at++;
    word->at = line->at;
    while (line->at < line->end && *line->at != ' ') line->at++;
    word->end = line->at;
    return word->end > word->at;
}

static bool word_is(const struct word *word, const char *text) {
    size_t size = (size_t)(word->end - word->at);

    return size == strlen(text) && memcmp(word->at, text, size) == 0;
}

static bool line_is(const struct cursor *line, const char *text) {
    return word_is(&(struct word){line->at, line->end}, text);
}

static bool parse_number(struct cursor *line, uint64_t most, uint64_t *value) {
    struct word word;

    return next_word(line, &word) && ntr_read_number(word.at, word.end, value) == word.end && *value <= most;
}

/* A number, or "-": then *known is false and *value stays. */
static bool parse_optional(struct cursor *line, uint64_t most, uint64_t *value, bool *known) {
    struct cursor ahead = *line;
    struct word word;

    *known = !(next_word(&ahead, &word) && word_is(&word, "-"));
    if (*known) return parse_number(line, most, value);
    *line = ahead;
    return true;
}

static bool parse_kind(struct cursor *line, uint8_t *kind) {
    struct word word;

    if (!next_word(line, &word)) return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!word_is(&word, kinds[i])) continue;
        *kind = (uint8_t)i;
        return true;
    }
    return false;
}

static bool parse_context(struct cursor *line, ntr_context *context) {
    uint64_t prv = NTR_PRV_UNKNOWN, v;
    bool has_prv;

    bool good = parse_optional(line, 3, &prv, &has_prv) && parse_number(line, 1, &v) &&
                parse_optional(line, UINT64_MAX, &context->scontext, &context->has_scontext) &&
                parse_optional(line, UINT64_MAX, &context->hcontext, &context->has_hcontext);
    if (!good) return false;
    context->prv = (uint8_t)prv;
    context->v = (uint8_t)v;
    return true;
}

static bool parse_point(struct cursor line, ntr_point *point) {
    uint64_t src, known, mode;
    struct word rest;

    *point = (ntr_point){0};
    bool good = parse_kind(&line, &point->kind) && parse_number(&line, UINT16_MAX, &src) &&
                parse_number(&line, UINT64_MAX, &point->offset) && parse_number(&line, UINT64_MAX, &point->message) &&
                parse_number(&line, UINT64_MAX, &point->clock.time) && parse_number(&line, 1, &known) &&
                parse_number(&line, UINT64_MAX, &point->address) && parse_number(&line, 2, &mode) &&
                parse_context(&line, &point->context) && !next_word(&line, &rest);
    if (!good) return false;
    point->src = (uint16_t)src;
    point->clock.known = known != 0;
    point->mode = (uint8_t)mode;
    return true;
}

/* Take the next word and its number. */
static bool parse_named(struct cursor *line, const char *name, uint64_t *value) {
    struct word word;

    return next_word(line, &word) && word_is(&word, name) && parse_number(line, UINT64_MAX, value);
}

/* "ntrace-index 1 stream SIZE timed 0|1 params HASH samples HASH" */
static ntr_status parse_header(struct cursor line, const struct ntr_indexed *stream, bool *timed) {
    struct ntr_indexed described;
    uint64_t version, value;
    struct word word;

    if (!next_word(&line, &word) || !word_is(&word, FIRST_WORD)) return NTR_E_FORMAT;
    bool good = parse_number(&line, UINT64_MAX, &version) && version == 1 &&
                parse_named(&line, "stream", &described.size) && described.size == stream->size &&
                parse_named(&line, "timed", &value) && value <= 1 && parse_named(&line, "params", &described.params) &&
                described.params == stream->params && parse_named(&line, "samples", &described.samples) &&
                described.samples == stream->samples && !next_word(&line, &word);
    *timed = good && value;
    return good ? NTR_OK : NTR_E_INVALID;
}

ntr_status ntr_index_text_read(ntr_bytes text, const struct ntr_indexed *stream, ntr_index *index) {
    if (!text.size) return NTR_E_FORMAT;
    struct cursor rest = {(const char *)text.data, (const char *)text.data + text.size}, line;
    ntr_point point;
    bool timed;

    if (!next_line(&rest, &line)) return NTR_E_FORMAT;
    ntr_status status = parse_header(line, stream, &timed);
    if (status != NTR_OK) return status;
    if (!next_line(&rest, &line) || !line_is(&line, TITLE)) return NTR_E_INVALID;
    while (next_line(&rest, &line)) {
        if (line_is(&line, END_LINE)) {
            ntr_index_set_timed(index, timed);
            return rest.at == rest.end ? NTR_OK : NTR_E_INVALID;
        }
        if (!parse_point(line, &point)) return NTR_E_INVALID;
        status = ntr_index_add(index, &point);
        if (status != NTR_OK) return status;
    }
    return NTR_E_INVALID;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* " 0x12" or " -"; `text` holds 24 characters. */
static const char *optional(char *text, bool known, uint64_t value) {
    if (known)
        snprintf(text, 24, "0x%" PRIx64, value);
    else
        snprintf(text, 24, "-");
    return text;
}

static size_t write_point(char *line, const ntr_point *p) {
    char prv[24], scontext[24], hcontext[24];

    return (size_t)snprintf(line, LINE_MAX_SIZE,
                            "%s %u 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %u 0x%" PRIx64 " %u %s %u %s %s\n",
                            kinds[p->kind], p->src, p->offset, p->message, p->clock.time, p->clock.known, p->address,
                            p->mode, optional(prv, p->context.prv != NTR_PRV_UNKNOWN, p->context.prv), p->context.v,
                            optional(scontext, p->context.has_scontext, p->context.scontext),
                            optional(hcontext, p->context.has_hcontext, p->context.hcontext));
}

ntr_status ntr_index_text_write(const ntr_index *index, const struct ntr_indexed *stream,
                                const ntr_allocator *allocator, char **text, size_t *length) {
    size_t count, capacity = 0;
    const ntr_point *points = ntr_index_points(index, &count);

    *text = NULL;
    *length = 0;
    for (size_t i = 0; i < count + 2; i++) { /* the points, between header and end */
        if (ntr_reserve(allocator, (void **)text, &capacity, *length + LINE_MAX_SIZE, 1)) {
            ntr_dealloc(allocator, *text);
            *text = NULL;
            return NTR_E_MEMORY;
        }
        char *line = *text + *length;
        if (i == 0)
            *length += (size_t)snprintf(
                line, LINE_MAX_SIZE,
                FIRST_WORD " 1 stream %" PRIu64 " timed %u params 0x%" PRIx64 " samples 0x%" PRIx64 "\n" TITLE "\n",
                stream->size, ntr_index_is_timed(index) ? 1u : 0u, stream->params, stream->samples);
        else if (i <= count)
            *length += write_point(line, &points[i - 1]);
        else
            *length += (size_t)snprintf(line, LINE_MAX_SIZE, END_LINE "\n");
    }
    return NTR_OK;
}
