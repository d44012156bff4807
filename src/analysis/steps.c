/* Conversion of spans to steps.
 *
 * A decoder ends a span at every message, also in the middle of straight-line code (NTR_SPAN_CUT): a synchronizing
 * message there, or a full I-CNT, is a matter of the encoder, not of the execution. Such a span is therefore joined to
 * the next one. Because only the next span shows whether a run continues, one run is always held back in `pending`.
 *
 * Example: spans [0x100, 0x108) cut, [0x108, 0x110) taken give one run of [0x100, 0x110) that ends with a taken
 * branch. */
#include "analysis/steps.h"
#include "base/bytes.h"

#include <ntrace/isa.h>

/* ---- time ---------------------------------------------------------------------------------------- */

/* Ends that every encoder reports with a message at once, whatever its settings. */
static bool is_reported_at_once(const ntr_event *e) {
    return e->end >= NTR_SPAN_INDIRECT_JUMP && !(e->flags & NTR_EVENT_IMPLICIT);
}

/* Returns whether the time of the event is the time of its end. Several ends can come from one message; only the first
 * of them is timed. */
static bool is_timed(struct ntr_steps *steps, const ntr_event *e) {
    if (!is_reported_at_once(e)) return false;
    bool timed = e->flags & NTR_EVENT_TIME && e->message != steps->timed_message;
    steps->timed_message = e->message;
    return timed;
}

/* ---- runs ---------------------------------------------------------------------------------------- */

static bool is_step(const ntr_event *e) {
    return e->kind == NTR_EVENT_SPAN || e->kind == NTR_EVENT_NO_CODE || e->kind == NTR_EVENT_GAP ||
           e->kind == NTR_EVENT_STOP;
}

static ntr_execution_step step_of(struct ntr_steps *steps, const ntr_event *e) {
    ntr_execution_step step = {.offset = e->offset, .message = e->message, .context = e->context, .time = e->time};

    step.kind = e->kind == NTR_EVENT_GAP ? NTR_STEP_GAP : e->kind == NTR_EVENT_STOP ? NTR_STEP_STOP : NTR_STEP_RUN;
    step.address = e->kind == NTR_EVENT_GAP ? e->gap.from_address : e->address;
    if (step.kind != NTR_STEP_RUN) return step;
    step.end = e->end;
    step.target = e->flags & NTR_EVENT_TARGET_UNKNOWN ? 0 : e->target;
    step.instructions = e->kind == NTR_EVENT_NO_CODE ? e->halfwords : e->instructions;
    step.timed = is_timed(steps, e);
    return step;
}

/* Appends `step` to the pending run when it continues that run. */
static bool join(struct ntr_steps *steps, const ntr_execution_step *step) {
    ntr_execution_step *run = &steps->pending;

    if (!steps->have_pending || step->kind != NTR_STEP_RUN || run->end != NTR_SPAN_CUT || run->target != step->address)
        return false;
    run->instructions += step->instructions;
    run->end = step->end;
    run->target = step->target;
    run->time = step->time;
    run->timed = step->timed;
    return true;
}

/* Returns NULL when there is none. */
static const ntr_event *next_event(struct ntr_steps *steps) {
    const ntr_event *event = NULL;

    if (steps->status == NTR_OK) steps->status = steps->source.next_event(steps->source.user, &event);
    return steps->status == NTR_OK ? event : NULL;
}

static ntr_execution_step next_run(struct ntr_steps *steps) {
    const ntr_event *e;

    while ((e = next_event(steps))) {
        if (e->kind == NTR_EVENT_GAP) steps->gaps++;
        if (!is_step(e)) continue;
        ntr_execution_step step = step_of(steps, e), whole = steps->pending;
        if (join(steps, &step)) continue;
        bool have = steps->have_pending;
        steps->pending = step;
        steps->have_pending = true;
        if (have) return whole;
    }
    if (!steps->have_pending) return (ntr_execution_step){.kind = NTR_STEP_END};
    steps->have_pending = false;
    return steps->pending;
}

/* ---- instructions -------------------------------------------------------------------------------- */

static unsigned length_at(const struct ntr_steps *steps, uint64_t address) {
    uint8_t bytes[2];
    size_t got =
        ntr_program_read(steps->program, ntr_place_at(&steps->run.context, steps->run.offset, address), bytes, 2);

    return got < 2 ? 2 : ntr_insn_length(ntr_little_16(bytes));
}

static ntr_execution_step next_instruction(struct ntr_steps *steps) {
    while (!steps->left) {
        steps->run = next_run(steps);
        if (steps->run.kind == NTR_STEP_STOP) continue; /* a list has no stops */
        if (steps->run.kind != NTR_STEP_RUN) return steps->run;
        steps->pc = steps->run.address;
        steps->left = steps->run.instructions;
    }
    ntr_execution_step step = steps->run;
    step.kind = NTR_STEP_INSTRUCTION;
    step.address = steps->pc;
    steps->pc += length_at(steps, steps->pc);
    steps->left--;
    return step;
}

static ntr_execution_step next_entry(struct ntr_steps *steps) {
    ntr_execution_step step = {.kind = NTR_STEP_INSTRUCTION};

    if (steps->status == NTR_OK)
        steps->status = steps->source.next_address(steps->source.user, &step.address, &step.message);
    return steps->status == NTR_OK ? step : (ntr_execution_step){.kind = NTR_STEP_END};
}

ntr_execution_step ntr_steps_next(struct ntr_steps *steps) {
    if (steps->source.next_address) return next_entry(steps);
    return steps->expand ? next_instruction(steps) : next_run(steps);
}
