/* A program for `-machine virt` with the hypervisor extension: a hypervisor in HS mode and two guests with other code at the same
 * guest-virtual and guest-physical addresses, in VS mode and in VU mode, first without page tables of their own. Traps of V modes go to
 * M, HS and VS mode; interrupts come at any instruction. RV64 (Sv39, Sv39x4). It ends QEMU with status 0 through the test device. */
#include "start.h"
#define TICK     2000 /* 0.2 ms */
#define HSTATUS  0x600
#define HEDELEG  0x602
#define HIDELEG  0x603
#define HVIP     0x645
#define HGATP    0x680
#define VSATP    0x280
#define VSSTATUS 0x200
#define VSIE     0x204
#define HFENCES  .word 0x62000073, 0x22000073 /* hfence.gvma, hfence.vvma */
#define GUEST    0x40000000 /* its kernel; the page behind it is that of its program */
#define ROUNDS   6

PROGRAM_START
    FIRST_HART
    STACK_AT(stack_top)
    TRAPS_TO(m_trap)
    csrw mscratch, sp
    ALL_MEMORY
    li t0, -1
    csrw mcounteren, t0
    /* All but ecall from HS and illegal instructions goes to HS mode. */
    li t0, 1 << 3 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 13 | 1 << 15 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 23
    csrw medeleg, t0
    li t0, 1 << 5
    csrw mideleg, t0
    jal next_tick
    li t0, 1 << 7
    csrw mie, t0
    la t0, hs_start
    csrw mepc, t0
    li t0, 3 << 11
    csrc mstatus, t0
    li t0, 1 << 11 | 1 << 7
    csrs mstatus, t0
    mret

PARK

    NEXT_TICK(TICK, 200)

    .balign 4
m_trap:
    csrrw sp, mscratch, sp
    addi sp, sp, -32
    sd t4, 0(sp)
    sd t5, 8(sp)
    sd ra, 16(sp)
    csrr t4, mcause
    bltz t4, 1f
    csrr t5, mepc           /* skip the instruction: what traps has four bytes */
    addi t5, t5, 4
    csrw mepc, t5
    li t5, 9
    bne t4, t5, 9f          /* illegal, in any mode */
    li t4, 1 << 5
    csrc mip, t4            /* ecall from HS. a0 0: clear STIP, 1: finish */
    beqz a0, 9f
    li t4, FINISH
    li t5, FINISH_PASS
    sw t5, 0(t4)
4:  j 4b
1:  jal next_tick           /* the timer: passed on to HS */
    li t4, 1 << 5
    csrs mip, t4
9:  ld t4, 0(sp)
    ld t5, 8(sp)
    ld ra, 16(sp)
    addi sp, sp, 32
    csrrw sp, mscratch, sp
    mret

    /* ---- the hypervisor */
    .balign 4
hs_start:
    la sp, hs_stack_top
    la t0, hs_trap
    csrw stvec, t0
    la t0, hs_trap_stack_top
    csrw sscratch, t0
    jal make_tables
    li t0, 1 << 63          /* an address space of its own: Sv39, ASID 7 */
    la t1, hs_root
    srli t1, t1, 12
    or t0, t0, t1
    li t1, 7
    slli t1, t1, ASID_SHIFT
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li t0, 1 << 3 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 15
    csrw HEDELEG, t0        /* to VS: breakpoint, ecall from VU, page faults */
    li t0, 1 << 6
    csrw HIDELEG, t0
    li t0, 1 << 5
    csrs sie, t0
    li s0, ROUNDS
1:  csrsi sstatus, 2
    andi a0, s0, 1
    jal run_guest
    addi s0, s0, -1
    bnez s0, 1b
    li a0, 1
    ecall
2:  j 2b

run_guest:                  /* a0: 0 or 1. Registers s0 and sp are the hypervisor's: guests do not use them. */
    mv s1, ra
    csrci sstatus, 2        /* an interrupt would change sepc */
    la t0, g_root
    slli t1, a0, 14
    add t0, t0, t1
    srli t0, t0, 12
    addi t1, a0, 1          /* VMID */
    slli t1, t1, ASID_SHIFT
    or t0, t0, t1
    li t1, 1 << 63
    or t0, t0, t1
    csrw HGATP, t0
    csrw VSATP, zero
    HFENCES
    csrw VSSTATUS, zero
    csrw VSIE, zero
    li t0, 1 << 7           /* SPV: sret goes to V = 1 */
    csrs HSTATUS, t0
    li t0, 1 << 8 | 1 << 5
    csrs sstatus, t0
    li t0, GUEST
    csrw sepc, t0
    sret

    .balign 4
hs_trap:
    csrrw sp, sscratch, sp
    addi sp, sp, -32
    sd t0, 0(sp)
    sd t1, 8(sp)
    sd a0, 16(sp)
    csrr t0, scause
    bltz t0, 1f
    csrr t1, sepc
    addi t1, t1, 4
    csrw sepc, t1
    li t1, 10
    bne t0, t1, 9f          /* guest page fault, virtual instruction */
    li t0, 1 << 6
    csrc HVIP, t0           /* ecall from VS. a0 0: the guest has taken its interrupt */
    beqz a0, 9f
    addi sp, sp, 32         /* 1: the guest is done */
    csrrw sp, sscratch, sp
    jr s1
