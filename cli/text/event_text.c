#include "text/event_text.h"

#include <inttypes.h>
#include <ntrace/message.h>
#include <stdio.h>
#include <stdlib.h>
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
    return cli_put_place(at, t->symbols, ntr_event_place(e, address));
}

/* Writes how the span ends, "taken -> 0x80000020 <main+0x20> (inferred)". */
static char *put_end(char *at, const struct cli_event_text *t, const ntr_event *e) {
    at = cli_put_text(cli_put_text(at, ntr_span_end_name(e->end)), " -> ");
    at = e->flags & NTR_EVENT_TARGET_UNKNOWN ? cli_put_text(at, "?") : put_place(at, t, e, e->target);
    return e->flags & NTR_EVENT_IMPLICIT ? cli_put_text(at, " (inferred)") : at;
}

static inline char *put_time(char *at, const ntr_event *e) {
    if (e->flags & NTR_EVENT_TIME) at = cli_put_decimal(cli_put_text(at, " t="), e->time);
    *at++ = '\n';
    return at;
}

static char *begin(struct cli_event_text *t, const ntr_event *e) {
    return put_source(cli_output_reserve(t->out, LINE_MAX_TEXT), t, e);
}

/* ---- spans */

/* Writes an address of the span, or "?" if it is not known. */
static char *put_start(char *at, const ntr_event *e, uint64_t address) {
    return e->flags & NTR_EVENT_ADDRESS_UNKNOWN ? cli_put_text(at, "?") : put_address(at, address);
}

static char *put_span(char *at, const struct cli_event_text *t, const ntr_event *e) {
    at = put_start(at, e, e->address);
    if (e->kind == NTR_EVENT_NO_CODE) {
        at = cli_put_text(cli_put_decimal(cli_put_text(at, " "), e->halfwords), " halfwords without image ");
    } else {
        if (e->instructions) at = put_address(cli_put_text(at, ".."), e->last);
        at = cli_put_text(cli_put_decimal(cli_put_text(at, " "), e->instructions),
                          e->instructions == 1 ? " insn " : " insns ");
    }
    return put_end(at, t, e);
}

/* Returns the address at which the span ends: its last instruction, or its start if a trap occurred before the first
 * one. */
static uint64_t end_address(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN && e->instructions ? e->last : e->address;
}

static char *put_branch(char *at, const struct cli_event_text *t, const ntr_event *e) {
    return put_end(cli_put_text(put_start(at, e, end_address(e)), " "), t, e);
}

/* ---- lines
 *
 * The text of a span is cached, all but its source, indentation and time. It depends on the symbols that its context
 * sees (cli_symbol_view), at its last instruction and at its target. */

typedef char *(*put_function)(char *at, const struct cli_event_text *t, const ntr_event *e);

enum {
    LINE_SLOT_BITS = 16,
    LINES_AT_ONCE = 16, /* lines that are looked up at the same time */
    VIEW_SHIFT = 48,
    VIEW_NONE = UINT16_MAX, /* the text is not stored */
};

bool cli_event_text_open(struct cli_event_text *t, const ntr_program *program) {
    t->symbols = cli_symbol_cache_new(program);
    t->depths = calloc(NTR_SOURCES_MAX, sizeof *t->depths);
    t->one_view = t->symbols && cli_symbol_one_view(t->symbols);
    return cli_text_cache_open(&t->lines, LINE_SLOT_BITS) && t->symbols && t->depths;
}

void cli_event_text_close(struct cli_event_text *t) {
    cli_text_cache_close(&t->lines);
    cli_symbol_cache_free(t->symbols);
    free(t->depths);
}

/* Returns the number of what both addresses are called; VIEW_NONE: they have no number in common. */
static uint64_t view_of(const struct cli_event_text *t, const ntr_event *e) {
    const uint64_t end = cli_symbol_view(t->symbols, ntr_event_place(e, end_address(e)));

    if (e->flags & NTR_EVENT_TARGET_UNKNOWN) return end;
    return cli_symbol_view(t->symbols, ntr_event_place(e, e->target)) == end ? end : VIEW_NONE;
}

static inline struct cli_text_key make_key(const struct cli_event_text *t, const ntr_event *e) {
    const uint64_t flags = e->flags & ~(unsigned)NTR_EVENT_TIME;
    const uint64_t number = t->one_view ? 1 : view_of(t, e);
    const uint64_t view = number < VIEW_NONE ? number : VIEW_NONE;

    return (struct cli_text_key){
        .a = e->address,
        .b = e->target,
        .c = e->last,
        .d = e->instructions | (uint64_t)e->end << 32 | flags << 40 | view << VIEW_SHIFT,
    };
}

