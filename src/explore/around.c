/* The execution around a position: instructions with their source, the call stack, the state of the hart. */
#include "explore/state.h"

#include "base/macros.h"

enum {
    AROUND_MOST = 400,          /* instructions before, and after */
    STACK_MOST = 200,           /* frames of an answer */
    BACKWARD_WINDOWS = 4,       /* in which instructions of the hart are searched */
};

/* ---- the call stack */

static void write_lines(ntr_explorer *x, ntr_answer *a, ntr_place place) {
    ntr_frame frames[NTR_FRAMES_MAX];
    const size_t count = ntr_debug_info_frames(x->config.debug, place, frames, NTR_FRAMES_MAX);
    if (!count) return;
    if (frames[0].function) ntr_answer_text(a, "in", frames[0].function);
    if (frames[0].inlined) ntr_answer_bool(a, "inlined", true);
    if (!frames[0].file || !frames[0].line) return;
    ntr_answer_exact(a, "file", frames[0].file);
    ntr_answer_number(a, "line", frames[0].line);
}

/* The frames are valid until the replay is asked for another position. */
static void write_stack(ntr_explorer *x, ntr_answer *a, const ntr_replay_hart *hart) {
    ntr_stack_frame frame;
    uint64_t address = hart->address;
    size_t depth = 0;
    ntr_answer_open(a, "stack", '[');
    for (uint32_t number = hart->frame; ntr_replay_frame(x->replay, number, &frame, &number); depth++) {
        if (depth >= STACK_MOST) continue;
        ntr_answer_open(a, NULL, '{');
        ntr_answer_function(a, "function", frame.function);
        ntr_answer_text(a, "kind", ntr_frame_kind_text(frame.kind));
        ntr_answer_hex(a, "address", address);
        write_lines(x, a, ntr_place_at(&hart->context, hart->offset, address));
        ntr_answer_close(a, '}');
        address = frame.site;
    }
    ntr_answer_close(a, ']');
    ntr_answer_number(a, "depth", depth);
}

static void write_hart(ntr_explorer *x, ntr_answer *a, uint16_t src, const ntr_replay_hart *hart) {
    ntr_answer_open(a, "hart", '{');
    ntr_answer_number(a, "src", src);
    if (hart->address_known) ntr_answer_hex(a, "address", hart->address);
    if (hart->timed) ntr_answer_number(a, "time", hart->time);
    ntr_answer_number(a, "number", hart->number);
    ntr_answer_number(a, "message", hart->message);
    ntr_answer_number(a, "offset", hart->offset);
    ntr_answer_bool(a, "ended", hart->ended);
    ntr_answer_context(a, "context", &hart->context);
    ntr_answer_close(a, '}');
    write_stack(x, a, hart);
}

/* ---- instructions */

static void write_instruction(ntr_explorer *x, ntr_answer *a, const ntr_replay_window *w, const ntr_window_span *span,
                              const ntr_instruction *i, uint64_t position) {
    const ntr_span_origin *origin = &w->origins[span->origin];
    const ntr_place place = ntr_place_at(&origin->context, origin->offset, i->address);
    uint8_t bytes[32];
    const size_t want = i->insn.size < sizeof bytes ? i->insn.size : sizeof bytes;
    const size_t size = ntr_program_read(x->decoder.program, place, bytes, want);
    ntr_answer_open(a, NULL, '{');
    ntr_answer_number(a, "position", position);
    ntr_answer_hex(a, "address", i->address);
    ntr_answer_bytes(a, "bytes", bytes, size);
    if (x->config.disassemble)
        ntr_answer_text(a, "text",
                        x->config.disassemble(x->config.user, bytes, size, ntr_program_isa(x->decoder.program, place)));
    write_lines(x, a, place);
    ntr_answer_number(a, "message", origin->message);
    if (origin->timed) ntr_answer_number(a, "time", origin->time);
    ntr_answer_close(a, '}');
}

/* Finds the position of the instruction of the hart that is `count` before `from`, as far as it is near. */
static ntr_status find_first(ntr_explorer *x, uint16_t src, uint64_t from, uint64_t count, uint64_t *first) {
    ntr_status status = NTR_OK;
    uint64_t at = from;
    *first = from;
    for (unsigned n = 0; n < BACKWARD_WINDOWS && at && count; n++) {
        const ntr_replay_window *w = ntr_replay_window_at(x->replay, at - 1, &status);
        if (!w) return status;
        for (size_t i = ntr_window_find(w, at - 1) + 1; i > 0 && count; i--) {
            const ntr_window_span *span = &w->spans[i - 1];
            const uint64_t begin = w->first + span->first, end = begin + span->instructions;
            if (span->src != src) continue;
            const uint64_t here = (end < from ? end : from) - begin, take = here < count ? here : count;
            *first = begin + here - take;
            count -= take;
        }
        at = w->first;
    }
    return NTR_OK;
}

/* Writes instructions of the hart, from `first` on, until `after` of them at or behind `here` were written. */
static ntr_status write_instructions(ntr_explorer *x, ntr_answer *a, uint16_t src, uint64_t first, uint64_t here,
                                     uint64_t after) {
    ntr_status status = NTR_OK;
    for (uint64_t at = first; after;) {
        const ntr_replay_window *w = ntr_replay_window_at(x->replay, at, &status);
        if (!w) return status;
        for (size_t i = ntr_window_find(w, at); i < w->span_count && after; i++) {
            const ntr_window_span *span = &w->spans[i];
            ntr_instruction instruction;
            if (span->src != src) continue;
            ntr_window_expand(x->replay, w, span);
            for (uint64_t p = w->first + span->first;
                 after && ntr_instructions_next(x->replay->instructions, &instruction) == NTR_OK; p++) {
                if (p < first) continue;
                write_instruction(x, a, w, span, &instruction, p);
                if (p >= here) after--;
            }
        }
        at = w->end;
    }
    return NTR_OK;
}

ntr_status ntr_answer_at(ntr_explorer *x, ntr_question *q) {
    uint64_t position, before, after, here, first;
    ntr_replay_hart hart;
    uint16_t src;
    bool given, found;
    ntr_event gap;
    TRY(ntr_question_number(q, "position", 0, 0, UINT64_MAX, &position));
    TRY(ntr_question_number(q, "before", 20, 0, AROUND_MOST, &before));
    TRY(ntr_question_number(q, "after", 30, 0, AROUND_MOST, &after));
    TRY(ntr_question_went(q, ntr_replay_go(x->replay, position)));
    TRY(ntr_question_hart(x, q, &src, &given));
    if (!x->replay->hart_count) return ntr_question_fail(q, "nothing was executed in this trace");
    ntr_answer *a = q->answer;
    ntr_answer_number(a, "position", ntr_replay_position(x->replay));
    TRY(ntr_question_went(q, ntr_replay_gap(x->replay, &gap, &found)));
    if (found) ntr_answer_gap(a, "gap", ntr_replay_position(x->replay), &gap);
    TRY(ntr_question_went(q, ntr_replay_neighbour(x->replay, src, false, &here, &found)));
    if (!found) here = ntr_replay_position(x->replay);
    TRY(ntr_question_went(q, ntr_replay_hart_at(x->replay, src, &hart)));
    write_hart(x, a, src, &hart);
    ntr_answer_number(a, "here", here);
    TRY(ntr_question_went(q, find_first(x, src, here, before, &first)));
    ntr_answer_open(a, "instructions", '[');
    const ntr_status status = write_instructions(x, a, src, first, here, after);
    ntr_answer_close(a, ']');
    return ntr_question_went(q, status);
}
