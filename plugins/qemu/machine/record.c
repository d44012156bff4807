/* The start of a block: the hot path, and what is settled about the block before (retired.c, linux.c, places.c). */
#include "machine.h"

#include <string.h>

/* While V is 1, the register satp is vsatp. */
static void settle_space(struct machine_hart *hart) {
    uint64_t satp = machine_read(hart, REGISTER_SATP), hgatp = hart->virtual ? machine_read(hart, REGISTER_HGATP) : 0;

    if (satp == hart->satp && hgatp == hart->hgatp) return;
    hart->epoch++;
    hart->satp = satp;
    hart->hgatp = hgatp;
    hart->renames = true;
    lane_push(hart->lane, CHANNEL_CONTEXT);
    machine_push_pair(hart, satp);
    machine_push_pair(hart, hgatp);
}

/* What the blocks before have left open. The next one begins at `address`. */
static COLD void settle(struct machine_hart *hart, unsigned vcpu, uint64_t address, uint8_t privilege) {
    static const volatile char always = 1;
    uint8_t before = hart->last ? channel->blocks[hart->last].privilege : 3;
    bool trapped = machine_read_log(hart, vcpu);

    machine_check_counter(hart);
    if ((privilege & PRIVILEGE_V) != hart->virtual) {
        hart->slow |= BLOCK_SPACE;
        hart->epoch++;
    }
    hart->virtual = privilege & PRIVILEGE_V;
    if (!trapped) machine_settle_flow(hart, address);
    if (hart->slow & BLOCK_SPACE) settle_space(hart);
    if (hart->slow & BLOCK_TASK && privilege == 1) machine_switch_task(hart);
    machine_check_task(hart, before, privilege, trapped);
    hart->log = hart->waits ? &always : hart->line;
}

static inline void report_block(struct machine_hart *hart, uintptr_t block, uint32_t number) {
    hart->slow = (uint8_t)(block >> BLOCK_KIND_SHIFT);
    hart->last = number;
    lane_push(hart->lane, number);
}

/* The flow leaves its page, or there is something to settle. */
static __attribute__((noinline)) void settle_and_report(struct machine_hart *hart, unsigned vcpu, uintptr_t block,
                                                        const void *state) {
    uint32_t number = block_number(block);

    if (lane_is_traced(hart->lane)) {
        uint64_t address = machine_address(hart, block, state);
        uint8_t privilege = channel->blocks[number].privilege;
        if (hart->slow & ~(uint64_t)BLOCK_JUMPS || *hart->log || (privilege & PRIVILEGE_V) != hart->virtual)
            settle(hart, vcpu, address, privilege);
        number = machine_place(hart, block, address);
    }
    if (number)
        report_block(hart, block, number);
    else
        machine_lost(vcpu, NULL); /* the table is full */
}

/* Has the flow come to a page in which the hart has been before, in the same address space, with nothing else to
 * settle? */
static inline bool enters_page(struct machine_hart *hart, uintptr_t block) {
    uint64_t counter;

    if (!hart->counter || (hart->slow & ~(uint64_t)BLOCK_JUMPS) | (uint8_t)*hart->log) return false;
    const struct machine_entered *page = &hart->entered[block_page(block) % MACHINE_ENTERED];
    memcpy(&counter, hart->counter, sizeof counter); /* of a hart of 32 bits, the upper half is another word */
    if (page->number != block_page(block) || page->epoch != hart->epoch || (counter ^ page->address) & hart->page_bits)
        return false;
    hart->page = block_page(block);
    return true;
}

void machine_record_in(unsigned vcpu, void *data, const void *state) {
    struct machine_hart *hart = machine_hart(vcpu);
    uintptr_t block = (uintptr_t)data;
    bool stays = !(hart->slow | (uint8_t)*hart->log) && block_page(block) == hart->page;

    if (LIKELY(stays) || enters_page(hart, block))
        report_block(hart, block, block_number(block));
    else
        settle_and_report(hart, vcpu, block, state);
}

void machine_record_timed_in(unsigned vcpu, void *data, const void *state) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!hart->until_time && lane_is_traced(hart->lane))
        machine_report_time(hart);
    else
        hart->until_time--;
    machine_record_in(vcpu, data, state);
}

#ifdef __x86_64__
/* void NAME(unsigned vcpu, void *block) calls NAME_in(vcpu, block, rbp). */
#define WITH_STATE(name)                                                                                               \
    __asm__(".text\n.globl " #name "\n.hidden " #name "\n.type " #name ", @function\n" #name ":\n"                     \
            "mov %rbp, %rdx\n"                                                                                         \
            "jmp " #name "_in\n"                                                                                       \
            ".size " #name ", . - " #name "\n")
WITH_STATE(machine_record);
WITH_STATE(machine_record_timed);
#else
void machine_record(unsigned vcpu, void *block) {
    machine_record_in(vcpu, block, NULL);
}

void machine_record_timed(unsigned vcpu, void *block) {
    machine_record_timed_in(vcpu, block, NULL);
}
#endif

void machine_lost(unsigned vcpu, void *nothing) {
    struct machine_hart *hart = machine_hart(vcpu);

    (void)nothing;
    if (lane_is_traced(hart->lane)) lane_push(hart->lane, CHANNEL_LOST);
    hart->last = 0;
}

/* What the last block leaves to the next one stays: address space and task. */
void machine_halt(unsigned vcpu) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!(channel->head.follow & CHANNEL_FOLLOW_HALT) || !hart->last || !lane_is_traced(hart->lane)) return;
    if (!machine_read_log(hart, vcpu)) lane_push(hart->lane, CHANNEL_PART | machine_retired_at_end(hart));
    hart->last = 0;
    hart->slow &= BLOCK_SPACE | BLOCK_TASK;
}

void machine_end(unsigned vcpu) {
    struct machine_hart *hart = machine_hart(vcpu);

    if (!hart->lane || !hart->last || !lane_is_traced(hart->lane)) return;
    if (!machine_read_log(hart, vcpu)) lane_push(hart->lane, CHANNEL_END | machine_retired_at_end(hart));
}
