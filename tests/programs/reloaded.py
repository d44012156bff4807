#!/usr/bin/env python3
"""A symbol of --start-at, --stop-at and --data-range is wherever its file is loaded: in a library that is unloaded and loaded
elsewhere.

usage: reloaded.py NTRACE
"""
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, check, equal, main, need, scratch

LOADS = 6
LIBRARY = """long shared[8];
long touch(long n) { long s = 0; for (long i = 0; i < n; i++) { shared[i & 7] += n ^ i; s += i; } return s; }
"""
OTHER = "long other(long n) { return 3 * n; }\n"
# The other library takes the place of the first one, so that this one moves.
PROGRAM = """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    for (long k = 0; k < %d; k++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        long (*touch)(long) = (long (*)(long))dlsym(library, "touch");
        if (k || argc < 4) touch(10 + k);
        printf("%%p\\n", (void *)touch);
        dlclose(library);
        if (!dlopen(argv[2], RTLD_NOW)) return 1;
        snprintf(argv[2], 8, "./%%05ld", k + 1);
    }
    return 0;
}
""" % LOADS


def compiled():
    gcc, folder = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    if not os.path.exists(os.path.join(folder, "program")):
        for text, out, flags in (LIBRARY, "libtouch.so", ("-shared", "-fPIC")), (PROGRAM, "program", ()):
            subprocess.run([gcc, "-O1", "-xc", "-", "-o", os.path.join(folder, out), *flags], input=text.encode(), check=True)
        for k in range(LOADS):
            subprocess.run([gcc, "-O1", "-shared", "-fPIC", "-xc", "-", "-o", os.path.join(folder, f"{k:05}")], input=OTHER.encode(), check=True)
    return folder


def run(bundle, *options, more=()):
    """The addresses of the function, and the run's messages."""
    folder = compiled()
    done = Run("run", *options, "-o", os.path.join(folder, bundle), "--", "./program", "./libtouch.so", "./00000", *more, cwd=folder,
               env={"LD_LIBRARY_PATH": folder})
    return [int(line, 16) for line in done.out.split()], done.err


def pcs(bundle):
    return [int(line, 16) for line in Run("decode", os.path.join(scratch(), bundle), "--show", "pc").lines()]


@case("the window opens and closes at the function, wherever it is by then")
def window():
    addresses, _ = run("whole.ntrace", *user_qemu.for_ntrace(user_qemu.repeatable()))
    equal(len(set(addresses)) > 1, True, f"the library moves: {addresses}")
    whole = pcs("whole.ntrace")
    first, second = [at for at, pc in enumerate(whole) if pc in addresses][:2]
    _, err = run("w.ntrace", *user_qemu.for_ntrace(user_qemu.repeatable()), "--start-at", "touch", "--stop-at", "touch")
    check("not reached" not in err, err)
    equal(pcs("w.ntrace"), whole[first:second], "the instructions from the first call to the second one")


@case("the first load of the library has no call")
def later():
    addresses, _ = run("whole.ntrace", *user_qemu.for_ntrace(user_qemu.repeatable()), more=["skip"])
    whole = pcs("whole.ntrace")
    first = next(at for at, pc in enumerate(whole) if pc in addresses)
    check(whole[first] != addresses[0] and len(set(addresses)) > 1, f"the first call is at the second place: {addresses}")
    _, err = run("s.ntrace", *user_qemu.for_ntrace(user_qemu.repeatable()), "--start-at", "touch", more=["skip"])
    check("not reached" not in err, err)
    equal(pcs("s.ntrace"), whole[first:], "the instructions from the first call on")


@case("all loads and stores of the object")
def data():
    run("d.ntrace", "--data-range", "shared")
    rows = Run("decode", os.path.join(scratch(), "d.ntrace"), "--show", "data", "--format", "jsonl").rows()
    equal(sum(row["name"] == "read" for row in rows), sum(10 + k for k in range(LOADS)), "loads")
    stores = sum(row["name"] == "write" for row in rows)
    check(stores >= sum(10 + k for k in range(LOADS)), f"stores: {stores}")  # those of the dynamic linker, which clears it, may be there


main()
