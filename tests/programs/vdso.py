#!/usr/bin/env python3
"""QEMU 8.2 and later give programs a vDSO: its functions have names, and the calls that the program makes.

usage: vdso.py NTRACE
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu
from harness import Run, case, equal, main, need, scratch

# Without a C library, so that RV32 is the same. It finds the functions as a C library does.
PROGRAM = """
typedef unsigned long word;
typedef struct { word type, value; } pair;
typedef struct { word tag, value; } dynamic;
#if __riscv_xlen == 64
typedef struct { unsigned type, flags; word offset, address, physical, file, memory, align; } header;
typedef struct { unsigned name; unsigned char info, other; unsigned short section; word value, size; } symbol;
enum { HEADERS = 32, COUNT = 56 };
#else
typedef struct { unsigned type; word offset, address, physical, file, memory, flags, align; } header;
typedef struct { unsigned name; word value, size; unsigned char info, other; unsigned short section; } symbol;
enum { HEADERS = 28, COUNT = 44 };
#endif
static int same(const char *a, const char *b) { while (*a && *a == *b) a++, b++; return *a == *b; }
static long sum;
__attribute__((used)) void begin(word *stack) {
    word *at = stack + 1 + *stack + 1;
    while (*at) at++;
    word base = 0;
    for (pair *p = (pair *)(at + 1); p->type; p++) if (p->type == 33) base = p->value;
    if (!base) goto out;
    const header *h = (const header *)(base + *(word *)(base + HEADERS));
    const dynamic *d = 0;
    for (int i = *(unsigned short *)(base + COUNT); i--; h++) if (h->type == 2) d = (const dynamic *)(base + h->offset);
    const symbol *s = 0; const char *names = 0; const unsigned *hash = 0;
    for (; d->tag; d++) {
        const word value = d->value < base ? d->value + base : d->value;
        if (d->tag == 6) s = (const symbol *)value;
        if (d->tag == 5) names = (const char *)value;
        if (d->tag == 4) hash = (const unsigned *)value;
    }
    for (unsigned i = 0; i < hash[1]; i++) {
        const word value = s[i].value < base ? s[i].value + base : s[i].value;
        word into[4] = {0};
        if (same(names + s[i].name, "__vdso_clock_getres")) for (int k = 0; k < 7; k++) sum += ((long (*)(long, void *))value)(1, into);
        if (same(names + s[i].name, "__vdso_getcpu")) for (int k = 0; k < 5; k++) sum += ((long (*)(void *, void *, void *))value)(into, 0, 0);
    }
out:;
    register long a0 __asm__("a0") = base == 0, a7 __asm__("a7") = 93;
    __asm__ volatile("ecall" : : "r"(a0), "r"(a7));
    __builtin_unreachable();
}
__asm__(".globl _start\\n_start: mv a0, sp\\ncall begin\\n");
"""


def calls(bits):
    gcc, path = need("riscv64-linux-gnu-gcc"), os.path.join(scratch(), f"vdso{bits}")
    need("qemu-riscv64")
    subprocess.run([gcc, f"-march=rv{bits}imac", "-mabi=" + ("lp64" if bits == 64 else "ilp32"), "-O1", "-g", "-nostdlib", "-static", "-ffreestanding",
                    "-fno-stack-protector", "-no-pie", "-fno-pie", "-xc", "-", "-o", path], input=PROGRAM.encode(), check=True)
    Run("run", "-q", "-o", path + ".ntrace", "--", path)
    rows = [row for row in Run("profile", "--format", "jsonl", path + ".ntrace").rows() if row.get("function") not in ("_start", "begin", "same")]
    equal({row["function"]: (row["calls"], row["image"]) for row in rows if "function" in row},
          {"__vdso_clock_getres": (7, "[vdso]"), "__vdso_getcpu": (5, "[vdso]")}, "functions, their calls, and their file")


if user_qemu.version() >= (8, 2):
    case("RV64: functions of the vDSO have names", 64)(calls)
    case("RV32: functions of the vDSO have names", 32)(calls)
else:
    @case("this QEMU has no vDSO, and the trace has no code of one")
    def none():
        gcc, path = need("riscv64-linux-gnu-gcc"), os.path.join(scratch(), "none")
        subprocess.run([gcc, "-O1", "-nostdlib", "-static", "-ffreestanding", "-fno-stack-protector", "-xc", "-", "-o", path],
                       input=PROGRAM.encode(), check=True)
        Run("run", "-q", "-o", path + ".ntrace", "--", path, status=1)
main()
