#include "capture/message_cache.h"

#include <stdlib.h>
#include <string.h>

enum { LOOP_WORDS = 4 };

ntr_status run_harts_init(struct run_harts *harts, struct channel *channel, const ntr_encoder_config *config,
                          struct run_stream *stream, struct run_system *system) {
    *harts = (struct run_harts){.channel = channel, .config = config, .stream = stream, .system = system};
    run_code_init(&harts->code);
    harts->harts = calloc(CHANNEL_LANES, sizeof *harts->harts);
    harts->traced = 1u << config->params.src_bits;
    if (harts->traced > CHANNEL_LANES || system) harts->traced = CHANNEL_LANES;
    return harts->harts ? NTR_OK : NTR_E_MEMORY;
}

void run_harts_release(struct run_harts *harts) {
    for (uint32_t i = 0; harts->harts && i < CHANNEL_LANES; i++) {
        ntr_classifier_free(harts->harts[i].classifier);
        ntr_encoder_free(harts->harts[i].encoder);
        run_paths_free(harts->harts[i].paths);
    }
    free(harts->harts);
    free(harts->blocks);
    free(harts->steps);
    run_code_release(&harts->code);
}

static bool make_encoder(struct run_harts *harts, uint32_t index, ntr_classifier_config *classifier) {
    ntr_encoder_config config = *harts->config;
    ntr_status status;

    config.src_id = (uint16_t)index;
    classifier->encoder = harts->harts[index].encoder = ntr_encoder_new(&config, &status);
    run_hart_note(harts, status);
    if (!classifier->encoder) return false;
    harts->in_runs = ntr_encoder_takes_runs(classifier->encoder);
    if (harts->in_runs) harts->harts[index].paths = run_paths_new();
    return true;
}

static bool start_hart(struct run_harts *harts, uint32_t index) {
    struct run_hart *hart = &harts->harts[index];
    ntr_classifier_config classifier;
    ntr_status status;

    hart->at = harts->channel->rings[index];
    ntr_classifier_config_init(&classifier);
    classifier.itype_width = harts->config->itype_width;
    classifier.all_jumps = harts->config->params.all_jumps;
    if (harts->system)
        run_system_attach(harts->system, index, &classifier);
    else if (!make_encoder(harts, index, &classifier))
        return false;
    hart->classifier = ntr_classifier_new(&classifier, &status);
    run_hart_note(harts, status);
    if (hart->classifier) ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U});
    return hart->classifier != NULL;
}

/* ---- words of the rings */

/* The block runs, and branches to itself until it has run `count` times. */
static void begin_loop(struct run_harts *harts, struct run_hart *hart, uint32_t number, uint64_t count) {
    run_hart_begin(harts, hart, number);
    for (count--; count && harts->failure == NTR_OK;) {
        const struct run_step *step = number < harts->block_capacity ? &harts->steps[number] : NULL;
        bool quick = step && step->next[1] == number && hart->run.iretire && hart->run.iretire <= RUN_HALFWORDS;
        uint64_t n = quick ? run_steps_repeat(hart, step, count) : 0;
        if (!n) run_hart_complete(harts, hart, number);
        count -= n ? n : 1;
    }
}

/* The loop has ended, and ran so often: those executions that were not taken while it ran. */
static void take_loop(struct run_harts *harts, struct run_hart *hart, uint32_t number, uint64_t count) {
    uint64_t taken = hart == harts->harts && number == harts->look.number ? harts->look.taken : 0;

    harts->look = (struct run_look){0};
    if (count > taken) begin_loop(harts, hart, number, count - taken);
}

/* A word of a record. */
static void take_record(struct run_harts *harts, struct run_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_LOOP:
        if (hart->fill < LOOP_WORDS) return;
        take_loop(harts, hart, hart->record[1],
                  (uint64_t)(hart->record[3] & ~(uint32_t)CHANNEL_RECORD) << 32 | hart->record[2]);
        break;
    case CHANNEL_ENTRY:
        hart->entry = word;
        break;
    default: /* CHANNEL_LOST */
        if (hart->last) run_hart_complete(harts, hart, 0);
        run_hart_close(harts, hart, NTR_ADDRESS_UNKNOWN);
        hart->last = 0;
        hart->ended = harts->lost = true;
        break;
    }
    hart->fill = 0;
}

static void take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words, const uint32_t *end) {
    while (words < end && !hart->ended) {
        if (!hart->fill && !hart->entry) words = run_steps_take(harts, hart, words, end);
        if (words == end) break;
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record(harts, hart, *words);
        else
            run_hart_begin(harts, hart, *words);
        words++;
    }
}

/* Where the writer stands in the ring, in our mapping; NULL: it has not begun. */
static uint32_t *writer_at(const struct run_harts *harts, uint32_t index) {
    uint32_t *at = atomic_load_explicit(&harts->channel->lanes[index].at, memory_order_acquire);
    uint32_t *ring = harts->channel->rings[index];

    if (!at) return NULL;
    uint64_t place = ((uintptr_t)at - harts->channel->head.base - ((uintptr_t)ring - (uintptr_t)harts->channel)) / 4;
    return place <= CHANNEL_RING ? ring + place % CHANNEL_RING : NULL;
}

