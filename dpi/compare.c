/* Comparison of the executions of two streams, independent of how each execution is divided into messages.
 *
 * Both streams are decoded with the program into sequences of steps, and the sequences are compared. A step is a run
 * of code with contiguous addresses, a trap, a stop, a change of context, or a gap. The target of a branch is the
 * address of the next step. Example: two spans, 0x100 to 0x108 and 0x108 to 0x110, and one span, 0x100 to 0x110,
 * become the same step. */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step_kind { STEP_END, STEP_RUN, STEP_TRAP, STEP_STOP, STEP_CONTEXT, STEP_GAP };

struct step {
    uint8_t kind, end; /* enum step_kind; ntr_span_end of a trap */
    int16_t reason;    /* ntr_status of a gap */
    uint64_t address, halfwords, offset, message;
    ntr_context context;
};

struct compare_side {
    dpi_bytes bytes;
    ntr_params params;
    ntr_decoder *decoder;
    ntr_event events[64];
    size_t at, count;
    ntr_status status;
    ntr_context context;
    struct step trap, pending; /* the trap that ends the last span; the step after a joined run */
    bool has_trap, has_pending;
};

struct compare {
    dpi_error error;
    ntr_program *program;
    struct compare_side sides[2];
    char difference[400];
};

/* ---- construction */

void *ntr_dpi_compare_new(const char *program, const char *design, const char *model) {
    const char *options[2] = {design, model};
    struct compare *compare = calloc(1, sizeof *compare);
    ntr_encoder_config config;

    if (!compare) return NULL;
    ntr_program_new(NULL, &compare->program);
    if (!compare->program) {
        dpi_fail(&compare->error, "out of memory");
        return compare;
    }
    ntr_status status = ntr_program_add_elf(compare->program, program, NULL);
    dpi_status(&compare->error, program, status, ntr_program_error(compare->program));
    for (int i = 0; i < 2; i++)
        if (dpi_options(&compare->error, options[i], &config)) compare->sides[i].params = config.params;
    return compare;
}

static void close_side(struct compare_side *side) {
    ntr_decoder_free(side->decoder);
    side->decoder = NULL;
}

void ntr_dpi_compare_free(void *handle) {
    struct compare *compare = handle;

    if (!compare) return;
    for (int i = 0; i < 2; i++) {
        close_side(&compare->sides[i]);
        free(compare->sides[i].bytes.data);
    }
    ntr_program_free(compare->program);
    free(compare);
}

const char *ntr_dpi_compare_error(void *handle) {
    const struct compare *compare = handle;

    return compare ? compare->error.text : "out of memory";
}

int ntr_dpi_compare_byte(void *handle, unsigned side, unsigned byte) {
    struct compare *compare = handle;
    const uint8_t value = (uint8_t)byte;

    if (!compare || side > 1) return NTR_E_INVALID;
    return dpi_bytes_add(&compare->sides[side].bytes, &value, 1) ? NTR_OK : NTR_E_MEMORY;
}

/* ---- a stream as steps */

static ntr_status open_side(struct compare *compare, struct compare_side *side) {
    ntr_decoder_config config;
    ntr_status status;

    ntr_decoder_config_init(&config);
    config.params = side->params;
    config.program = compare->program;
    close_side(side);
    side->at = side->count = 0;
    side->status = NTR_OK;
    side->context = (ntr_context){.prv = NTR_PRV_UNKNOWN};
    side->has_trap = side->has_pending = false;
    status = ntr_decoder_new(&config, &side->decoder);
    if (!side->decoder) return status;
    return ntr_decoder_feed(side->decoder, side->bytes.data, side->bytes.size, true);
}

static const ntr_event *next_event(struct compare_side *side) {
    while (side->at == side->count) {
        if (side->status != NTR_OK) return NULL;
        side->at = 0;
        side->status =
            ntr_decoder_read(side->decoder, side->events, sizeof side->events / sizeof *side->events, &side->count);
    }
    return &side->events[side->at++];
}

static bool is_trap(unsigned end) {
    return end == NTR_SPAN_EXCEPTION || end == NTR_SPAN_INTERRUPT || end == NTR_SPAN_TRAP;
}

/* Returns whether the context differs from the previous one. Encoders repeat Ownership after each synchronizing
 * message. */
static bool is_new_context(struct compare_side *side, const ntr_context *context) {
    if (ntr_context_equal(&side->context, context)) return false;
    side->context = *context;
    return true;
}

static struct step make_step(const ntr_event *e, enum step_kind kind) {
    return (struct step){.kind = (uint8_t)kind, .offset = e->offset, .message = e->message};
}

static struct step make_run(struct compare_side *side, const ntr_event *e) {
    struct step run = make_step(e, STEP_RUN);

    run.address = e->address;
    run.halfwords = e->halfwords;
    if (is_trap(e->end)) {
        side->has_trap = true;
        side->trap = make_step(e, STEP_TRAP);
        side->trap.end = e->end;
        side->trap.address = e->address + 2 * (uint64_t)e->halfwords;
    }
    return run;
}

