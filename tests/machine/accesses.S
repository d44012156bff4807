/* Loads and stores of all kinds, on a machine. The section .expect says what each one reads or writes; it is not loaded.
 *
 * Record of .expect: 1 for a store and its size in bytes (4 bytes each), address and value (8 bytes each). */
#include "start.h"
#define UART 0x10000000

#if __riscv_xlen == 64
#define EXPECT(store, size, address, value) .pushsection .expect; .word store, size; .8byte address, value; .popsection
#else
#define EXPECT(store, size, address, value) .pushsection .expect; .word store, size, address, 0; .8byte value; .popsection
#endif
#define READ(size, address, value)  EXPECT(0, size, address, value)
#define WRITE(size, address, value) EXPECT(1, size, address, value)

#define SPACE(asid) li t0, SATP_MODE | (asid << ASID_SHIFT); csrw satp, t0

PROGRAM_START
    FIRST_HART
    TRAPS_TO(skip)
    li t0, (3 << 9) | (3 << 13) /* vectors and floating point are on */
    csrs mstatus, t0
    la s0, table
    li t0, 0x55667788
    sw t0, 0(s0)
    WRITE(4, table, 0x55667788)
    lb t1, 0(s0)
    READ(1, table, 0x88)
    lbu t1, 3(s0)
    READ(1, table + 3, 0x55)
    lh t1, 0(s0)
    READ(2, table, 0x7788)
    lhu t1, 2(s0)
    READ(2, table + 2, 0x5566)
    sb t0, 9(s0)
    WRITE(1, table + 9, 0x88)
    sh t0, 10(s0)
    WRITE(2, table + 10, 0x7788)
    lw t1, 8(s0)
    READ(4, table + 8, 0x77888800)
    lw t1, 9(s0)
    READ(4, table + 9, 0x00778888)
    /* what traps has no access; what stands before and behind it in its block has one */
    .option norvc
    sb t0, 12(s0)
    WRITE(1, table + 12, 0x88)
    lw t1, 0(zero)
    sb t0, 13(s0)
    WRITE(1, table + 13, 0x88)
    .option rvc
    /* a device in the middle of a block */
    li a0, UART
    li a1, 0x41
    sb a1, 0(a0)
    WRITE(1, UART, 0x41)
    sb a1, 14(s0)
    WRITE(1, table + 14, 0x41)
    /* atomic instructions */
    li t1, 2
    amoadd.w t2, t1, (s0)
    READ(4, table, 0x55667788)
    WRITE(4, table, 0x5566778a)
    lr.w t2, (s0)
    READ(4, table, 0x5566778a)
    sc.w t3, t1, (s0)
    READ(4, table, 0x5566778a)
    WRITE(4, table, 2)
    sc.w t3, t1, (s0) /* without a reservation */
    /* floating point */
    fcvt.s.w ft0, t1
    fsw ft0, 16(s0)
    WRITE(4, table + 16, 0x40000000)
    fld ft1, 8(s0)
    READ(8, table + 8, 0x0041888877888800)
    fsd ft1, 24(s0)
    WRITE(8, table + 24, 0x0041888877888800)
    /* vectors: each element is an access */
    vsetivli zero, 3, e16, m1, ta, ma
    vle16.v v1, (s0)
    READ(2, table, 2)
    READ(2, table + 2, 0)
    READ(2, table + 4, 0)
    vadd.vi v1, v1, 5
    addi a2, s0, 32
    li a3, 6
    vsse16.v v1, (a2), a3
    WRITE(2, table + 32, 7)
    WRITE(2, table + 38, 5)
    WRITE(2, table + 44, 5)
    vmseq.vi v0, v1, 5
    vse16.v v1, (s0), v0.t
    WRITE(2, table + 2, 5)
    WRITE(2, table + 4, 5)
#if __riscv_xlen == 64
    ld t1, 0(s0)
    READ(8, table, 0x0000000500050002)
    li t0, 0x1122334455667788
    sd t0, 48(s0)
    WRITE(8, table + 48, 0x1122334455667788)
    li t1, -1
    addi a2, s0, 48
    amoxor.d t2, t1, (a2)
    READ(8, table + 48, 0x1122334455667788)
    WRITE(8, table + 48, 0xeeddccbbaa998877)
    /* amocas.q: 16 bytes are two accesses of 8. Compares a4 and a5, writes a6 and a7 */
    li a4, 0xeeddccbbaa998877
    li a5, 0
    li a6, 3
    li a7, 4
    .insn r 0x2f, 4, 0x14, a4, a2, a6
    READ(8, table + 48, 0xeeddccbbaa998877)
    READ(8, table + 56, 0)
    WRITE(8, table + 48, 3)
    WRITE(8, table + 56, 4)
#endif
    /* Address spaces 1, 2, 1, 3, 1: the first block behind the change accesses memory, or does not. Machine mode translates nothing. */
    SPACE(1)
    j 1f
1:  SPACE(2)
    lbu t1, 8(s0)
    READ(1, table + 8, 0)
    j 1f
1:  SPACE(1)
    j 1f
1:  SPACE(3)
    lbu t1, 8(s0)
    READ(1, table + 8, 0)
    j 1f
1:  SPACE(1)
    lbu t1, 8(s0)
    READ(1, table + 8, 0)
    li t4, FINISH
    li t5, FINISH_PASS
    sw t5, 0(t4)
    WRITE(4, FINISH, FINISH_PASS)
PARK

    .balign 4
skip:
    csrr t6, mepc
    addi t6, t6, 4
    csrw mepc, t6
    mret

    .data
    .balign 16
    .globl table
    .type table, @object
    .size table, 64
table: .skip 64
