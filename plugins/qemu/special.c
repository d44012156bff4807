/* The start of a block that needs more words than its number: the first one of the program, of a signal handler, and
 * behind loops. */
#include "state.h"

/* Set the counters of marks that were not passed to the number of executions, as if they had been. */
static void level_passes(const struct channel_block *block) {
    uint64_t *passes = &channel->counters[block->counters];
    for (unsigned i = channel_counted(block->marks, block->flags); i; i--) passes[i] = passes[0];
}

/* How many instructions of the last block had retired when the signal arrived. */
static unsigned retired_before(struct channel_lane *lane, const struct channel_block *block,
                               const struct signal_frame *frame) {
    bool is_shared = atomic_load(&channel->head.shared);
    unsigned retired = CHANNEL_ALL;

    bool is_placed = channel_fault_is_placed(lane); /* if so, also where another signal arrived with the fault's */
    if (!is_shared || !frames_are_known() || is_placed) retired = channel_retired(channel, lane, block);
    /* Any instruction that is not defined traps, also one that has no mark. */
    if (retired == CHANNEL_ALL && frame && frame->is_fault) retired = blocks_instructions_before(block, frame->pc);
    if (block->marks && !is_shared) level_passes(block);
    atomic_store(&lane->fault, 0);
    atomic_store_explicit(&lane->reached, UINT32_MAX, memory_order_relaxed);
    return retired;
}

/* At the first block of a signal handler: record where the signal arrived. */
static void record_entry(struct channel_lane *lane, const struct signal_handler *handler, uint64_t env) {
    uint32_t last = record_pending_loop(lane), record = CHANNEL_ENTRY | CHANNEL_ALL;
    struct signal_frame read;
    const struct signal_frame *frame = frames_read(env, &read) ? &read : NULL;
    bool is_fault = frame ? frame->is_fault : (handler->signals & SIGNALS_RAISED) != 0;

    if (last && last < atomic_load(&channel->head.blocks))
        record = CHANNEL_ENTRY | retired_before(lane, &channel->blocks[last], frame);
    if (is_fault) record |= CHANNEL_ENTRY_FAULT;
    if (frame) record |= CHANNEL_ENTRY_PC;
    lane_push(lane, record);
    if (!frame) return;
    lane_push(lane, (uint32_t)frame->begun_at);
    lane_push(lane, (uint32_t)(frame->begun_at >> 32));
}

void special_begin_in(unsigned vcpu, void *argument, uint64_t env) {
    const struct special *special = argument;
    struct channel_lane *lane = &channel->lanes[vcpu];

    frames_begin(env);
    faults_know_code((uintptr_t)__builtin_return_address(0));
    if (lane_is_traced(lane)) {
        for (uint32_t i = 0; i < special->loop_count; i++) record_loop(lane, special->loops[i]);
        if (special->handler) record_entry(lane, special->handler, env);
    }
    if (!frames_are_known()) atomic_store_explicit(&lane->reached, 0, memory_order_relaxed);
    lane->block = special->number;
    lane_push(lane, special->number);
}

/* The third argument of special_begin_in is the register that holds the address of the guest's registers (frames.c).
 * The callback is called from translated code, which keeps it there. */
#if defined(__x86_64__)
__asm__(".text\n.globl special_begin\n.hidden special_begin\n.type special_begin, @function\n"
        "special_begin:\n\tmovq %rbp, %rdx\n\tjmp special_begin_in\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl special_begin\n.hidden special_begin\n.type special_begin, %function\n"
        "special_begin:\n\tmov x2, x19\n\tb special_begin_in\n");
#else
void special_begin(unsigned vcpu, void *special) {
    special_begin_in(vcpu, special, 0);
}
#endif