1:  li a0, 0
    ecall                   /* clears STIP */
    csrr t1, HSTATUS
    andi t1, t1, 1 << 7
    beqz t1, 9f             /* not out of a guest */
    li t0, 1 << 6
    csrs HVIP, t0           /* the guest's timer interrupt */
9:  ld t0, 0(sp)
    ld t1, 8(sp)
    ld a0, 16(sp)
    addi sp, sp, 32
    csrrw sp, sscratch, sp
    sret

make_tables:
    li t0, 0x20000000 | 0xcf
    la t1, hs_root
    sd t0, 16(t1)           /* 0x80000000 of the hypervisor */
    la t1, vs_root
    sd t0, 16(t1)           /* and of a guest with page tables: its own are there */
    la t2, vs_middle
    la t3, vs_leaf
    li t4, GUEST >> 2 | 0xcb
    sd t4, 0(t3)            /* its kernel: V R X A D */
    li t4, (GUEST + 0x1000) >> 2 | 0xdb
    sd t4, 8(t3)            /* its program: U as well */
    mv t5, ra
    jal link
    la t1, g_root
    la t2, g_middle
    la t3, g_leaf
    la a1, guest1
    jal guest_tables
    li t4, 1 << 14
    add t1, t1, t4
    li t4, 1 << 12
    add t2, t2, t4
    add t3, t3, t4
    la a1, guest2
    jal guest_tables
    jr t5
guest_tables:               /* t1 root, t2 middle, t3 leaf, a1 its two pages. For the second stage, all pages have U. */
    mv a6, ra
    li t0, 0x20000000 | 0xdf
    sd t0, 16(t1)
    srli t4, a1, 2
    ori t4, t4, 0xdb
    sd t4, 0(t3)
    addi t4, t4, 0x400
    sd t4, 8(t3)
    jal link
    jr a6
link:                       /* 0x40000000: t1 -> t2 -> t3 */
    srli t4, t2, 2
    ori t4, t4, 1
    sd t4, 8(t1)
    srli t4, t3, 2
    ori t4, t4, 1
    sd t4, 0(t2)
    ret

    /* ---- the guests: two pages each, the kernel's and the program's, executed at GUEST */
    .option norvc
    .macro GUEST_CODE number, first, second
    .balign 4096
guest\number:
    la t0, 8f               /* relative to where it runs */
    csrw stvec, t0          /* all of these are those of VS mode */
    li t0, 1 << 5
    csrw sie, t0
    csrsi sstatus, 2
    li s2, \first
1:  addi t2, s2, \number
    xor t3, t2, s2
    addi s2, s2, -1
    bnez s2, 1b
    ld t0, 7f
    srli t0, t0, 12
    li t1, 1 << 63 | \number << ASID_SHIFT
    or t0, t0, t1
    csrw satp, t0           /* vsatp */
    sfence.vma
    addi t2, t2, 1
    li t0, 0x60000000
    lw t3, 0(t0)            /* page fault: to VS mode, in the middle of a block */
    addi t2, t2, 1
    csrr t3, HSTATUS        /* virtual instruction: to HS mode */
    .word 0                 /* illegal: to M mode */
    li s2, 3
2:  csrci sstatus, 2
    li t0, 1 << 8
    csrc sstatus, t0
    li t0, 1 << 5
    csrs sstatus, t0
    li t0, GUEST + 0x1000
    csrw sepc, t0
    sret
3:  addi s2, s2, -1         /* the program has ended */
    bnez s2, 2b
    csrw satp, zero         /* without page tables: the first stage is off */
    sfence.vma
    li t0, 0x70000000
    lw t3, 0(t0)            /* guest page fault: to HS mode */
    li a0, 1
    ecall
4:  j 4b

    .balign 8
7:  .quad vs_root
8:  csrw sscratch, t0
    csrr t0, scause
    bltz t0, 5f
    addi t0, t0, -8
    beqz t0, 3b
    csrr t0, sepc
    addi t0, t0, 4
    csrw sepc, t0
    csrr t0, sscratch
    sret
5:  li a0, 0                /* guests have nothing else in a0 */
    ecall
    csrr t0, sscratch
    sret

    .balign 4096
    li t1, \second
6:  addi t1, t1, -1
    xor t2, t1, t2
    bnez t1, 6b
    ebreak                  /* to VS mode */
    li t0, 0x60000000
    sw t1, 0(t0)            /* page fault: to VS mode */
    csrr t0, HSTATUS        /* to HS mode */
    addi t2, t2, \number
    ecall
    .balign 4096
    .endm
    .option norvc
    GUEST_CODE 1, 20000, 3000
    GUEST_CODE 2, 7, 5000

    .bss
    .balign 16384
g_root: .skip 32768
hs_root: .skip 4096
vs_root: .skip 4096
vs_middle: .skip 4096
vs_leaf: .skip 4096
g_middle: .skip 8192
g_leaf: .skip 8192
    .skip 2048
hs_trap_stack_top:
    .skip 2048
hs_stack_top:
    .skip 4096
stack_top:
