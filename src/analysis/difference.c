/* Comparison of two executions (<ntrace/difference.h>).
 *
 * Both executions are read as steps, each through a ring of steps that were read ahead. While the first steps of both
 * rings are equal they are dropped. At a difference in execution the place is searched where both agree again: the pair
 * (i, j) with the smallest i + j such that AGREE steps from the i-th of one and the j-th of the other are equal.
 * Example: if B lacks one step of A, that is (1, 0). Differences in context and time need no search, because the
 * execution goes on equally. */
#include <ntrace/difference.h>

#include "analysis/steps.h"
#include "base/allocator.h"
#include "base/config.h"

#include <stdio.h>
#include <string.h>

enum { WINDOW = NTR_DIFFERENCE_WINDOW, AGREE = 8, RING = WINDOW + AGREE };

struct side {
    struct ntr_steps steps;
    ntr_execution_step ring[RING]; /* steps read ahead */
    size_t first, count;
};

struct ntr_comparison {
    ntr_allocator allocator;
    bool has_allocator;
    const ntr_program *program;
    bool ignore_time;
    bool done; /* the comparison has ended */
    struct side a, b;
    uint64_t equal;
    ntr_difference difference;
    ntr_execution_step at_a, at_b; /* steps of `difference` */
    char error[96];
};

static bool copy_execution(ntr_execution *to, const ntr_execution *from) {
    return ntr_config_load(to, sizeof *to, from) == NTR_OK && !to->next_event != !to->next_address;
}

static bool is_list(const struct side *side) {
    return side->steps.source.next_address != NULL;
}

ntr_comparison *ntr_comparison_new(const ntr_comparison_config *config, ntr_status *status) {
    ntr_comparison_config own;
    ntr_execution a, b;
    bool valid =
        ntr_config_load(&own, sizeof own, config) == NTR_OK && copy_execution(&a, own.a) && copy_execution(&b, own.b);

    valid = valid && (own.program || !a.next_address == !b.next_address);
    ntr_comparison *c = valid ? ntr_alloc(own.allocator, 1, sizeof *c) : NULL;
    if (status) *status = c ? NTR_OK : valid ? NTR_E_MEMORY : NTR_E_INVALID;
    if (!c) return NULL;
    c->has_allocator = own.allocator != NULL;
    if (own.allocator) c->allocator = *own.allocator;
    c->program = own.program;
    c->ignore_time = own.ignore_time;
    c->a.steps = (struct ntr_steps){.source = a, .program = own.program, .expand = b.next_address != NULL};
    c->b.steps = (struct ntr_steps){.source = b, .program = own.program, .expand = a.next_address != NULL};
    return c;
}

void ntr_comparison_free(ntr_comparison *c) {
    if (!c) return;
    ntr_allocator copy = c->allocator;
    ntr_dealloc(c->has_allocator ? &copy : NULL, c);
}

/* ---- steps read ahead ---------------------------------------------------------------------------- */

static const ntr_execution_step *peek(struct side *side, size_t i) {
    while (side->count <= i) {
        side->ring[(side->first + side->count) % RING] = ntr_steps_next(&side->steps);
        side->count++;
    }
    return &side->ring[(side->first + i) % RING];
}

static void drop(struct side *side, size_t n) {
    side->first = (side->first + n) % RING;
    side->count -= n;
}

/* ---- equality ------------------------------------------------------------------------------------ */

/* B-TYPE 1 reports "a trap" where other encoders send 2 (exception) or 3 (interrupt). */
static bool same_end(const ntr_execution_step *a, const ntr_execution_step *b) {
    bool traps = a->end >= NTR_END_EXCEPTION && b->end >= NTR_END_EXCEPTION;

    return a->end == b->end || (traps && (a->end == NTR_END_TRAP || b->end == NTR_END_TRAP));
}

static bool same_execution(const ntr_execution_step *a, const ntr_execution_step *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == NTR_STEP_END) return true;
    if (a->kind != NTR_STEP_RUN) return a->address == b->address;
    return a->address == b->address && a->instructions == b->instructions && a->target == b->target && same_end(a, b);
}

/* A member that one side does not know is equal to any value. */
static bool same_context(const ntr_context *a, const ntr_context *b) {
    bool prv = a->prv == NTR_PRV_UNKNOWN || b->prv == NTR_PRV_UNKNOWN || (a->prv == b->prv && a->v == b->v);
    bool s = !a->has_scontext || !b->has_scontext || a->scontext == b->scontext;

    return prv && s && (!a->has_hcontext || !b->has_hcontext || a->hcontext == b->hcontext);
}

/* Returns whether the steps differ, and stores the kind of the difference. */
static bool differ(const ntr_comparison *c, const ntr_execution_step *a, const ntr_execution_step *b, uint8_t *kind) {
    if (!same_execution(a, b)) {
        bool gap = a->kind == NTR_STEP_GAP || b->kind == NTR_STEP_GAP;
        *kind = gap ? NTR_DIFFERENCE_GAP : NTR_DIFFERENCE_EXECUTION;
        return true;
    }
    if (a->kind != NTR_STEP_RUN) return false;
    bool context = !same_context(&a->context, &b->context);
    *kind = context ? NTR_DIFFERENCE_CONTEXT : NTR_DIFFERENCE_TIME;
    return context || (a->timed && b->timed && !c->ignore_time && a->time != b->time);
}

