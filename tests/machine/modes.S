/* A program for `-machine virt` without firmware: machine mode, supervisor mode with page tables, user mode. Traps of all
 * kinds, interrupts at any instruction, devices in the middle of blocks, code that changes, two address spaces, wfi.
 * Built for RV64 (Sv39) and RV32 (Sv32). It ends QEMU with status 0 through the test device. */
#include "start.h"
#define UART     0x10000000
#define TICK     2000 /* 0.2 ms */

PROGRAM_START
    FIRST_HART
    STACK_AT(stack_top)
    TRAPS_TO(m_trap)
    csrw mscratch, sp
    ALL_MEMORY
    li t0, -1
    csrw mcounteren, t0
    csrw scounteren, t0
    /* a trap in machine mode: illegal, ebreak, a load from nowhere in the middle of a block */
    .option norvc /* what traps has four bytes: the handlers skip so many */
    .word 0
    ebreak
    .option rvc
    li t1, 0x40000000
    add t2, t1, t1
    .option norvc
    lw t3, 0(t1)
    .option rvc
    addi t2, t2, 1
    /* devices in the middle of a block */
    li a0, UART
    li a1, 'M'
    addi a2, zero, 1
    sb a1, 0(a0)
    addi a2, a2, 1
    lbu a3, 5(a0)
    addi a2, a2, 1
    sb a1, 0(a0)
    xor a2, a2, a3
    /* user traps, and the supervisor's interrupts, go to S mode; ecall from S goes to M */
    li t0, (1 << 8) | (1 << 12) | (1 << 13) | (1 << 15) | (1 << 3) | (1 << 2)
    csrw medeleg, t0
    li t0, (1 << 5) | (1 << 1)
    csrw mideleg, t0
    jal next_tick
    li t0, 1 << 7
    csrw mie, t0
    csrsi mstatus, 8
    /* interrupts in machine mode, and wfi in the middle of a block */
    li s0, 3
1:  addi t1, zero, 5
    wfi
    addi t1, t1, 1
    addi s0, s0, -1
    bnez s0, 1b
    li s0, 4000
2:  mul t1, s0, s0
    xor t2, t2, t1
    addi s0, s0, -1
    bnez s0, 2b
    csrci mstatus, 8        /* an interrupt would change mepc */
    la t0, s_start
    csrw mepc, t0
    li t0, 3 << 11
    csrc mstatus, t0
    li t0, 1 << 11
    csrs mstatus, t0
    mret

PARK

    NEXT_TICK(TICK, 200)

    .balign 4
m_trap:
    csrrw sp, mscratch, sp
    addi sp, sp, -4*W
    SX t4, 0(sp)
    SX t5, W(sp)
    SX ra, 2*W(sp)
    SX t0, 3*W(sp)
    csrr t4, mcause
    bltz t4, 1f
    li t5, 9
    beq t4, t5, 2f          /* ecall from S: a0 0: clear STIP, 1: finish */
    csrr t4, mepc           /* skip the instruction: all of these have four bytes */
    addi t4, t4, 4
    csrw mepc, t4
    j 9f
1:  jal next_tick           /* the timer: passed on to S */
    li t4, 1 << 5
    csrs mip, t4
    j 9f
2:  csrr t4, mepc
    addi t4, t4, 4
    csrw mepc, t4
    bnez a0, 3f
    li t4, 1 << 5
    csrc mip, t4
    j 9f
3:  li t4, FINISH
    li t5, FINISH_PASS
    sw t5, 0(t4)
4:  j 4b
9:  LX t4, 0(sp)
    LX t5, W(sp)
    LX ra, 2*W(sp)
    LX t0, 3*W(sp)
    addi sp, sp, 4*W
    csrrw sp, mscratch, sp
    mret

    .balign 4
s_start:
    la sp, s_stack_top
    la t0, s_trap
    csrw stvec, t0
    la t0, s_trap_stack_top
    csrw sscratch, t0
    /* page tables: the first GiB of devices and the RAM as large pages for S, and one page for U */
    jal make_tables
    li a0, 1
    jal set_space
    li t0, 1 << 5
    csrs sie, t0
    csrsi sstatus, 2
    li s0, 20000
1:  addi t1, s0, 3
    xor t2, t1, s0
    addi s0, s0, -1
    bnez s0, 1b
    /* changed code: the same address, other instructions */
    la t0, patched
    lw t1, other
    jal patched
    sw t1, 0(t0)
    fence.i
    jal patched
    /* a device from S mode */
    li a0, UART
    li a1, 'S'
    addi a2, zero, 1
    sb a1, 0(a0)
    addi a2, a2, 1
    sb a1, 0(a0)
    addi a2, a2, 1
    /* two address spaces with other code at the user's address */
    li s3, 6
