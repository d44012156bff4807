#include "run_harts.h"

#include <stdlib.h>
#include <string.h>

/* A block of the channel, as the classifier wants it. */
struct run_block {
    ntr_code_block code;
    uint32_t generation; /* of run_code when its bytes were last seen to agree; 0: not prepared yet */
    bool is_ecall;
    bool last_traps;
};

struct run_hart {
    ntr_encoder *encoder; /* NULL: nothing has run here */
    ntr_classifier *classifier;
    uint32_t *at;      /* next word of the ring */
    uint64_t consumed; /* batches */
    uint64_t time;     /* instructions retired */
    uint32_t last;     /* block being executed; what it did is known when the next one begins. 0: none */
    uint8_t fill;      /* words of a record that are here */
    uint32_t record[4];
    uint32_t entry; /* CHANNEL_ENTRY record that belongs to the next block, or 0 */
    bool ended;
};

enum { LOOP_WORDS = 4 };

ntr_status run_harts_init(struct run_harts *harts, struct channel *channel, const ntr_encoder_config *config,
                          struct run_stream *stream) {
    *harts = (struct run_harts){.channel = channel, .config = config, .stream = stream};
    run_code_init(&harts->code);
    harts->harts = calloc(CHANNEL_LANES, sizeof *harts->harts);
    harts->traced = 1u << config->params.src_bits;
    if (harts->traced > CHANNEL_LANES) harts->traced = CHANNEL_LANES;
    return harts->harts ? NTR_OK : NTR_E_MEMORY;
}

void run_harts_release(struct run_harts *harts) {
    for (uint32_t i = 0; harts->harts && i < CHANNEL_LANES; i++) {
        ntr_classifier_free(harts->harts[i].classifier);
        ntr_encoder_free(harts->harts[i].encoder);
    }
    free(harts->harts);
    free(harts->blocks);
    run_code_release(&harts->code);
}

static void note(struct run_harts *harts, ntr_status status) {
    if (status != NTR_OK && harts->failure == NTR_OK) harts->failure = status;
}

static bool start_hart(struct run_harts *harts, uint32_t index) {
    struct run_hart *hart = &harts->harts[index];
    ntr_encoder_config config = *harts->config;
    ntr_classifier_config classifier;
    ntr_status status;

    hart->at = harts->channel->rings[index];
    config.src_id = (uint16_t)index;
    hart->encoder = ntr_encoder_new(&config, &status);
    note(harts, status);
    if (!hart->encoder) return false;
    ntr_classifier_config_init(&classifier);
    classifier.encoder = hart->encoder;
    classifier.itype_width = config.itype_width;
    classifier.all_jumps = config.params.all_jumps;
    hart->classifier = ntr_classifier_new(&classifier, &status);
    note(harts, status);
    if (hart->classifier) ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U});
    return hart->classifier != NULL;
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

static const struct channel_block *shared_block(const struct run_harts *harts, uint32_t number) {
    return &harts->channel->blocks[number];
}

static ntr_bytes code_of(const struct run_harts *harts, uint32_t number) {
    const struct channel_block *block = shared_block(harts, number);
    return (ntr_bytes){harts->channel->code + block->code, block->size};
}

static unsigned isa_of(const struct run_harts *harts) {
    return harts->channel->head.xlen == 32 ? NTR_ISA_RV32 : 0;
}

static void prepare(struct run_harts *harts, uint32_t number, struct run_block *block) {
    static const uint8_t ecall[4] = {0x73, 0, 0, 0};
    const struct channel_block *shared = shared_block(harts, number);
    ntr_bytes bytes = code_of(harts, number);

    note(harts, ntr_code_block_scan(bytes.data, bytes.size, shared->address, isa_of(harts), 0, &block->code));
    block->is_ecall =
        bytes.size >= sizeof ecall && memcmp(bytes.data + bytes.size - sizeof ecall, ecall, sizeof ecall) == 0;
    block->last_traps = shared->flags & CHANNEL_BLOCK_LAST_TRAPS;
}

static bool grow_blocks(struct run_harts *harts, uint32_t number) {
    uint32_t larger = harts->block_capacity ? harts->block_capacity : 1024;

    while (larger <= number) larger *= 2;
    struct run_block *moved = realloc(harts->blocks, larger * sizeof *moved);
    if (!moved) {
        note(harts, NTR_E_MEMORY);
        return false;
    }
    memset(moved + harts->block_capacity, 0, (larger - harts->block_capacity) * sizeof *moved);
    harts->blocks = moved;
    harts->block_capacity = larger;
    return true;
}

