/* Which system call is about to be made? QEMU reports it only when a thread has been created. The code executed so far
 * shows it earlier: the number in a7 is followed backwards from ECALL, through moves, to the instruction that set it.
 */
#include "state.h"
#include "riscv.h"

#include <string.h>

enum { BLOCKS_BACK = 64 }; /* how far to go back */

/* A position that moves backwards through a ring. */
struct ring_position {
    const struct channel_lane *lane;
    const uint32_t *at;
};

/* The block before, or 0 when the word is no block. Before the oldest word there are zeros, or older words of the ring.
 */
static uint32_t step_back(struct ring_position *walk) {
    if (walk->at == walk->lane->ring) walk->at += CHANNEL_RING;
    uint32_t word = *--walk->at;
    return word < atomic_load(&channel->head.blocks) ? word : 0;
}

/* The values of registers after the code, without an ECALL at its end. Returns whether there is one. */
static bool follow(const uint8_t *code, uint32_t size, struct riscv_value values[32]) {
    uint32_t word = 0;

    riscv_values_init(values);
    for (uint32_t at = 0, length; at + 2 <= size; at += length) {
        word = (uint32_t)(code[at] | code[at + 1] << 8);
        length = riscv_is_short(word) ? 2 : 4;
        if (length == 4 && at + 4 <= size) memcpy(&word, code + at, 4);
        if (word == RISCV_ECALL) return true;
        riscv_values_step(values, word);
    }
    return false;
}

bool calls_may_clone(const uint8_t *code, uint32_t size) {
    struct riscv_value values[32];

    if (!follow(code, size, values)) return false;
    return values[RISCV_A7].kind != RISCV_CONSTANT || calls_is_clone(values[RISCV_A7].number);
}

bool calls_is_clone(int64_t number) {
    return number == RISCV_SYS_CLONE || number == RISCV_SYS_CLONE3;
}

/* A system call changes no register but a0, except for sigreturn, which restores all of them. When a number was found
 * to come from before an ECALL, that call could have been sigreturn, unless its own number shows that it was not. */
bool calls_clones_now(const struct channel_lane *lane, uint32_t number) {
    struct ring_position walk = {lane, atomic_load_explicit(&lane->at, memory_order_relaxed)};
    struct riscv_value values[32], value = {RISCV_OF_REGISTER, RISCV_A7};

    for (int i = 0; i < BLOCKS_BACK && number; i++, number = step_back(&walk)) {
        const struct channel_block *block = &channel->blocks[number];
        bool calls = follow(channel->code + block->code, block->size, values);
        if (i && calls && value.number != RISCV_A7) return true;
        value = values[value.number];
        if (value.kind == RISCV_CONSTANT) return calls_is_clone(value.number) || value.number == RISCV_SYS_RT_SIGRETURN;
        if (value.kind == RISCV_UNKNOWN) return true;
    }
    return true;
}
