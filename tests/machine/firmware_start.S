# Start, trap handler and the patched routine of tests/machine/firmware.c.
#include "start.h"
#define MSIP 0x2000000
PROGRAM_START
  C_MAIN
1: j 1b
  .balign 4
trap:
  addi sp, sp, -64
  sd ra, 0(sp)
  sd a5, 8(sp)
  sd a4, 16(sp)
  csrr a4, mcause
  bltz a4, 2f
  csrr a5, mepc
  addi a5, a5, 4
  csrw mepc, a5
  call on_trap
  ld ra, 0(sp)
  ld a5, 8(sp)
  ld a4, 16(sp)
  addi sp, sp, 64
  mret
2: # the software interrupt
  li a4, MSIP
  sw zero, 0(a4)
  ld a5, 8(sp)
  ld a4, 16(sp)
  addi sp, sp, 64
  mret
  .text
  .globl call_patched, patched, enter_patched
enter_patched: # as call_patched, but with mret, and an interrupt comes before the first instruction
  li t0, MSIP
  li t1, 1
  sw t1, 0(t0)
  csrwi mie, 8
  la t0, patched
  csrw mepc, t0
  li t0, 3 << 11 | 1 << 7
  csrs mstatus, t0
  mret
call_patched:
patched:
  c.addi a0, 3
  ret
  C_STACK