/* The hart's window closes at address `next`: what is pending is told, then that tracing stopped. */
static void close_window(struct run_harts *harts, struct run_hart *hart, uint64_t next) {
    uint64_t told;

    note(harts, ntr_classifier_finish(hart->classifier, &told));
    note(harts, ntr_encoder_stop(hart->encoder, next != NTR_ADDRESS_UNKNOWN ? next : told, harts->config->stop_evcode));
}

/* Memory is about to change: whatever ran before must be told in messages of its own. */
static void close_windows(struct run_harts *harts) {
    for (uint32_t i = 0; i < run_harts_count(harts); i++) {
        struct run_hart *hart = &harts->harts[i];
        if (!hart->classifier) continue;
        uint64_t next = hart->last ? shared_block(harts, hart->last)->address : NTR_ADDRESS_UNKNOWN;
        close_window(harts, hart, next);
    }
}

/* See that memory holds the block's bytes from here on. */
static void verify(struct run_harts *harts, uint32_t number, struct run_block *block) {
    ntr_bytes bytes = code_of(harts, number);
    uint64_t address = shared_block(harts, number)->address;
    bool failed;

    if (!block->generation) prepare(harts, number, block);
    if (!run_code_agrees(&harts->code, address, bytes, &failed) && !failed) {
        close_windows(harts);
        failed = !run_code_change(&harts->code, address, bytes, harts->stream->offset);
    }
    if (failed) note(harts, NTR_E_MEMORY);
    block->generation = harts->code.generation;
}

/* The block, ready for use; NULL: out of memory. */
static struct run_block *block_at(struct run_harts *harts, uint32_t number) {
    if (number >= harts->block_capacity && !grow_blocks(harts, number)) return NULL;
    struct run_block *block = &harts->blocks[number];
    if (block->generation != harts->code.generation) verify(harts, number, block);
    return block;
}

/* ---- what a hart did ----------------------------------------------------------------------------------------- */

static void enter(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code) {
    if (harts->config->params.timestamps == NTR_TIMESTAMPS_ON)
        ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U, .time = hart->time});
    hart->time += code->instructions;
    note(harts, ntr_classifier_enter(hart->classifier, code));
}

/* The last block ran to its end. */
static void complete(struct run_harts *harts, struct run_hart *hart) {
    struct run_block *block = block_at(harts, hart->last);

    if (!block) return;
    enter(harts, hart, &block->code);
    /* The kernel's part is outside of a U-mode trace: ECALL ends the window, the next block begins a new one. */
    if (block->is_ecall) close_window(harts, hart, NTR_ADDRESS_UNKNOWN);
}

/* The instruction behind the first `retired` ones of the last block trapped. Returns its address. */
static uint64_t complete_part(struct run_harts *harts, struct run_hart *hart, unsigned retired) {
    const struct channel_block *shared = shared_block(harts, hart->last);
    ntr_bytes bytes = code_of(harts, hart->last);
    ntr_code_block part;

    if (!block_at(harts, hart->last)) return NTR_ADDRESS_UNKNOWN;
    if (!retired) return shared->address;
    note(harts, ntr_code_block_scan(bytes.data, bytes.size, shared->address, isa_of(harts), retired, &part));
    enter(harts, hart, &part);
    return shared->address + 2u * part.halfwords;
}

/* ---- signals: the handler is shown as if the hart had trapped straight to it ----------------------------------- */

static bool is_register_jump(const ntr_code_block *code) {
    return code->flow >= NTR_FLOW_INDIRECT_JUMP && code->flow <= NTR_FLOW_RETURN;
}

/* Where the block goes by itself; a branch as if not taken. */
static uint64_t successor(const ntr_code_block *code) {
    if (is_register_jump(code)) return NTR_ADDRESS_UNKNOWN;
    if (code->flow == NTR_FLOW_DIRECT_JUMP || code->flow == NTR_FLOW_DIRECT_CALL) return code->target;
    return code->start + 2u * code->halfwords;
}

static bool leads_to(const ntr_code_block *code, uint64_t next) {
    return successor(code) == next || (code->flow == NTR_FLOW_BRANCH && code->target == next);
}

/* The block that begins at `next` is a signal handler. The last block was interrupted, raised the signal itself,
 * or called the handler like any function. */
static void complete_before_handler(struct run_harts *harts, struct run_hart *hart, uint32_t entry, uint64_t next) {
    struct run_block *block = block_at(harts, hart->last);
    bool is_fault = entry & CHANNEL_ENTRY_FAULT;
    unsigned retired = entry & CHANNEL_ALL;

    if (!block) return;
    if (block->is_ecall) {
        complete(harts, hart);
        return;
    }
    if (retired == CHANNEL_ALL && is_fault && block->last_traps)
        retired = shared_block(harts, hart->last)->instructions - 1u;
    if (retired != CHANNEL_ALL) {
        uint64_t epc = complete_part(harts, hart, retired);
        note(harts, ntr_classifier_trap(hart->classifier, NTR_ITYPE_EXCEPTION, epc, 0, 0));
        return;
    }
    enter(harts, hart, &block->code);
    if (leads_to(&block->code, next)) return;
    unsigned itype = is_fault ? NTR_ITYPE_EXCEPTION : NTR_ITYPE_INTERRUPT;
    note(harts, ntr_classifier_trap(hart->classifier, itype, successor(&block->code), 0, 0));
}

