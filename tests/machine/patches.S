/* Two harts that execute a routine, of which hart 0 changes an instruction again and again: hart 1 executes the old code until it sees
 * the new one. Some branches are irregular, so that no message repeats the one before. RV64 and RV32. */
#define CHANGES 200
#define STARTED 0x80010000 /* not 0 when hart 1 executes; in a page without code */
#define CALLS   50 /* of hart 0, between two changes */

#include "start.h"

/* Branches forward or not, by the next number of a linear congruential generator (s6, s7). */
.macro irregular_branch
    mul s6, s6, s7
    addi s6, s6, 1337
    bltz s6, 4f
    addi s8, s8, 1
4:
.endm

PROGRAM_START
    li s7, 0x5851f42d
    csrr t0, mhartid
    bnez t0, second
    li t1, STARTED
5:  lw t0, 0(t1)
    beqz t0, 5b
    jal patched /* the first version is known before it is changed */
    li s0, CHANGES
    la s1, patched
    la s2, versions
    lw s3, 0(s2)
    lw s4, 4(s2)
1:  sw s4, 0(s1)
    fence.i
    mv t0, s3
    mv s3, s4
    mv s4, t0
    li s5, CALLS
2:  jal patched
    irregular_branch
    addi s5, s5, -1
    bnez s5, 2b
    addi s0, s0, -1
    bnez s0, 1b
    li t0, FINISH
    li t1, FINISH_PASS
    sw t1, 0(t0)
3:  j 3b

second:
    li t1, STARTED
    sw s7, 0(t1)
6:  fence.i
    jal patched
    irregular_branch
    addi s0, s0, 1
    andi t0, s0, 5
    bnez t0, 6b
    jal patched
    j 6b

    .balign 4
    .option norvc
patched:
    addi a0, a0, 1
    addi a0, a0, 2
    addi a0, a0, 3
    ret

versions: /* of the first instruction */
    addi a0, a0, 1
    .word 0x0080006f /* j patched + 8 */
