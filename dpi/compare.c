/* What two streams say was executed, however each was cut into messages.
 *
 * Both are decoded with the program and told as steps: code that ran on without a break in its addresses, traps, stops,
 * changes of context, gaps. Where flow went follows from the next step's address. */
#include "common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum step_kind { STEP_END, STEP_RUN, STEP_TRAP, STEP_STOP, STEP_CONTEXT, STEP_GAP };

struct step {
    uint8_t kind, end; /* `end`: of a trap, ntr_end */
    int16_t reason;    /* of a gap, ntr_status */
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
    struct step trap, ahead; /* the trap that ends the span just read; what the joined run stopped at */
    bool have_trap, have_ahead;
};

struct compare {
    dpi_error error;
    ntr_program *program;
    struct compare_side sides[2];
    char difference[400];
};

/* ---- life */

void *ntr_dpi_compare_new(const char *program, const char *design, const char *model) {
    const char *options[2] = {design, model};
    struct compare *compare = calloc(1, sizeof *compare);
    ntr_encoder_config config;

    if (!compare) return NULL;
    compare->program = ntr_program_new(NULL);
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
    const ntr_decoder_config config = {.size = sizeof config, .params = side->params, .program = compare->program};
    ntr_status status;

    close_side(side);
    side->at = side->count = 0;
    side->status = NTR_OK;
    side->context = (ntr_context){.prv = NTR_PRV_UNKNOWN};
    side->have_trap = side->have_ahead = false;
    side->decoder = ntr_decoder_new(&config, &status);
    if (!side->decoder) return status;
    return ntr_decoder_feed(side->decoder, side->bytes.data, side->bytes.size, true);
}

static const ntr_event *next_event(struct compare_side *side) {
    while (side->at == side->count) {
        if (side->status != NTR_OK) return NULL;
        side->at = 0;
        side->status = ntr_decoder_read(side->decoder, side->events, sizeof side->events / sizeof *side->events,
                                        &side->count);
    }
    return &side->events[side->at++];
}

static bool is_trap(unsigned end) {
    return end == NTR_END_EXCEPTION || end == NTR_END_INTERRUPT || end == NTR_END_TRAP;
}

/* Ownership also comes behind every sync: only news counts. */
static bool is_news(struct compare_side *side, const ntr_context *context) {
    if (ntr_context_equal(&side->context, context)) return false;
    side->context = *context;
    return true;
}

static struct step step_of(const ntr_event *e, enum step_kind kind) {
    return (struct step){.kind = (uint8_t)kind, .offset = e->offset, .message = e->message};
}

static struct step run_of(struct compare_side *side, const ntr_event *e) {
    struct step run = step_of(e, STEP_RUN);

    run.address = e->address;
    run.halfwords = e->halfwords;
    if (is_trap(e->end)) {
        side->have_trap = true;
        side->trap = step_of(e, STEP_TRAP);
        side->trap.end = e->end;
        side->trap.address = e->address + 2 * (uint64_t)e->halfwords;
    }
    return run;
}

/* The event's step; false: it has none. */
static bool to_step(struct compare_side *side, const ntr_event *e, struct step *step) {
    switch (e->kind) {
    case NTR_EVENT_SPAN:
    case NTR_EVENT_NO_CODE:
        *step = run_of(side, e);
        return true;
    case NTR_EVENT_STOP:
        *step = step_of(e, STEP_STOP);
        step->address = e->address;
        return true;
    case NTR_EVENT_CONTEXT:
        *step = step_of(e, STEP_CONTEXT);
        step->context = e->context;
        return is_news(side, &e->context);
    case NTR_EVENT_GAP:
        *step = step_of(e, STEP_GAP);
        step->reason = e->reason;
        return true;
    default:
        return false;
    }
}

static struct step next_piece(struct compare_side *side) {
    const ntr_event *e;
    struct step step = {.kind = STEP_END};

    if (side->have_ahead) {
        side->have_ahead = false;
        return side->ahead;
    }
    if (side->have_trap) {
        side->have_trap = false;
        return side->trap;
    }
    while ((e = next_event(side)))
        if (to_step(side, e, &step)) return step;
    return (struct step){.kind = STEP_END, .offset = side->bytes.size};
}

static struct step next_step(struct compare_side *side) {
    struct step step = next_piece(side);

    if (step.kind == STEP_RUN && !step.halfwords) return next_step(side); /* trapped before its first instruction */
    while (step.kind == STEP_RUN) {
        const struct step next = next_piece(side);
        if (next.kind == STEP_RUN && next.address == step.address + 2 * step.halfwords) {
            step.halfwords += next.halfwords;
            continue;
        }
        side->ahead = next;
        side->have_ahead = true;
        break;
    }
    return step;
}

/* ---- side by side */

/* B-TYPE 1 may mean either trap. */
static bool same_trap(unsigned a, unsigned b) { return a == b || a == NTR_END_TRAP || b == NTR_END_TRAP; }

static bool same_step(const struct step *a, const struct step *b) {
    if (a->kind != b->kind || a->address != b->address || a->halfwords != b->halfwords) return false;
    if (a->kind == STEP_TRAP) return same_trap(a->end, b->end);
    return a->kind != STEP_CONTEXT || ntr_context_equal(&a->context, &b->context);
}

static void tell(const struct step *step, char *out, size_t size) {
    static const char *const NAMES[] = {"its end", "", "", "a stop", "a context", "a gap"};

    if (step->kind == STEP_RUN)
        snprintf(out, size, "0x%" PRIx64 " to 0x%" PRIx64, step->address, step->address + 2 * step->halfwords);
    else if (step->kind == STEP_TRAP)
        snprintf(out, size, "an %s at 0x%" PRIx64, ntr_end_name(step->end), step->address);
    else if (step->kind == STEP_STOP)
        snprintf(out, size, "a stop at 0x%" PRIx64, step->address);
    else if (step->kind == STEP_GAP)
        snprintf(out, size, "a gap (%s)", ntr_status_text((ntr_status)step->reason));
    else
        snprintf(out, size, "%s", NAMES[step->kind]);
}

static int differ(struct compare *compare, uint64_t number, const struct step steps[2]) {
    char told[2][128];

    for (int i = 0; i < 2; i++) tell(&steps[i], told[i], sizeof told[i]);
    snprintf(compare->difference, sizeof compare->difference,
             "step %" PRIu64 ": the design tells %s (message %" PRIu64 " @0x%" PRIx64
             "), the model %s (message %" PRIu64 " @0x%" PRIx64 ")",
             number, told[0], steps[0].message, steps[0].offset, told[1], steps[1].message, steps[1].offset);
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
        if (!same_step(&steps[0], &steps[1])) return differ(compare, number, steps);
        if (steps[0].kind != STEP_END) continue;
        const ntr_status status = compare->sides[0].status < 0 ? compare->sides[0].status : compare->sides[1].status;
        return status < 0 ? dpi_status(&compare->error, "decoder", status, NULL) : 0;
    }
}

const char *ntr_dpi_compare_difference(void *handle) {
    const struct compare *compare = handle;

    return compare ? compare->difference : "out of memory";
}