/* ---- words of the rings ------------------------------------------------------------------------------------------ */

static void begin(struct run_harts *harts, struct run_hart *hart, uint32_t number) {
    if (hart->last && hart->entry)
        complete_before_handler(harts, hart, hart->entry, shared_block(harts, number)->address);
    else if (hart->last)
        complete(harts, hart);
    hart->entry = 0;
    hart->last = number;
}

static void begin_loop(struct run_harts *harts, struct run_hart *hart, uint32_t number, uint64_t count) {
    begin(harts, hart, number);
    while (--count) complete(harts, hart);
}

/* A word of a record. */
static void take_record(struct run_harts *harts, struct run_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_LOOP:
        if (hart->fill < LOOP_WORDS) return;
        begin_loop(harts, hart, hart->record[1], (uint64_t)hart->record[3] << 32 | hart->record[2]);
        break;
    case CHANNEL_ENTRY:
        hart->entry = word;
        break;
    default: /* CHANNEL_LOST */
        if (hart->last) complete(harts, hart);
        close_window(harts, hart, NTR_ADDRESS_UNKNOWN);
        hart->last = 0;
        hart->ended = harts->lost = true;
        break;
    }
    hart->fill = 0;
}

static void take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words, const uint32_t *end) {
    for (; words < end && !hart->ended; words++) {
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record(harts, hart, *words);
        else
            begin(harts, hart, *words);
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

static bool drain(struct run_harts *harts, uint32_t index) {
    struct run_hart *hart = &harts->harts[index];
    uint32_t *ring = harts->channel->rings[index], *end = writer_at(harts, index);

    if (!end || harts->failure != NTR_OK || (!hart->encoder && !start_hart(harts, index))) return false;
    if (hart->at == end) return false;
    while (hart->at != end) {
        uint32_t *batch_end = ring + ((hart->at - ring) / CHANNEL_BATCH + 1) * CHANNEL_BATCH;
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

bool run_harts_ran(const struct run_harts *harts, uint32_t index) {
    return index < harts->traced && harts->harts[index].time;
}

bool run_harts_drain(struct run_harts *harts) {
    bool any = false;
    for (uint32_t i = 0; i < run_harts_count(harts); i++) any |= drain(harts, i);
    return any;
}

/* ---- the end --------------------------------------------------------------------------------------------------------
 */

/* The loop that ran since the last word, if any: the guest had no time to tell. */
static void take_pending_loop(struct run_harts *harts) {
    struct channel *channel = harts->channel;

    if (atomic_load(&channel->head.shared) || !harts->harts[0].encoder || harts->harts[0].ended) return;
    for (uint32_t i = 0; i < atomic_load(&channel->head.loops); i++) {
        struct channel_block *block = &channel->blocks[channel->loops[i]];
        uint64_t count = channel_pending(channel, block);
        if (count) begin_loop(harts, &harts->harts[0], channel->loops[i], count);
    }
}

/* The last block of a hart may have ended early: by the fault that killed the program, or because another thread
 * ended it. */
static void finish_hart(struct run_harts *harts, uint32_t index, bool by_fault) {
    struct run_hart *hart = &harts->harts[index];
    const struct channel_block *shared = shared_block(harts, hart->last);
    struct run_block *block = hart->last ? block_at(harts, hart->last) : NULL;

    if (!block) return;
    unsigned retired = channel_retired(harts->channel, &harts->channel->lanes[index], shared);
    if (retired == CHANNEL_ALL && by_fault && block->last_traps) retired = shared->instructions - 1u;
    if (block->is_ecall || retired == CHANNEL_ALL) {
        complete(harts, hart);
        close_window(harts, hart, NTR_ADDRESS_UNKNOWN);
    } else {
        close_window(harts, hart, complete_part(harts, hart, retired));
    }
    hart->last = 0;
}

void run_harts_finish(struct run_harts *harts, bool by_fault) {
    take_pending_loop(harts);
    for (uint32_t i = 0; i < run_harts_count(harts) && harts->failure == NTR_OK; i++) finish_hart(harts, i, by_fault);
    for (uint32_t i = 0; i < run_harts_count(harts); i++) {
        if (harts->harts[i].encoder) note(harts, ntr_encoder_flush(harts->harts[i].encoder));
    }
}
