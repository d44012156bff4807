#include "text/quality.h"
#include "io/debug_files.h"
#include "io/document.h"
#include "io/identity.h"
#include "options/diagnostics.h"

#include <ntrace/bundle.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering */

static void add_part(struct cli_quality *q, const struct cli_lost_part *part) {
    if (q->count == q->capacity) {
        const size_t capacity = q->capacity ? 2 * q->capacity : 64;
        struct cli_lost_part *grown = realloc(q->parts, capacity * sizeof *grown);
        q->failed |= !grown;
        if (!grown) return;
        q->parts = grown;
        q->capacity = capacity;
    }
    q->parts[q->count++] = *part;
}

void cli_quality_gap(struct cli_quality *q, const ntr_event *e) {
    const struct cli_lost_part part = {e->offset, e->gap.until, e->message, e->gap.until_message};

    q->gaps++;
    add_part(q, &part);
    if (e->gap.from_timed && e->gap.to_timed && e->gap.to_time >= e->gap.from_time)
        q->ticks += e->gap.to_time - e->gap.from_time;
    else
        q->untimed++;
}

ntr_status cli_quality_take(void *user, const ntr_event *e, uint64_t times) {
    struct cli_quality *q = user;
    ntr_symbol symbol;

    if (e->kind == NTR_EVENT_SPAN) {
        q->instructions += e->instructions * times;
        if (e->instructions && ntr_program_symbol(q->program, ntr_event_place(e, e->address), &symbol) == NTR_OK)
            q->named += e->instructions * times;
    } else if (e->kind == NTR_EVENT_GAP) {
        cli_quality_gap(q, e);
    }
    q->executed = true;
    return NTR_OK;
}

static void count_bytes(void *user, ntr_bytes piece, bool last) {
    struct cli_quality *q = user;
    ntr_message_mix mix = {0};
    ntr_message damaged;

    if (!q->reading) {
        if (ntr_reader_init(&q->reader, &q->trace->params) != NTR_OK) return;
        if (q->mid_stream) ntr_reader_seek_start(&q->reader);
        q->reading = true;
    }
    if (ntr_reader_feed(&q->reader, piece.data, piece.size, last) != NTR_OK) return;
    while (ntr_reader_check(&q->reader, &mix, &damaged) == NTR_OK) q->messages++;
    for (size_t i = 0; i < sizeof mix.messages / sizeof mix.messages[0]; i++) q->messages += mix.messages[i];
    q->bytes = ntr_reader_offset(&q->reader);
    q->read = true;
}

void cli_quality_count(struct cli_quality *q, struct cli_trace *trace) {
    q->trace = trace;
    trace->tap = count_bytes;
    trace->tap_user = q;
}

bool cli_is_named_by_image(const char *name, const char *image) {
    const char *slash = image ? strrchr(image, '/') : NULL;
    const char *base = slash ? slash + 1 : image;
    const size_t length = base ? strlen(base) : 0;

    return name && base && strncmp(name, base, length) == 0 && strncmp(name + length, "+0x", 3) == 0;
}

static void count_tree(struct cli_quality *q, const ntr_analysis *data) {
    size_t count;
    const ntr_call_node *nodes = ntr_calltree_nodes(data->tree, &count);

    for (size_t i = 0; i < count; i++) {
        const ntr_function *f = nodes[i].instructions ? ntr_functions_get(data->functions, nodes[i].function) : NULL;
        q->instructions += nodes[i].instructions;
        if (f && f->name && f->name[0] != '[' && !cli_is_named_by_image(f->name, f->image))
            q->named += nodes[i].instructions;
    }
}

static void count_tally(struct cli_quality *q, const ntr_analysis *data) {
    size_t count;
    const ntr_tally_row *rows = ntr_tally_rows(data->tally, &count);
    ntr_symbol symbol;

    for (size_t i = 0; i < count; i++) {
        const uint64_t instructions = rows[i].instructions * rows[i].count;
        const ntr_place place = ntr_tally_row_place(data->tally, &rows[i], rows[i].address);
        q->instructions += instructions;
        if (instructions && ntr_program_symbol(data->program, place, &symbol) == NTR_OK) q->named += instructions;
    }
}

void cli_quality_execution(struct cli_quality *q, const ntr_analysis *data) {
    if (data->tree)
        count_tree(q, data);
    else if (data->tally)
        count_tally(q, data);
    q->executed = data->tree || data->tally;
}