/* Converts an event to a step. Returns false if the event is not compared. */
static bool to_step(struct compare_side *side, const ntr_event *e, struct step *step) {
    switch (e->kind) {
    case NTR_EVENT_SPAN:
    case NTR_EVENT_NO_CODE: *step = make_run(side, e); return true;
    case NTR_EVENT_STOP:
        *step = make_step(e, STEP_STOP);
        step->address = e->address;
        return true;
    case NTR_EVENT_CONTEXT:
        *step = make_step(e, STEP_CONTEXT);
        step->context = e->context;
        return is_new_context(side, &e->context);
    case NTR_EVENT_GAP:
        *step = make_step(e, STEP_GAP);
        step->reason = e->reason;
        return true;
    default: return false;
    }
}

static struct step next_part(struct compare_side *side) {
    const ntr_event *e;
    struct step step = {.kind = STEP_END};

    if (side->has_pending) {
        side->has_pending = false;
        return side->pending;
    }
    if (side->has_trap) {
        side->has_trap = false;
        return side->trap;
    }
    while ((e = next_event(side)))
        if (to_step(side, e, &step)) return step;
    return (struct step){.kind = STEP_END, .offset = side->bytes.size};
}

/* Returns the next step; runs with contiguous addresses are joined. */
static struct step next_step(struct compare_side *side) {
    struct step step = next_part(side);

    if (step.kind == STEP_RUN && !step.halfwords) return next_step(side); /* a trap before the first instruction */
    while (step.kind == STEP_RUN) {
        const struct step next = next_part(side);
        if (next.kind == STEP_RUN && next.address == step.address + 2 * step.halfwords) {
            step.halfwords += next.halfwords;
            continue;
        }
        side->pending = next;
        side->has_pending = true;
        break;
    }
    return step;
}

/* ---- comparison */

/* NTR_SPAN_TRAP (B-TYPE 1 of an encoder without detail) matches an exception and an interrupt. */
static bool same_trap(unsigned a, unsigned b) {
    return a == b || a == NTR_SPAN_TRAP || b == NTR_SPAN_TRAP;
}

static bool same_step(const struct step *a, const struct step *b) {
    if (a->kind != b->kind || a->address != b->address || a->halfwords != b->halfwords) return false;
    if (a->kind == STEP_TRAP) return same_trap(a->end, b->end);
    return a->kind != STEP_CONTEXT || ntr_context_equal(&a->context, &b->context);
}

static void describe(const struct step *step, char *out, size_t size) {
    static const char *const NAMES[] = {"its end", "", "", "a stop", "a context", "a gap"};

    if (step->kind == STEP_RUN)
        snprintf(out, size, "0x%" PRIx64 " to 0x%" PRIx64, step->address, step->address + 2 * step->halfwords);
    else if (step->kind == STEP_TRAP)
        snprintf(out, size, "an %s at 0x%" PRIx64, ntr_span_end_name(step->end), step->address);
    else if (step->kind == STEP_STOP)
        snprintf(out, size, "a stop at 0x%" PRIx64, step->address);
    else if (step->kind == STEP_GAP)
        snprintf(out, size, "a gap (%s)", ntr_status_text((ntr_status)step->reason));
    else
        snprintf(out, size, "%s", NAMES[step->kind]);
}

static int report_difference(struct compare *compare, uint64_t number, const struct step steps[2]) {
    char texts[2][128];

    for (int i = 0; i < 2; i++) describe(&steps[i], texts[i], sizeof texts[i]);
    snprintf(compare->difference, sizeof compare->difference,
             "step %" PRIu64 ": the design has %s (message %" PRIu64 " @0x%" PRIx64 "), the model %s (message %" PRIu64
             " @0x%" PRIx64 ")",
             number, texts[0], steps[0].message, steps[0].offset, texts[1], steps[1].message, steps[1].offset);
    return 1;
}

int ntr_dpi_compare_finish(void *handle) {
    struct compare *compare = handle;
    struct step steps[2];

    if (!compare || compare->error.text[0]) return NTR_E_STATE;
    for (int i = 0; i < 2; i++) {
        ntr_status status = open_side(compare, &compare->sides[i]);
        if (status != NTR_OK) return dpi_status(&compare->error, "decoder", status, NULL);
    }
    for (uint64_t number = 1;; number++) {
        for (int i = 0; i < 2; i++) steps[i] = next_step(&compare->sides[i]);
        if (!same_step(&steps[0], &steps[1])) return report_difference(compare, number, steps);
        if (steps[0].kind != STEP_END) continue;
        const ntr_status status = compare->sides[0].status < 0 ? compare->sides[0].status : compare->sides[1].status;
        return status < 0 ? dpi_status(&compare->error, "decoder", status, NULL) : 0;
    }
}

const char *ntr_dpi_compare_difference(void *handle) {
    const struct compare *compare = handle;

    return compare ? compare->difference : "out of memory";
}