/* Writes a text that is long, or not in the cache. */
static __attribute__((noinline)) char *put_other(char *at, struct cli_event_text *t, const ntr_event *e,
                                                 struct cli_text_slot *slot, struct cli_text_key key,
                                                 put_function put) {
    size_t size;
    const char *text = cli_text_cache_find(&t->lines, slot, &key, &size);

    if (text) return cli_put_bytes(at, text, size);
    char *end = put(at, t, e);
    if (key.d >> VIEW_SHIFT != VIEW_NONE) cli_text_cache_store(&t->lines, slot, &key, at, (size_t)(end - at));
    return end;
}

static inline char *put_cached(char *at, struct cli_event_text *t, const ntr_event *e, struct cli_text_slot *slot,
                               put_function put) {
    const struct cli_text_key key = make_key(t, e);

    return cli_text_slot_is_short(slot, key) ? cli_text_slot_copy(slot, at) : put_other(at, t, e, slot, key, put);
}

static inline struct cli_text_slot *find_slot(const struct cli_event_text *t, const ntr_event *e) {
    return cli_text_cache_slot(&t->lines, make_key(t, e));
}

static inline __attribute__((always_inline)) void write_batch(struct cli_event_text *t, const ntr_event *spans,
                                                              size_t count, bool cuts, put_function put) {
    struct cli_text_slot *slots[LINES_AT_ONCE];

    for (size_t i = 0; i < count; i++) cli_text_slot_fetch(slots[i] = find_slot(t, &spans[i]));
    for (size_t i = 0; i < count; i++) {
        if (spans[i].end == NTR_SPAN_CUT && !cuts) continue;
        char *at = put_cached(begin(t, &spans[i]), t, &spans[i], slots[i], put);
        cli_output_end(t->out, put_time(at, &spans[i]));
    }
}

void cli_text_spans(struct cli_event_text *t, const ntr_event *spans, size_t count) {
    for (size_t i = 0; i < count; i += LINES_AT_ONCE)
        write_batch(t, spans + i, count - i < LINES_AT_ONCE ? count - i : LINES_AT_ONCE, true, put_span);
}

void cli_text_branches(struct cli_event_text *t, const ntr_event *spans, size_t count) {
    for (size_t i = 0; i < count; i += LINES_AT_ONCE)
        write_batch(t, spans + i, count - i < LINES_AT_ONCE ? count - i : LINES_AT_ONCE, false, put_branch);
}

void cli_text_no_code(struct cli_event_text *t, const ntr_event *e) {
    cli_output_end(t->out, put_time(put_span(begin(t, e), t, e), e));
}

void cli_text_no_code_branch(struct cli_event_text *t, const ntr_event *e) {
    if (e->end != NTR_SPAN_CUT) cli_output_end(t->out, put_time(put_branch(begin(t, e), t, e), e));
}

/* ---- calls */

/* Change of the call depth for each kind of end. */
static const int depth_change[NTR_SPAN_KINDS] = {
    [NTR_SPAN_CALL] = 1,      [NTR_SPAN_INDIRECT_CALL] = 1, [NTR_SPAN_RETURN] = -1, [NTR_SPAN_TRAP_RETURN] = -1,
    [NTR_SPAN_EXCEPTION] = 1, [NTR_SPAN_INTERRUPT] = 1,     [NTR_SPAN_TRAP] = 1,
};

void cli_text_call(struct cli_event_text *t, const ntr_event *e) {
    uint16_t *depth = &t->depths[e->src];
    int step = depth_change[e->end];

    if (step == 0 && e->end != NTR_SPAN_CO_SWAP) return;
    if (step < 0 && *depth) --*depth;
    char *at = begin(t, e);
    unsigned indent = 2u * (*depth < DEPTH_SHOWN ? *depth : DEPTH_SHOWN);
    memset(at, ' ', indent);
    at += indent;
    at = e->kind == NTR_EVENT_SPAN ? put_cached(at, t, e, find_slot(t, e), put_branch) : put_branch(at, t, e);
    cli_output_end(t->out, put_time(at, e));
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
    /* the last two: docs/dialects.md section 6.5 */
    static const char *const modes[2][4] = {
        {"U", "S", "reserved", "M"}, {"VU", "VS", "reserved (tt-dfd: debug mode)", "reserved (tt-dfd: firmware mode)"}};
    int used = snprintf(text, size, "mode %s", c->prv > 3 ? "unknown" : modes[c->v & 1][c->prv]);

    if (c->has_scontext) used += snprintf(text + used, size - (size_t)used, " scontext=0x%" PRIx64, c->scontext);
    if (c->has_hcontext) used += snprintf(text + used, size - (size_t)used, " hcontext=0x%" PRIx64, c->hcontext);
    return used;
}

