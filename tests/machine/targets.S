/* A program for the machines spike, sifive_e and sifive_u: traps, interrupts, calls and loops in machine mode. RV64 and RV32. It ends
 * with status 5, through HTIF (-DHTIF) or semihosting. The symbols tohost and fromhost have no size, as those of
 * riscv-tests. */
#define STATUS   5

#include "start.h"
PROGRAM_START
    csrr t0, mhartid
    li t1, HART
    bne t0, t1, park
    TRAPS_TO(trap)
    li s2, 0               /* traps */
    li s6, 50              /* ticks to the next interrupt */
    la s3, sum
    .option norvc
    .word 0                /* each skips four bytes */
    ebreak
    ecall
    .option rvc
    jal next_tick
    li t0, 1 << 7
    csrw mie, t0
    csrsi mstatus, 8
    li s0, 3000
1:  jalr s3
    andi t0, s0, 1
    beqz t0, 2f
    addi s1, s1, 3
2:  addi s0, s0, -1
    bnez s0, 1b
    addi t1, zero, 5
    wfi
    addi t1, t1, 1
    csrci mstatus, 8
#ifdef HTIF
    li t0, STATUS << 1 | 1 /* device 0, exit */
    la t1, tohost
    sw t0, 0(t1)
    sw zero, 4(t1)
#else
    SEMIHOST_EXIT
#endif
PARK

sum:
    mul a0, s0, s0
    add s1, s1, a0
    ret

/* Each interval is longer, so that the program ends on a machine that is slower than the interrupts. */
next_tick:
    addi s6, s6, 2
    li t0, MTIME
    lw t1, 0(t0)
    lw t2, 4(t0)
    add t3, t1, s6
    sltu t4, t3, t1
    add t2, t2, t4
    li t0, MTIMECMP + 8 * HART
    li t1, -1
    sw t1, 4(t0)
    sw t3, 0(t0)
    sw t2, 4(t0)
    ret

    .balign 4
trap:
    addi s2, s2, 1
    csrr a0, mcause
    bltz a0, 1f
    csrr a0, mepc
    addi a0, a0, 4
    csrw mepc, a0
    mret
1:  mv s4, ra
    mv s5, t0
    mv s6, t1
    jal next_tick
    mv t0, s5
    mv t1, s6
    mv ra, s4
    mret

    SEMIHOST_STATUS(STATUS)

    .data
    .balign 64
    .globl tohost, fromhost
tohost:
    .quad 0
    .balign 64
fromhost:
    .quad 0
