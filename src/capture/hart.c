#include "capture/hart.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks */

static ntr_bytes code_of(const struct run_harts *harts, uint32_t number) {
    const struct channel_block *block = run_hart_shared(harts, number);
    return (ntr_bytes){harts->channel->code + block->code, block->size};
}

static unsigned isa_of(const struct run_harts *harts) {
    return harts->channel->head.xlen == 32 ? NTR_ISA_RV32 : 0;
}

static void prepare(struct run_harts *harts, uint32_t number, struct run_block *block) {
    static const uint8_t ecall[4] = {0x73, 0, 0, 0};
    const struct channel_block *shared = run_hart_shared(harts, number);
    ntr_bytes bytes = code_of(harts, number);

    run_hart_note(harts, ntr_code_block_scan(bytes.data, bytes.size, shared->address, isa_of(harts), 0, &block->code));
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
        run_hart_note(harts, NTR_E_MEMORY);
        return false;
    }
    harts->block_capacity = larger;
    return true;
}

/* ---- runs */

void run_hart_push(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code, unsigned itype) {
    ntr_run *run = &hart->run;

    if (!run->iretire) return;
    run->itype = (uint8_t)itype;
    run->time = hart->time;
    if (code) {
        run->end = code->start + 2u * code->halfwords;
        run->sijump =
            code->constant_register && code->instructions > 1 && code->constant_register == code->jump_register;
    }
    run_hart_note(harts, ntr_encoder_push_run(hart->encoder, run));
    *run = (ntr_run){0};
    hart->branches = (uint8_t)ntr_encoder_run_branches(hart->encoder);
}

static void flush_run(struct run_harts *harts, struct run_hart *hart) {
    run_hart_push(harts, hart, NULL, NTR_ITYPE_NONE);
}

void run_hart_close(struct run_harts *harts, struct run_hart *hart, uint64_t next) {
    uint64_t told;

    flush_run(harts, hart);
    run_hart_note(harts, ntr_classifier_finish(hart->classifier, &told));
    if (next == NTR_ADDRESS_UNKNOWN) next = told;
    if (harts->system) {
        run_hart_note(harts, run_system_leave(harts->system, (unsigned)(hart - harts->harts), next));
    } else {
        run_hart_note(harts, ntr_encoder_stop(hart->encoder, next, harts->config->stop_evcode));
        hart->branches = (uint8_t)ntr_encoder_run_branches(hart->encoder);
    }
}

/* Memory is about to change: whatever ran before must be told in messages of its own. */
static void close_windows(struct run_harts *harts) {
    for (uint32_t i = 0; i < run_harts_count(harts); i++) {
        struct run_hart *hart = &harts->harts[i];
        if (!hart->classifier) continue;
        uint64_t next = hart->last ? run_hart_shared(harts, hart->last)->address : NTR_ADDRESS_UNKNOWN;
        run_hart_close(harts, hart, next);
    }
}

/* See that memory holds the block's bytes from here on. */
static void verify(struct run_harts *harts, uint32_t number, struct run_block *block) {
    ntr_bytes bytes = code_of(harts, number);
    uint64_t address = run_hart_shared(harts, number)->address;
    bool failed;

    if (!block->generation) prepare(harts, number, block);
    if (!run_code_agrees(&harts->code, address, bytes, &failed) && !failed) {
        close_windows(harts);
        /* in a system, what was told may still be on its way: the newest code stands for all */
        failed = !run_code_change(&harts->code, address, bytes, harts->system ? 0 : harts->stream->offset);
        harts->rewritten = harts->system != NULL;
        memset(harts->steps, 0, harts->block_capacity * sizeof *harts->steps);
    }
    if (failed) run_hart_note(harts, NTR_E_MEMORY);
    block->generation = harts->code.generation;
}

struct run_block *run_hart_block(struct run_harts *harts, uint32_t number) {
    if (number >= harts->block_capacity && !grow_blocks(harts, number)) return NULL;
    struct run_block *block = &harts->blocks[number];
    if (block->generation != harts->code.generation) verify(harts, number, block);
    return block;
}

/* ---- what a hart did */

static void pass_time(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code) {
    uint64_t now = harts->system ? run_system_now(harts->system) : hart->time + code->instructions;

    if (harts->config->params.timestamps == NTR_TIMESTAMPS_ON)
        ntr_classifier_set_state(hart->classifier, &(ntr_hart_state){.priv = NTR_PRIV_U, .time = now});
    if (harts->system) run_hart_note(harts, run_system_step(harts->system, code->instructions));
    hart->time += code->instructions;
}

