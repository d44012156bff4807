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
