# Start and switch of tasks of tests/machine/rtos.c: a trap saves all registers on the stack of the task, and schedule() says on
# which stack to go on.
#include "start.h"
PROGRAM_START
  C_MAIN
  j first_task
  .balign 4
trap:
  addi sp, sp, -256
  .irp r, 1,3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  sd x\r, \r*8(sp)
  .endr
  csrr t0, mepc
  addi t0, t0, 4
  sd t0, 0(sp)
  mv a0, sp
  call schedule
  mv sp, a0
go_on:
  ld t0, 0(sp)
  csrw mepc, t0
  .irp r, 1,3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  ld x\r, \r*8(sp)
  .endr
  addi sp, sp, 256
  mret
first_task:
  li t0, 0x1800 # the tasks run in M-mode
  csrw mstatus, t0
  mv sp, a0
  j go_on
  .balign 4096
  .globl module_area
module_area:
  .incbin "module.bin"
  C_STACK
