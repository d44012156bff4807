#include "capture/machine.h"
#include "base/allocator.h"
#include "capture/hart.h"
#include "capture/run.h"
#include "capture/spaces.h"

#include <string.h>

/* ---- records ------------------------------------------------------------------------------------------------------
 */

static uint64_t pair(const uint32_t *words) {
    return (uint64_t)words[1] << 32 | words[0];
}

/* The last block is over, after so many instructions (CHANNEL_ALL: all). Nothing is known about what follows. */
static void end_block(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, unsigned retired) {
    unsigned all = hart->last ? ntr_capture_shared(harts, hart->last)->instructions : 0;

    if (hart->last) ntr_capture_hart_settle(harts, hart, 0);
    if (!hart->last) return;
    ntr_capture_hart_complete_part(harts, hart, retired < all ? retired : all);
    ntr_capture_run_flush(harts, hart);
    hart->last = hart->tail = 0;
}

static void take_trap(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    const uint32_t *words = hart->record;
    unsigned itype = words[0] & CHANNEL_TRAP_INTERRUPT ? NTR_ITYPE_INTERRUPT : NTR_ITYPE_EXCEPTION;

    end_block(harts, hart, words[0] & CHANNEL_TRAP_AGAIN ? CHANNEL_ALL : words[0] & CHANNEL_ALL);
    ntr_capture_note(harts,
                     ntr_classifier_trap(hart->classifier, itype, pair(words + 3), pair(words + 1), pair(words + 5)));
}

static ntr_status send(struct ntr_capture_hart *hart, const ntr_ingress *block) {
    return hart->sink ? hart->sink(hart->sink_user, block) : ntr_encoder_push(hart->encoder, block);
}

/* The encoder is told twice: that the hart is in reset, and with its next block that it is not. */
static void take_reset(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    const ntr_ingress reset = {.reset = true, .no_iaddr = true, .cycle = true, .priv = NTR_PRIV_M};

    end_block(harts, hart, hart->record[0] & CHANNEL_ALL);
    ntr_capture_note(harts, ntr_classifier_finish(hart->classifier, NULL));
    ntr_capture_note(harts, send(hart, &reset));
}

/* The hart has reported what it retired (CHANNEL_FOLLOW_HALT). It is halted until its next block. */
static void halt(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    const ntr_ingress halted = {.halted = true, .no_iaddr = true, .cycle = true, .priv = NTR_PRIV_M};

    end_block(harts, hart, CHANNEL_ALL);
    ntr_capture_note(harts, ntr_classifier_finish(hart->classifier, NULL));
    ntr_capture_note(harts, send(hart, &halted));
    hart->halted_at = hart->time;
}

void ntr_capture_machine_halt_hart(struct ntr_capture_harts *harts, uint32_t lane) {
    struct ntr_capture_hart *hart = &harts->harts[lane];
    if (hart->classifier && !hart->ended && hart->time != hart->halted_at) halt(harts, hart);
}

void ntr_capture_machine_halt(struct ntr_capture_harts *harts) {
    for (uint32_t i = 0; i < CHANNEL_LANES; i++) ntr_capture_machine_halt_hart(harts, i);
}

void ntr_capture_machine_insert(struct ntr_capture_harts *harts, uint32_t lane, uint64_t address, const uint8_t *bytes,
                                size_t size) {
    struct ntr_capture_hart *hart = &harts->harts[lane];
    ntr_code_block code;

    if (!hart->classifier || hart->ended) return;
    end_block(harts, hart, CHANNEL_ALL);
    if (ntr_code_block_scan(bytes, size, address, 0, 1, &code) == NTR_OK) ntr_capture_hart_insert(harts, hart, &code);
}

static void take_end(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    end_block(harts, hart, hart->record[0] & CHANNEL_ALL);
    ntr_capture_run_stop(harts, hart, NTR_ADDRESS_UNKNOWN);
    hart->stopped = true;
}

static void take_context(struct ntr_capture_hart *hart) {
    hart->moves = true;
    hart->satp_next = pair(hart->record + 1);
    hart->hgatp_next = pair(hart->record + 3);
}

/* Time 0 would say that the time is not known (ntr_hart_state). */
static void take_time(struct ntr_capture_hart *hart) {
    const uint64_t time = pair(hart->record + 1);
    hart->clock = time ? time : 1;
}

/* The guest may have many processes; what it makes the capture keep is limited. */
static void take_note(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, struct ntr_capture_notes *notes) {
    enum { NOTES_MOST = 1 << 22 };

    ntr_capture_run_flush(harts, hart); /* its position is that of what was executed */
    if (notes->count == NOTES_MOST) return;
    if (ntr_reserve(harts->allocator, (void **)&notes->items, &notes->capacity, notes->count + 1,
                    sizeof *notes->items)) {
        ntr_capture_note(harts, NTR_E_MEMORY);
        return;
    }
    struct ntr_capture_guest_note *note = &notes->items[notes->count++];
    const unsigned index = (unsigned)(hart - harts->harts);
    *note = (struct ntr_capture_guest_note){.position = harts->system ? ntr_capture_system_mark(harts->system, index)
                                                                      : harts->stream->offset,
                                            .context = hart->context,
                                            .lane = (uint32_t)(hart - harts->harts)};
    memcpy(note->words, hart->record + 1, sizeof note->words);
}

void ntr_capture_machine_take(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_TRAP: take_trap(harts, hart); break;
    case CHANNEL_PART:
        end_block(harts, hart, hart->record[0] & CHANNEL_ALL);
        ntr_capture_hart_hand_over(harts, hart);
        break;
    case CHANNEL_RESET: take_reset(harts, hart); break;
    case CHANNEL_END: take_end(harts, hart); break;
    case CHANNEL_TASK: take_note(harts, hart, &harts->machine->tasks); break;
    case CHANNEL_PAGE: take_note(harts, hart, &harts->machine->pages); break;
    case CHANNEL_TIME: take_time(hart); break;
    default: take_context(hart); break;
    }
}

/* Before the window opens: only the task that runs when it opens is needed. */
static void pass_task(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    struct ntr_capture_notes *tasks = &harts->machine->tasks;
    size_t count = tasks->count;

    take_note(harts, hart, tasks);
    if (tasks->count == count) return;
    for (size_t i = 0; i < count; i++) {
        if (tasks->items[i].lane != tasks->items[count].lane) continue;
        tasks->items[i] = tasks->items[count];
        tasks->count--;
        return;
    }
}

/* The plugin reports a page once, so those that are reported before the window opens are needed. */
void ntr_capture_machine_pass(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_TIME: take_time(hart); break;
    case CHANNEL_TASK: pass_task(harts, hart); break;
    case CHANNEL_PAGE: take_note(harts, hart, &harts->machine->pages); break;
    case CHANNEL_CONTEXT:
        take_context(hart);
        ntr_capture_machine_move(harts, hart);
        break;
    default: break;
    }
}

/* Also when the last thing that the hart did was to take a trap: the instructions before it may wait in the encoder. */
void ntr_capture_machine_finish_hart(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    if (hart->stopped || !hart->classifier) return;
    end_block(harts, hart, 0);
    ntr_capture_run_stop(harts, hart, NTR_ADDRESS_UNKNOWN);
}
