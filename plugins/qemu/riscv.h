/* What the plugin has to know of RISC-V instructions. */
#ifndef NTRACE_QEMU_RISCV_H
#define NTRACE_QEMU_RISCV_H

#include <stdbool.h>
#include <stdint.h>

#define RISCV_ECALL 0x00000073u

/* System calls; the numbers are the same in RV32 and RV64. */
enum {
    RISCV_SYS_RT_SIGACTION = 134,
    RISCV_SYS_CLONE = 220,
    RISCV_SYS_EXECVE = 221,
    RISCV_SYS_MMAP = 222,
    RISCV_SYS_EXECVEAT = 281,
    RISCV_SYS_CLONE3 = 435,
};

static inline bool riscv_is_short(uint32_t instruction) {
    return (instruction & 3) != 3;
}

/* Whether it cannot trap once it has been fetched and decoded. Of instructions not known here, nobody is sure. */
bool riscv_is_harmless(uint32_t instruction);

/* Whether it is a plain load or store: one access each time it retires, none when it traps. */
bool riscv_is_load(uint32_t instruction);
bool riscv_is_store(uint32_t instruction);

/* Whether it is a conditional branch by *offset. */
bool riscv_is_branch(uint32_t instruction, int64_t *offset);

/* The value that `li a7` puts into the system call register: *number. Returns false when the instruction leaves a7
 * alone; sets *number to -1 when a7 gets another value. */
bool riscv_sets_a7(uint32_t instruction, int64_t *number);

#endif
