/* Guests that make a tracer's work hard. Built once for each value of WAY; all end through the test device, or never. */
#include "start.h"
PROGRAM_START
    STACK_AT(stack_top)
    TRAPS_TO(trap)
    ALL_MEMORY
    li s0, 20000

#if WAY == 1 /* traps without end: the first instruction of the handler traps */
    TRAPS_TO(bad)
    .balign 4
bad:
    .option norvc
    .word 0
    .option rvc

#elif WAY == 2 /* resets in a loop, through the test device */
    li t0, FINISH
    li t1, FINISH_RESET
    sw t1, 0(t0)
1:  j 1b

#elif WAY == 3 /* jumps to devices, to nowhere and to the end of memory */
1:  li t0, 0x10000000
    jalr t0
    li t0, 0x2000000
    jalr t0
    li t0, 0x40000000
    jalr t0
    li t0, 0x87fffffe
    jalr t0
    li t0, -2
    jalr t0
    addi s0, s0, -19
    bgtz s0, 1b
    j finish

#elif WAY == 4 /* code over code: another instruction at each pass */
    la a0, place
    li a1, 0x00128293      /* addi t0, t0, 1 */
    li a2, 0x00100000      /* adds 1 to the immediate */
    li s0, 300
1:  sw a1, 0(a0)
    fence.i
    jal place
    add a1, a1, a2
    addi s0, s0, -1
    bnez s0, 1b
    j finish
    .balign 4
    .option norvc
place:
    nop
    ret
    .option rvc

#elif WAY == 5 || WAY == 9 /* a new satp at each instruction of S mode */
    la t0, 1f
    csrw mepc, t0
    li t0, 1 << 12         /* page faults of fetches */
    csrw medeleg, t0
    li t0, 1 << 11
    csrs mstatus, t0
    li t0, 1 << 12
    csrc mstatus, t0
    mret
    .balign 4
1:  la a0, root
    srli a0, a0, 12
#if __riscv_xlen == 64
    la t0, root
    li t1, 0x20000000 | 0xcf
    sd t1, 16(t0)
    li t1, 8 << 60
    li a2, 1
    slli a2, a2, 44
#else
    la t0, root
    li t1, 0x800
    add t0, t0, t1
    li t1, 0x20000000 | 0xcf
    sw t1, 0(t0)
    li t1, 1 << 31
    li a2, 1 << 22
#endif
    or a0, a0, t1
#if WAY == 9 /* the page of the trap handler is not mapped: its fetch traps without end, and no block begins */
    csrw stvec, zero
    csrw satp, a0
    jr zero
#endif
    li s0, 30000
2:  csrw satp, a0
    add a0, a0, a2
    csrw satp, a0
    addi s0, s0, -1
    bnez s0, 2b
    ecall                  /* trap: finish */

#elif WAY == 6 /* a program that polls a device for ever, with interrupts at every few instructions */
    li t0, 1 << 7
    csrw mie, t0
    csrsi mstatus, 8
1:  li t0, 0x10000000
    lbu t1, 5(t0)
    addi t2, t2, 1
    lbu t1, 5(t0)
    j 1b

#elif WAY == 8 /* supervisor mode switches the machine off, by a store in the middle of a block */
    la t0, 1f
    csrw mepc, t0
    li t0, 1 << 11
    csrs mstatus, t0
    li t0, 1 << 12
    csrc mstatus, t0
    li t0, FINISH
    li t1, FINISH_PASS
    mret
    .balign 4
1:  addi t2, t2, 1
    addi t2, t2, 1
    sw t1, 0(t0)
    .rept 200              /* the machine stops in these */
    lw t3, 0(sp)
    addi t2, t2, 1
    .endr
2:  j 2b

#elif WAY == 10 /* instructions of 48, 64 and more bits, which the hart does not have: alone in their block, and behind another one */
    li s0, 300
1:  jal long_48
    jal long_64
    jal long_more
    jal long_behind
    addi s0, s0, -1
    bnez s0, 1b
    j finish
    .balign 4
long_48:
    .2byte 0x041f, 0x1234, 0x5678
long_64:
    .2byte 0x043f, 0x1234, 0x5678, 0x9abc
long_more:
    .2byte 0x047f, 0x1234, 0x5678, 0x9abc
long_behind:
    addi t2, t2, 1
    .2byte 0x041f, 0x1234, 0x5678

#elif WAY == 7 /* semihosting: exit with status 7 */
    SEMIHOST_EXIT
1:  j 1b
    SEMIHOST_STATUS(7)
#endif

finish:
    li t0, FINISH
    li t1, FINISH_PASS
    sw t1, 0(t0)
1:  j 1b

    .balign 4
trap:
    csrr t0, mcause
    bltz t0, 2f
    li t1, 9
    beq t0, t1, finish
    csrw mepc, ra          /* a failed jump: back to the caller */
    mret
2:  li t0, 0x200bff8       /* mtime + 20 to mtimecmp */
    lw t1, 0(t0)
    addi t1, t1, 20
    li t0, 0x2004000
    sw t1, 0(t0)
    sw zero, 4(t0)
    mret

    .bss
    .balign 4096
root: .skip 4096
    .skip 4096
stack_top:
