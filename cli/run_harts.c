#include "run_harts.h"

#include <stdlib.h>
#include <string.h>

/* A block of the channel, ready to be encoded. */
struct run_block {
    ntr_code_block code;
    uint32_t generation; /* of run_code when its bytes were last seen to agree; 0: not prepared yet */
    bool is_ecall;
    bool last_traps;
};

/* The same for the quick way: what it adds to a run. */
struct run_step {
    uint32_t next[2]; /* numbers of blocks that it leads to by itself, the second if it branches there; 0: not known */
    uint16_t halfwords, instructions; /* 0: nothing is known */
    uint8_t branches;                 /* 0 or 1 */
    uint8_t ends;                     /* itype of the register jump that ends it, and any run; 0: another end */
    uint64_t start;
};

struct run_hart {
    ntr_encoder *encoder; /* NULL: nothing has run here */
    ntr_classifier *classifier;
    uint32_t *at;      /* next word of the ring */
    uint64_t consumed; /* batches */
    uint64_t time;     /* instructions retired */
    uint32_t last;     /* block being executed; what it did is known when the next one begins. 0: none */
    ntr_run run;       /* what was executed and not given to the encoder yet; it ends where `last` begins */
    uint8_t branches;  /* a run with so many is given to the encoder */
    uint8_t fill;      /* words of a record that are here */
    uint32_t record[4];
    uint32_t entry; /* CHANNEL_ENTRY record that belongs to the next block, or 0 */
    bool ended;
};

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
    }
    free(harts->harts);
    free(harts->blocks);
    free(harts->steps);
    run_code_release(&harts->code);
}

static void note(struct run_harts *harts, ntr_status status) {
    if (status != NTR_OK && harts->failure == NTR_OK) harts->failure = status;
}

