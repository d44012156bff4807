#include "capture/harts.h"
#include "base/allocator.h"
#include "capture/block_chain.h"
#include "capture/blocks.h"
#include "capture/hart.h"
#include "capture/machine.h"
#include "capture/run.h"
#include "capture/spaces.h"
#include "capture/window.h"

#include <ntrace/message.h>

#include <signal.h>

static void set_traced(struct ntr_capture_harts *harts, unsigned src_bits) {
    harts->traced = src_bits < CHANNEL_LANE_BITS ? 1u << src_bits : CHANNEL_LANES;
}

ntr_status ntr_capture_harts_init(struct ntr_capture_harts *harts, const struct ntr_capture_target *target,
                                  const ntr_allocator *allocator) {
    *harts = (struct ntr_capture_harts){.allocator = allocator,
                                        .channel = target->channel,
                                        .config = target->config,
                                        .stream = target->stream,
                                        .pause_at = UINT64_MAX,
                                        .system = target->system,
                                        .record = target->record,
                                        .widen = target->widen,
                                        .user = target->user};
    ntr_capture_code_init(&harts->code, allocator);
    harts->harts = ntr_alloc(allocator, CHANNEL_LANES, sizeof *harts->harts);
    set_traced(harts, target->system ? CHANNEL_LANE_BITS : target->config->params.src_bits);
    return harts->harts ? NTR_OK : NTR_E_MEMORY;
}

void ntr_capture_harts_release(struct ntr_capture_harts *harts) {
    for (uint32_t i = 0; harts->harts && i < CHANNEL_LANES; i++) {
        ntr_classifier_free(harts->harts[i].classifier);
        ntr_encoder_free(harts->harts[i].encoder);
    }
    ntr_dealloc(harts->allocator, harts->harts);
    ntr_dealloc(harts->allocator, harts->blocks);
    ntr_dealloc(harts->allocator, harts->links);
    ntr_capture_machine_free(harts);
    ntr_capture_code_release(&harts->code);
}

void ntr_capture_harts_widen(struct ntr_capture_harts *harts, unsigned src_bits) {
    set_traced(harts, src_bits);
    for (uint32_t i = 0; i < CHANNEL_LANES; i++) {
        if (harts->harts[i].encoder) ntr_enc_set_src_bits(harts->harts[i].encoder, src_bits);
    }
}

static bool make_encoder(struct ntr_capture_harts *harts, uint32_t index, ntr_classifier_config *classifier) {
    ntr_encoder_config config = *harts->config;

    config.src_id =
        (uint16_t)(index < harts->traced ? index : 0); /* the encoder of a lane that is not traced gets nothing */
    ntr_capture_note(harts, ntr_encoder_new(&config, &harts->harts[index].encoder));
    classifier->encoder = harts->harts[index].encoder;
    if (!classifier->encoder) return false;
    harts->in_runs = ntr_enc_takes_runs(classifier->encoder);
    return true;
}

static bool start_hart(struct ntr_capture_harts *harts, uint32_t index) {
    struct ntr_capture_hart *hart = &harts->harts[index];
    ntr_classifier_config classifier;

    ntr_capture_lane_begin(&hart->lane, harts->channel, index);
    ntr_classifier_config_init(&classifier);
    classifier.allocator = harts->allocator;
    classifier.itype_width = harts->config->itype_width;
    classifier.all_jumps = harts->config->params.all_jumps;
    if (harts->system)
        ntr_capture_system_attach(harts->system, index, &classifier);
    else if (!make_encoder(harts, index, &classifier))
        return false;
    ntr_capture_note(harts, ntr_classifier_new(&classifier, &hart->classifier));
    if (hart->classifier) ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U});
    hart->sink = classifier.sink;
    hart->sink_user = classifier.sink_user;
    return hart->classifier != NULL;
}

/* ---- words of a lane ----------------------------------------------------------------------------------------------
 */

/* The loop has ended after `count` executions. Those that a poll has encoded are done. */
static void take_loop(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t number, uint64_t count) {
    uint64_t encoded = hart == harts->harts && number == harts->poll.number ? harts->poll.encoded : 0;

    harts->poll = (struct ntr_capture_poll){0};
    if (count > encoded) ntr_capture_hart_repeat(harts, hart, number, count - encoded);
}