/* By itself, outside of any run. */
static void enter(struct run_harts *harts, struct run_hart *hart, const ntr_code_block *code) {
    flush_run(harts, hart);
    pass_time(harts, hart, code);
    run_hart_note(harts, ntr_classifier_enter(hart->classifier, code));
}

/* Where the block goes by itself; a branch as if not taken. */
static uint64_t successor(const ntr_code_block *code) {
    if (run_hart_is_register_jump(code)) return NTR_ADDRESS_UNKNOWN;
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

/* The last block into the run; it went on to block `number`. */
static void run_on(struct run_harts *harts, struct run_hart *hart, const struct run_block *block, uint32_t number) {
    const ntr_code_block *code = &block->code;
    uint64_t next = run_hart_shared(harts, number)->address;
    ntr_run *run = &hart->run;
    bool taken = is_taken(code, next);

    if (!run_hart_branches_left(hart) || run->iretire > RUN_HALFWORDS) flush_run(harts, hart);
    if (!run->iretire) run->iaddr = code->start;
    run->iretire += code->halfwords;
    hart->time += code->instructions;
    bool silent = is_silent(harts, code, next);
    run_steps_learn(harts, hart->last, block, silent ? number : 0, taken);
    if (!silent) {
        run_hart_push(harts, hart, code, taken ? NTR_ITYPE_TAKEN : code->itype);
        return;
    }
    if (code->flow == NTR_FLOW_BRANCH) {
        run->outcomes = run->outcomes << 1 | taken;
        run->branches++;
    }
}

void run_hart_complete(struct run_harts *harts, struct run_hart *hart, uint32_t number) {
    struct run_block *block = run_hart_block(harts, hart->last);

    if (!block) return;
    bool goes_on = number && (run_hart_is_register_jump(&block->code) ||
                              leads_to(&block->code, run_hart_shared(harts, number)->address));
    if (harts->in_runs && goes_on && !block->is_ecall && block->code.halfwords) {
        run_on(harts, hart, block, number);
        return;
    }
    enter(harts, hart, &block->code);
    /* The kernel's part is outside of a U-mode trace: ECALL ends the window, the next block begins a new one. */
    if (block->is_ecall) run_hart_close(harts, hart, NTR_ADDRESS_UNKNOWN);
}

uint64_t run_hart_complete_part(struct run_harts *harts, struct run_hart *hart, unsigned retired) {
    const struct channel_block *shared = run_hart_shared(harts, hart->last);
    ntr_bytes bytes = code_of(harts, hart->last);
    ntr_code_block part;

    if (!run_hart_block(harts, hart->last)) return NTR_ADDRESS_UNKNOWN;
    if (!retired) return shared->address;
    run_hart_note(harts, ntr_code_block_scan(bytes.data, bytes.size, shared->address, isa_of(harts), retired, &part));
    enter(harts, hart, &part);
    return shared->address + 2u * part.halfwords;
}

/* ---- signals: the handler is shown as if the hart had trapped straight to it */

/* Block `number` is where a signal handler begins. The last block was interrupted, raised the signal itself, or
 * called the handler like any function. */
static void complete_before_handler(struct run_harts *harts, struct run_hart *hart, uint32_t entry, uint32_t number) {
    struct run_block *block = run_hart_block(harts, hart->last);
    bool is_fault = entry & CHANNEL_ENTRY_FAULT;
    unsigned retired = entry & CHANNEL_ALL;

    if (!block) return;
    if (retired == CHANNEL_ALL && is_fault && block->last_traps)
        retired = run_hart_shared(harts, hart->last)->instructions - 1u;
    if (block->is_ecall ||
        (retired == CHANNEL_ALL && leads_to(&block->code, run_hart_shared(harts, number)->address))) {
        run_hart_complete(harts, hart, number);
        return;
    }
    uint64_t epc = retired == CHANNEL_ALL ? successor(&block->code) : run_hart_complete_part(harts, hart, retired);
    if (retired == CHANNEL_ALL) enter(harts, hart, &block->code);
    unsigned itype = is_fault || retired != CHANNEL_ALL ? NTR_ITYPE_EXCEPTION : NTR_ITYPE_INTERRUPT;
    flush_run(harts, hart); /* nothing of the last block may have retired */
    run_hart_note(harts, ntr_classifier_trap(hart->classifier, itype, epc, 0, 0));
}

void run_hart_begin(struct run_harts *harts, struct run_hart *hart, uint32_t number) {
    if (hart->last && hart->entry)
        complete_before_handler(harts, hart, hart->entry, number);
    else if (hart->last)
        run_hart_complete(harts, hart, number);
    hart->entry = 0;
    hart->last = number;
}