/* Returns whether the instruction is ECALL or EBREAK. They trap and do not retire, but a list may contain them. */
static bool does_not_retire(const ntr_comparison *c, uint64_t address) {
    ntr_insn insn;
    uint8_t bytes[4];

    if (ntr_program_insn(c->program, ntr_place_at(NULL, 0, address), &insn) != NTR_OK) return false;
    size_t got = ntr_program_read(c->program, ntr_place_at(NULL, 0, address), bytes, insn.size);
    return (got == 4 && (!memcmp(bytes, "\x73\0\0\0", 4) || !memcmp(bytes, "\x73\0\x10\0", 4))) ||
           (got == 2 && !memcmp(bytes, "\x02\x90", 2));
}

/* Drops an instruction of a list that does not retire, when the other side is a trace. Returns whether it did. */
static bool drop_unretired(ntr_comparison *c, struct side *side, const struct side *other) {
    const ntr_execution_step *step = peek(side, 0);

    if (!is_list(side) || is_list(other) || step->kind != NTR_STEP_INSTRUCTION || !does_not_retire(c, step->address))
        return false;
    drop(side, 1);
    return true;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

/* Returns whether the next AGREE steps are equal, from the i-th and the j-th step. A common end is equal too. */
static bool agree(ntr_comparison *c, size_t i, size_t j) {
    for (size_t k = 0; k < AGREE; k++) {
        const ntr_execution_step *a = peek(&c->a, i + k), *b = peek(&c->b, j + k);
        if (!same_execution(a, b)) return false;
        if (a->kind == NTR_STEP_END) return true;
    }
    return true;
}

/* Continues at the nearest steps at which both executions agree again: those with the smallest number of dropped steps.
 * Returns false when there are none in the window. */
static bool resume(ntr_comparison *c) {
    for (size_t sum = 1; sum < WINDOW; sum++) {
        for (size_t i = 0; i <= sum; i++) {
            if (!agree(c, i, sum - i)) continue;
            drop(&c->a, i);
            drop(&c->b, sum - i);
            return true;
        }
    }
    return false;
}

static void drop_equal(ntr_comparison *c) {
    const ntr_execution_step *a = peek(&c->a, 0);

    c->equal += a->kind == NTR_STEP_INSTRUCTION ? 1 : a->instructions;
    drop(&c->a, 1);
    drop(&c->b, 1);
}

static ntr_status fail(ntr_comparison *c) {
    bool first = c->a.steps.status < 0;
    ntr_status status = first ? c->a.steps.status : c->b.steps.status;

    snprintf(c->error, sizeof c->error, "the %s execution: %s", first ? "first" : "second", ntr_status_text(status));
    return status;
}

static bool has_failed(const ntr_comparison *c) {
    return c->a.steps.status < 0 || c->b.steps.status < 0;
}

/* Stores the difference at the first steps and continues after it. */
static ntr_status report(ntr_comparison *c, uint8_t kind, const ntr_difference **difference) {
    bool equal = kind == NTR_DIFFERENCE_CONTEXT || kind == NTR_DIFFERENCE_TIME;

    c->at_a = *peek(&c->a, 0);
    c->at_b = *peek(&c->b, 0);
    c->difference = (ntr_difference){.kind = kind, .equal = c->equal, .a = &c->at_a, .b = &c->at_b};
    *difference = &c->difference;
    if (equal) {
        drop_equal(c);
        return NTR_OK;
    }
    c->done = !resume(c);
    c->difference.last = c->done && !has_failed(c);
    return NTR_OK;
}

ntr_status ntr_comparison_next(ntr_comparison *c, const ntr_difference **difference) {
    uint8_t kind;

    *difference = NULL;
    for (;;) {
        if (has_failed(c)) return fail(c);
        if (c->done) return NTR_END;
        const ntr_execution_step *a = peek(&c->a, 0), *b = peek(&c->b, 0);
        if (has_failed(c)) continue; /* the end is an error */
        if (differ(c, a, b, &kind)) {
            if (drop_unretired(c, &c->b, &c->a) || drop_unretired(c, &c->a, &c->b)) continue;
            return report(c, kind, difference);
        }
        c->done = a->kind == NTR_STEP_END;
        if (!c->done) drop_equal(c);
    }
}

uint64_t ntr_comparison_equal(const ntr_comparison *c) {
    return c->equal;
}

uint64_t ntr_comparison_gaps(const ntr_comparison *c, unsigned side) {
    return side == 0 ? c->a.steps.gaps : c->b.steps.gaps;
}

const char *ntr_comparison_error(const ntr_comparison *c) {
    return c->error;
}
