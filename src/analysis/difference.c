/* Comparison of two executions (<ntrace/difference.h>).
 *
 * Both executions are read as steps, each through a ring of steps that were read ahead. While the first steps of both
 * rings are equal they are dropped. At a difference in execution the place is searched where both agree again: the
 * pair (i, j) with the smallest i + j such that AGREE steps from the i-th of one and the j-th of the other are equal.
 * Example: if B lacks one step of A, that is (1, 0). After a gap, that place may be in a loop whose iterations are
 * alike: there it is the one from which most is equal (align.h). Differences in context and time need no search,
 * because the execution goes on equally. */
#include <ntrace/difference.h>

#include "analysis/align.h"
#include "analysis/steps.h"
#include "base/allocator.h"
#include "base/config.h"

#include <stdio.h>
#include <string.h>

enum { WINDOW = NTR_DIFFERENCE_WINDOW, AGREE = 8, FAR = 1024, RING = WINDOW + 1 };

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
    uint64_t hashes_a[WINDOW], hashes_b[WINDOW]; /* of the steps read ahead, at a difference */
    uint32_t room[2 * WINDOW]; /* for align.h */
};

static bool copy_execution(ntr_execution *to, const ntr_execution *from) {
    return ntr_config_load(to, sizeof *to, from) == NTR_OK && !to->next_event != !to->next_address;
}

static bool is_list(const struct side *side) {
    return side->steps.source.next_address != NULL;
}

