#!/usr/bin/env python3
"""Names of addresses, compared with nm's list of the same ELF files: names.py NAMES

Every function with a size is asked for at its start, in its middle, at its last byte and behind it. The answer has
to be the innermost function there, by one of the names it has. TAP on standard output."""
import bisect
import glob
import os
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import case, check, corpus_cases, main, need, note, skip

LIBRARY = "/usr/riscv64-linux-gnu/lib/libc.so.6"  # thousands of dynamic symbols only
WITHOUT = ("silicon/linux-static/kernel.elf", "ttdfd/long/program.elf", "ttdfd/pingpong/program.elf")  # no function has a size


def functions(nm, path):
    """{(start, size): names} of the functions that nm lists."""
    table = {}
    for flags in ([], ["-D"]):
        output = subprocess.run([nm, "-f", "posix", "--without-symbol-versions", *flags, path], capture_output=True,
                              text=True).stdout
        for line in output.splitlines():
            part = line.split()
            if len(part) == 4 and part[1] in "tTwWi" and int(part[3], 16):
                table.setdefault((int(part[2], 16), int(part[3], 16)), set()).add(part[0])
        if table:
            break
    return table


def innermost(table, starts, address):
    """All names of the functions with the greatest start that cover the address."""
    for start, sizes in reversed(starts[:bisect.bisect_right(starts, (address, [1 << 64]))]):
        names = [f"{name}+{address - start:x}" for size in sizes if address < start + size for name in table[start, size]]
        if names:
            return names
        if address - start > 1 << 20:
            break
    return []


def judge(path):
    table = functions(need("riscv64-linux-gnu-nm"), path)
    by_start = {}
    for start, size in table:
        by_start.setdefault(start, []).append(size)
    starts = sorted(by_start.items())
    asked = sorted({at for start, size in table for at in (start, start + size // 2, start + size - 1, start + size)})
    output = subprocess.run([sys.argv[1], path], input="".join(f"{a:x}\n" for a in asked), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    bad = []
    for address, line in zip(asked, output, strict=True):
        want = innermost(table, starts, address)
        if want and line.split()[1] not in want:
            bad.append(f"{line}, but nm: {' '.join(want)}")
    note(f"{len(asked)} addresses")
    check(not bad, "\n".join(bad[:10]))
    check(asked, "no function with a size")


@case("the C library")
def library():
    if not os.path.exists(LIBRARY):
        skip("riscv-libraries")
    judge(LIBRARY)


def cases(corpus):
    for part in "refcode", "silicon", "ttdfd":
        for path in sorted(glob.glob(os.path.join(corpus, part, "*/*.elf"))):
            if not path.endswith(WITHOUT):
                yield os.path.relpath(path, corpus), judge, path


corpus_cases("", 31, cases)
main()
