#include "unwind/invented_stack.h"

#include "base/allocator.h"

#include <stdlib.h>

/* Room below the CFA of a frame whose CFA is found by s0: its sp may be anywhere. */
enum { FREE_FRAME = 4096 };

static uint64_t mask(const ntr_invented_stack *stack, uint64_t value) {
    return stack->xlen == 32 ? (uint32_t)value : value;
}

/* ---- frames */

static ntr_status add_frame(ntr_invented_stack *stack, uint64_t pc, uint64_t lookup, uint64_t returns_to) {
    if (ntr_reserve(stack->allocator, (void **)&stack->frames, &stack->frame_capacity, stack->frame_count + 1,
                    sizeof *stack->frames))
        return NTR_E_MEMORY;
    stack->frames[stack->frame_count++] =
        (ntr_invented_frame){.pc = pc, .lookup = lookup, .returns_to = returns_to};
    return NTR_OK;
}

static ntr_status take_frames(ntr_invented_stack *stack, const ntr_replay *replay, const ntr_replay_hart *hart) {
    ntr_stack_frame frame;
    uint64_t pc = hart->address, lookup = pc;
    uint32_t number = hart->frame, caller;
    ntr_status status = NTR_OK;
    stack->frame_count = 0;
    while (status == NTR_OK && ntr_replay_frame(replay, number, &frame, &caller)) {
        status = add_frame(stack, pc, lookup, frame.return_to);
        pc = frame.return_to;
        lookup = pc - 1; /* a debugger looks at the call */
        number = caller;
    }
    return status || stack->frame_count ? status : add_frame(stack, pc, lookup, 0);
}

/* ---- words */

static ntr_status put_word(ntr_invented_stack *stack, uint64_t address, uint64_t value) {
    if (ntr_reserve(stack->allocator, (void **)&stack->words, &stack->word_capacity, stack->word_count + 1,
                    sizeof *stack->words))
        return NTR_E_MEMORY;
    stack->words[stack->word_count++] = (ntr_stack_word){mask(stack, address), value};
    return NTR_OK;
}

static int by_address(const void *a, const void *b) {
    uint64_t left = ((const ntr_stack_word *)a)->address, right = ((const ntr_stack_word *)b)->address;
    return (left < right) - (left > right);
}

/* ---- layout */

/* Frames further out may be in another privilege mode, behind a trap. */
static ntr_frame_rule rule_of(const ntr_invented_stack *stack, const ntr_replay_hart *hart, const ntr_invented_frame *frame) {
    ntr_context context = hart->context;
    if (frame != stack->frames) context.prv = NTR_PRV_UNKNOWN;
    return ntr_frame_rule_at(stack->rules, &context, hart->offset, frame->pc, frame->lookup);
}

static void place_frames(ntr_invented_stack *stack, const ntr_replay_hart *hart, uint64_t top) {
    uint64_t sp = top;
    for (size_t i = stack->frame_count; i > 0; i--) {
        ntr_invented_frame *frame = &stack->frames[i - 1];
        frame->rule = rule_of(stack, hart, frame);
        frame->cfa = sp;
        sp -= frame->rule.by_fp ? FREE_FRAME : (uint64_t)frame->rule.offset;
    }
    stack->sp = mask(stack, sp);
}

static const ntr_saved_register *link_of(const ntr_frame_rule *rule, bool t0) {
    return t0 ? &rule->t0 : &rule->ra;
}

/* The return address of frame `number` is in a register: in the word where a frame further in has saved that register, or still
 * there. In a frame whose own return address is in the same register, the value is lost: only a trap or a signal enters
 * it from a function that has not saved its return address. */
