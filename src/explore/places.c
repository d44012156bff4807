/* What the trace is, its gaps, and parts that several answers have. */
#include "explore/state.h"

#include "base/macros.h"

#include <ntrace/export.h>

const char *ntr_frame_kind_text(uint8_t kind) {
    static const char *const names[] = {[NTR_FRAME_ROOT] = "root",
                                        [NTR_FRAME_CALL] = "call",
                                        [NTR_FRAME_EXCEPTION] = "exception",
                                        [NTR_FRAME_INTERRUPT] = "interrupt"};
    return kind < NTR_COUNT(names) ? names[kind] : "hart";
}

void ntr_answer_context(ntr_answer *a, const char *key, const ntr_context *context) {
    static const char *const modes[2][4] = {{"U", "S", NULL, "M"}, {"VU", "VS", NULL, "M"}};
    ntr_answer_open(a, key, '{');
    if (context->prv < 4 && modes[context->v & 1][context->prv])
        ntr_answer_text(a, "prv", modes[context->v & 1][context->prv]);
    if (context->has_scontext) ntr_answer_hex(a, "scontext", context->scontext);
    if (context->has_hcontext) ntr_answer_hex(a, "hcontext", context->hcontext);
    ntr_answer_close(a, '}');
}

void ntr_answer_gap(ntr_answer *a, const char *key, uint64_t position, const ntr_event *gap) {
    ntr_answer_open(a, key, '{');
    ntr_answer_number(a, "position", position);
    ntr_answer_number(a, "src", gap->src);
    ntr_answer_text(a, "reason", ntr_status_text(gap->reason));
    ntr_answer_number(a, "offset", gap->offset);
    ntr_answer_number(a, "message", gap->message);
    ntr_answer_number(a, "bytes", gap->gap.until - gap->offset);
    ntr_answer_number(a, "messages", gap->gap.until_message - gap->message);
    if (gap->gap.from_known) ntr_answer_hex(a, "from_address", gap->gap.from_address);
    if (gap->gap.to_known) ntr_answer_hex(a, "to_address", gap->gap.to_address);
    if (gap->gap.from_timed) ntr_answer_number(a, "from_time", gap->gap.from_time);
    if (gap->gap.to_timed) ntr_answer_number(a, "to_time", gap->gap.to_time);
    ntr_answer_close(a, '}');
}

ntr_status ntr_answer_gaps(ntr_explorer *x, ntr_question *q) {
    uint64_t from, to, limit, left_out = x->index.gaps_left_out, rows = 0;
    TRY(ntr_question_range(x, q, &from, &to));
    TRY(ntr_question_number(q, "limit", 500, 1, NTR_ROWS_MOST, &limit));
    if (!x->index.complete) q->partial = true;
    ntr_answer_number(q->answer, "from", from);
    ntr_answer_number(q->answer, "to", to);
    ntr_answer_open(q->answer, "gaps", '[');
    for (size_t i = 0; i < x->index.gap_count; i++) {
        const ntr_index_gap *gap = &x->index.gaps[i];
        if (gap->position < from || gap->position > to) continue;
        if (rows++ < limit)
            ntr_answer_gap(q->answer, NULL, gap->position, &gap->event);
        else
            left_out++;
    }
    ntr_answer_close(q->answer, ']');
    ntr_answer_number(q->answer, "left_out", left_out);
    return NTR_OK;
}

/* ---- what the trace is */

static void write_harts(const ntr_explorer *x, ntr_answer *a) {
    ntr_answer_open(a, "harts", '[');
    for (size_t i = 0; i < x->replay->hart_count && i < NTR_ROWS_MOST; i++) {
        ntr_answer_open(a, NULL, '{');
        const uint16_t src = x->replay->harts[i];
        const char *name = x->config.source_name ? x->config.source_name(x->config.user, src) : NULL;
        ntr_answer_number(a, "src", src);
        if (name) ntr_answer_text(a, "name", name);
        ntr_answer_number(a, "instructions", ntr_explorer_executed(x, i));
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
}

static void write_images(const ntr_explorer *x, ntr_answer *a) {
    ntr_image_info info;
    size_t count = 0;
    ntr_answer_open(a, "images", '[');
    for (; ntr_program_image(x->decoder.program, count, &info) == NTR_OK; count++) {
        if (count >= 200) continue;
        ntr_answer_open(a, NULL, '{');
        ntr_answer_text(a, "name", info.name);
        ntr_answer_hex(a, "low", info.low);
        ntr_answer_hex(a, "high", info.high);
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "left_out_images", count > 200 ? count - 200 : 0);
}

ntr_status ntr_answer_about(ntr_explorer *x, ntr_question *q) {
    ntr_answer *a = q->answer;
    const ntr_explore_progress progress = ntr_explorer_progress(x);
    if (!progress.read && !x->index.complete) q->partial = true;
    ntr_answer_text(a, "title", x->config.title);
    ntr_answer_number(a, "instructions", progress.known);
    ntr_answer_number(a, "ticks_per_second", x->config.ticks_per_second);
    write_harts(x, a);
    write_images(x, a);
    ntr_answer_open(a, "losses", '[');
    for (size_t i = 0; i < x->config.loss_count && i < 100; i++) ntr_answer_text(a, NULL, x->config.losses[i]);
    ntr_answer_close(a, ']');
    ntr_answer_open(a, "facts", '[');
    for (size_t i = 0; i < x->config.fact_count && i < 100; i++) {
        ntr_answer_open(a, NULL, '{');
        ntr_answer_text(a, "label", x->config.facts[i].label);
        ntr_answer_text(a, "value", x->config.facts[i].value);
        ntr_answer_close(a, '}');
    }
    ntr_answer_close(a, ']');
    ntr_answer_text(a, "damage", *ntr_replay_error(x->replay) ? ntr_replay_error(x->replay) : NULL);
    ntr_answer_bool(a, "disassembly", x->config.disassemble != NULL);
    return NTR_OK;
}
