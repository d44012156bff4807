/* STF, the Simple Trace Format of Sparcians (stf_lib, version 1.3): records of one hart, each a byte that says its
 * kind, then its fields, little-endian.
 *
 * The header says where the first instruction is. Records of an instruction come before its opcode, which ends them:
 * where it jumps to, then each access to memory and its data. Without a jump, the next instruction follows the opcode.
 * FORCE_PC says where execution continues after what is no instruction. COMMENT, which every reader passes over, says
 * what that was, and in the header what is not known: values of registers, causes of traps, physical addresses.
 * Example: `beq` that is taken, to 0x10074: INST_PC_TARGET 0x10074, INST_OPCODE32. */
#include "base/bytes.h"
#include "export/one_hart.h"

#include <ntrace/version.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    STF_IDENTIFIER = 1,
    STF_VERSION = 2,
    STF_COMMENT = 3,
    STF_ISA = 4,
    STF_INST_IEM = 5,
    STF_TRACE_INFO = 6,
    STF_TRACE_INFO_FEATURE = 7,
    STF_FORCE_PC = 9,
    STF_END_HEADER = 19,
    STF_INST_PC_TARGET = 31,
    STF_INST_MEM_ACCESS = 60,
    STF_INST_MEM_CONTENT = 61,
    STF_INST_OPCODE32 = 240,
    STF_INST_OPCODE16 = 241,
};
enum {
    STF_MAJOR = 1,
    STF_MINOR = 3,
    STF_RISCV = 1,
    STF_RV32 = 1,
    STF_RV64 = 2,
    STF_GENERATOR_RESERVED = 0,
    STF_FEATURE_RV64 = 0x20,
    STF_READ = 1,
    STF_WRITE = 2,
    STF_ACCESSES = 8, /* of one instruction */
};

typedef struct stf_writer {
    ntr_one_hart hart;
    bool started, pending, forced; /* the header is written; there is `last`; the next instruction needs FORCE_PC */
    ntr_instruction last;          /* is written when the next address is known */
    ntr_memory_access list[STF_ACCESSES];
    unsigned count;
    uint64_t long_at; /* an instruction of more than 4 bytes, which STF does not have */
    bool has_long;
} stf_writer;

static void put(ntr_export *x, uint64_t value, unsigned bytes) {
    uint8_t out[8];
    ntr_little_put(out, value, bytes);
    ntr_out_bytes(&x->out, out, bytes);
}

static void put_record(ntr_export *x, unsigned kind, uint64_t value, unsigned bytes) {
    put(x, kind, 1);
    put(x, value, bytes);
}

static void put_comment(ntr_export *x, const char *text) {
    put_record(x, STF_COMMENT, strlen(text), 4);
    ntr_out_bytes(&x->out, text, strlen(text));
}

static ntr_status begin(ntr_export *x) {
    stf_writer *w = x->state;
    return ntr_one_hart_begin(&w->hart, x);
}

static void write_header(ntr_export *x, stf_writer *w, uint64_t address) {
    const bool wide = w->hart.accesses.values.xlen == 64;
    const uint32_t version = ntr_version();
    w->started = true;
    put(x, STF_IDENTIFIER, 1);
    ntr_out_bytes(&x->out, "STF", 3);
    put_record(x, STF_VERSION, STF_MAJOR, 4);
    put(x, STF_MINOR, 4);
    put_comment(
        x, "from an N-Trace stream; not known: values of registers, causes of traps, physical addresses, processes");
    put_record(x, STF_ISA, STF_RISCV, 2);
    put_record(x, STF_INST_IEM, wide ? STF_RV64 : STF_RV32, 2);
    put_record(x, STF_TRACE_INFO, STF_GENERATOR_RESERVED, 1);
    for (unsigned shift = 24; shift >= 8; shift -= 8) put(x, version >> shift & 0xff, 1);
    put(x, strlen("ntrace"), 2);
    ntr_out_bytes(&x->out, "ntrace", strlen("ntrace"));
    put_record(x, STF_TRACE_INFO_FEATURE, wide ? STF_FEATURE_RV64 : 0, 8);
    put_record(x, STF_FORCE_PC, address, 8);
    put(x, STF_END_HEADER, 1);
    w->forced = false;
}

