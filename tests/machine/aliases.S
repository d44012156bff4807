/* A program for `-machine virt` that executes the same pages of memory at several virtual addresses: in one address space, in
 * another one, in user mode and in supervisor mode, also a page that is mapped beside itself, an instruction that extends into another
 * page at each address, and pages that are exchanged without a write to satp. QEMU translates such a page once.
 * Built for RV64 (Sv39) and RV32 (Sv32). It ends QEMU with status 0 through the test device. */
#include "start.h"
#define USER   0x400000 /* pages 0 .. 7 of each space; page 7 is the supervisor's */
#define KERNEL 0x407000

PROGRAM_START
    FIRST_HART
    TRAPS_TO(m_trap)
    ALL_MEMORY
    li t0, 1 << 8 | 1 << 12
    csrw medeleg, t0
    la t0, s_start
    csrw mepc, t0
    li t0, 3 << 11
    csrc mstatus, t0
    li t0, 1 << 11
    csrs mstatus, t0
    mret
PARK

    .balign 4
m_trap:                     /* ecall from S: the end; anything else is an error that ends QEMU with another status */
    csrr t0, mcause
    li t1, 9
    li t2, FINISH_PASS
    beq t0, t1, 1f
    li t2, 0x13333
1:  li t0, FINISH
    sw t2, 0(t0)
2:  j 2b

s_start:
    la t0, s_trap
    csrw stvec, t0
    jal make_tables
    li s2, 20               /* in turns: the spaces, and within them the addresses */
1:  andi a0, s2, 1
    jal set_space
    li s5, 2
6:  la s3, entries
2:  LX a1, 0(s3)
    beqz a1, 3f
    jal enter_user
    addi s3, s3, W
    j 2b
3:  andi a0, s2, 1
    jal exchange_pages
    addi s5, s5, -1
    bnez s5, 6b
    la a1, shared_s         /* the supervisor's page, at its own address and at another one, called in turn */
    li s4, 5
4:  jalr a1
    li a2, KERNEL
    jalr a2
    addi s4, s4, -1
    bnez s4, 4b
    addi s2, s2, -1
    bnez s2, 1b
    ecall
5:  j 5b

set_space:                  /* a0: 0 or 1 */
    la t0, root1
    slli t1, a0, 13
    add t0, t0, t1
    srli t0, t0, 12
    addi t1, a0, 1
    slli t1, t1, ASID_SHIFT
    or t0, t0, t1
    li t1, SATP_MODE
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    ret

exchange_pages:             /* a0: of this space; pages 1 and 2 of USER */
    la t0, leaf1
    slli t1, a0, 12
    add t0, t0, t1
    LX t1, W(t0)
    LX t2, 2 * W(t0)
    SX t1, 2 * W(t0)
    SX t2, W(t0)
    sfence.vma
    ret

enter_user:                 /* a1: where */
    mv s8, ra
    li t0, 1 << 8
    csrc sstatus, t0
    csrw sepc, a1
    sret

    .balign 4
s_trap:                     /* ecall from U: back to the caller of enter_user */
    jr s8

make_tables:                /* of both spaces: RAM for S, and the pages at USER */
    la a0, root1
    la a1, leaf1
    la a2, pages1
    mv a7, ra
    jal one_table
    la a0, root2
    la a1, leaf2
    la a2, pages2
    jal one_table
    jr a7

one_table:
    li t0, 0x20000000 | 0xcf
#if __riscv_xlen == 64
    sd t0, 16(a0)
    li t1, 4096
    add t1, a0, t1
    srli t0, t1, 2
    ori t0, t0, 1
    sd t0, 0(a0)
    srli t0, a1, 2
    ori t0, t0, 1
    sd t0, 16(t1)
#else
    li t1, 0x800
    add t1, a0, t1
    sw t0, 0(t1)
    srli t0, a1, 2
    ori t0, t0, 1
    sw t0, 4(a0)
#endif
    li t1, 8
1:  LX t0, 0(a2)            /* address and flags */
    andi t2, t0, 0xff
    srli t0, t0, 12
    slli t0, t0, 10
    or t0, t0, t2
    SX t0, 0(a1)
    addi a2, a2, W
    addi a1, a1, W
    addi t1, t1, -1
    bnez t1, 1b
    ret

    .data
    .balign 8
#if __riscv_xlen == 64
#define WORD .quad
#else
#define WORD .word
#endif
pages1:
    WORD shared + 0xdb, shared + 0xdb, next + 0xdb, shared + 0xdb, next + 0xdb, shared + 0xdb, shared + 0xdb, shared_s + 0xcb
pages2:
    WORD next + 0xdb, next + 0xdb, shared + 0xdb, next + 0xdb, shared + 0xdb, shared + 0xdb, next + 0xdb, shared_s + 0xcb
entries:                    /* executed as far as the pages have this code */
    WORD USER, USER + 0xa00, USER + 0x800, USER + 0x3000, USER + 0x3000, USER + 0x5000, USER + 0x1000, USER + 0x5000, USER + 0x1800, USER + 0x5800
    WORD USER + 0x1a00, USER + 0x5a00, USER + 0x2a00, 0

    /* At the beginning: a loop, calls, and at the end an ecall. At 0x800: straight code and a jump into the page behind. At
     * 0xa00: a jump to the last two bytes of the page, which are the first half of an instruction (addi t1). */
    .section .text.pages, "ax"
    .balign 4096
shared:
    li t0, 3
1:  addi t1, t1, 1
    addi t0, t0, -1
    bnez t0, 1b
    la t2, shared_f         /* relative to the address at which it runs */
    jalr t2
    jal shared_f
    beqz zero, shared_end
shared_f:
    addi t1, t1, 2
    ret
    .org shared + 0x800
shared_half:
    addi t1, t1, 3
    li t3, 1
2:  beqz t3, 3f
    li t3, 0
    j 2b
3:  j shared_last
    .org shared + 0x900
shared_end:
    addi t1, t1, 6
    ecall
    .org shared + 0xa00
    li t0, 2
    j shared_edge
    .org shared + 0xff0
shared_last:
    addi t1, t1, 4
    addi t1, t1, 5
    j next_first
    .org shared + 0xffe
shared_edge:
    .half 0x0313
    .org shared + 0x1000
next:                       /* the same place in `shared` is a loop */
next_first:
    li t0, 2
4:  addi t0, t0, -1
    bnez t0, 4b
    addi t1, t1, 7
    ecall
    .org next + 0x800
    ecall
    .org next + 0x900
    ecall
    .org next + 0xa00
    ecall
    .org next + 0x1000
    .balign 4096
shared_s:
    addi t1, t1, 1
    li t0, 2
5:  addi t0, t0, -1
    bnez t0, 5b
    ret
    .balign 4096

    .bss
    .balign 8192
root1: .skip 8192
root2: .skip 8192
leaf1: .skip 4096
leaf2: .skip 4096
