#include "text/event_text.h"

#include <inttypes.h>
#include <ntrace/message.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_TEXT 1024
#define DEPTH_SHOWN   60 /* largest indented call depth */

/* ---- parts of a line */

static char *put_address(char *at, uint64_t address) {
    return cli_put_hex(cli_put_text(at, "0x"), address);
}

static char *put_source(char *at, const struct cli_event_text *t, const ntr_event *e) {
    if (!t->by_source) return at;
    return cli_put_text(cli_put_decimal(at, e->src), ": ");
}

static char *put_place(char *at, const struct cli_event_text *t, const ntr_event *e, uint64_t address) {
    return cli_put_place(at, t->symbols, &e->context, address);
}

/* Writes how the span ends, "taken -> 0x80000020 <main+0x20> (inferred) t=17", and the line feed. */
static char *put_end(char *at, const struct cli_event_text *t, const ntr_event *e) {
    at = cli_put_text(cli_put_text(at, ntr_end_name(e->end)), " -> ");
    at = e->flags & NTR_EVENT_TARGET_UNKNOWN ? cli_put_text(at, "?") : put_place(at, t, e, e->target);
    if (e->flags & NTR_EVENT_IMPLICIT) at = cli_put_text(at, " (inferred)");
    if (e->flags & NTR_EVENT_TIME) at = cli_put_decimal(cli_put_text(at, " t="), e->time);
    return cli_put_text(at, "\n");
}

static char *begin(struct cli_event_text *t, const ntr_event *e) {
    return put_source(cli_output_reserve(t->out, LINE_MAX_TEXT), t, e);
}

static void finish(struct cli_event_text *t, const char *end) {
    cli_output_commit(t->out, (size_t)(end - (t->out->buffer + t->out->used)));
}

/* ---- spans */

/* Writes an address of the span, or "?" if it is not known. */
static char *put_start(char *at, const ntr_event *e, uint64_t address) {
    return e->flags & NTR_EVENT_ADDRESS_UNKNOWN ? cli_put_text(at, "?") : put_address(at, address);
}

void cli_text_span(struct cli_event_text *t, const ntr_event *e) {
    char *at = put_start(begin(t, e), e, e->address);

    if (e->kind == NTR_EVENT_NO_CODE) {
        at = cli_put_text(cli_put_decimal(cli_put_text(at, " "), e->halfwords), " halfwords without image ");
    } else {
        if (e->instructions) at = put_address(cli_put_text(at, ".."), e->last);
        at = cli_put_text(cli_put_decimal(cli_put_text(at, " "), e->instructions),
                          e->instructions == 1 ? " insn " : " insns ");
    }
    finish(t, put_end(at, t, e));
}

/* Returns the address at which the span ends: its last instruction, or its start if a trap occurred before the first
 * one. */
static uint64_t end_address(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->instructions ? e->last : e->address;
}

void cli_text_branch(struct cli_event_text *t, const ntr_event *e) {
    if (e->end == NTR_END_CUT) return;
    finish(t, put_end(cli_put_text(put_start(begin(t, e), e, end_address(e)), " "), t, e));
}

/* ---- calls */

/* Change of the call depth for each kind of end. */
static const int depth_change[NTR_END_KINDS] = {
    [NTR_END_CALL] = 1,      [NTR_END_INDIRECT_CALL] = 1, [NTR_END_RETURN] = -1, [NTR_END_TRAP_RETURN] = -1,
    [NTR_END_EXCEPTION] = 1, [NTR_END_INTERRUPT] = 1,     [NTR_END_TRAP] = 1,
};

void cli_text_call(struct cli_event_text *t, const ntr_event *e) {
    uint16_t *depth = &t->depths[e->src];
    int step = depth_change[e->end];

    if (step == 0 && e->end != NTR_END_CO_SWAP) return;
    if (step < 0 && *depth) --*depth;
    char *at = begin(t, e);
    unsigned indent = 2u * (*depth < DEPTH_SHOWN ? *depth : DEPTH_SHOWN);
    memset(at, ' ', indent);
    finish(t, put_end(cli_put_text(put_start(at + indent, e, end_address(e)), " "), t, e));
    if (step > 0 && *depth < UINT16_MAX) ++*depth;
}

/* ---- remarks */

const char *cli_gap_text(const ntr_event *e) {
    static char words[256];
    int size = snprintf(words, sizeof words, "%s", ntr_status_text((ntr_status)e->reason));

    if (e->gap.from_known)
        size += snprintf(words + size, sizeof words - (size_t)size, "; execution unknown after 0x%" PRIx64,
                         e->gap.from_address);
    if (e->gap.to_known)
        size += snprintf(words + size, sizeof words - (size_t)size, "%s 0x%" PRIx64,
                         e->gap.from_known ? " until" : "; execution unknown until", e->gap.to_address);
    snprintf(words + size, sizeof words - (size_t)size, " (%" PRIu64 " bytes, %" PRIu64 " messages)",
             e->gap.until - e->offset, e->gap.until_message - e->message);
    return words;
}

static int context_words(const ntr_context *c, char *text, size_t size) {
    static const char *const modes[2][4] = {{"U", "S", "reserved", "M"}, {"VU", "VS", "reserved", "reserved"}};
    int used = snprintf(text, size, "mode %s", c->prv > 3 ? "unknown" : modes[c->v & 1][c->prv]);

    if (c->has_scontext) used += snprintf(text + used, size - (size_t)used, " scontext=0x%" PRIx64, c->scontext);
    if (c->has_hcontext) used += snprintf(text + used, size - (size_t)used, " hcontext=0x%" PRIx64, c->hcontext);
    return used;
}

/* Writes the part of a remark that depends on the kind of event. Returns its length. */
static int remark_words(const ntr_event *e, char *text, size_t size) {
    switch (e->kind) {
    case NTR_EVENT_SYNC:
        return snprintf(text, size, "sync %u (%s)", e->code, ntr_sync_name(e->code));
    case NTR_EVENT_STOP:
        return snprintf(text, size, "stop %u (%s)", e->code, ntr_evcode_name(e->code));
    case NTR_EVENT_CONTEXT: {
        int used = snprintf(text, size, "context ");
        return used + context_words(&e->context, text + used, size - (size_t)used);
    }
    case NTR_EVENT_GAP:
        return snprintf(text, size, "gap: %s", cli_gap_text(e));
    case NTR_EVENT_OVERFLOW:
        return snprintf(text, size, "overflow: ETYPE=%u ECODE=0x%" PRIx64, e->code, e->data);
    case NTR_EVENT_DATA:
        return snprintf(text, size, "data: IDTAG=0x%" PRIx64 " DQDATA=0x%" PRIx64 " (%u bytes)", e->tag, e->data,
                        e->data_size);
    case NTR_EVENT_ICT:
        return snprintf(text, size, "ict: CKSRC=%u tag=0x%" PRIx64 " data=0x%" PRIx64, e->code, e->tag, e->data);
    case NTR_EVENT_NOTE:
        return snprintf(text, size, "note: %s", ntr_status_text((ntr_status)e->reason));
    default:
        return snprintf(text, size, "%s %s", ntr_event_kind_name(e->kind), ntr_tcode_name(NULL, e->code));
    }
}

/* Returns whether `address` is defined for this event. */
static bool has_address(const ntr_event *e) {
    return (e->kind == NTR_EVENT_SYNC || e->kind == NTR_EVENT_STOP || e->kind == NTR_EVENT_ICT ||
            e->kind == NTR_EVENT_NOTE) &&
           !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN);
}

void cli_text_remark(struct cli_event_text *t, const ntr_event *e) {
    char *at = cli_put_text(begin(t, e), "# ");

    at += remark_words(e, at, 400);
    if (has_address(e)) at = put_place(cli_put_text(at, " at "), t, e, e->address);
    at += snprintf(at, 100, " [message %" PRIu64 ", byte 0x%" PRIx64 "]", e->message, e->offset);
    if (e->flags & NTR_EVENT_TIME) at = cli_put_decimal(cli_put_text(at, " t="), e->time);
    finish(t, cli_put_text(at, "\n"));
    if (e->kind == NTR_EVENT_GAP && t->depths) t->depths[e->src] = 0;
}
