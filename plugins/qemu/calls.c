/* Which system call is about to be made: nothing in QEMU tells before it is too late, but the code that ran does.
 * The number is followed backwards from ECALL, through moves, to the instruction that made it. */
#include "plugin.h"
#include "riscv.h"

#include <string.h>

enum { BLOCKS = 64 }; /* so far back at most */

/* Walks back through a ring. */
struct walk {
    const struct channel_lane *lane;
    const uint32_t *at;
};

/* The block before, or 0 at anything else. What is behind the oldest word is of no harm: zeros, or older words. */
static uint32_t step_back(struct walk *walk) {
    if (walk->at == walk->lane->ring) walk->at += CHANNEL_RING;
    uint32_t word = *--walk->at;
    return word < atomic_load(&channel->head.blocks) ? word : 0;
}

/* The values of registers behind the code, but for an ECALL that ends it. Returns whether there is one. */
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

/* A system call leaves all registers alone but a0, and but for sigreturn, which has just been another number's
 * call: what is found behind it is not what was found there. */
bool calls_clones_now(const struct channel_lane *lane, uint32_t number) {
    struct walk walk = {lane, atomic_load_explicit(&lane->at, memory_order_relaxed)};
    struct riscv_value values[32], value = {RISCV_OF_REGISTER, RISCV_A7};

    for (int i = 0; i < BLOCKS && number; i++, number = step_back(&walk)) {
        const struct channel_block *block = &channel->blocks[number];
        bool calls = follow(channel->code + block->code, block->size, values);
        if (i && calls && value.number != RISCV_A7) return true;
        value = values[value.number];
        if (value.kind == RISCV_CONSTANT)
            return calls_is_clone(value.number) || value.number == RISCV_SYS_RT_SIGRETURN;
        if (value.kind == RISCV_UNKNOWN) return true;
    }
    return true;
}
