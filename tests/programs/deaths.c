/* Killed by a fault of an access that others in its block look like. WAY: which one (tests/programs/build). No library: the
 * program is short. */
#include <sys/mman.h>
#include <sys/syscall.h>

static long call(long number, long a, long b, long c, long d, long e) {
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c, a3 __asm__("a3") = d, a4 __asm__("a4") = e,
                  a5 __asm__("a5") = 0, a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

enum { PAGE = 4096 };

/* Three pages: one that can be written, one that can be read, and a hole. */
static char *make_pages(void) {
    char *pages = (char *)call(SYS_mmap, 0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    call(SYS_mprotect, (long)pages + PAGE, PAGE, PROT_READ, 0, 0);
    call(SYS_munmap, (long)pages + 2 * PAGE, PAGE, 0, 0, 0);
    return pages;
}

#if WAY == 0 /* a list: each load writes its own address register; the third one faults */
#define BODY "sd s0, 0(s0)\n ld a0, 0(s0)\n ld a0, 0(a0)\n li a0, 8\n ld a0, 0(a0)\n ld a0, 0(a0)\n sd a0, 8(s0)"
#elif WAY == 1 /* the register is advanced: the same offset faults the second time */
#define BODY "addi a1, s2, -8\n ld a2, 0(a1)\n addi a1, a1, 8\n ld a3, 0(a1)\n addi a1, a1, 8\n ld a4, 0(a1)"
#elif WAY == 2 /* a page that can be read, not written */
#define BODY "ld a0, 16(s1)\n ld a1, 24(s1)\n sd a0, 16(s1)\n ld a0, 16(s1)\n sd a1, 24(s1)"
#elif WAY == 3 /* two registers with the same address */
#define BODY "addi a1, s2, -16\n ld a2, 0(a1)\n addi a1, a1, 16\n mv a3, a1\n ld a2, 8(s0)\n ld a2, 0(a3)\n ld a2, 0(a1)"
#elif WAY == 4 /* addresses that no page can have */
#define BODY "li a0, -1\n srli a0, a0, 2\n ld a1, 0(s0)\n ld a2, 8(s0)\n lw a3, 4(a0)\n lw a3, 8(a0)"
#elif WAY == 5
#define BODY "li a0, -4096\n ld a1, 0(s0)\n lbu a3, 1(a0)\n lbu a3, 0(a0)"
#elif WAY == 6 /* across the end of the page */
#define BODY "addi a0, s2, -4\n lw a1, 0(a0)\n ld a2, -4(a0)\n lhu a2, 2(a0)\n ld a1, 0(a0)\n ld a1, 8(a0)"
#elif WAY == 7 /* a jump to what a register was loaded from: no access faults */
#define BODY "sd s2, 0(s0)\n mv a0, s0\n ld a0, 0(a0)\n ld a1, 0(s0)\n jr a0"
#elif WAY == 8 /* atomics, which are no plain accesses; the same address was read before */
#define BODY "ld a1, 0(s1)\n li a2, 1\n amoadd.d a3, a2, (s0)\n ld a1, 8(s1)\n amoadd.d a3, a2, (s1)\n ld a1, 8(s1)"
#elif WAY == 9 /* floating point */
#define BODY "ld a1, 0(s0)\n fld fa0, 8(s0)\n ld a1, 0(s0)\n fld fa1, 0(s2)\n ld a1, 0(s2)"
#elif WAY == 10 /* a loop that is counted */
#define BODY "addi a1, s2, -64\n 1: ld a2, 0(a1)\n addi a3, a2, 1\n ld a2, 8(a1)\n addi a1, a1, 8\n bgez a3, 1b"
#elif WAY == 11 /* an instruction that is not defined */
#define BODY "ld a0, 0(s0)\n ld a1, 8(s0)\n .4byte 0x0000700b\n ld a1, 0(s2)"
#elif WAY == 12 /* compressed forms, below the stack pointer of their own */
#define BODY "mv a5, sp\n addi sp, s2, -32\n ld a0, 8(sp)\n ld a0, 24(sp)\n sd a0, 0(s0)\n ld a0, 32(sp)\n ld a0, 0(s2)"
#define END ""
#elif WAY == 13 /* memory of zeros */
#define BODY "ld a0, 0(s0)\n mv a1, a0\n .2byte 0\n ld a1, 0(s2)"
#elif WAY == 14 /* an instruction that is not defined, where others are (OP) */
#define BODY "ld a0, 0(s0)\n mv a1, a0\n .4byte 0xfe000033\n ld a1, 0(s2)"
#endif

#ifndef END
#define END "\n j 2f\n 2:" /* else the block goes on to the system call */
#endif

__attribute__((noreturn)) void _start(void) {
    register char *first __asm__("s0") = make_pages();
    register char *second __asm__("s1") = first + PAGE;
    register char *third __asm__("s2") = first + 2 * PAGE;
    __asm__ volatile(BODY END : : "r"(first), "r"(second), "r"(third) : "memory", "a0", "a1", "a2", "a3", "a4", "a5");
    call(SYS_exit, 0, 0, 0, 0, 0);
    __builtin_unreachable();
}
