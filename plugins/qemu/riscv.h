/* What the plugin needs to know about RISC-V instructions. */
#ifndef NTRACE_QEMU_RISCV_H
#define NTRACE_QEMU_RISCV_H

#include <stdbool.h>
#include <stdint.h>

/* System calls; the numbers are the same in RV32 and RV64. */
enum {
    RISCV_SYS_FACCESSAT = 48,
    RISCV_SYS_EXIT = 93,
    RISCV_SYS_EXIT_GROUP = 94,
    RISCV_SYS_RT_SIGACTION = 134,
    RISCV_SYS_PRCTL = 167,
    RISCV_SYS_SHMAT = 196,
    RISCV_SYS_MUNMAP = 215,
    RISCV_SYS_MREMAP = 216,
    RISCV_SYS_CLONE = 220,
    RISCV_SYS_EXECVE = 221,
    RISCV_SYS_MMAP = 222,
    RISCV_SYS_EXECVEAT = 281,
    RISCV_SYS_FACCESSAT2 = 439,
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

/* A load or store of integers: it accesses `size` bytes at register `base` plus `offset`. */
struct riscv_access {
    uint8_t base, size;
    bool store;
    int32_t offset;
};

/* Returns false when it is not a sure access. */
bool riscv_decode_access(uint32_t instruction, unsigned xlen, struct riscv_access *access);

/* The set of integer registers that the instruction may write, bit n for register n. It may be too large. */
uint32_t riscv_may_write(uint32_t instruction);

/* Is it a conditional branch? Its target is *offset bytes further on. */
bool riscv_is_branch(uint32_t instruction, int64_t *offset);

/* Is it a direct jump? Its target is *offset bytes further on. */
bool riscv_is_direct_jump(uint32_t instruction, unsigned xlen, int64_t *offset);

/* May it continue at an address that it does not contain: an indirect jump, a return from a trap? */
bool riscv_is_indirect(uint32_t instruction);

#endif
