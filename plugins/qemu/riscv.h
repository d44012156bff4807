/* What the plugin needs to know about RISC-V instructions. */
#ifndef NTRACE_QEMU_RISCV_H
#define NTRACE_QEMU_RISCV_H

#include <stdbool.h>
#include <stdint.h>

#define RISCV_ECALL 0x00000073u

/* System calls; the numbers are the same in RV32 and RV64. */
enum {
    RISCV_SYS_EXIT = 93,
    RISCV_SYS_EXIT_GROUP = 94,
    RISCV_SYS_RT_SIGACTION = 134,
    RISCV_SYS_RT_SIGRETURN = 139,
    RISCV_SYS_CLONE = 220,
    RISCV_SYS_EXECVE = 221,
    RISCV_SYS_MMAP = 222,
    RISCV_SYS_EXECVEAT = 281,
    RISCV_SYS_CLONE3 = 435,
};

static inline bool riscv_is_short(uint32_t instruction) {
    return (instruction & 3) != 3;
}

/* Is it certain that the instruction cannot trap once it has been fetched and decoded? False for unknown instructions.
 */
bool riscv_is_harmless(uint32_t instruction);

/* Is it a plain load or store: one access each time it retires, none when it traps? */
bool riscv_is_load(uint32_t instruction);
bool riscv_is_store(uint32_t instruction);

/* Is it a plain load or store of integers, which traps only when the access faults? */
bool riscv_is_sure_access(uint32_t instruction, unsigned xlen);

/* Is it a conditional branch? Its target is *offset bytes further on. */
bool riscv_is_branch(uint32_t instruction, int64_t *offset);

enum { RISCV_A7 = 17 };

/* What is known about a register after some instructions. */
struct riscv_value {
    enum { RISCV_OF_REGISTER, RISCV_CONSTANT, RISCV_UNKNOWN } kind;
    int64_t number; /* the constant, or the register that held the value before them */
};

/* Before the first instruction: each register has its own value. */
void riscv_values_init(struct riscv_value values[32]);

/* After one more instruction. */
void riscv_values_step(struct riscv_value values[32], uint32_t instruction);

#endif
