/* A scene: a few instructions, a few messages as text, and the expected events as text. */
#ifndef NTR_TEST_SCENE_H
#define NTR_TEST_SCENE_H

#include "../../streams/tallies.h"
#include "../test.h"

#include <ntrace/ntrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- code: 16-bit values are 16-bit instructions, others 32-bit ones */

#define C_NOP              0x0001u
#define C_ADD              0x9532u    /* c.add a0, a2 */
#define C_RET              0x8082u    /* c.jr ra */
#define C_EBREAK           0x9002u
#define C_JALR_A5          0x9782u
#define ADD                0x00c50533u  /* add a0, a0, a2 */
#define JR_A5              0x00078067u
#define JALR_A5            0x000780e7u
#define RET                0x00008067u
#define CO_SWAP            0x000280e7u /* jalr ra, 0(t0) */
#define ECALL              0x00000073u
#define MRET               0x30200073u
#define CUSTOM_0           0x0000000bu
#define LUI_A5(value)      (0x000007b7u | ((uint32_t)(value) & 0xfffff000u))
#define JR_A5_PLUS(offset) (0x00078067u | (uint32_t)(offset) << 20)

static inline uint32_t branch(int offset) { /* beq a0, a2 */
    uint32_t o = (uint32_t)offset;
    return 0x00c50063u | (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 0xf) << 8 | (o >> 11 & 1) << 7;
}

static inline uint32_t jal(unsigned rd, int offset) {
    uint32_t o = (uint32_t)offset;
    return 0x6fu | rd << 7 | (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 |
           (o >> 12 & 0xff) << 12;
}

static inline uint32_t c_beqz(int offset) { /* c.beqz a0 */
    uint32_t o = (uint32_t)offset;
    return 0xc101u | (o >> 8 & 1) << 12 | (o >> 3 & 3) << 10 | (o >> 6 & 3) << 5 | (o >> 1 & 3) << 3 |
           (o >> 5 & 1) << 2;
}

#define CODE_END UINT32_MAX

typedef struct scene {
    ntr_program *program;
    ntr_decoder_config config;
    size_t chunk;    /* bytes of each feed; 0: all at once */
    size_t capacity; /* events of each read; 0: many */
} scene;

static inline void scene_start(scene *s, const char *dialect) {
    *s = (scene){.config.size = sizeof s->config};
    ntr_params_init(&s->config.params, dialect ? ntr_dialect_find(dialect) : NULL);
    ntr_program_new(NULL, &s->program);
    s->config.program = s->program;
}

static inline void scene_end(scene *s) {
    ntr_program_free(s->program);
}

static inline void add_code_for(scene *s, uint64_t address, const uint32_t *code, const ntr_image_options *bound) {
    uint8_t bytes[512];
    size_t size = 0;
    for (; *code != CODE_END; code++) {
        unsigned length = (*code & 3) == 3 ? 4 : 2;
        for (unsigned i = 0; i < length; i++) bytes[size++] = (uint8_t)(*code >> 8 * i);
    }
    ntr_image_options options = bound ? *bound : (ntr_image_options){0};
    options.size = sizeof options;
    options.bias = address;
    assert_int_equal(ntr_program_add_raw(s->program, (ntr_bytes){bytes, size}, &options), NTR_OK);
}

#define code(scene, address, ...) add_code_for(scene, address, (const uint32_t[]){__VA_ARGS__, CODE_END}, NULL)

/* ---- messages: lines in the format of `ntrace dump`; "raw XX XX" are plain bytes */

typedef struct stream {
    uint8_t bytes[65536];
    size_t size;
} stream;

static inline void add_line(stream *out, const ntr_params *params, const char *line) {
    if (strncmp(line, "raw", 3) == 0) {
        char *at = (char *)(uintptr_t)(line + 3);
        for (char *end; *at; at = end) {
            unsigned long byte = strtoul(at, &end, 16);
            if (end == at) break;
            out->bytes[out->size++] = (uint8_t)byte;
        }
        return;
    }
    int n = ntr_message_assemble(params, line, out->bytes + out->size, sizeof out->bytes - out->size, NULL);
    if (n < 0) fail_msg("cannot assemble '%s': %s", line, ntr_status_name((ntr_status)n));
    out->size += (size_t)n;
}

static inline void assemble(stream *out, const ntr_params *params, const char *text) {
    char line[512];
    while (*text) {
        size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        add_line(out, params, line);
        text += n + (text[n] == '\n');
    }
}

/* ---- events as text */

static inline void address_text(char *out, size_t room, bool known, uint64_t address) {
    if (known)
        snprintf(out, room, "%" PRIx64, address);
    else
        snprintf(out, room, "?");
}

static inline size_t event_text(char *out, size_t room, const ntr_event *e) {
    char from[32], to[32];
    address_text(from, sizeof from, !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN), e->address);
    address_text(to, sizeof to, !(e->flags & NTR_EVENT_TARGET_UNKNOWN), e->target);
    const char *implicit = e->flags & NTR_EVENT_IMPLICIT ? " implicit" : "";
    int n = 0;
    switch (e->kind) {
    case NTR_EVENT_SPAN:
        n = snprintf(out, room, "span %s+%u/%u %s %s%s", from, e->instructions, e->halfwords, ntr_span_end_name(e->end),
                     to, implicit);
        break;
    case NTR_EVENT_NO_CODE:
        n = snprintf(out, room, "blind %s+%u %s %s", from, e->halfwords, ntr_span_end_name(e->end), to);
        break;
    case NTR_EVENT_SYNC: n = snprintf(out, room, "sync %u %s", e->code, from); break;
    case NTR_EVENT_STOP: n = snprintf(out, room, "stop %u %s", e->code, from); break;
    case NTR_EVENT_NOTE: n = snprintf(out, room, "note %s", ntr_status_name((ntr_status)e->reason) + 6); break;
    case NTR_EVENT_CONTEXT:
        n = snprintf(out, room, "context %u v%u prv%u s%" PRIu64 " h%" PRIu64, e->code, e->context.v, e->context.prv,
                     e->context.scontext, e->context.hcontext);
        break;
    case NTR_EVENT_GAP:
        address_text(from, sizeof from, e->gap.from_known, e->gap.from_address);
        address_text(to, sizeof to, e->gap.to_known, e->gap.to_address);
        n = snprintf(out, room, "gap %s #%" PRIu64 "-#%" PRIu64 " @%" PRIu64 "-@%" PRIu64 " %s to %s",
                     ntr_status_name((ntr_status)e->reason) + 6, e->message, e->gap.until_message, e->offset,
                     e->gap.until, from, to);
        break;
    case NTR_EVENT_OVERFLOW: n = snprintf(out, room, "overflow %u %" PRIx64, e->code, e->data); break;
    case NTR_EVENT_DATA:
        n = snprintf(out, room, "data %" PRIu64 " %" PRIx64 "/%u", e->tag, e->data, e->data_size);
        break;
    case NTR_EVENT_ACCESS:
        address_text(from, sizeof from, !(e->flags & NTR_EVENT_ADDRESS_UNKNOWN), e->data_address);
        n = snprintf(out, room, "%s %u/%" PRIu64 " %s %" PRIx64, ntr_data_access_name(e->code), e->data_size, e->tag,
                     from, e->data);
        break;
    case NTR_EVENT_WATCHPOINT: n = snprintf(out, room, "watchpoint %" PRIx64, e->data); break;
    case NTR_EVENT_ICT: n = snprintf(out, room, "ict %u %s %" PRIx64, e->code, from, e->data); break;
    case NTR_EVENT_TRAP_VALUE: n = snprintf(out, room, "trap-value %u %" PRIx64, e->code, e->data); break;
    default: n = snprintf(out, room, "%s %u", ntr_event_kind_name(e->kind), e->code);
    }
    if (e->src) n += snprintf(out + n, room - (size_t)n, " src%u", e->src);
    if (e->flags & NTR_EVENT_TIME) n += snprintf(out + n, room - (size_t)n, " t%" PRIu64, e->time);
    n += snprintf(out + n, room - (size_t)n, "\n");
    return (size_t)n;
}

