/* Faults of plain accesses. In user mode the guest's memory is part of QEMU's: a forbidden access raises a signal in
 * QEMU itself. QEMU's handler does not return when the guest is to get the signal. It returns when QEMU had protected
 * the page itself, because it held translated code.
 *
 * Which access. When translated code accesses memory, the guest's registers are in memory, at the address that the
 * host's register TCG_AREG0 holds; a signal handler of the guest depends on this. So each load or store of the block
 * can be compared with the address that faulted, and the first equal one has faulted: an access with the same register
 * and offset before it would have faulted itself. Exception: the register has been written in between. Behind such
 * accesses there are marks (instrument.c), which say whether they were passed. Example: of `ld a0,0(a0); ld a1,8(a0);
 * sd a1,8(sp)`, only the first has a mark. When address a0 + 8 faulted, the second one did. */
#include "state.h"
#include "riscv.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static const int signals[] = {SIGSEGV, SIGBUS};
enum { FAULT_SIGNALS = sizeof signals / sizeof signals[0] };

static struct sigaction qemus[FAULT_SIGNALS];

/* ---- which access -------------------------------------------------------------------------------------------------
 */

static uintptr_t code_begin, code_end; /* of QEMU's translated code */

#ifdef __x86_64__
struct fault {
    uint64_t address; /* of the host */
    bool is_known;    /* the processor has reported the address; if not, no page can be there */
    bool store;
    struct guest_registers registers;
};

static bool describe_fault(const siginfo_t *info, const ucontext_t *context, struct fault *fault) {
    enum { PAGE_FAULT = 14, BY_WRITE = 2 };
    const greg_t *host = context->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)host[REG_RIP];

    if (at < code_begin || at >= code_end) return false;
    fault->address = (uintptr_t)info->si_addr;
    fault->is_known = host[REG_TRAPNO] == PAGE_FAULT;
    fault->store = host[REG_ERR] & BY_WRITE;
    return frames_registers((uint64_t)host[REG_RBP], &fault->registers);
}

static bool matches(const struct fault *fault, const struct riscv_access *access) {
    enum { USER_BITS = 47 };
    uint64_t address = fault->registers.x[access->base] + (uint64_t)(int64_t)access->offset;

    if (channel->head.xlen == 32) address = (uint32_t)address;
    address += channel->head.guest_base;
    if (!fault->is_known) return address >> USER_BITS != 0;
    return fault->store == access->store && fault->address - address < access->size;
}

/* How many instructions retired before the one that faulted, or CHANNEL_ALL. */
static unsigned find_position(const struct channel_lane *lane, const struct fault *fault) {
    uint32_t number = record_last_block(lane), at = 0;
    const struct channel_block *block = &channel->blocks[number];
    bool counted = !atomic_load(&channel->head.shared) && block->marks;
    unsigned passed = counted ? channel_marks_passed(channel, lane, block) : 0;
    const uint16_t *marks = channel_marks(channel, block);

    if (!number || number >= atomic_load(&channel->head.blocks)) return CHANNEL_ALL;
    unsigned first = passed ? marks[passed - 1] : 0,
             end = counted && passed < block->marks ? marks[passed] : block->instructions;
    for (unsigned i = 0; i < end && at < block->size; i++) {
        const uint8_t *bytes = channel->code + block->code + at;
        struct riscv_access access;
        uint32_t word = 0;
        memcpy(&word, bytes, riscv_is_short(*bytes) ? 2 : 4);
        if (i >= first && riscv_decode_access(word, channel->head.xlen, &access) && matches(fault, &access)) return i;
        at += riscv_is_short(word) ? 2 : 4;
    }
    return CHANNEL_ALL;
}

static unsigned position_of(const struct channel_lane *lane, const siginfo_t *info, const void *context) {
    struct fault fault;
    return describe_fault(info, context, &fault) && lane_is_traced(lane) ? find_position(lane, &fault) : CHANNEL_ALL;
}
#else
static unsigned position_of(const struct channel_lane *lane, const siginfo_t *info, const void *context) {
    (void)lane, (void)info, (void)context;
    return CHANNEL_ALL;
}
#endif

void faults_know_code(uintptr_t address) {
    char line[512];

    if (code_end) return;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps)) {
        char *behind; /* a line begins with "BEGIN-END " */
        uintptr_t begin = (uintptr_t)strtoull(line, &behind, 16);
        uintptr_t end = *behind == '-' ? (uintptr_t)strtoull(behind + 1, NULL, 16) : 0;
        if (address < begin || address >= end) continue;
        code_begin = begin;
        code_end = end;
    }
    if (maps) fclose(maps);
}

/* ---- the handler --------------------------------------------------------------------------------------------------
 */

static void on_fault(int signal, siginfo_t *info, void *context) {
    unsigned vcpu = syscalls_vcpu();
    struct channel_lane *lane = &channel->lanes[vcpu == VCPU_UNKNOWN ? 0 : vcpu];

    if (vcpu == VCPU_UNKNOWN && atomic_load(&channel->head.shared)) { /* a thread that has just begun */
        qemus[signal == SIGBUS].sa_sigaction(signal, info, context);
        return;
    }
    atomic_store(&lane->fault, CHANNEL_FAULT | position_of(lane, info, context));
    if (frames_are_known()) atomic_store(&lane->reached, 0); /* stays if the fault ends the guest */
    qemus[signal == SIGBUS].sa_sigaction(signal, info, context);
    atomic_store(&lane->fault, 0);
    if (frames_are_known()) atomic_store(&lane->reached, UINT32_MAX);
}

static bool watch(void) {
    for (unsigned i = 0; i < FAULT_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &qemus[i]) || !(qemus[i].sa_flags & SA_SIGINFO)) return false;
    for (unsigned i = 0; i < FAULT_SIGNALS; i++) {
        struct sigaction ours = qemus[i];
        ours.sa_sigaction = on_fault;
        if (sigaction(signals[i], &ours, NULL)) return false;
    }
    return true;
}

bool faults_are_seen(void) {
    static enum { NOT_ASKED, NO, YES } seen;

    if (seen == NOT_ASKED) seen = watch() ? YES : NO;
    return seen == YES;
}

bool faults_have_positions(void) {
#ifdef __x86_64__
    return faults_are_seen();
#else
    return false;
#endif
}
