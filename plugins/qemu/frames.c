/* Where a signal arrived, by the frame that QEMU pushes for the guest's handler. While translated code is executed, a
 * register of the host holds the address of the guest's registers (TCG_AREG0): x0 to x31 come first there. A handler
 * begins with a1 = &siginfo and a2 = &ucontext in a frame at sp; this is part of Linux' interface to programs, and
 * checked before the frame is used. */
#include "state.h"

#include <signal.h>
#include <string.h>

enum {
    SP = 2,
    A1 = 11,
    A2 = 12,
    SIGINFO_SIZE = 128,
    SI_CODE = 8,      /* offset in siginfo */
    PC_RV64 = 176,    /* offset of the program counter in ucontext */
    PC_RV32 = 160,
    OLDER_FRAME = 8,  /* before QEMU 6.2 a frame began with two instructions */
    SIGNALS_AT_ONCE = 64,  /* at most one for each signal */
};

/* Bytes from one register to the next: their size, or 8 where QEMU keeps the registers of RV32 in 64 bits. 0: not
 * asked. */
static unsigned stride;

/* When the program begins, sp is not 0, but ra is. */
void frames_begin(uint64_t env) {
    uint32_t words[SP + 1];

    if (stride) return;
    stride = channel->head.xlen / 8;
    if (stride < 8 && env && memory_read_host(env, words, sizeof words) && !words[SP]) stride = 8;
}

bool frames_registers(uint64_t env, struct guest_registers *registers) {
    const unsigned size = channel->head.xlen / 8;
    uint8_t bytes[32 * 8];

    if (!env || !stride || !memory_read_host(env, bytes, 32 * stride)) return false;
    for (unsigned i = 0; i < 32; i++) {
        registers->x[i] = 0;
        memcpy(&registers->x[i], bytes + i * stride, size);
    }
    return true;
}

/* Reads register `number` of a ucontext; 0: the program counter. */
static bool read_context(uint64_t context, unsigned number, uint64_t *value) {
    const unsigned size = channel->head.xlen / 8;
    *value = 0;
    return memory_read_guest(context + (size == 8 ? PC_RV64 : PC_RV32) + number * size, value, size);
}

static bool is_frame(uint64_t sp, uint64_t info, uint64_t context) {
    return (info == sp || info == sp + OLDER_FRAME) && context == info + SIGINFO_SIZE;
}

/* When several signals arrive at once, a handler is interrupted before its first instruction: its frame is at its sp.
 */
static uint64_t first_interrupted(uint64_t context, uint64_t pc) {
    for (unsigned i = 0; i < SIGNALS_AT_ONCE && syscalls_handler(pc); i++) {
        uint64_t sp, info, outer, next;
        if (!read_context(context, SP, &sp) || !read_context(context, A1, &info) || !read_context(context, A2, &outer))
            break;
        if (!is_frame(sp, info, outer) || !read_context(outer, 0, &next)) break;
        context = outer;
        pc = next;
    }
    return pc;
}

bool frames_read(uint64_t env, struct signal_frame *frame) {
    struct guest_registers registers;
    int32_t signal, code;

    if (!frames_registers(env, &registers)) return false;
    const uint64_t sp = registers.x[SP], info = registers.x[A1], context = registers.x[A2];
    if (!is_frame(sp, info, context)) return false;
    *frame = (struct signal_frame){0};
    if (!memory_read_guest(info, &signal, sizeof signal) || !memory_read_guest(info + SI_CODE, &code, sizeof code) ||
        !read_context(context, 0, &frame->pc))
        return false;
    frame->begun_at = first_interrupted(context, frame->pc);
    frame->is_fault = code > 0 && signal > 0 && signal < 32 && SIGNALS_RAISED >> (signal - 1) & 1;
    return true;
}