static ntr_status place_in_register(ntr_invented_stack *stack, size_t number) {
    const ntr_invented_frame *frame = &stack->frames[number];
    const bool t0 = frame->rule.by_t0;
    for (size_t i = number; i > 0; i--) {
        const ntr_invented_frame *inner = &stack->frames[i - 1];
        const ntr_saved_register *saved = link_of(&inner->rule, t0);
        if (inner->rule.by_t0 == t0) return NTR_OK;
        if (saved->saved) return put_word(stack, inner->cfa + (uint64_t)saved->offset, frame->returns_to);
    }
    *(t0 ? &stack->t0 : &stack->ra) = frame->returns_to;
    *(t0 ? &stack->has_t0 : &stack->has_ra) = true;
    return NTR_OK;
}

/* Return addresses: in memory where the rule says so, else in a register; that of the innermost frame in both, if debuggers differ. */
static ntr_status place_returns(ntr_invented_stack *stack) {
    ntr_status status = NTR_OK;
    stack->has_ra = stack->frame_count && stack->frames[0].rule.ra.unsure && !stack->frames[0].rule.by_t0;
    if (stack->has_ra) stack->ra = stack->frames[0].returns_to;
    stack->has_t0 = false;
    for (size_t i = 0; i < stack->frame_count && status == NTR_OK; i++) {
        const ntr_invented_frame *frame = &stack->frames[i];
        const ntr_saved_register *saved = link_of(&frame->rule, frame->rule.by_t0);
        status = saved->saved ? put_word(stack, frame->cfa + (uint64_t)saved->offset, frame->returns_to)
                              : place_in_register(stack, i);
    }
    return status;
}

/* Values of s0, from the innermost frame out: a frame finds its own in the register, or where the innermost frame between
 * saved it. */
static ntr_status place_frame_pointers(ntr_invented_stack *stack) {
    bool in_memory = false, written = false;
    uint64_t slot = 0;
    stack->has_fp = false;
    for (size_t i = 0; i < stack->frame_count; i++) {
        const ntr_invented_frame *frame = &stack->frames[i];
        uint64_t fp = mask(stack, frame->cfa - (uint64_t)frame->rule.offset);
        if (frame->rule.by_fp && !written) {
            if (in_memory && put_word(stack, slot, fp) != NTR_OK) return NTR_E_MEMORY;
            if (!in_memory) stack->has_fp = true;
            if (!in_memory) stack->fp = fp;
            written = true;
        }
        if (!frame->rule.fp.saved) continue;
        in_memory = true;
        written = false;
        slot = frame->cfa + (uint64_t)frame->rule.fp.offset;
    }
    return NTR_OK;
}

ntr_status ntr_invented_stack_make(ntr_invented_stack *stack, const ntr_replay *replay, const ntr_replay_hart *hart,
                                   uint64_t top) {
    ntr_status status = take_frames(stack, replay, hart);
    if (status != NTR_OK) return status;
    stack->word_count = 0;
    place_frames(stack, hart, top);
    status = place_returns(stack);
    if (status == NTR_OK) status = place_frame_pointers(stack);
    if (stack->word_count) qsort(stack->words, stack->word_count, sizeof *stack->words, by_address);
    return status;
}

/* ---- reading */

/* Returns the word that contains the address, or NULL. */
static const ntr_stack_word *word_at(const ntr_invented_stack *stack, uint64_t address) {
    size_t low = 0, high = stack->word_count; /* the first word whose address is not above */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stack->words[middle].address > address) low = middle + 1;
        else high = middle;
    }
    if (low == stack->word_count || address - stack->words[low].address >= stack->xlen / 8) return NULL;
    return &stack->words[low];
}

size_t ntr_invented_stack_read(const ntr_invented_stack *stack, uint64_t address, uint8_t *out, size_t size) {
    size_t done = 0;
    for (; done < size; done++) {
        const ntr_stack_word *word = word_at(stack, address + done);
        if (!word) break;
        out[done] = (uint8_t)(word->value >> 8 * (address + done - word->address));
    }
    return done;
}

void ntr_invented_stack_release(ntr_invented_stack *stack) {
    ntr_dealloc(stack->allocator, stack->words);
    ntr_dealloc(stack->allocator, stack->frames);
}