/* The block of the access is not known to the encoder yet, as it is being executed. */
static void take_access(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *words) {
    const ntr_data_record record = {
        .access = words[0] & CHANNEL_ACCESS_WRITE ? NTR_DATA_WRITE : NTR_DATA_READ,
        .bytes = (uint8_t)(1u << (words[0] & CHANNEL_ACCESS_SIZE & 3)),
        .address = (uint64_t)words[2] << 32 | words[1],
        .data = (uint64_t)words[4] << 32 | words[3],
    };

    if (!hart->encoder || !hart->last || !ntr_capture_watches(harts, record.address)) return;
    ntr_capture_hart_reach(harts, hart);
    ntr_capture_note(harts, ntr_encoder_access(hart->encoder, &record));
}

/* Tracing of the hart ends in `block`, its last one, of which so many instructions retired (CHANNEL_ALL: as far as is
 * known, all). A register jump at its end is left out, because no message gives the unknown target of a jump that is
 * the last instruction. It is kept when the program died by a fault: the jump retired, and the fault can be that of its
 * target. */
static void end_in_block(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart,
                         const struct ntr_capture_block *block, unsigned retired, bool by_fault) {
    if (retired == CHANNEL_ALL && !by_fault && ntr_capture_needs_target(harts, &block->code))
        retired = ntr_capture_shared(harts, hart->last)->instructions - 1u;
    if (retired == CHANNEL_ALL) {
        ntr_capture_hart_complete(harts, hart, 0);
        ntr_capture_run_stop(harts, hart, NTR_ADDRESS_UNKNOWN);
    } else {
        ntr_capture_run_stop(harts, hart, ntr_capture_hart_complete_part(harts, hart, retired));
    }
    hart->last = 0;
}

/* A table of the channel is full; nothing is known about what follows. */
static void end_lost(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart) {
    const struct ntr_capture_block *block = hart->last ? ntr_capture_block_at(harts, hart, hart->last) : NULL;

    if (block) end_in_block(harts, hart, block, CHANNEL_ALL, false);
    hart->ended = harts->lost = true;
}

static void take_record_word(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    if (hart->fill < channel_record_words(hart->record[0])) return;
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_LOOP:
        take_loop(harts, hart, hart->record[1],
                  (uint64_t)(hart->record[3] & ~(uint32_t)CHANNEL_RECORD) << 32 | hart->record[2]);
        break;
    case CHANNEL_ACCESS: take_access(harts, hart, hart->record); break;
    case CHANNEL_ENTRY:
        hart->entry = hart->record[0];
        hart->entry_pc = (uint64_t)hart->record[2] << 32 | hart->record[1];
        break;
    case CHANNEL_TRAP:
    case CHANNEL_PART:
    case CHANNEL_RESET:
    case CHANNEL_END:
    case CHANNEL_CONTEXT:
    case CHANNEL_TASK:
    case CHANNEL_PAGE:
    case CHANNEL_TIME: ntr_capture_machine_take(harts, hart); break;
    default: /* CHANNEL_LOST */ end_lost(harts, hart); break;
    }
    hart->fill = 0;
}

static void take_traced(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *words,
                        const uint32_t *end) {
    while (words < end && !hart->ended) {
        if (!hart->fill && !hart->entry && !hart->tail && !hart->moves)
            words = ntr_capture_chain_follow(harts, hart, words, end);
        if (words == end) break;
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record_word(harts, hart, *words);
        else
            ntr_capture_hart_begin(harts, hart, *words);
        words++;
    }
}

static void take_words(struct ntr_capture_harts *harts, struct ntr_capture_hart *hart, const uint32_t *words,
                       const uint32_t *end) {
    while (!ntr_capture_window_is_whole(harts) && words < end && !hart->ended) {
        words = ntr_capture_window_pass(harts, hart, words, end);
        const uint32_t *limit = words < end ? ntr_capture_window_limit(harts, hart, words, end) : end;
        take_traced(harts, hart, words, limit);
        if (limit < end) ntr_capture_window_close(harts, hart, limit);
        words = limit;
    }
    take_traced(harts, hart, words, end);
}

static bool drain(struct ntr_capture_harts *harts, uint32_t index, bool all, unsigned batches) {
    struct ntr_capture_hart *hart = &harts->harts[index];
    uint32_t *end;

    if (harts->failure != NTR_OK || !ntr_capture_lane_writer(harts->channel, index)) return false;
    if (!hart->lane.at && index >= harts->traced && harts->widen)
        ntr_capture_note(harts, harts->widen(harts->user, index));
    if (!hart->lane.at && (harts->failure != NTR_OK || !start_hart(harts, index))) return false;
    if (!ntr_capture_lane_ready(&hart->lane, harts->channel, index, all, &end)) return false;
    while (hart->lane.at != end && harts->stream->offset < harts->pause_at && batches--) {
        uint32_t *stop = ntr_capture_lane_stop(&hart->lane, harts->channel, index, end);
        if (index < harts->traced) take_words(harts, hart, hart->lane.at, stop);
        ntr_capture_lane_pass(&hart->lane, harts->channel, index, stop);
    }
    if (index >= harts->traced) harts->untraced = true;
    return true;
}

