#include "io/diff_side.h"

#include "options/diagnostics.h"

#include <inttypes.h>
#include <ntrace/isa.h>
#include <stdlib.h>
#include <string.h>

/* ---- a trace */

int cli_side_open(struct cli_side *side, const char *path, const struct cli_stream *stream,
                  const struct cli_images *images, int source) {
    side->path = path;
    if (cli_trace_open(&side->trace, path, stream) != CLI_OK) return CLI_FAILED;
    if (cli_trace_program(&side->trace, images, stream, true) != CLI_OK) return CLI_FAILED;
    ntr_decoder_config config = {
        .size = sizeof config,
        .params = side->trace.params,
        .program = side->trace.program,
        .one_source = source >= 0,
        .source = (uint16_t)(source >= 0 ? source : 0),
    };
    side->decoder = cli_trace_decoder(&side->trace, &config);
    return side->decoder ? CLI_OK : CLI_FAILED;
}

void cli_side_report(const struct cli_side *side) {
    if (side->is_list) return;
    cli_trace_reserved(&side->trace, side->reserved);
    if (side->gaps) cli_note("%s: %" PRIu64 " gaps: what ran there is not compared", side->path, side->gaps);
}

void cli_side_close(struct cli_side *side) {
    if (side->is_list) {
        cli_lines_close(&side->list);
        return;
    }
    ntr_decoder_free(side->decoder);
    cli_trace_close(&side->trace);
}

static void feed(struct cli_side *side) {
    ntr_bytes span;
    bool last;

    if (!cli_trace_feed(&side->trace, &span, &last))
        side->failed = true;
    else if (ntr_decoder_feed(side->decoder, span.data, span.size, last) != NTR_OK)
        side->failed = true;
}

static const ntr_event *next_event(struct cli_side *side) {
    while (side->at == side->count && !side->failed && side->status != NTR_END) {
        side->at = side->count = 0;
        side->status =
            ntr_decoder_read(side->decoder, side->events, sizeof side->events / sizeof *side->events, &side->count);
        if (side->status < 0) {
            cli_note("%s: %s", side->path, ntr_status_text(side->status));
            side->failed = true;
        } else if (side->status == NTR_NEED_MORE && !side->count) {
            feed(side);
        }
    }
    return side->at < side->count ? &side->events[side->at++] : NULL;
}

/* Ends that every encoder reports with a message at once, whatever its settings. */
static bool is_moment(const ntr_event *e) {
    return e->end >= NTR_END_INDIRECT_JUMP && !(e->flags & NTR_EVENT_IMPLICIT);
}

static bool is_timed(struct cli_side *side, const ntr_event *e) {
    bool timed = is_moment(e) && e->flags & NTR_EVENT_TIME && e->message != side->timed_message;

    if (is_moment(e)) side->timed_message = e->message;
    return timed;
}

static struct cli_step step_of(struct cli_side *side, const ntr_event *e) {
    struct cli_step step = {.offset = e->offset, .message = e->message, .context = side->context, .time = e->time};

    step.kind = e->kind == NTR_EVENT_GAP ? CLI_STEP_GAP : e->kind == NTR_EVENT_STOP ? CLI_STEP_STOP : CLI_STEP_RUN;
    step.address = e->kind == NTR_EVENT_GAP ? e->gap.from_address : e->address;
    if (step.kind != CLI_STEP_RUN) return step;
    step.end = e->end;
    step.target = e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
    step.instructions = e->kind == NTR_EVENT_NO_CODE ? e->halfwords : e->instructions;
    step.timed = is_timed(side, e);
    return step;
}

/* Join `step` to the pending run when it goes on from there. */
static bool join(struct cli_side *side, const struct cli_step *step) {
    struct cli_step *p = &side->pending;

    if (!side->have_pending || step->kind != CLI_STEP_RUN || p->end != NTR_END_CUT || p->target != step->address)
        return false;
    p->instructions += step->instructions;
    p->end = step->end;
    p->target = step->target;
    p->time = step->time;
    p->timed = step->timed;
    return true;
}

static bool is_step(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN || e->kind == NTR_EVENT_NO_CODE || e->kind == NTR_EVENT_GAP ||
           e->kind == NTR_EVENT_STOP;
}

/* A whole run is known as whole when the next step comes. */
static struct cli_step next_run(struct cli_side *side) {
    const ntr_event *e;

    while ((e = next_event(side))) {
        if (e->kind == NTR_EVENT_CONTEXT) side->context = e->context;
        if (e->kind == NTR_EVENT_GAP) side->gaps++;
        if (e->kind == NTR_EVENT_VENDOR) side->reserved += ntr_tcode_is_reserved(side->trace.params.dialect, e->code);
        if (!is_step(e)) continue;
        struct cli_step step = step_of(side, e), whole = side->pending;
        if (join(side, &step)) continue;
        bool have = side->have_pending;
        side->pending = step;
        side->have_pending = true;
        if (have) return whole;
    }
    if (!side->have_pending) return (struct cli_step){.kind = CLI_STEP_END};
    side->have_pending = false;
    return side->pending;
}

/* ---- a run, instruction by instruction */

static unsigned length_at(const struct cli_side *side, uint64_t address) {
    uint8_t bytes[2];
    size_t got = ntr_program_read(side->trace.program, &side->run.context, side->run.offset, address, bytes, 2);

    return got < 2 ? 2 : ntr_insn_length((uint16_t)(bytes[0] | bytes[1] << 8));
}

static struct cli_step next_instruction(struct cli_side *side) {
    while (!side->left) {
        side->run = next_run(side);
        if (side->run.kind == CLI_STEP_STOP) continue;
        if (side->run.kind != CLI_STEP_RUN) return side->run;
        side->pc = side->run.address;
        side->left = side->run.instructions;
    }
    struct cli_step step = side->run;
    step.kind = CLI_STEP_PC;
    step.address = side->pc;
    side->pc += length_at(side, side->pc);
    side->left--;
    return step;
}

/* ---- a list of program counters */

int cli_side_open_list(struct cli_side *side, const char *path) {
    side->path = path;
    if (cli_lines_open(&side->list, path) != CLI_OK) return CLI_FAILED;
    side->is_list = true;
    return CLI_OK;
}

static struct cli_step next_line(struct cli_side *side) {
    struct cli_step step = {.kind = CLI_STEP_END};
    const char *text;
    size_t length;

    while (!side->failed && cli_lines_next(&side->list, &text, &length)) {
        if (!length || *text == '#') continue;
        if (!cli_line_pc(text, length, true, &step.address)) {
            cli_note("%s: line %" PRIu64 ": expected a program counter, found '%.*s'", side->path, side->list.number,
                     length > 40 ? 40 : (int)length, text);
            side->failed = true;
            break;
        }
        step.kind = CLI_STEP_PC;
        step.message = side->list.number;
        return step;
    }
    side->failed |= side->list.failed;
    return step;
}

struct cli_step cli_side_next(struct cli_side *side) {
    if (side->is_list) return next_line(side);
    return side->expand ? next_instruction(side) : next_run(side);
}
