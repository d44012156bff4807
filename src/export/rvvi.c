/* RVVI-TEXT 0.3 of one hart: each retired instruction, and each one that trapped. A trace has no values of registers,
 * so that there are no elements X, F, V and C. What RVVI-TEXT has no element for is META of the vendor "ntrace", behind
 * the first instruction after it: "interrupt EPC", "trap EPC" (an exception or an interrupt, not known which), "stop"
 * (tracing was off), "gap" (instructions are missing). */
#include "export/export.h"

#include "base/bytes.h"

#include <ntrace/instructions.h>
#include <ntrace/version.h>
#include <stdio.h>

enum { RVVI_INSN_BYTES = 8 };

#define RVVI_SECOND UINT64_C(1000000000)
#define RATE_MAX    (UINT64_MAX / RVVI_SECOND)
#define SECONDS_MAX (UINT64_MAX / RVVI_SECOND - 1)

typedef enum rvvi_before { RVVI_NOTHING, RVVI_GAP, RVVI_STOP, RVVI_INTERRUPT, RVVI_TRAP } rvvi_before;

typedef struct rvvi_writer {
    ntr_instructions *instructions;
    bool begun, has_other;
    uint16_t src, other; /* the hart, and another one */
    rvvi_before before;  /* of the next instruction */
    uint64_t epc, time;  /* of `before`; nanoseconds written so far */
} rvvi_writer;

static ntr_status begin(ntr_export *x) {
    rvvi_writer *w = x->state;
    ntr_instructions_new(x->analysis.program, x->allocator, &w->instructions);
    return w->instructions ? NTR_OK : NTR_E_MEMORY;
}

static void write_head(ntr_export *x, rvvi_writer *w, uint16_t src) {
    const unsigned xlen = ntr_program_xlen(x->analysis.program);
    w->begun = true;
    w->src = src;
    ntr_out_format(&x->out,
                   "VERSION 0 3\nVENDOR \"ntrace\" %d %d\n"
                   "PARAMS %d ILEN 32 XLEN %u FLEN 0 VLEN 0 NHART %u RETIRE 1%s\n",
                   NTR_VERSION_MAJOR, NTR_VERSION_MINOR, x->analysis.ticks_per_second ? 7 : 6, xlen ? xlen : 64,
                   src + 1u, x->analysis.ticks_per_second ? " TIMESCALE ns" : "");
    if (src) ntr_out_format(&x->out, "HART %u\n", src);
}

/* A comment ends at a quote, and has printable characters. */
static void write_name(ntr_export *x, const ntr_event *e, uint64_t address) {
    const ntr_function *function =
        ntr_functions_get(x->analysis.functions, ntr_functions_at(x->analysis.functions, ntr_event_place(e, address)));
    char shorter[NTR_OUT_SHORT + 4];
    ntr_out_text(&x->out, " '");
    for (const char *c = function ? ntr_out_shorten(function->name, shorter) : "?"; *c; c++)
        ntr_out_char(&x->out, *c >= ' ' && *c <= '~' && *c != '\'' ? *c : '?');
    ntr_out_char(&x->out, '\'');
}

/* The delta to the time before, in nanoseconds. */
static void write_time(ntr_export *x, rvvi_writer *w, const ntr_event *e) {
    const uint64_t rate = x->analysis.ticks_per_second;
    if (!(e->flags & NTR_EVENT_TIME) || !rate || rate > RATE_MAX || e->time / rate > SECONDS_MAX) return;
    const uint64_t time = e->time / rate * RVVI_SECOND + e->time % rate * RVVI_SECOND / rate;
    if (time <= w->time) return;
    ntr_out_format(&x->out, "TIME %llu ", (unsigned long long)(time - w->time));
    w->time = time;
}

static void write_insn(ntr_export *x, const ntr_event *e, const char *key, uint64_t address, uint64_t bits,
                       unsigned size) {
    if (e->context.prv != NTR_PRV_UNKNOWN) ntr_out_format(&x->out, "MODE 0x%x ", e->context.prv);
    if (e->context.v) ntr_out_text(&x->out, "VIRT 1 ");
    ntr_out_format(&x->out, "%s 0x%llx", key, (unsigned long long)address);
    write_name(x, e, address);
    ntr_out_format(&x->out, " 0x%0*llx", 2 * (int)size, (unsigned long long)bits);
}

static void write_before(ntr_export *x, rvvi_writer *w) {
    const unsigned long long epc = w->epc;
    if (w->before == RVVI_STOP) ntr_out_text(&x->out, " META 1 stop");
    if (w->before == RVVI_GAP) ntr_out_text(&x->out, " META 1 gap");
    if (w->before == RVVI_INTERRUPT) ntr_out_format(&x->out, " META 2 interrupt 0x%llx", epc);
    if (w->before == RVVI_TRAP) ntr_out_format(&x->out, " META 2 trap 0x%llx", epc);
    w->before = RVVI_NOTHING;
}

/* The instruction that raised an exception: the one after the span. Its bytes are 0 when no image has them. */
static void write_trap(ntr_export *x, rvvi_writer *w, const ntr_event *e, uint64_t epc) {
    uint8_t bytes[RVVI_INSN_BYTES] = {0};
    ntr_insn insn;
    unsigned size = 4;
    const ntr_status known = ntr_program_insn(x->analysis.program, ntr_event_place(e, epc), &insn);
    if ((known == NTR_OK || known == NTR_E_JUMP_TABLE) && insn.size <= 8)
        size = (unsigned)ntr_program_read(x->analysis.program, ntr_event_place(e, epc), bytes, insn.size);
    write_insn(x, e, "TRAP", epc, ntr_little(bytes, size), size ? size : 4);
    write_before(x, w);
    ntr_out_char(&x->out, '\n');
}

static ntr_status take_span(ntr_export *x, rvvi_writer *w, const ntr_event *e) {
    ntr_instruction i;
    ntr_status status = NTR_END;
    const uint64_t behind = e->address + 2 * (uint64_t)e->halfwords;
    if (e->instructions) write_time(x, w, e);
    ntr_instructions_begin(w->instructions, e);
    while (e->instructions && (status = ntr_instructions_next(w->instructions, &i)) == NTR_OK && !x->out.status) {
        write_insn(x, e, "RET", i.address, i.bits, i.insn.size < 8 ? i.insn.size : 8u);
        write_before(x, w);
        ntr_out_char(&x->out, '\n');
    }
    if (status != NTR_OK && status != NTR_END) return status;
    if (e->end == NTR_SPAN_EXCEPTION) write_trap(x, w, e, behind);
    if (e->end == NTR_SPAN_INTERRUPT || e->end == NTR_SPAN_TRAP) {
        w->before = e->end == NTR_SPAN_TRAP ? RVVI_TRAP : RVVI_INTERRUPT;
        w->epc = behind;
    }
    return NTR_OK;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    rvvi_writer *w = x->state;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status && !w->has_other; i++) {
        const ntr_event *e = &list[i];
        if (e->kind == NTR_EVENT_GAP || e->kind == NTR_EVENT_NO_CODE) w->before = RVVI_GAP;
        if (e->kind == NTR_EVENT_STOP && w->before != RVVI_GAP) w->before = RVVI_STOP;
        if (e->kind != NTR_EVENT_SPAN) continue;
        if (!w->begun) {
            write_head(x, w, e->src);
            w->before = RVVI_NOTHING; /* what is before the first instruction is no gap between two */
        }
        w->other = e->src;
        w->has_other = e->src != w->src; /* `end` has the error, and its sentence */
        if (!w->has_other) status = take_span(x, w, e);
    }
    return status;
}

static ntr_status end(ntr_export *x) {
    rvvi_writer *w = x->state;
    if (!w->begun) write_head(x, w, 0);
    if (!w->has_other) return NTR_OK;
    snprintf(x->error, sizeof x->error, "expected one hart, found those with SRC %u and %u; select one with --src",
             w->src, w->other);
    return NTR_E_UNSUPPORTED;
}

static void release(ntr_export *x) {
    rvvi_writer *w = x->state;
    ntr_instructions_free(w->instructions);
}

const ntr_exporter ntr_exporter_rvvi = {
    .name = "rvvi",
    .family = "export",
    .summary = "RVVI-TEXT 0.3 of one hart: every instruction that retired or trapped, without registers",
    .aliases = {"rvvi-text"},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(rvvi_writer),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};