static bool same_or_absent(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Adds an image, or its fit to that of the same file. Takes the texts. */
static void add_image(struct cli_quality *q, struct cli_quality_image *image) {
    size_t at = 0;

    if (!image->name) {
        free(image->build_id);
        q->failed = true;
        return;
    }
    while (at < q->image_count && !(same_or_absent(q->images[at].name, image->name) &&
                                    same_or_absent(q->images[at].build_id, image->build_id)))
        at++;
    if (at < q->image_count) {
        q->images[at].judged &= image->judged;
        q->images[at].agreeing += image->agreeing;
        q->images[at].contradicting += image->contradicting;
        free(image->name);
        free(image->build_id);
        return;
    }
    struct cli_quality_image *grown = realloc(q->images, (q->image_count + 1) * sizeof *grown);
    if (!grown) {
        free(image->name);
        free(image->build_id);
        q->failed = true;
        return;
    }
    q->images = grown;
    q->images[q->image_count++] = *image;
}

static void add_loss(struct cli_quality *q, const char *text) {
    for (size_t i = 0; i < q->loss_count; i++)
        if (strcmp(q->losses[i], text) == 0) return;
    char **grown = realloc(q->losses, (q->loss_count + 1) * sizeof *grown);
    if (grown) q->losses = grown;
    char *copy = grown ? strdup(text) : NULL;
    if (copy)
        q->losses[q->loss_count++] = copy;
    else
        q->failed = true;
}

static void add_unreadable_id(struct cli_quality *q, const char *name) {
    char text[1200];
    snprintf(text, sizeof text, "%s: the build id cannot be read", name);
    add_loss(q, text);
}

void cli_quality_images(struct cli_quality *q, const struct cli_trace *trace) {
    enum { IMAGES_MAX = 1024 }; /* the pieces of a program that changes its code are images, too */
    const ntr_capture_info *capture = trace->bundle ? ntr_bundle_capture(trace->bundle) : NULL;
    ntr_image_info info;
    char id[CLI_BUILD_ID_SIZE], unknown[CLI_UNKNOWN_TEXT];

    for (size_t i = 0; trace->program && i < IMAGES_MAX && ntr_program_image(trace->program, i, &info) == NTR_OK; i++) {
        const bool judged = trace->fit.judged && i < CLI_FIT_IMAGES;
        struct cli_quality_image image = {.name = strdup(info.name), .judged = judged};
        *id = 0;
        image.unreadable_id = info.path && !cli_build_id(info.path, id);
        if (image.unreadable_id) add_unreadable_id(q, info.name);
        if (*id) image.build_id = strdup(id);
        if (*id && !image.build_id) q->failed = true;
        if (judged) image.agreeing = trace->fit.images[i].agreeing;
        if (judged) image.contradicting = trace->fit.images[i].contradicting;
        add_image(q, &image);
    }
    if (trace->program && ntr_program_image(trace->program, IMAGES_MAX, &info) == NTR_OK)
        add_loss(q, "images: only the first 1,024 are listed here");
    for (size_t i = 0; capture && i < capture->loss_count; i++) add_loss(q, capture->losses[i].what);
    if (trace->program && cli_unknown_code(trace->program, unknown, sizeof unknown)) add_loss(q, unknown);
}

static int by_offset(const void *left, const void *right) {
    const struct cli_lost_part *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Gaps of several sources may cover the same bytes and messages. */
static void sum_lost(struct cli_quality *q, uint64_t *bytes, uint64_t *messages) {
    uint64_t end = 0, end_message = 0;

    *bytes = q->lost_bytes;
    *messages = q->lost_messages;
    if (q->count) qsort(q->parts, q->count, sizeof *q->parts, by_offset);
    for (size_t i = 0; i < q->count; i++) {
        const struct cli_lost_part *p = &q->parts[i];
        const uint64_t from = p->from > end ? p->from : end;
        const uint64_t message = p->message > end_message ? p->message : end_message;
        if (p->until > from) *bytes += (end = p->until) - from;
        if (p->until_message > message) *messages += (end_message = p->until_message) - message;
    }
}

void cli_quality_add(struct cli_quality *to, struct cli_quality *from, bool first) {
    uint64_t bytes, messages;

    sum_lost(from, &bytes, &messages);
    to->lost_bytes += bytes;
    to->lost_messages += messages;
    to->gaps += from->gaps;
    to->ticks += from->ticks;
    to->untimed += from->untimed;
    to->unplaced += from->unplaced;
    to->executed = from->executed && (first || to->executed);
    to->instructions += from->instructions;
    to->named += from->named;
    to->read = from->read && (first || to->read);
    to->messages += from->messages;
    to->bytes += from->bytes;
    to->failed |= from->failed;
    for (size_t i = 0; i < from->image_count; i++) add_image(to, &from->images[i]);
    from->image_count = 0; /* taken */
    for (size_t i = 0; i < from->loss_count; i++) add_loss(to, from->losses[i]);
}

/* ---- JSON */

static void put_number(FILE *to, const char *key, bool known, uint64_t value) {
    if (known)
        fprintf(to, "\"%s\":%" PRIu64 ",", key, value);
    else
        fprintf(to, "\"%s\":null,", key);
}

static void put_text(FILE *to, struct cli_quality *q, const char *text) {
    char *quoted = text ? malloc(6 * strlen(text) + 2) : NULL;

    q->failed |= text && !quoted;
    if (quoted)
        fwrite(quoted, 1, (size_t)(cli_put_json(quoted, text) - quoted), to);
    else
        fputs("null", to);
    free(quoted);
}

static void put_images(FILE *to, struct cli_quality *q) {
    for (size_t i = 0; i < q->image_count; i++) {
        const struct cli_quality_image *image = &q->images[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", to);
        put_text(to, q, image->name);
        fputs(",\"build_id\":", to);
        put_text(to, q, image->build_id);
        fputc(',', to);
        put_number(to, "fits", image->judged, image->agreeing);
        if (image->judged)
            fprintf(to, "\"contradicts\":%" PRIu64 "}", image->contradicting);
        else
            fputs("\"contradicts\":null}", to);
    }
}

static void write_json(struct cli_quality *q, FILE *to) {
    uint64_t bytes, messages;

    sum_lost(q, &bytes, &messages);
    const bool placed = !q->unplaced;
    fputc('{', to);
    put_number(to, "messages", q->read, q->messages);
    put_number(to, "messages_used", q->read && placed, q->messages - (messages < q->messages ? messages : q->messages));
    put_number(to, "bytes", q->read, q->bytes);
    put_number(to, "bytes_lost", placed, bytes);
    put_number(to, "gaps", !q->unfollowed, q->gaps);
    put_number(to, "ticks_lost", placed && !q->untimed && !q->unfollowed, q->ticks);
    put_number(to, "instructions", q->executed, q->instructions);
    if (q->executed && q->instructions)
        fprintf(to, "\"named_percent\":%.2f,\"losses\":[", 100.0 * (double)q->named / (double)q->instructions);
    else
        fputs("\"named_percent\":null,\"losses\":[", to);
    for (size_t i = 0; i < q->loss_count; i++) {
        if (i) fputc(',', to);
        put_text(to, q, q->losses[i]);
    }
    fputs("],\"images\":[", to);
    put_images(to, q);
    fputs("]}", to);
}

char *cli_quality_json(struct cli_quality *q) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (to) write_json(q, to);
    const bool closed = to && fclose(to) == 0;
    if (closed && !q->failed) return text;
    free(text);
    cli_doubt("the answer is without its quality: out of memory");
    return NULL;
}

void cli_quality_document(struct cli_quality *q, struct cli_output *out) {
    char *text = out->listing ? cli_quality_json(q) : NULL;

    cli_document_end(out, text);
    free(text);
}

/* ---- rows of stat */

static void write_images(const struct cli_quality *q, const struct cli_fit *f, struct cli_rows *rows) {
    ntr_image_info info;

    for (size_t i = 0; i < CLI_FIT_IMAGES && ntr_program_image(q->program, i, &info) == NTR_OK; i++) {
        const ntr_fit_image *one = &f->images[i];
        char id[CLI_BUILD_ID_SIZE], label[512];
        if (!one->agreeing && !one->contradicting) continue;
        *id = 0;
        const bool readable = !info.path || cli_build_id(info.path, id);
        snprintf(label, sizeof label, "%s%s%s%s", info.name, *id ? ", build id " : "", id,
                 readable ? "" : ", of which the build id cannot be read");
        const struct cli_row row = {
            "image",
            label,
            true,
            {CLI_COUNT("messages that fit", one->agreeing), CLI_COUNT("messages that contradict", one->contradicting),
             CLI_COUNT("branches followed", one->branches), CLI_COUNT("instructions followed", one->instructions)}};
        cli_row_write(rows, &row);
    }
}

void cli_quality_write(struct cli_quality *q, const struct cli_fit *f, const char *file, struct cli_rows *rows) {
    uint64_t bytes, messages;

    sum_lost(q, &bytes, &messages);
    const double named = q->instructions ? 100.0 * (double)q->named / (double)q->instructions : 0;
    const struct cli_row quality = {"quality",
                                    file,
                                    true,
                                    {CLI_COUNT("gaps", q->gaps), CLI_COUNT("bytes in gaps", bytes),
                                     CLI_COUNT("ticks in gaps", q->ticks),
                                     CLI_REAL("% of instructions named", named, 2)}};
    const struct cli_row fit = {
        "fit",
        f->fit.complete ? "whole stream" : "beginning of the stream",
        true,
        {CLI_COUNT("messages of the flow", f->fit.messages), CLI_COUNT("messages that fit", f->fit.agreeing),
         CLI_COUNT("messages that contradict", f->fit.contradicting), CLI_COUNT("branches followed", f->fit.branches)}};

    cli_row_write(rows, &quality);
    if (!f->judged) return;
    cli_row_write(rows, &fit);
    write_images(q, f, rows);
}

void cli_quality_release(struct cli_quality *q) {
    for (size_t i = 0; i < q->image_count; i++) {
        free(q->images[i].name);
        free(q->images[i].build_id);
    }
    for (size_t i = 0; i < q->loss_count; i++) free(q->losses[i]);
    free(q->parts);
    free(q->images);
    free(q->losses);
    *q = (struct cli_quality){0};
}
