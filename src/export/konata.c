/* Log of Konata (Kanata 0004): each retired instruction, with its address, bytes and function. A trace has no pipeline:
 * there is one stage, "X". An instruction takes one cycle; with timestamps, the instructions that a message reports
 * begin at the time of the message, one after the other. */
#include "export/export.h"

#include "base/allocator.h"

#include <ntrace/instructions.h>

enum { SOURCES = 1 << 12 };

typedef struct konata_source {
    uint64_t instructions;
    int16_t reason; /* of a gap before the next instruction; 0: none */
} konata_source;

typedef struct konata_writer {
    ntr_instructions *instructions;
    konata_source *sources;
    uint64_t now, number; /* cycle, and instructions of all sources */
    bool begun;
} konata_writer;

static ntr_status begin(ntr_export *x) {
    konata_writer *w = x->state;
    ntr_instructions_new(x->analysis.program, x->allocator, &w->instructions);
    w->sources = ntr_alloc(x->allocator, SOURCES, sizeof *w->sources);
    ntr_out_text(&x->out, "Kanata\t0004\n");
    return w->instructions && w->sources ? NTR_OK : NTR_E_MEMORY;
}

/* The first line with a cycle is absolute, the others are differences. */
static void move_to(ntr_export *x, konata_writer *w, uint64_t cycle) {
    if (w->begun && cycle <= w->now) return;
    ntr_out_text(&x->out, w->begun ? "C\t" : "C=\t");
    ntr_out_dec(&x->out, w->begun ? cycle - w->now : cycle);
    ntr_out_char(&x->out, '\n');
    w->begun = true;
    w->now = cycle;
}

static void write_labels(ntr_export *x, const konata_writer *w, const ntr_event *e, const ntr_instruction *i) {
    const ntr_place place = ntr_event_place(e, i->address);
    const ntr_function *function =
        ntr_functions_get(x->analysis.functions, ntr_functions_at(x->analysis.functions, place));
    konata_source *source = &w->sources[e->src % SOURCES];
    ntr_out_format(&x->out, "L\t%llu\t0\t%llx: %0*llx ", (unsigned long long)w->number, (unsigned long long)i->address,
                   2 * (i->insn.size < 8 ? (int)i->insn.size : 8), (unsigned long long)i->bits);
    ntr_out_line(&x->out, function ? function->name : "?");
    ntr_out_char(&x->out, '\n');
    if (source->reason)
        ntr_out_format(&x->out, "L\t%llu\t1\tafter a gap: %s\n", (unsigned long long)w->number,
                       ntr_status_text((ntr_status)source->reason));
    source->reason = 0;
}

static ntr_status take_span(ntr_export *x, konata_writer *w, const ntr_event *e) {
    konata_source *source = &w->sources[e->src % SOURCES];
    ntr_instruction i;
    ntr_status status;
    move_to(x, w, e->flags & NTR_EVENT_TIME ? e->time : w->now);
    ntr_instructions_begin(w->instructions, e);
    while ((status = ntr_instructions_next(w->instructions, &i)) == NTR_OK && !x->out.status) {
        const unsigned long long id = w->number;
        ntr_out_format(&x->out, "I\t%llu\t%llu\t%u\n", id, (unsigned long long)source->instructions++, e->src);
        write_labels(x, w, e, &i);
        ntr_out_format(&x->out, "S\t%llu\t0\tX\n", id);
        move_to(x, w, w->now + 1);
        ntr_out_format(&x->out, "E\t%llu\t0\tX\nR\t%llu\t%llu\t0\n", id, id, id);
        w->number++;
    }
    return status == NTR_END || status == NTR_OK ? NTR_OK : status;
}

static ntr_status events(ntr_export *x, const ntr_event *list, size_t count) {
    konata_writer *w = x->state;
    ntr_status status = NTR_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (list[i].kind == NTR_EVENT_SPAN && list[i].instructions) status = take_span(x, w, &list[i]);
        if (list[i].kind == NTR_EVENT_GAP) w->sources[list[i].src % SOURCES].reason = list[i].reason;
    }
    return status;
}

static void release(ntr_export *x) {
    konata_writer *w = x->state;
    ntr_instructions_free(w->instructions);
    ntr_dealloc(x->allocator, w->sources);
}

const ntr_exporter ntr_exporter_konata = {
    .name = "konata",
    .family = "export",
    .summary = "Konata log (Kanata 0004): every instruction, without stages of a pipeline",
    .aliases = {"kanata"},
    .needs = NTR_NEEDS_EVENTS,
    .state_size = sizeof(konata_writer),
    .begin = begin,
    .events = events,
    .release = release,
};
