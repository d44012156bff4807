# main calls f three times; one branch is taken twice of three times, the other never.
    .option norvc
    .text
    .globl main
    .type main, @function
main:
    li s0, 3
loop:
    jal f
    addi s0, s0, -1
    bnez s0, loop
    bnez zero, loop
    nop
    .size main, . - main

    .type f, @function
f:
    addi a0, a0, 1
    ret
    .size f, . - f