static ptrdiff_t batch_of(const uint32_t *ring, const uint32_t *at) { return (at - ring) / CHANNEL_BATCH; }

static bool drain(struct run_harts *harts, uint32_t index, bool all) {
    struct run_hart *hart = &harts->harts[index];
    uint32_t *ring = harts->channel->rings[index], *end = writer_at(harts, index);

    if (!end || harts->failure != NTR_OK || (!hart->at && !start_hart(harts, index))) return false;
    if (hart->at == end || (!all && hart->at < end && batch_of(ring, hart->at) == batch_of(ring, end))) return false;
    if (!all) end = ring + batch_of(ring, end) * CHANNEL_BATCH;
    while (hart->at != end) {
        uint32_t *batch_end = ring + (batch_of(ring, hart->at) + 1) * CHANNEL_BATCH;
        uint32_t *stop = end > hart->at && end < batch_end ? end : batch_end;
        if (index < harts->traced) take(harts, hart, hart->at, stop);
        hart->at = stop;
        if (stop != batch_end) continue;
        if (stop == ring + CHANNEL_RING) hart->at = ring;
        atomic_store_explicit(&harts->channel->lanes[index].consumed, ++hart->consumed, memory_order_release);
    }
    if (index >= harts->traced) harts->untraced = true;
    return true;
}

uint32_t run_harts_count(const struct run_harts *harts) {
    uint32_t n = atomic_load(&harts->channel->head.lanes);
    return n < CHANNEL_LANES ? n : CHANNEL_LANES;
}

bool run_harts_source(const struct run_harts *harts, uint32_t index, uint16_t *src) {
    if (index >= harts->traced || !harts->harts[index].time) return false;
    *src = (uint16_t)index;
    return !harts->system || run_system_source(harts->system, index, src);
}

bool run_harts_drain(struct run_harts *harts, bool all) {
    bool any = false;
    for (uint32_t i = 0; i < run_harts_count(harts); i++) any |= drain(harts, i, all);
    return any;
}

/* ---- loops that run */

/* The loop that ran since the last word, if any. */
static uint32_t running_loop(const struct run_harts *harts) {
    const struct channel *channel = harts->channel;

    for (uint32_t i = 0; i < atomic_load(&channel->head.loops); i++)
        if (channel_pending(channel, &channel->blocks[channel->loops[i]])) return channel->loops[i];
    return 0;
}

static bool counts_loops(const struct run_harts *harts) {
    return !atomic_load(&harts->channel->head.shared) && harts->harts[0].at && !harts->harts[0].ended;
}

/* What had been counted at the last look came behind all that was told until then, if nothing has been told since: not
 * even a count that is seen before the words in front of it is a nap ahead of them. */
void run_harts_look(struct run_harts *harts) {
    struct run_look *look = &harts->look;
    struct run_hart *hart = harts->harts;

    if (!counts_loops(harts) || hart->fill || hart->entry || writer_at(harts, 0) != hart->at) return;
    if (look->at != hart->at) {
        *look = (struct run_look){.at = hart->at, .number = running_loop(harts)};
    } else if (look->count) {
        begin_loop(harts, hart, look->number, look->count);
        look->taken += look->count;
    }
    if (look->number)
        look->count = channel_pending(harts->channel, run_hart_shared(harts, look->number)) - look->taken;
}

/* ---- the end */

/* The guest had no time to tell. */
static void take_pending_loop(struct run_harts *harts) {
    uint32_t number = counts_loops(harts) ? running_loop(harts) : 0;

    if (number) take_loop(harts, harts->harts, number, channel_pending(harts->channel, run_hart_shared(harts, number)));
}

/* The last block of a hart may have ended early: by the fault that killed the program, or because another thread
 * ended it. */
static void finish_hart(struct run_harts *harts, uint32_t index, bool by_fault) {
    struct run_hart *hart = &harts->harts[index];
    const struct channel_block *shared = run_hart_shared(harts, hart->last);
    struct run_block *block = hart->last ? run_hart_block(harts, hart->last) : NULL;

    if (!block) return;
    unsigned retired = channel_retired(harts->channel, &harts->channel->lanes[index], shared);
    if (retired == CHANNEL_ALL && by_fault && block->last_traps) retired = shared->instructions - 1u;
    if (block->is_ecall || retired == CHANNEL_ALL) {
        run_hart_complete(harts, hart, 0);
        run_hart_close(harts, hart, NTR_ADDRESS_UNKNOWN);
    } else {
        run_hart_close(harts, hart, run_hart_complete_part(harts, hart, retired));
    }
    hart->last = 0;
}

void run_harts_finish(struct run_harts *harts, bool by_fault) {
    take_pending_loop(harts);
    for (uint32_t i = 0; i < run_harts_count(harts) && harts->failure == NTR_OK; i++) finish_hart(harts, i, by_fault);
    for (uint32_t i = 0; i < run_harts_count(harts); i++) {
        if (harts->harts[i].encoder) run_hart_note(harts, ntr_encoder_flush(harts->harts[i].encoder));
    }
}