3:  andi a0, s3, 1
    addi a0, a0, 1
    jal set_space
    jal enter_user
    addi s3, s3, -1
    bnez s3, 3b
    li a0, 1
    ecall
5:  j 5b

    .balign 4
    .option norvc
patched:
    addi t2, t2, 1
    ret
other:
    addi t2, t2, 2
    .option rvc

/* a0: number of the space, 1 or 2 */
set_space:
    la t0, root1
    addi t1, a0, -1
    slli t1, t1, 13
    add t0, t0, t1
    srli t0, t0, 12
    slli t1, a0, ASID_SHIFT
    or t0, t0, t1
    li t1, SATP_MODE
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    ret

enter_user:
    addi sp, sp, -16
    SX ra, 0(sp)
    csrci sstatus, 2        /* an interrupt would change sepc */
    li t0, 1 << 8
    csrc sstatus, t0
    li t0, 1 << 5
    csrs sstatus, t0
    li t0, 0x400000
    csrw sepc, t0
    sret
user_return:
    LX ra, 0(sp)
    addi sp, sp, 16
    ret

    .balign 4
s_trap:
    csrrw sp, sscratch, sp
    addi sp, sp, -6*W
    SX t0, 0(sp)
    SX t1, W(sp)
    SX a0, 2*W(sp)
    csrr t0, scause
    bltz t0, 1f
    li t1, 8
    beq t0, t1, 2f
    csrr t0, sepc           /* page fault, illegal, ebreak: skip */
    addi t0, t0, 4
    csrw sepc, t0
    j 9f
1:  li a0, 0
    ecall                   /* clears STIP */
    j 9f
2:  addi sp, sp, 6*W        /* ecall from U: back to enter_user's caller */
    csrrw sp, sscratch, sp
    la t0, user_return
    csrw sepc, t0
    li t0, 1 << 8
    csrs sstatus, t0
    sret
9:  LX t0, 0(sp)
    LX t1, W(sp)
    LX a0, 2*W(sp)
    addi sp, sp, 6*W
    csrrw sp, sscratch, sp
    sret

/* Sv39: root[0]: devices (1 GiB), root[2]: RAM; root[0] is split for the user's page at 0x400000. */
make_tables:
    la a0, root1
    la a1, user1
    mv a7, ra
    jal one_table
    la a0, root2
    la a1, user2
    jal one_table
    jr a7
#if __riscv_xlen == 64
one_table:                  /* a0 root, a0 + 4096: level 1 of the first GiB; level 0 in leaf */
    li t0, 0x20000000 | 0xcf
    sd t0, 16(a0)           /* 0x80000000, RAM: V R W X A D */
    li t1, 4096
    add t1, a0, t1
    srli t2, t1, 2
    ori t2, t2, 1
    sd t2, 0(a0)
    li t0, (0x10000000 >> 2) | 0xc7
    li t3, 128*8
    add t3, t1, t3
    sd t0, 0(t3)            /* UART, 2 MiB page 128 */
    la t3, leaf1
    la t4, root1
    beq a0, t4, 1f
    la t3, leaf2
1:  srli t4, t3, 2
    ori t4, t4, 1
    sd t4, 16(t1)           /* 0x400000 */
    srli t4, a1, 2
    ori t4, t4, 0xdb        /* V R X U A D */
    sd t4, 0(t3)
    ret
#else
one_table:
    li t0, 0x20000000 | 0xcf
    li t1, 0x800
    add t1, a0, t1
    sw t0, 0(t1)            /* 0x80000000: one page of 4 MiB */
    li t0, (0x10000000 >> 2) | 0xc7
    sw t0, 0x100(a0)        /* UART */
    la t3, leaf1
    la t4, root1
    beq a0, t4, 1f
    la t3, leaf2
1:  srli t4, t3, 2
    ori t4, t4, 1
    sw t4, 4(a0)            /* 0x400000 */
    srli t4, a1, 2
    ori t4, t4, 0xdb
    sw t4, 0(t3)
    ret
#endif

    .balign 4096
user1:
    li t0, 0x500000         /* not mapped: a page fault in the middle of a block */
    addi t1, zero, 7
    .option norvc
    lw t2, 0(t0)
    addi t1, t1, 1
    .word 0
    ebreak
    .option rvc
    addi t1, t1, 1
    li s5, 3000
1:  addi s5, s5, -1
    bnez s5, 1b
    ecall
    .balign 4096
user2:
    li s5, 3
    c.nop
1:  xor t1, s5, t1
    .option norvc
    sw t1, 0(zero)          /* a fault at each time */
    .option rvc
    addi s5, s5, -1
    bnez s5, 1b
    ecall
    .balign 4096

    .bss
    .balign 8192
root1: .skip 8192
root2: .skip 8192
leaf1: .skip 4096
leaf2: .skip 4096
    .skip 2048
s_trap_stack_top:
    .skip 2048
s_stack_top:
    .skip 4096
stack_top:
