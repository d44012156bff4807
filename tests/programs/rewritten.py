#!/usr/bin/env python3
"""Code and names that a program replaces while it runs: a perf map that is written anew, memory that is written at one address and
executed at another one, a file that is written over. The truth is how often the source calls each function.

usage: rewritten.py NTRACE
"""
import functools
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import user_qemu  # may change PATH
from harness import Run, case, check, equal, main, need, scratch

# inner_2 is where the second half of entry_1 is.
LIBRARIES = {"one": "static __attribute__((noinline)) int inner_1(int n) { volatile int s = n; return s + 1; }\n"
                    "int entry_1(int n) { return inner_1(n) + inner_1(n + 1); }\n",
             "two": "int space_2(int n) { return n * n + n * 3; }\n"
                    "static __attribute__((noinline)) int inner_2(int n) { volatile int s = n; s += n * 3; return s + 2; }\n"
                    "int entry_2(int n) { return inner_2(n) + inner_2(n + 1); }\n"}


@functools.cache
def compiled():
    """The offsets of entry_1 and entry_2."""
    gcc, folder = need("riscv64-linux-gnu-gcc"), scratch()
    need("qemu-riscv64")
    entries = []
    for number, (name, source) in enumerate(LIBRARIES.items(), 1):
        with open(os.path.join(folder, name + ".c"), "w", encoding="ascii") as file:
            file.write(source)
        subprocess.run([gcc, "-g", "-O1", "-shared", "-fPIC", "-nostdlib", name + ".c", "-o", name + ".so"], cwd=folder, check=True)
        symbols = subprocess.run(["riscv64-linux-gnu-nm", name + ".so"], cwd=folder, check=True, capture_output=True, text=True).stdout
        entries.append(re.search(rf"(?m)^(\w+) T entry_{number}$", symbols)[1])
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rewritten.c")
    subprocess.run([gcc, "-g", "-O1", "-w", "-static", source, "-o", "rewritten"], cwd=folder, check=True)
    return entries


def calls(way):
    """{function: (calls, instructions)} of what is not the program's own code, and what `run` said."""
    folder, entries = scratch(), compiled()
    done = Run("run", *user_qemu.for_ntrace(user_qemu.repeatable()), "-q", "-o", way + ".ntrace", "--", "./rewritten", way, *entries, cwd=folder)
    for path in re.findall(r"(?m)^/tmp/perf-\d+\.map$", done.out):
        os.remove(path)
    rows = Run("profile", "--format", "jsonl", os.path.join(folder, way + ".ntrace")).rows()
    found = {}
    for row in rows:
        if re.match(r"(made|entry|inner|space)_|\[unknown\]", row["function"]):  # a row for each address
            before = found.get(row["function"], (0, 0))
            found[row["function"]] = (before[0] + row["calls"], before[1] + row["self"])
    return found, done.err


def unnamed(found, flushes):
    """Removes the row without a name. Returns what it can be: QEMU 10 has a vDSO, where newer C libraries flush the instruction cache, by two
    instructions without a name."""
    calls, instructions = found.pop("[unknown]", (0, 0))
    return [(calls, instructions), (calls - flushes, instructions - 2 * flushes)]


@case("a perf map that is written anew: the code of each map has the names of that map")
def replaced_map():
    found, _ = calls("map")
    check((2, 2 * 7) in unnamed(found, 4), "the fourth function has no name")
    equal(found, {"made_first": (3, 3 * 4), "made_second": (4, 4 * 6), "made_third": (5, 5 * 6)}, "calls, instructions")


@case("code that is executed at another address than it was written at has its names")
def two_addresses():
    found, _ = calls("memfd")
    check((0, 0) in unnamed(found, 2), "no code is without a name")
    equal(found, {"made_first": (3, 3 * 4), "made_second": (4, 4 * 6)}, "calls, instructions")


@case("code of another file that is written over half of a function has not its name, and is reported")
def written_over():
    found, error = calls("memory")
    equal({name: found[name][0] for name in ("entry_1", "inner_1")}, {"entry_1": 2, "inner_1": 4}, "calls of the file")
    check(4 + 8 in [row[0] for row in unnamed(found, 2)], "calls of the other code")
    equal("functions of which a quarter of the bytes differ have no name" in error, True, error)


@case("libraries that are moved by mremap, one to where the other was: each has its names at each place")
def moved():
    found, _ = calls("moved")
    check((0, 0) in unnamed(found, 4), "no code is without a name")
    equal({name: count for name, (count, _) in found.items()}, {"entry_1": 6, "inner_1": 12, "entry_2": 4, "inner_2": 8}, "calls")


main()
