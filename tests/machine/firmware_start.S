# Start, trap handler and the patched routine of tests/machine/firmware.c.
#include "start.h"
PROGRAM_START
  C_MAIN
1: j 1b
  .balign 4
trap:
  addi sp, sp, -64
  sd ra, 0(sp)
  sd a5, 8(sp)
  sd a4, 16(sp)
  csrr a5, mepc
  addi a5, a5, 4
  csrw mepc, a5
  call on_trap
  ld ra, 0(sp)
  ld a5, 8(sp)
  ld a4, 16(sp)
  addi sp, sp, 64
  mret
  .text
  .globl call_patched, patched
call_patched:
patched:
  c.addi a0, 3
  ret
  C_STACK
