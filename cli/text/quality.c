#include "text/quality.h"

#include <ntrace/bundle.h>

#include <stdio.h>
#include <stdlib.h>

struct cli_lost_part {
    uint64_t from, until; /* byte offsets in the stream */
};

static void add_part(struct cli_quality *q, uint64_t from, uint64_t until) {
    if (q->count == q->capacity) {
        const size_t capacity = q->capacity ? 2 * q->capacity : 64;
        struct cli_lost_part *grown = realloc(q->parts, capacity * sizeof *grown);
        q->failed |= !grown;
        if (!grown) return;
        q->parts = grown;
        q->capacity = capacity;
    }
    q->parts[q->count++] = (struct cli_lost_part){from, until};
}

ntr_status cli_quality_take(void *user, const ntr_event *e, uint64_t times) {
    struct cli_quality *q = user;
    ntr_symbol symbol;

    if (e->kind == NTR_EVENT_SPAN) {
        q->instructions += e->instructions * times;
        if (e->instructions && ntr_program_symbol(q->program, ntr_event_place(e, e->address), &symbol) == NTR_OK)
            q->named += e->instructions * times;
    } else if (e->kind == NTR_EVENT_GAP) {
        q->gaps++;
        add_part(q, e->offset, e->gap.until);
        if (e->gap.from_timed && e->gap.to_timed && e->gap.to_time >= e->gap.from_time)
            q->ticks += e->gap.to_time - e->gap.from_time;
    }
    return NTR_OK;
}

static int by_offset(const void *left, const void *right) {
    const struct cli_lost_part *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Gaps of several sources may cover the same bytes. */
static uint64_t bytes_lost(struct cli_quality *q) {
    uint64_t bytes = 0, end = 0;

    if (q->count) qsort(q->parts, q->count, sizeof *q->parts, by_offset);
    for (size_t i = 0; i < q->count; i++) {
        const uint64_t from = q->parts[i].from > end ? q->parts[i].from : end;
        if (q->parts[i].until <= from) continue;
        bytes += q->parts[i].until - from;
        end = q->parts[i].until;
    }
    return bytes;
}

static void write_images(const struct cli_quality *q, const struct cli_fit *f, struct cli_rows *rows) {
    ntr_image_info info;

    for (size_t i = 0; i < CLI_FIT_IMAGES && ntr_program_image(q->program, i, &info) == NTR_OK; i++) {
        const ntr_fit_image *one = &f->images[i];
        char id[160], label[512];
        if (!one->agreeing && !one->contradicting) continue;
        if (info.path && ntr_bundle_build_id(info.path, id, sizeof id))
            snprintf(label, sizeof label, "%s, build id %s", info.name, id);
        else
            snprintf(label, sizeof label, "%s", info.name);
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
    const double named = q->instructions ? 100.0 * (double)q->named / (double)q->instructions : 0;
    const struct cli_row quality = {"quality",
                                    file,
                                    true,
                                    {CLI_COUNT("gaps", q->gaps), CLI_COUNT("bytes in gaps", bytes_lost(q)),
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
    free(q->parts);
    q->parts = NULL;
}