#define SCENE_TEXT (1 << 16)

/* Every event carries the context that the latest Ownership message of its source reported. */
static inline void check_context(ntr_context *by_source, const ntr_event *e) {
    if (e->kind == NTR_EVENT_CONTEXT) by_source[e->src] = e->context;
    if (!ntr_context_equal(&by_source[e->src], &e->context))
        fail_msg("%s event of message %" PRIu64 " has another context than its source", ntr_event_kind_name(e->kind),
                 e->message);
}

/* Decode; appends the events to `out` and their totals to `totals`. Returns the status of the last read. */
static inline ntr_status decode_stream(const scene *s, const stream *in, char *out, ntr_counts *totals) {
    static _Thread_local ntr_event events[64];
    static _Thread_local ntr_context contexts[4096];
    size_t capacity = s->capacity ? s->capacity : 64, at = 0;
    ntr_status status;
    for (size_t i = 0; i < 4096; i++) contexts[i] = (ntr_context)NTR_CONTEXT_UNKNOWN;
    ntr_decoder *d;
    status = ntr_decoder_new(&s->config, &d);
    assert_non_null(d);
    *out = 0;
    size_t chunk = s->chunk ? s->chunk : in->size;
    for (size_t fed = 0;; fed += chunk) {
        size_t n = in->size - fed < chunk ? in->size - fed : chunk;
        assert_int_equal(ntr_decoder_feed(d, in->bytes + fed, n, fed + n == in->size), NTR_OK);
        do {
            size_t count;
            status = ntr_decoder_read(d, events, capacity, &count);
            for (size_t i = 0; i < count; i++) {
                check_context(contexts, &events[i]);
                at += event_text(out + at, SCENE_TEXT - at, &events[i]);
                totals_add(totals, &events[i], s->config.params.dialect);
            }
        } while (status == NTR_OK);
        if (status != NTR_NEED_MORE) break;
    }
    ntr_decoder_free(d);
    return status;
}

/* Counting decode must find the same totals. */
static inline void counts_to(const scene *s, const stream *in, const ntr_counts *events) {
    ntr_counts counts = {0};
    ntr_decoder *d;
    ntr_decoder_new(&s->config, &d);
    assert_int_equal(ntr_decoder_feed(d, in->bytes, in->size, true), NTR_OK);
    assert_int_equal(ntr_decoder_count(d, &counts), NTR_END);
    ntr_decoder_free(d);
    assert_int_equal(counts.bytes, in->size);
    counts.bytes = counts.messages = 0;
    assert_memory_equal(&counts, events, sizeof counts);
    const char *differs = tallies_differ(&s->config, (ntr_bytes){in->bytes, in->size});
    if (differs) fail_msg("%s", differs);
}

static inline void decodes_to(const scene *s, const char *messages, const char *events) {
    static _Thread_local char text[SCENE_TEXT];
    stream in = {.size = 0};
    assemble(&in, &s->config.params, messages);
    ntr_counts totals = {0};
    assert_int_equal(decode_stream(s, &in, text, &totals), NTR_END);
    assert_string_equal(text, events);
    counts_to(s, &in, &totals);
}

#endif
