#!/usr/bin/env python3
"""Names of addresses, compared with nm's list of the same ELF files: names.py NAMES

Every function with a size is asked for at its start, in its middle, at its last byte and behind it. The answer has
to be the innermost function there, by one of the names it has. TAP on standard output."""
import bisect
import glob
import os
import shutil
import subprocess
import sys


def files():
    root = os.environ.get("NTRACE_SHARED") or os.path.join(os.path.dirname(__file__), "../../../shared")
    found = sorted(glob.glob(os.path.join(root, "corpus/*/*/*.elf")))
    cross = "/usr/riscv64-linux-gnu/lib/libc.so.6"  # thousands of dynamic symbols only
    return found + ([cross] if os.path.exists(cross) else [])


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


def check(helper, nm, path):
    table = functions(nm, path)
    by_start = {}
    for start, size in table:
        by_start.setdefault(start, []).append(size)
    starts = sorted(by_start.items())
    asked = sorted({at for start, size in table for at in (start, start + size // 2, start + size - 1, start + size)})
    output = subprocess.run([helper, path], input="".join(f"{a:x}\n" for a in asked), capture_output=True, text=True,
                          check=True).stdout.splitlines()
    bad = 0
    for address, line in zip(asked, output, strict=True):
        want = innermost(table, starts, address)
        if want and line.split()[1] not in want:
            bad += 1
            if bad < 10:
                print(f"# {line}, but nm: {' '.join(want)}")
    return bad, len(asked)


def main():
    nm = shutil.which("riscv64-linux-gnu-nm")
    found = files()
    if not nm or not found:
        print("1..1\nok 1 - names # SKIP no ELF files or no riscv64-linux-gnu-nm")
        return
    print(f"1..{len(found)}")
    for path in found:
        bad, asked = check(sys.argv[1], nm, path)
        print(f"{'not ok' if bad else 'ok'} - {'/'.join(path.split('/')[-2:])}: {asked} addresses", flush=True)


main()