ntr_status ntr_comparison_new(const ntr_comparison_config *config, ntr_comparison **out) {
    *out = NULL;
    ntr_comparison_config own;
    ntr_execution a, b;
    bool valid =
        ntr_config_load(&own, sizeof own, config) == NTR_OK && copy_execution(&a, own.a) && copy_execution(&b, own.b);

    valid = valid && (own.program || !a.next_address == !b.next_address);
    ntr_comparison *c = valid ? ntr_alloc(own.allocator, 1, sizeof *c) : NULL;
    if (!c) return valid ? NTR_E_MEMORY : NTR_E_INVALID;
    c->has_allocator = own.allocator != NULL;
    if (own.allocator) c->allocator = *own.allocator;
    c->program = own.program;
    c->ignore_time = own.ignore_time;
    c->a.steps = (struct ntr_steps){.source = a, .program = own.program, .expand = b.next_address != NULL};
    c->b.steps = (struct ntr_steps){.source = b, .program = own.program, .expand = a.next_address != NULL};
    *out = c;
    return NTR_OK;
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
    bool traps = a->end >= NTR_SPAN_EXCEPTION && b->end >= NTR_SPAN_EXCEPTION;

    return a->end == b->end || (traps && (a->end == NTR_SPAN_TRAP || b->end == NTR_SPAN_TRAP));
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

static uint64_t mix(uint64_t value) {
    value = (value ^ value >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 29;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

/* Reads ahead, and hashes what was read: steps that are equal have equal hashes, but for a trap of a kind that is not
 * known, which is hashed as any trap. Gaps are equal to nothing. */
static ntr_hashes hash_ahead(struct side *side, uint64_t *hashes, uint64_t salt) {
    size_t count = 0;

    while (count < WINDOW) {
        const ntr_execution_step *s = peek(side, count);
        const uint64_t end = s->end >= NTR_SPAN_EXCEPTION ? NTR_SPAN_TRAP : s->end;
        uint64_t hash = (uint64_t)s->kind << 8 | 1;
        if (s->kind == NTR_STEP_GAP)
            hash ^= mix(salt + count);
        else if (s->kind != NTR_STEP_END)
            hash = mix(hash ^ s->address);
        if (s->kind == NTR_STEP_RUN) hash = mix(mix(hash ^ s->target) ^ s->instructions << 8 ^ end);
        hashes[count++] = hash;
        if (s->kind == NTR_STEP_END) break;
    }
    return (ntr_hashes){hashes, count};
}

static size_t next_gap(struct side *side, size_t from, size_t count) {
    while (from < count && peek(side, from)->kind != NTR_STEP_GAP) from++;
    return from;
}

static ntr_hashes part(ntr_hashes h, size_t from, size_t to) {
    return (ntr_hashes){h.hash + from, to - from};
}

/* Returns how many steps are equal from these on. */
static size_t equal_from(ntr_hashes a, size_t i, ntr_hashes b, size_t j) {
    size_t n = 0;

    while (i + n < a.count && j + n < b.count && a.hash[i + n] == b.hash[j + n]) n++;
    return n;
}

/* One side has a gap at step `gap`, or later: finds the place of the other side at which most of what follows the gap
 * is equal. The first step after a gap may begin inside of one of the other side. What follows is too short for that
 * when the next gap comes soon: it is then passed over. Returns how many steps are equal from the *i-th on; 0: nowhere.
 */
static size_t align_after_gap(ntr_comparison *c, struct side *side, ntr_hashes own, ntr_hashes other, size_t gap,
                              size_t *i, size_t *j) {
    for (; gap < own.count; gap = next_gap(side, gap + 1, own.count)) {
        const size_t end = next_gap(side, gap + 1, own.count);
        size_t most = 0;
        for (size_t from = gap + 1; from < end && from < gap + 3; from++) {
            size_t at;
            const size_t length = ntr_align_longest(part(own, from, end), other, c->room, &at);
            if (length <= most) continue;
            most = length;
            *i = from;
            *j = at;
        }
        const bool ends = most && *i + most == own.count && peek(side, own.count - 1)->kind == NTR_STEP_END;
        if (most >= AGREE || ends) return most;
    }
    return 0;
}

/* The nearest steps from which AGREE steps are equal, or all up to a common end. Returns how many are equal. */
static size_t align_nearest(ntr_comparison *c, ntr_hashes a, ntr_hashes b, size_t *i, size_t *j) {
    const bool ends = peek(&c->a, a.count - 1)->kind == NTR_STEP_END && peek(&c->b, b.count - 1)->kind == NTR_STEP_END;
    const bool near = ntr_align_nearest(a, b, AGREE, c->room, i, j);
    size_t n = 0;

    while (ends && n < a.count && n < b.count && a.hash[a.count - 1 - n] == b.hash[b.count - 1 - n]) n++;
    if (n < AGREE && a.count + b.count - 2 * n >= FAR) n = 0; /* so little is no agreement so far away */
    if (n && (!near || a.count + b.count - 2 * n < *i + *j)) {
        *i = a.count - n;
        *j = b.count - n;
        return n;
    }
    return near ? equal_from(a, *i, b, *j) : 0;
}

/* Continues where both executions agree again: after a gap, where most of what follows is equal; otherwise at the
 * nearest steps, unless they agree for a short time and a gap comes: its message may have been damaged before.
 * Returns false when there is no such place in the window. */
static bool resume(ntr_comparison *c) {
    enum { ALIGN_RUN = 64, ALIGN_GAP = 256 };
    const ntr_hashes a = hash_ahead(&c->a, c->hashes_a, 0), b = hash_ahead(&c->b, c->hashes_b, WINDOW);
    if (a.hash[0] == b.hash[0]) c->hashes_a[0] = mix(a.hash[0]); /* traps of two kinds: they differ */
    const size_t gap_a = next_gap(&c->a, 0, a.count), gap_b = next_gap(&c->b, 0, b.count);
    size_t i = 0, j = 0, most = 0, p, q;

    if (gap_a && gap_b) most = align_nearest(c, a, b, &i, &j);
    const bool sure = gap_a > ALIGN_GAP && gap_b > ALIGN_GAP && (most >= ALIGN_RUN || (most && i + most == a.count));
    if (!sure && gap_a < a.count) {
        const size_t length = align_after_gap(c, &c->a, a, b, gap_a, &p, &q);
        if (length > most) {
            most = length;
            i = p;
            j = q;
        }
    }
    if (!sure && gap_b < b.count) {
        const size_t length = align_after_gap(c, &c->b, b, a, gap_b, &p, &q);
        if (length > most) {
            most = length;
            i = q;
            j = p;
        }
    }
    if (!most) return false;
    drop(&c->a, i);
    drop(&c->b, j);
    return true;
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