/* All words of the data as one number. */
static int number_words(const ntr_event *e, char *text, size_t size) {
    const uint64_t *more = e->data_more;

    if (more[1]) return snprintf(text, size, "0x%" PRIx64 "%016" PRIx64 "%016" PRIx64, more[1], more[0], e->data);
    if (more[0]) return snprintf(text, size, "0x%" PRIx64 "%016" PRIx64, more[0], e->data);
    return snprintf(text, size, "0x%" PRIx64, e->data);
}

static int data_words(const ntr_event *e, char *text, size_t size) {
    int used = snprintf(text, size, "data: IDTAG=0x%" PRIx64 " DQDATA=", e->tag);

    used += number_words(e, text + used, size - (size_t)used);
    return e->data_size ? used + snprintf(text + used, size - (size_t)used, " (%u bytes)", e->data_size) : used;
}

static int access_words(const ntr_event *e, char *text, size_t size) {
    int used = snprintf(text, size, "%s of %u bytes at ", ntr_data_access_name(e->code), e->data_size);

    if (e->flags & NTR_EVENT_ADDRESS_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "?");
    else
        used += snprintf(text + used, size - (size_t)used, "0x%" PRIx64, e->data_address);
    used += snprintf(text + used, size - (size_t)used, ": ");
    return used + number_words(e, text + used, size - (size_t)used);
}

/* Writes the part of a remark that depends on the kind of event. Returns its length. */
static int remark_words(const ntr_event *e, char *text, size_t size) {
    switch (e->kind) {
    case NTR_EVENT_SYNC: return snprintf(text, size, "sync %u (%s)", e->code, ntr_sync_name(e->code));
    case NTR_EVENT_STOP: return snprintf(text, size, "stop %u (%s)", e->code, ntr_evcode_name(e->code));
    case NTR_EVENT_CONTEXT: {
        int used = snprintf(text, size, "context ");
        return used + context_words(&e->context, text + used, size - (size_t)used);
    }
    case NTR_EVENT_GAP: return snprintf(text, size, "gap: %s", cli_gap_text(e));
    case NTR_EVENT_OVERFLOW:
        return snprintf(text, size, "%s: ETYPE=%u ECODE=0x%" PRIx64, e->code >= 8 ? "vendor error" : "overflow",
                        e->code, e->data);
    case NTR_EVENT_DATA: return data_words(e, text, size);
    case NTR_EVENT_ACCESS: return access_words(e, text, size);
    case NTR_EVENT_WATCHPOINT: return snprintf(text, size, "watchpoint: WPHIT=0x%" PRIx64, e->data);
    case NTR_EVENT_ICT:
        return snprintf(text, size, "ict: CKSRC=%u tag=0x%" PRIx64 " data=0x%" PRIx64, e->code, e->tag, e->data);
    case NTR_EVENT_TRAP_VALUE:
        return snprintf(text, size, "trap value 0x%" PRIx64 "%s", e->data, e->code ? " (of unknown kind)" : "");
    case NTR_EVENT_NOTE: return snprintf(text, size, "note: %s", ntr_status_text((ntr_status)e->reason));
    default: return snprintf(text, size, "%s %s", ntr_event_kind_name(e->kind), ntr_tcode_name(NULL, e->code));
    }
}

/* Returns whether `address` is defined for this event. */
static bool has_address(const ntr_event *e) {
    return (e->kind == NTR_EVENT_SYNC || e->kind == NTR_EVENT_STOP || e->kind == NTR_EVENT_ICT ||
            e->kind == NTR_EVENT_NOTE) &&
           !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN);
}

/* ---- data */

void cli_text_data(struct cli_event_text *t, const ntr_event *e) {
    char *at = begin(t, e);

    if (e->kind == NTR_EVENT_ACCESS) {
        at += snprintf(at, 100, "%s %u ", ntr_data_access_name(e->code), e->data_size);
        at = e->flags & NTR_EVENT_ADDRESS_UNKNOWN ? cli_put_text(at, "?") : put_place(at, t, e, e->data_address);
        at = put_address(cli_put_text(at, " = "), e->data);
    } else {
        at += remark_words(e, at, 400);
    }
    at += snprintf(at, 100, " [message %" PRIu64 ", byte 0x%" PRIx64 "]", e->message, e->offset);
    cli_output_end(t->out, put_time(at, e));
}

/* ---- */

void cli_text_remark(struct cli_event_text *t, const ntr_event *e) {
    char *at = cli_put_text(begin(t, e), "# ");

    at += remark_words(e, at, 400);
    if (has_address(e)) at = put_place(cli_put_text(at, " at "), t, e, e->address);
    at += snprintf(at, 100, " [message %" PRIu64 ", byte 0x%" PRIx64 "]", e->message, e->offset);
    cli_output_end(t->out, put_time(at, e));
    if (e->kind == NTR_EVENT_GAP && t->depths) t->depths[e->src] = 0;
}