bool ntr_capture_harts_drain(struct ntr_capture_harts *harts, bool all) {
    bool any = false;
    for (uint32_t i = 0; i < ntr_capture_source_lanes(harts->channel); i++) any |= drain(harts, i, all, UINT32_MAX);
    return any;
}

bool ntr_capture_harts_drain_part(struct ntr_capture_harts *harts) {
    bool any = false;
    for (uint32_t i = 0; i < ntr_capture_source_lanes(harts->channel); i++) any |= drain(harts, i, true, 1);
    return any;
}

bool ntr_capture_harts_source(const struct ntr_capture_harts *harts, uint32_t index, uint16_t *src) {
    if (index >= harts->traced || !harts->harts[index].time) return false;
    *src = (uint16_t)index;
    return !harts->system || ntr_capture_system_source(harts->system, index, src);
}

/* ---- loops that run -----------------------------------------------------------------------------------------------
 */

static bool counts_loops(const struct ntr_capture_harts *harts) {
    return !atomic_load(&harts->channel->head.shared) && harts->harts[0].lane.at && !harts->harts[0].ended &&
           harts->window.state == NTR_CAPTURE_WINDOW_OPEN;
}

void ntr_capture_harts_poll(struct ntr_capture_harts *harts) {
    struct ntr_capture_poll *poll = &harts->poll;
    struct ntr_capture_hart *hart = harts->harts;

    if (!counts_loops(harts) || hart->fill || hart->entry) return;
    if (ntr_capture_lane_writer(harts->channel, 0) != hart->lane.at) return;
    if (poll->at != hart->lane.at) {
        *poll =
            (struct ntr_capture_poll){.at = hart->lane.at, .number = ntr_capture_source_running_loop(harts->channel)};
    } else if (poll->count) {
        ntr_capture_hart_repeat(harts, hart, poll->number, poll->count);
        poll->encoded += poll->count;
    }
    if (!poll->number || ntr_capture_window_stops_in(harts, poll->number)) return;
    /* Fewer than were encoded: the plugin has begun to report the loop, and its words are not written yet. */
    const uint64_t pending = channel_pending(harts->channel, ntr_capture_shared(harts, poll->number));
    poll->count = pending > poll->encoded ? pending - poll->encoded : 0;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* The guest ended inside a loop, or before it could report one. */
static void take_pending_loop(struct ntr_capture_harts *harts) {
    uint32_t number = counts_loops(harts) ? ntr_capture_source_running_loop(harts->channel) : 0;

    if (number)
        take_loop(harts, harts->harts, number, channel_pending(harts->channel, ntr_capture_shared(harts, number)));
}

/* The last block of a hart may have ended early: by the fault that killed the guest, or because another thread ended
 * it. */
static void finish_hart(struct ntr_capture_harts *harts, uint32_t index, int fault) {
    struct ntr_capture_hart *hart = &harts->harts[index];
    const struct channel_block *shared = ntr_capture_shared(harts, hart->last);

    if (harts->channel->head.machine) {
        ntr_capture_machine_finish_hart(harts, hart);
        return;
    }
    const struct ntr_capture_block *block = hart->last ? ntr_capture_block_at(harts, hart, hart->last) : NULL;
    if (!block) return;
    unsigned retired = channel_retired(harts->channel, &harts->channel->lanes[index], shared);
    /* QEMU ends a block at an instruction that is not defined. */
    bool last_trapped = fault == SIGILL || (fault && block->last_traps);
    if (retired == CHANNEL_ALL && last_trapped && !block->is_ecall) retired = shared->instructions - 1u;
    end_in_block(harts, hart, block, retired, fault != 0);
}

void ntr_capture_harts_finish(struct ntr_capture_harts *harts, int fault) {
    uint32_t count = ntr_capture_source_lanes(harts->channel);

    take_pending_loop(harts);
    for (uint32_t i = 0; i < count && harts->failure == NTR_OK; i++) finish_hart(harts, i, fault);
    for (uint32_t i = 0; i < count; i++) {
        if (harts->harts[i].encoder) ntr_capture_note(harts, ntr_encoder_flush(harts->harts[i].encoder));
    }
}
