#include "unwind/invented_stack.h"

#include "base/allocator.h"

#include <stdlib.h>

/* Room below the CFA of a frame whose CFA is found by s0: its sp may be anywhere. */
enum { FREE_FRAME = 4096 };

/* Return places save words so far below, in bytes, that no other word is there; stacks of harts are farther apart. */
enum { SAVED_BELOW_64 = 128 << 20, SAVED_BELOW_32 = 512 << 10 };

static uint64_t mask(const ntr_invented_stack *stack, uint64_t value) {
    return stack->xlen == 32 ? (uint32_t)value : value;
}

/* ---- frames */

static ntr_status add_frame(ntr_invented_stack *stack, ntr_invented_frame frame) {
    if (ntr_reserve(stack->allocator, (void **)&stack->frames, &stack->frame_capacity, stack->frame_count + 1,
                    sizeof *stack->frames))
        return NTR_E_MEMORY;
    stack->frames[stack->frame_count++] = frame;
    return NTR_OK;
}

static ntr_status take_frames(ntr_invented_stack *stack, const ntr_replay *replay, const ntr_replay_hart *hart) {
    ntr_stack_frame frame;
    uint64_t pc = hart->address, lookup = pc;
    uint32_t number = hart->frame, caller;
    ntr_status status = NTR_OK;
    stack->frame_count = 0;
    while (status == NTR_OK && ntr_replay_frame(replay, number, &frame, &caller)) {
        status = add_frame(stack, (ntr_invented_frame){.pc = pc,
                                                       .lookup = lookup,
                                                       .returns_to = frame.return_to,
                                                       .trap = frame.kind >= NTR_FRAME_EXCEPTION && caller});
        pc = frame.return_to;
        lookup = pc - 1; /* a debugger looks at the call */
        number = caller;
    }
    return status || stack->frame_count ? status : add_frame(stack, (ntr_invented_frame){.pc = pc, .lookup = lookup});
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
static ntr_frame_rule rule_of(const ntr_invented_stack *stack, const ntr_replay_hart *hart,
                              const ntr_invented_frame *frame) {
    ntr_context context = hart->context;
    if (frame != stack->frames) context.prv = NTR_PRV_UNKNOWN;
    return ntr_frame_rule_at(stack->rules, &context, hart->offset, frame->pc, frame->lookup);
}

static const ntr_saved_register *link_of(const ntr_frame_rule *rule, bool t0) {
    return t0 ? &rule->t0 : &rule->ra;
}

static bool saves_link(const ntr_frame_rule *rule) {
    const ntr_saved_register *saved = link_of(rule, rule->by_t0);
    return saved->saved && !saved->unsure;
}

static uint64_t size_of(const ntr_frame_rule *rule) {
    return rule->by_fp ? FREE_FRAME : (uint64_t)rule->offset;
}

/* Lets the handler that has interrupted the frame return to a return place, if the return addresses of both are in the
 * same register: by the rule at the interrupted instruction or by that of the address before it, where debuggers look
 * for callers. They look for the caller of a return place at its address itself. */
static void use_place(ntr_invented_stack *stack, const ntr_replay_hart *hart, ntr_invented_frame *frame,
                      unsigned *places) {
    ntr_invented_frame *handler = frame > stack->frames ? frame - 1 : NULL, exact = *frame;
    if (!handler || !handler->trap || !stack->places || (stack->direct && handler == stack->frames)) return;
    exact.lookup = exact.pc;
    exact.rule = rule_of(stack, hart, &exact);
    if (saves_link(&frame->rule) && saves_link(&exact.rule)) return;
    if (rule_of(stack, hart, handler).by_t0 != exact.rule.by_t0) return;
    handler->place = 1 + (*places)++ % NTR_RETURN_PLACES;
    *frame = exact;
    stack->has_places = true;
}

/* The handler is placed by the rule that holds without a return place, so that it is in the same place with and without
 * one. */
static void place_frames(ntr_invented_stack *stack, const ntr_replay_hart *hart, uint64_t top) {
    uint64_t sp = top;
    unsigned places = 0;
    for (size_t i = stack->frame_count; i > 0; i--) {
        ntr_invented_frame *frame = &stack->frames[i - 1];
        frame->rule = rule_of(stack, hart, frame);
        frame->cfa = sp;
        sp -= size_of(&frame->rule);
        use_place(stack, hart, frame, &places);
    }
    stack->sp = mask(stack, sp);
}

/* ---- return addresses */

uint64_t ntr_return_place_word(unsigned place, ntr_return_word word, unsigned xlen) {
    return (xlen == 32 ? SAVED_BELOW_32 : SAVED_BELOW_64) + (place * NTR_RETURN_WORDS + word) * (uint64_t)xlen / 8;
}

static uint64_t place_address(const ntr_invented_stack *stack, unsigned place) {
    return stack->places + (place - 1) * (uint64_t)NTR_RETURN_PLACE_SIZE;
}

static uint64_t return_of(const ntr_invented_stack *stack, const ntr_invented_frame *frame) {
    return frame->place ? place_address(stack, frame->place) : frame->returns_to;
}

static ntr_status put_return_word(ntr_invented_stack *stack, const ntr_invented_frame *handler, ntr_return_word word,
                                  uint64_t value) {
    return put_word(stack, handler->cfa - ntr_return_place_word(handler->place, word, stack->xlen), value);
}

/* The return address of frame `number` is in a register: in the word where a frame further in has saved that register,
 * or still there. In a frame whose own return address is in the same register, the value is lost: only a trap or a
 * signal enters it from a function that has not saved its return address. */
static ntr_status place_in_register(ntr_invented_stack *stack, size_t number) {
    const ntr_invented_frame *frame = &stack->frames[number];
    const bool t0 = frame->rule.by_t0;
    for (size_t i = number; i > 0; i--) {
        const ntr_invented_frame *inner = &stack->frames[i - 1];
        const ntr_saved_register *saved = link_of(&inner->rule, t0);
        if (inner->place)
            return put_return_word(stack, inner, t0 ? NTR_RETURN_WORD_T0 : NTR_RETURN_WORD_RA, return_of(stack, frame));
        if (inner->rule.by_t0 == t0) return NTR_OK;
        if (saved->saved) return put_word(stack, inner->cfa + (uint64_t)saved->offset, return_of(stack, frame));
    }
    *(t0 ? &stack->t0 : &stack->ra) = return_of(stack, frame);
    *(t0 ? &stack->has_t0 : &stack->has_ra) = true;
    return NTR_OK;
}

static ntr_status place_return(ntr_invented_stack *stack, size_t number) {
    const ntr_invented_frame *frame = &stack->frames[number];
    const ntr_saved_register *saved = link_of(&frame->rule, frame->rule.by_t0);
    ntr_status status = NTR_OK;
    if (frame->place) { /* the frame that it has interrupted is the next one */
        const ntr_invented_frame *interrupted = frame + 1;
        status = put_return_word(stack, frame, NTR_RETURN_WORD_PC, interrupted->pc);
        if (status == NTR_OK)
            status = put_return_word(stack, frame, NTR_RETURN_WORD_SP,
                                     mask(stack, interrupted->cfa - size_of(&interrupted->rule)));
    }
    if (status == NTR_OK && saved->saved)
        status = put_word(stack, frame->cfa + (uint64_t)saved->offset, return_of(stack, frame));
    /* in both, if debuggers differ */
    const bool in_register = !saved->saved || (saved->unsure && (number == 0 || stack->frames[number - 1].place));
    return status == NTR_OK && in_register ? place_in_register(stack, number) : status;
}

static ntr_status place_returns(ntr_invented_stack *stack) {
    ntr_status status = NTR_OK;
    stack->has_ra = stack->has_t0 = false;
    for (size_t i = 0; i < stack->frame_count && status == NTR_OK; i++) status = place_return(stack, i);
    return status;
}

size_t ntr_invented_stack_behind(const ntr_invented_stack *stack, uint64_t address) {
    for (size_t i = 0; i < stack->frame_count; i++)
        if (stack->frames[i].place && place_address(stack, stack->frames[i].place) == address)
            return stack->frame_count - i - 1;
    return 0;
}

/* Values of s0, from the innermost frame out: a frame finds its own in the register, or where the innermost frame
 * between saved it. */
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
    stack->has_places = false;
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
        if (stack->words[middle].address > address)
            low = middle + 1;
        else
            high = middle;
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
