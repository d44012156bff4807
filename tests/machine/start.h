/* What the programs of this folder for machines share (assembler, RV64 and RV32). The macros change t0 only, unless they say more. */
#if __riscv_xlen == 64
#define LX ld
#define SX sd
#define W 8
#define SATP_MODE (8 << 60)
#define ASID_SHIFT 44
#define XLEN_WORD .quad
#else
#define LX lw
#define SX sw
#define W 4
#define SATP_MODE (1 << 31)
#define ASID_SHIFT 22
#define XLEN_WORD .word
#endif

/* The test device of `-machine virt`. */
#define FINISH 0x100000
#define FINISH_PASS  0x5555 /* ends QEMU with status 0 */
#define FINISH_RESET 0x7777

/* The timer of -machine virt, spike and sifive_u; the comparator of hart 0. */
#define MTIMECMP 0x2004000
#define MTIME    0x200bff8
/* The function next_tick, and its interval. Each one is longer, so that the program ends on a machine that is slower than the interrupts.
 * Changes t4 and t5. */
#if __riscv_xlen == 64
#define MTIMECMP_HIGH
#else
#define MTIMECMP_HIGH sw zero, 4(t5)
#endif
#define NEXT_TICK(ticks, more) \
    next_tick: la t5, interval; LX t4, 0(t5); addi t4, t4, more; SX t4, 0(t5); li t5, MTIME; LX t5, 0(t5); add t4, t4, t5; \
    li t5, MTIMECMP; SX t4, 0(t5); MTIMECMP_HIGH; ret; .pushsection .data; .balign 8; interval: XLEN_WORD ticks; .popsection

/* The first instruction of the program follows. */
#define PROGRAM_START .option nopic; .section .text.start, "ax"; .globl _start; _start:
/* All harts but the first one wait at PARK. */
#define FIRST_HART csrr t0, mhartid; bnez t0, park
#define PARK park: wfi; j park
#define STACK_AT(end) la sp, end
#define TRAPS_TO(handler) la t0, handler; csrw mtvec, t0
/* Other modes access all memory. */
#define ALL_MEMORY li t0, -1; csrw pmpaddr0, t0; li t0, 0x1f; csrw pmpcfg0, t0
/* The stack of firmware in C. */
#define C_STACK .bss; .balign 16; .space 4096; stack_end:
/* Calls main of firmware in C; traps go to `trap`. */
#define C_MAIN STACK_AT(stack_end); TRAPS_TO(trap); call main

/* Semihosting ends QEMU (SYS_EXIT_EXTENDED; changes a0 and a1), with the status that stands somewhere else. */
#define SEMIHOST_EXIT la a1, semihost_block; li a0, 0x20; .balign 16; .option norvc; slli x0, x0, 0x1f; ebreak; srai x0, x0, 7; .option rvc
#define SEMIHOST_STATUS(status) .balign 8; semihost_block: XLEN_WORD 0x20026, status