/* Writes the last instruction. `next`: where execution continues; 0: not known. */
static void write_last(ntr_export *x, stf_writer *w, uint64_t next) {
    const ntr_instruction *i = &w->last;
    if (!w->pending) return;
    w->pending = false;
    if (next && next != i->address + i->insn.size) put_record(x, STF_INST_PC_TARGET, next, 8);
    for (unsigned k = 0; k < w->count; k++) {
        const ntr_memory_access *a = &w->list[k];
        put_record(x, STF_INST_MEM_ACCESS, a->address, 8);
        put(x, a->bytes, 2);
        put(x, 0, 2); /* attributes */
        put(x, a->store ? STF_WRITE : STF_READ, 1);
        put_record(x, STF_INST_MEM_CONTENT, a->value, 8);
    }
    if (i->insn.size == 2)
        put_record(x, STF_INST_OPCODE16, i->bits, 2);
    else
        put_record(x, STF_INST_OPCODE32, i->bits, 4);
}

/* Something that is no instruction comes next. */
static void interrupt(ntr_export *x, stf_writer *w, const char *what, uint64_t address) {
    char text[80];
    write_last(x, w, 0);
    w->forced = true;
    if (!w->started) return;
    snprintf(text, sizeof text, address ? "%s 0x%" PRIx64 : "%s", what, address);
    put_comment(x, text);
}

static void write_insn(ntr_export *x, stf_writer *w, const ntr_instruction *i) {
    if (i->insn.size > 4 && !w->has_long) {
        w->has_long = true;
        w->long_at = i->address;
    }
    if (!w->started) write_header(x, w, i->address);
    write_last(x, w, i->address);
    if (w->forced) put_record(x, STF_FORCE_PC, i->address, 8);
    w->forced = false;
    w->pending = true;
    w->last = *i;
    w->count = ntr_one_hart_accesses(&w->hart, i, w->list, STF_ACCESSES);
}

static ntr_status take_span(ntr_export *x, stf_writer *w, const ntr_event *e) {
    ntr_instruction i;
    ntr_status status = NTR_OK;
    if (w->started && !w->forced && e->address != w->hart.expected)
        interrupt(x, w, "not known what is before", e->address);
    for (uint32_t n = 0; n < e->instructions && (status = ntr_instructions_next(w->hart.instructions, &i)) == NTR_OK;
         n++)
        write_insn(x, w, &i);
    ntr_one_hart_after(&w->hart, e);
    return status;
}

static const char *trap_name(unsigned end) {
    return end == NTR_SPAN_EXCEPTION ? "exception after" : end == NTR_SPAN_INTERRUPT ? "interrupt after" : "trap after";
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    stf_writer *w = x->state;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status && !w->has_long; i++) {
        const ntr_event *e = &list[i];
        if (ntr_one_hart_take(&w->hart, e, &status)) status = take_span(x, w, e);
        if (w->hart.has_other) break;
        switch (e->kind) {
        case NTR_EVENT_SPAN:
            if (e->end >= NTR_SPAN_EXCEPTION) interrupt(x, w, trap_name(e->end), w->last.address);
            break;
        case NTR_EVENT_STOP: interrupt(x, w, "tracing was off", 0); break;
        case NTR_EVENT_GAP:
        case NTR_EVENT_NO_CODE:
        case NTR_EVENT_OVERFLOW: interrupt(x, w, "gap: what was executed is not known", 0); break;
        default: break;
        }
    }
    return status;
}

static ntr_status end(ntr_export *x) {
    stf_writer *w = x->state;
    if (w->has_long) {
        snprintf(x->error, sizeof x->error, "0x%" PRIx64 ": STF has instructions of 2 and 4 bytes, found a longer one",
                 w->long_at);
        return NTR_E_UNSUPPORTED;
    }
    write_last(x, w, 0);
    if (!w->started) write_header(x, w, 0);
    return ntr_one_hart_end(&w->hart, x, "left out");
}

static void release(ntr_export *x) {
    stf_writer *w = x->state;
    ntr_one_hart_release(&w->hart, x);
}

const ntr_exporter ntr_exporter_stf = {
    .name = "stf",
    .family = "export",
    .summary = "Simple Trace Format (stf_lib 1.3) of one hart; addresses of memory need 'run --data'",
    .aliases = {NULL},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(stf_writer),
    .begin = begin,
    .events = events,
    .end = end,
    .release = release,
};