static bool make_encoder(struct run_harts *harts, uint32_t index, ntr_classifier_config *classifier) {
    ntr_encoder_config config = *harts->config;
    ntr_status status;

    config.src_id = (uint16_t)index;
    classifier->encoder = harts->harts[index].encoder = ntr_encoder_new(&config, &status);
    note(harts, status);
    if (!classifier->encoder) return false;
    harts->in_runs = ntr_encoder_takes_runs(classifier->encoder);
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

static bool resize(void **items, size_t size, uint32_t count, uint32_t larger) {
    void *moved = realloc(*items, larger * size);

    if (!moved) return false;
    memset((char *)moved + count * size, 0, (larger - count) * size);
    *items = moved;
    return true;
}

static bool grow_blocks(struct run_harts *harts, uint32_t number) {
    uint32_t larger = harts->block_capacity ? harts->block_capacity : 1024;

    while (larger <= number) larger *= 2;
    if (!resize((void **)&harts->blocks, sizeof *harts->blocks, harts->block_capacity, larger) ||
        !resize((void **)&harts->steps, sizeof *harts->steps, harts->block_capacity, larger)) {
        note(harts, NTR_E_MEMORY);
        return false;
    }
    harts->block_capacity = larger;
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------------------- */

enum { RUN_HALFWORDS = 1 << 14 }; /* a run with so many is given to the encoder */

static unsigned branches_left(const struct run_hart *hart) {
    return hart->run.branches < hart->branches ? (unsigned)hart->branches - hart->run.branches : 0;
}

/* Give the run to the encoder; it ends behind `code` (NULL: in nothing special) like this. */
static void push_run(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code, unsigned itype) {
    ntr_run *run = &hart->run;

    if (!run->iretire) return;
    run->itype = (uint8_t)itype;
    run->time = hart->time;
    if (code) {
        run->end = code->start + 2u * code->halfwords;
        run->sijump =
            code->constant_register && code->instructions > 1 && code->constant_register == code->jump_register;
    }
    note(harts, ntr_encoder_push_run(hart->encoder, run));
    *run = (ntr_run){0};
    hart->branches = (uint8_t)ntr_encoder_run_branches(hart->encoder);
}

static void flush_run(struct run_harts *harts, struct run_hart *hart) {
    push_run(harts, hart, NULL, NTR_ITYPE_NONE);
}

/* The hart's window closes at address `next`: what is pending is told, then that tracing stopped. */
static void close_window(struct run_harts *harts, struct run_hart *hart, uint64_t next) {
    uint64_t told;

    flush_run(harts, hart);
    note(harts, ntr_classifier_finish(hart->classifier, &told));
    if (next == NTR_ADDRESS_UNKNOWN) next = told;
    if (harts->system) {
        note(harts, run_system_leave(harts->system, (unsigned)(hart - harts->harts), next));
    } else {
        note(harts, ntr_encoder_stop(hart->encoder, next, harts->config->stop_evcode));
        hart->branches = (uint8_t)ntr_encoder_run_branches(hart->encoder);
    }
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
        /* in a system, what was told may still be on its way: the newest code stands for all */
        failed = !run_code_change(&harts->code, address, bytes, harts->system ? 0 : harts->stream->offset);
        harts->rewritten = harts->system != NULL;
        memset(harts->steps, 0, harts->block_capacity * sizeof *harts->steps);
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

static void pass_time(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code) {
    uint64_t now = harts->system ? run_system_now(harts->system) : hart->time + code->instructions;

    if (harts->config->params.timestamps == NTR_TIMESTAMPS_ON)
        ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U, .time = now});
    if (harts->system) note(harts, run_system_step(harts->system, code->instructions));
    hart->time += code->instructions;
}

/* By itself, outside of any run. */
static void enter(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code) {
    flush_run(harts, hart);
    pass_time(harts, hart, code);
    note(harts, ntr_classifier_enter(hart->classifier, code));
}

static bool is_register_jump(const ntr_code_block *code) {
    return code->flow >= NTR_FLOW_INDIRECT_JUMP && code->flow <= NTR_FLOW_RETURN;
}

/* Where the block goes by itself; a branch as if not taken. */
static uint64_t successor(const ntr_code_block *code) {
    if (is_register_jump(code)) return NTR_ADDRESS_UNKNOWN;
    if (code->flow == NTR_FLOW_DIRECT_JUMP || code->flow == NTR_FLOW_DIRECT_CALL) return code->target;
    return code->start + 2u * code->halfwords;
}

static bool is_taken(const ntr_code_block *code, uint64_t next) {
    return code->flow == NTR_FLOW_BRANCH && next == code->target && next != successor(code);
}

static bool leads_to(const ntr_code_block *code, uint64_t next) {
    return successor(code) == next || is_taken(code, next);
}

/* Whether the encoder has nothing to tell of the block when it leads to `next`. */
static bool is_silent(const struct run_harts *harts, const ntr_code_block *code, uint64_t next) {
    if (!leads_to(code, next)) return false;
    if (code->flow == NTR_FLOW_DIRECT_CALL) return harts->config->params.implicit_return == NTR_RETURN_OFF;
    return !is_taken(code, next) || harts->config->mode == NTR_INST_MODE_HTM;
}

static struct run_step *make_step(struct run_harts *harts, uint32_t number, const struct run_block *block) {
    struct run_step *step = &harts->steps[number];

    step->start = block->code.start;
    step->halfwords = (uint16_t)block->code.halfwords;
    step->instructions = (uint16_t)block->code.instructions;
    step->branches = block->code.flow == NTR_FLOW_BRANCH;
    step->ends = is_register_jump(&block->code) ? block->code.itype : 0;
    return step;
}

/* The last block into the run; it went on to block `number`. */
static void run_on(struct run_harts *harts, struct run_hart *hart, const struct run_block *block, uint32_t number) {
    const ntr_code_block *code = &block->code;
    uint64_t next = shared_block(harts, number)->address;
    ntr_run *run = &hart->run;
    bool taken = is_taken(code, next);

    if (!branches_left(hart) || run->iretire > RUN_HALFWORDS) flush_run(harts, hart);
    if (!run->iretire) run->iaddr = code->start;
    run->iretire += code->halfwords;
    hart->time += code->instructions;
    struct run_step *step = make_step(harts, hart->last, block);
    if (!is_silent(harts, code, next)) {
        push_run(harts, hart, code, taken ? NTR_ITYPE_TAKEN : code->itype);
        return;
    }
    if (code->flow == NTR_FLOW_BRANCH) {
        run->outcomes = run->outcomes << 1 | taken;
        run->branches++;
    }
    step->next[taken] = number;
}

/* The last block ran to its end; `number` begins (0: nobody knows what). */
static void complete(struct run_harts *harts, struct run_hart *hart, uint32_t number) {
    struct run_block *block = block_at(harts, hart->last);

    if (!block) return;
    bool goes_on =
        number && (is_register_jump(&block->code) || leads_to(&block->code, shared_block(harts, number)->address));
    if (harts->in_runs && goes_on && !block->is_ecall && block->code.halfwords) {
        run_on(harts, hart, block, number);
        return;
    }
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

/* Block `number` is where a signal handler begins. The last block was interrupted, raised the signal itself, or
 * called the handler like any function. */
static void complete_before_handler(struct run_harts *harts, struct run_hart *hart, uint32_t entry, uint32_t number) {
    struct run_block *block = block_at(harts, hart->last);
    bool is_fault = entry & CHANNEL_ENTRY_FAULT;
    unsigned retired = entry & CHANNEL_ALL;

    if (!block) return;
    if (retired == CHANNEL_ALL && is_fault && block->last_traps)
        retired = shared_block(harts, hart->last)->instructions - 1u;
    if (block->is_ecall || (retired == CHANNEL_ALL && leads_to(&block->code, shared_block(harts, number)->address))) {
        complete(harts, hart, number);
        return;
    }
    uint64_t epc = retired == CHANNEL_ALL ? successor(&block->code) : complete_part(harts, hart, retired);
    if (retired == CHANNEL_ALL) enter(harts, hart, &block->code);
    unsigned itype = is_fault || retired != CHANNEL_ALL ? NTR_ITYPE_EXCEPTION : NTR_ITYPE_INTERRUPT;
    flush_run(harts, hart); /* nothing of the last block may have retired */
    note(harts, ntr_classifier_trap(hart->classifier, itype, epc, 0, 0));
}

/* ---- words of the rings ------------------------------------------------------------------------------------------ */

static void begin(struct run_harts *harts, struct run_hart *hart, uint32_t number) {
    if (hart->last && hart->entry)
        complete_before_handler(harts, hart, hart->entry, number);
    else if (hart->last)
        complete(harts, hart, number);
    hart->entry = 0;
    hart->last = number;
}

/* Steps of the last block to itself, `count` of them at most, that fit the run. Returns how many were made. */
static uint64_t repeat(struct run_hart *hart, const struct run_step *step, uint64_t count) {
    ntr_run *run = &hart->run;
    uint64_t n = (RUN_HALFWORDS - run->iretire) / step->halfwords + 1;

    if (n > branches_left(hart)) n = branches_left(hart);
    if (n > count) n = count;
    if (n) run->outcomes = (n < 64 ? run->outcomes << n : 0) | UINT64_MAX >> (64 - n);
    run->branches = (uint8_t)(run->branches + n);
    run->iretire += (uint32_t)n * step->halfwords;
    hart->time += n * step->instructions;
    return n;
}

/* The block runs, and branches to itself until it has run `count` times. */
static void begin_loop(struct run_harts *harts, struct run_hart *hart, uint32_t number, uint64_t count) {
    begin(harts, hart, number);
    for (count--; count && harts->failure == NTR_OK;) {
        const struct run_step *step = number < harts->block_capacity ? &harts->steps[number] : NULL;
        bool quick = step && step->next[1] == number && hart->run.iretire && hart->run.iretire <= RUN_HALFWORDS;
        uint64_t n = quick ? repeat(hart, step, count) : 0;
        if (!n) complete(harts, hart, number);
        count -= n ? n : 1;
    }
}

/* A word of a record. */
static void take_record(struct run_harts *harts, struct run_hart *hart, uint32_t word) {
    hart->record[hart->fill++] = word;
    switch (hart->record[0] & 0xff000000u) {
    case CHANNEL_LOOP:
        if (hart->fill < LOOP_WORDS) return;
        begin_loop(harts, hart, hart->record[1], (uint64_t)(hart->record[3] & ~(uint32_t)CHANNEL_RECORD) << 32 | hart->record[2]);
        break;
    case CHANNEL_ENTRY:
        hart->entry = word;
        break;
    default: /* CHANNEL_LOST */
        if (hart->last) complete(harts, hart, 0);
        close_window(harts, hart, NTR_ADDRESS_UNKNOWN);
        hart->last = 0;
        hart->ended = harts->lost = true;
        break;
    }
    hart->fill = 0;
}

/* The quick way: as long as each block is one that the block before is known to lead to. Returns the first word
 * that is not. */
static const uint32_t *follow_steps(const struct run_step *steps, struct run_hart *hart, const uint32_t *words,
                                    const uint32_t *end) {
    uint32_t last = hart->last, halfwords = hart->run.iretire;
    unsigned branches = hart->run.branches;
    uint64_t outcomes = hart->run.outcomes, instructions = 0;

    if (!halfwords) hart->run.iaddr = steps[last].start;
    if (end - words > (ptrdiff_t)branches_left(hart)) end = words + branches_left(hart);
    for (; words < end && halfwords <= RUN_HALFWORDS; words++) {
        const struct run_step *step = &steps[last];
        uint32_t word = *words;
        bool taken = word == step->next[1];
        if (!(taken | (word == step->next[0]))) break;
        last = word;
        outcomes = outcomes << step->branches | taken;
        branches += step->branches;
        halfwords += step->halfwords;
        instructions += step->instructions;
    }
    hart->last = last;
    hart->run.iretire = halfwords;
    hart->run.branches = (uint8_t)branches;
    hart->run.outcomes = outcomes;
    hart->time += instructions;
    return words;
}

/* The last block ends in a register jump, to the block that `word` tells. Returns false when that is not so. */
static bool jump_on(struct run_harts *harts, struct run_hart *hart, uint32_t word) {
    const struct run_step *step = &harts->steps[hart->last];

    if (!step->ends || !branches_left(hart) || !word || word & CHANNEL_RECORD) return false;
    if (!hart->run.iretire) hart->run.iaddr = step->start;
    hart->run.iretire += step->halfwords;
    hart->time += step->instructions;
    push_run(harts, hart, &harts->blocks[hart->last].code, step->ends);
    hart->last = word;
    return true;
}

/* Whether the quick way knows the last block. */
static bool is_stepping(const struct run_harts *harts, const struct run_hart *hart) {
    return hart->last < harts->block_capacity && harts->steps[hart->last].halfwords;
}

/* Returns the first word that the quick way does not know how to take. */
static const uint32_t *take_steps(struct run_harts *harts, struct run_hart *hart, const uint32_t *words,
                                  const uint32_t *end) {
    while (words < end && is_stepping(harts, hart)) {
        words = follow_steps(harts->steps, hart, words, end);
        if (words == end || !jump_on(harts, hart, *words)) break;
        words++;
    }
    return words;
}

static void take(struct run_harts *harts, struct run_hart *hart, const uint32_t *words, const uint32_t *end) {
    while (words < end && !hart->ended) {
        if (!hart->fill && !hart->entry) words = take_steps(harts, hart, words, end);
        if (words == end) break;
        if (hart->fill || *words & CHANNEL_RECORD)
            take_record(harts, hart, *words);
        else
            begin(harts, hart, *words);
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

static bool drain(struct run_harts *harts, uint32_t index) {
    struct run_hart *hart = &harts->harts[index];
    uint32_t *ring = harts->channel->rings[index], *end = writer_at(harts, index);

    if (!end || harts->failure != NTR_OK || (!hart->at && !start_hart(harts, index))) return false;
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

bool run_harts_source(const struct run_harts *harts, uint32_t index, uint16_t *src) {
    if (index >= harts->traced || !harts->harts[index].time) return false;
    *src = (uint16_t)index;
    return !harts->system || run_system_source(harts->system, index, src);
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

    if (atomic_load(&channel->head.shared) || !harts->harts[0].at || harts->harts[0].ended) return;
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
        complete(harts, hart, 0);
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
